# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that roles and clients need, derived from the pair.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from ..checks.other_applications import OtherApplications, awaited_stops, other_applications
from ..cutover_types import as_variables
from ..engines.finding import engine_inventory
from ..names import HEARTBEATS, Naming, naming_of, rehearsal_alias, rehearsal_separator, salvage_topic
from ..resources.account_rights import ACCOUNTS, Place, grouped, rights_of
from ..resources.acl import Acl, bans, client_acls
from ..security import librdkafka_properties
from .hooks import MOMENTS, hook_lines, hooks_by_moment, steps_by_phase
from .patterns import patterns_of

__all__ = [
    "client_batches",
    "client_call",
    "endpoint",
    "fence_acls",
    "laid_out",
    "larger_replicas",
    "pair_option",
    "place",
    "salvage_topics",
    "unequal_partitions",
]

# What a topic for a tail accepts at least, as the journal: the limit of an original may not be declared.
_SALVAGE_BYTES = 8 * 1024 * 1024


def _live_flows(pair: Mapping[str, Any], active: str) -> list[dict[str, str]]:
    """Source and target of the flows that replicate while the applications live on ``active``."""
    one = naming_of(pair["policy"]).one_flow_at_a_time
    flows = [flow for flow in pair["flows"].values() if not one or flow["source"] == active]
    return [{end: flow[end] for end in ("source", "target")} for flow in flows]


def laid_out(pair: Mapping[str, Any]) -> dict[str, Any]:
    """The pair with everything that roles need, so that no playbook computes.

    ``spec``: the option ``pair`` of modules. ``types``: the types of a cutover by name. ``moved``: what ``Move.of``
    needs besides the type and the direction.

    ``live_flows``: by active alias, source and target of each flow that replicates then. ``stop_provable``: as in
    ``Capabilities``. ``lists``: by alias, the lists of an engine that has lists. ``rights``: by alias, the ACLs of the
    declared clients for ``kafka_acl``, and those that it must ``keep``: the fence; also ``accounts``, the ACLs of the
    declared accounts, and ``lines``, all of them with their reasons as text. ``endpoints``: by alias and client, the
    values for an endpoint template. ``names``: by alias, originals and replicas. ``syncs``: by alias, its offset-syncs
    topics; ``offset_syncs``: by flow, the alias and the name of its own.
    ``flow_topics``: by alias, the topics that the flows create, for ``kafka_topic``. ``hooks_at``: by type of cutover
    and moment, the hooks that run then; ``hook_lines``: by type, the same as lines of text. ``steps``: by type and
    phase, the task files that run. ``other_applications``: the topics and groups whose applications the inventory does
    not control, and their applications in words; ``awaited_stops``: by type and phase, those of them that must be at
    rest before it begins. ``salvage_topics``: the topics for a tail that is not replayed into its own topic,
    for ``kafka_topic``.
    """
    others = other_applications(pair["clients"], [topic["name"] for topic in pair["topics"]], pair["groups"])
    awaited = awaited_stops(others)
    engine = engine_inventory(pair["engine"])
    endpoints = {
        alias: {client["name"]: endpoint(pair, client, alias) for client in pair["clients"]}
        for alias in pair["clusters"]
    }
    return {
        **pair,
        "spec": pair_option(pair),
        "moved": _moved(pair, others),
        "types": as_variables(),
        "live_flows": {alias: _live_flows(pair, alias) for alias in pair["clusters"]},
        "stop_provable": engine.capabilities.stop_provable,
        "lists": engine.lists(pair),
        "syncs": {flow["syncs"]["on"]: [flow["syncs"]["topic"]] for flow in pair["flows"].values()},
        "offset_syncs": {
            name: {"on": flow["syncs"]["on"], "topic": flow["syncs"]["topic"]["name"]}
            for name, flow in pair["flows"].items()
        },
        "names": {alias: _names(pair, alias) for alias in pair["clusters"]},
        "flow_topics": {alias: _flow_topics(pair, alias) for alias in pair["clusters"]},
        "hooks_at": hooks_by_moment(pair["hooks"]),
        "steps": steps_by_phase(pair["hooks"], awaited, bool(others)),
        "other_applications": {**others.as_dict(), "named": others.named, "writers": others.writers},
        "awaited_stops": awaited,
        "hook_lines": {kind: hook_lines(pair["hooks"], kind) for kind in MOMENTS},
        "salvage_topics": salvage_topics(pair["topics"]),
        "endpoints": endpoints,
        "rights": {alias: _rights(pair, endpoints[alias], alias) for alias in pair["clusters"]},
    }


def _moved(pair: Mapping[str, Any], others: OtherApplications) -> dict[str, Any]:
    return {
        "pair": pair["name"],
        "policy": pair["policy"],
        "bootstrap": {alias: cluster["bootstrap_servers"] for alias, cluster in pair["clusters"].items()},
        "applications": [{key: client.get(key) for key in ("name", "role", "principal")} for client in pair["clients"]],
        "other_applications": others.as_dict(),
        "drop": list(pair["drop"]),
        "run_on": pair["run_on"],
        "rehearsal": "rehearsal" in pair,
        "one_flow_at_a_time": naming_of(pair["policy"]).one_flow_at_a_time,
    }


def pair_option(pair: Mapping[str, Any]) -> dict[str, Any]:
    """The input of ``PairSpec.of``, without applications and their commands."""
    same = (
        *("name", "clusters", "groups", "group_topics", "local_groups", "accept_undeclared", "policy", "separator"),
        *("home", "application", "parts", "flow", "drop"),
    )
    return {
        **{key: pair[key] for key in same},
        "topics": [topic["name"] for topic in pair["topics"]],
        "patterns": patterns_of(pair),
        "journal_topic": pair["journal"]["name"],
        "state_topic": pair["state"]["name"],
        "accept_foreign_writers": pair["accept_foreign_writers"],
        "adopted": {name: list((one["connectors"] or {}).values()) for name, one in pair["adopt"].items()},
    }


def _deletes_syncs(name: str) -> bool:
    """Whether ``rebuild`` deletes offset-syncs topics, because the engine cannot change stored offsets."""
    engine = engine_inventory(name)
    return not engine.capabilities.offsets_writable and not engine.refusals.rebuild


def place(pair: Mapping[str, Any], alias: str) -> Place:
    """The names on ``alias`` that the rights of accounts refer to."""
    (other,) = [name for name in pair["clusters"] if name != alias]
    naming = naming_of(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    replicas = [] if naming.keeps_names else [naming.replica(other, name) for name in originals]
    return Place(
        pair=pair["name"],
        other=other,
        topics=originals,
        replicas=replicas,
        checkpoints=[naming.checkpoints(other)],
        replicated_heartbeats=naming.heartbeats(other),
        heartbeats=HEARTBEATS if "heartbeat" in pair["parts"] else "",
        syncs=[flow["syncs"]["topic"]["name"] for flow in pair["flows"].values() if flow["syncs"]["on"] == alias],
        groups=pair["groups"],
        salvage_topics=[topic["name"] for topic in salvage_topics(pair["topics"])],
        own=[pair["journal"]["name"], pair["state"]["name"]],
        flows_write_originals=naming.flows_write_originals,
        application=bool(pair["application"]),
        deletes_syncs=_deletes_syncs(pair["engine"]),
        separator=pair["separator"],
        rehearsal_other=rehearsal_alias(other, pair["separator"]),
        rehearsal_separator=rehearsal_separator(pair["separator"]),
        rehearsal_pair="-".join(sorted(rehearsal_alias(name, pair["separator"]) for name in pair["clusters"])),
        workers=str(pair["accounts"]["workers"].get(alias) or ""),
    )


def _account_acls(pair: Mapping[str, Any], here: Place) -> list[dict[str, Any]]:
    return [
        asdict(Acl(principal, right.resource_type, right.name, right.operation, right.pattern_type))
        for account in ACCOUNTS
        if (principal := pair["accounts"][account])
        for right in rights_of(account, here)
    ]


def _right_lines(pair: Mapping[str, Any], here: Place) -> list[str]:
    """One line for each account, operation and reason, with all names of resources."""
    who = {account: pair["accounts"][account] or f"kafka_dr_accounts.{account} is not set" for account in ACCOUNTS}
    return [
        f"{account} ({who[account]}): {operation} {kind} {pattern} {names} [{why}]"
        for account in ACCOUNTS
        for operation, kind, pattern, names, why in grouped(rights_of(account, here))
    ]


def _rights(pair: Mapping[str, Any], endpoints: Mapping[str, Any], alias: str) -> dict[str, Any]:
    principals = sorted({client["principal"] for client in pair["clients"] if client["principal"]})
    wanted = [acl for client in pair["clients"] for acl in client_acls(client, endpoints[client["name"]])]
    here = place(pair, alias)
    return {
        "principals": principals,
        "acls": wanted,
        "accounts": _account_acls(pair, here),
        "lines": [*_right_lines(pair, here), *(f"application {Acl(**acl).sentence()}" for acl in wanted)],
    }


def fence_acls(pair: Mapping[str, Any], principals: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ACLs of a fence: none of the principals may write to any original.

    They are not in the derived pair, because there are as many as topics times principals, and Ansible copies the pair.
    """
    return [asdict(ban) for ban in bans([topic["name"] for topic in pair["topics"]], principals)]


def _names(pair: Mapping[str, Any], alias: str) -> list[str]:
    naming = naming_of(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    others = [flow["source"] for flow in pair["flows"].values() if flow["target"] == alias]
    return list(dict.fromkeys([*originals, *(naming.replica(other, name) for other in others for name in originals)]))


def _flow_topics(pair: Mapping[str, Any], alias: str) -> list[dict[str, Any]]:
    """Topics that MirrorMaker 2 creates on ``alias`` itself, unless they exist.

    Source: MirrorSourceConfig, MirrorCheckpointConfig and MirrorHeartbeatConfig of Kafka 4.3. Each connector creates
    its topics on its target.
    """
    naming = naming_of(pair["policy"], pair["separator"])
    (other,) = [name for name in pair["clusters"] if name != alias]
    copies = [] if naming.keeps_names else pair["topics"]
    rows = [(naming.replica(other, topic["name"]), topic["partitions"], "source") for topic in copies]
    rows += [(naming.heartbeats(other), 1, "source"), (naming.checkpoints(other), 1, "checkpoint")]
    rows += [(HEARTBEATS, 1, "heartbeat")] if "heartbeat" in pair["parts"] else []
    return [
        {"name": name, "partitions": count, "replication_factor": _factor(pair, part)} for name, count, part in rows
    ]


_FACTORS = {
    "source": "replication.factor",
    "checkpoint": "checkpoints.topic.replication.factor",
    "heartbeat": "heartbeats.topic.replication.factor",
}


def _factor(pair: Mapping[str, Any], part: str) -> int | None:
    """The replication factor that a connector asks for; None: the default of the broker or of the engine."""
    key, default = _FACTORS[part], engine_inventory(pair["engine"]).usual_factors.get(part)
    given = {**pair["flow"]["settings"], **pair["flow"][f"{part}_settings"]}
    usual = pair["flow"]["replication_factor"] or default
    # null removes this collection's own value.
    found = default if key in given and given[key] is None else given.get(key, usual)
    return None if found is None or int(found) < 1 else int(found)


def unequal_partitions(
    found: Mapping[str, Sequence[Mapping[str, Any]]], topics: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Topics with more partitions than the inventory declares, and the count to declare, in words.

    ``found``: alias -> topics as ``kafka_topic_info`` returns them. Fewer partitions than declared are correct on
    either cluster: the topic grows to the declared count on both. Different counts would put keys on other partitions
    after a move, and Kafka cannot remove partitions.
    """
    counts = {
        alias: {topic["name"]: topic["partitions"] for topic in rows if topic["exists"]}
        for alias, rows in found.items()
    }
    texts = []
    for topic in topics:
        name, wanted = topic["name"], topic["partitions"]
        present = {alias: rows[name] for alias, rows in counts.items() if name in rows}
        largest = max(present.values(), default=0)
        if largest > wanted:
            shown = ", ".join(f"{count} on {alias}" for alias, count in sorted(present.items()))
            texts.append(f'"{name}": {wanted} in the inventory, {shown} (set partitions to {largest})')
    return texts


def larger_replicas(
    found: Mapping[str, Sequence[Mapping[str, Any]]],
    topics: Sequence[Mapping[str, Any]],
    flows: Iterable[tuple[str, str]],
    naming: Naming,
) -> list[str]:
    """Replicas with more partitions than their original has or will get, in words.

    ``found``: as for ``unequal_partitions``. MirrorMaker 2 adds missing partitions to a replica, but removes none.
    """
    if naming.keeps_names:
        return []
    counts = {
        alias: {topic["name"]: topic["partitions"] for topic in rows if topic["exists"]}
        for alias, rows in found.items()
    }
    texts = []
    for source, target in flows:
        for topic in topics:
            replica = naming.replica(source, topic["name"])
            has = counts[target].get(replica, 0)
            wanted = max(topic["partitions"], counts[source].get(topic["name"], 0))
            if has > wanted:
                texts.append(f'"{replica}" has {has} partitions on {target}, "{topic["name"]}" has {wanted}')
    return texts


def salvage_topics(topics: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Topics for a tail that is not replayed into its own topic, for ``kafka_topic``. Their records never expire.

    They accept twice as much as the originals: headers name the origin of each record, and lz4, with which a replay
    compresses, may compress less than the original's codec.
    """
    return [
        {
            "name": salvage_topic(topic["name"]),
            "partitions": topic["partitions"],
            "replication_factor": topic["replication_factor"],
            "config": {
                "cleanup.policy": "delete",
                "retention.ms": -1,
                "max.message.bytes": min(max(_SALVAGE_BYTES, 2 * _largest_message(topic["config"])), 2**31 - 1),
            },
        }
        for topic in topics
    ]


def _largest_message(config: Mapping[str, Any]) -> int:
    """The declared ``max.message.bytes``; 0 if it is not declared or not a number."""
    text = str(config.get("max.message.bytes", ""))
    return int(text) if text.isdecimal() else 0


def client_batches(clients: Sequence[Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The batches in which clients are stopped or started, one after the other. All clients of a batch go at once.

    ``groups``: inventory groups; the ``hosts`` of a client is a group or a host. A client that must wait for another
    one (``after``) is in a later batch, in either direction of the list (R17). ``places``: the batch's clients by host
    and user. Only a batch of commands has several.
    """
    waves: list[list[Mapping[str, Any]]] = []
    for client in clients:
        earlier = [number for number, wave in enumerate(waves) if _ordered(client, wave)]
        number = earlier[-1] + 1 if earlier else 0
        waves.extend([] for _number in range(number + 1 - len(waves)))
        waves[number].append(client)
    return [batch for wave in waves for batch in _batches(wave, groups)]


def _batches(wave: Sequence[Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    batches: dict[tuple[Any, ...], dict[tuple[Any, ...], list[dict[str, Any]]]] = {}
    for client in wave:
        for host in groups.get(client["hosts"]) or [client["hosts"]]:
            place = (host, client["become"])
            kind = (client["control"],) if client["control"] == "command" else (client["control"], *place)
            batches.setdefault(kind, {}).setdefault(place, []).append(dict(client))
    return [
        {
            "control": control,
            "host": ", ".join(dict.fromkeys(host for host, _become in places)),
            "clients": [client for clients in places.values() for client in clients],
            "places": [
                {"host": host, "become": become, "clients": clients} for (host, become), clients in places.items()
            ],
        }
        for (control, *_place), places in batches.items()
    ]


def _ordered(client: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> bool:
    names = {other["name"] for other in others}
    return bool(names & set(client["after"])) or any(client["name"] in other["after"] for other in others)


def client_call(client: Mapping[str, Any], action: str, endpoints: Mapping[str, str | None]) -> dict[str, Any]:
    """The item of ``client_control``, or of ``client_workload``, for one client. ``endpoints``: by name.

    ``action``: stop, start, point or fence. ``fence`` only writes the fencing token of the run on the host, for kinds
    of control without a command.
    """
    if client["workload"]:
        given = {key: value for key, value in client["workload"].items() if value is not None}
        starts = action == "start" and client["has_endpoint"]
        return {**given, "client": client["name"], **({"content": endpoints[client["name"]]} if starts else {})}
    call: dict[str, Any] = {"name": client["name"]}
    if client["endpoint_file"]:
        file = PurePosixPath(client["endpoint_file"])
        call["token_file"] = str(file.parent / f".{file.name}.kafka-dr-token")
    if action in ("stop", "start"):
        call["argv"] = client[action]
    if action in ("start", "point") and client["endpoint_file"]:
        content = endpoints[client["name"]]
        call.update(path=client["endpoint_file"], content=content, mode=client["endpoint_mode"])
    return call


def endpoint(pair: Mapping[str, Any], client: Mapping[str, Any], alias: str) -> dict[str, Any]:
    """The values for an endpoint template, with which ``client`` can work on ``alias``.

    ``topics``: originals, which producers write. ``subscribe``: originals and replicas, which consumers read.
    """
    naming = naming_of(pair["policy"], pair["separator"])
    cluster = pair["clusters"][alias]
    other = next(name for name in pair["clusters"] if name != alias)
    originals = list(client["topics"])
    replicas = [naming.replica(other, topic) for topic in originals]
    return {
        "alias": alias,
        "bootstrap_servers": cluster["bootstrap_servers"],
        "client": librdkafka_properties(cluster["client"]),
        "topics": originals,
        "replicas": [topic for topic in replicas if topic not in originals],
        "subscribe": originals + [topic for topic in replicas if topic not in originals],
        "group": client.get("group"),
    }

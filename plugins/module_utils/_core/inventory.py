# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One inventory describes the pair: checked as a whole, then derived into what every role reads.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from .adoption import adopted_flow, check_adopt
from .applications import part_of
from .errors import DrError
from .filters import excluded_by_default
from .hooks import HOOK_KEYS, check_hook
from .inventory_values import check_values, is_legal_topic, printable, shared_endpoint_files
from .names import CONNECTORS, JOURNAL_TOPIC, STATE_TOPIC, Naming, flow_name, is_internal
from .retention import without_retention
from .schema import Key, check_mapping, is_set, names, nearest
from .srm import own_settings

__all__ = ["VARIABLES", "cutover_order", "derive_pair"]

_ALIAS = re.compile(r"[A-Za-z0-9_-]+")
# As long as an outage that is planned for: the cleaner may leave one offset-sync of each partition.
_WEEK_MS = 604_800_000

VARIABLES: dict[str, Key] = {
    "engine": Key(default="connect", choices=("connect", "srm")),
    "policy": Key(default="default", choices=("default", "identity")),
    "separator": Key(default="."),
    "home": Key(required=True),
    "run_on": Key(default="localhost"),
    "clusters": Key("dict", required=True),
    "topics": Key("list", required=True),
    "groups": Key("list", default=[]),
    "clients": Key("list", default=[]),
    "hooks": Key("list", default=[]),
    "journal_topic": Key(default=JOURNAL_TOPIC),
    "hold_retention": Key("flag", default=False),
    "flow": Key("dict", default={}),
    "srm": Key("dict", default={}),
    "adopt": Key("dict", default={}),
}
# Variables of a run, not of the pair: known here so that a misspelt one is named.
RUN_VARIABLES = {
    "application": Key(),
    "to": Key(),
    "confirm": Key(),
    "type": Key(choices=("cutoff", "continuous")),
    "rights": Key(choices=("merge", "exact")),
    "fence": Key(choices=("auto", "acl", "none")),
    "fence_logins": Key("dict"),
    "report_dir": Key(),
    "lower": Key(choices=("auto", "fail", "lower", "keep")),
    "although_healthy": Key("flag"),
    "disaster_stop_timeout": Key("number"),
    "rescue_timeout": Key("number"),
    "rescue_stall": Key("number"),
    "ready_require": Key(choices=("none", "controlled", "disaster", "both")),
    "ready_accept": Key("names"),
    "ready_lag": Key("number"),
    "ready_expiry": Key("number"),
    "ready_age": Key("number"),
    "metrics_file": Key(),
    "drill_type": Key(choices=("cutoff", "continuous")),
    "drill_back": Key("flag"),
    "drill_seconds": Key("number"),
    "drill_rate": Key("number"),
    "drill_principal": Key(),
    "drill_client": Key("dict"),
    "drill_dir": Key(),
    "drain_timeout": Key("number"),
    "max_downtime": Key("number"),
    "take_over": Key(),
    "drain_groups_timeout": Key("number"),
    "drain_groups_stall": Key("number"),
    "stop_timeout": Key("number"),
    "restart_timeout": Key("number"),
    "reason": Key(),
    "idle_settle": Key("number"),
    "member_timeout": Key("number"),
    "first_write_timeout": Key("number"),
    "enable_timeout": Key("number"),
    "stall_timeout": Key("number"),
    "group_lag": Key(choices=("refuse", "reread")),
    "accept_skips": Key("names"),
    "applications_on": Key(),
    "copy_again": Key("names"),
    "checkpoint_timeout": Key("number", most=600),
    "accept_foreign": Key("names"),
    "accept_tail": Key("names"),
    "accept_expired": Key("names"),
    "accept_newer_keys": Key("names"),
    "salvage": Key(choices=("list", "export", "replay")),
    "salvage_into": Key(choices=("salvage", "original")),
    "audit": Key("flag"),
    "audit_dir": Key(),
    "audit_accept": Key("dict"),
    "audit_guarantee": Key(choices=("at_least_once", "exactly_once")),
    "audit_settle": Key("number"),
    "audit_timeout": Key("number"),
    "spark_master": Key(),
    "spark_conf": Key("dict"),
    "spark_memory": Key(),
    "spark_jars": Key(),
    "spark_python": Key(),
}
# What our own set_stats hand on: AWX gives them back to the next job of a workflow as extra variables.
_RESULTS = ("verdict", "outcome", "active", "run", "ready_controlled", "ready_disaster")
_CLUSTER = {
    "bootstrap_servers": Key(required=True),
    "cluster_id": Key(),
    "client": Key("dict", default={}),
    "admin_client": Key("dict"),
    "connect_url": Key(),
    "connect_client": Key("dict", default={}),
}
_SRM_KEYS = {
    "url": Key(required=True),
    "client": Key("dict", default={}),
    "api_version": Key(),
    "cluster": Key(required=True),
    "service": Key(),
    "reverse_checkpointing": Key(default="auto", choices=("auto", "required", "off")),
    "host": Key(required=True),
    "command": Key("words", default=["srm-control"]),
    "config": Key(),
    "secret_env": Key(default="SECURESTOREPASS"),
    "secret": Key(),
}
_TOPIC_KEYS = {
    "name": Key(required=True),
    "application": Key(),
    "partitions": Key("int", required=True),
    "replication_factor": Key("int"),
    "config": Key("dict", default={}),
}
_GROUP_KEYS = {
    "name": Key(required=True),
    "mode": Key(default="moved", choices=("moved", "local")),
    "topics": Key("words"),
}
_FLOW_KEYS = {
    "replication_factor": Key("int"),
    "tasks_max": Key("int"),
    "syncs_compaction_lag_ms": Key("int", default=_WEEK_MS),
    "settings": Key("dict", default={}),
    "source_settings": Key("dict", default={}),
    "checkpoint_settings": Key("dict", default={}),
    "heartbeat_settings": Key("dict", default={}),
}
_CLIENT_KEYS = {
    "name": Key(required=True),
    "role": Key(required=True, choices=("producer", "consumer", "processor")),
    "topics": Key("words"),
    "group": Key(),
    "principal": Key(),
    "outputs": Key("words"),
    "transactional_ids": Key("words", default=[]),
    "hosts": Key(default="localhost"),
    "control": Key(default="command", choices=("command", "systemd", "tasks")),
    "unit": Key(),
    "start": Key("words"),
    "stop": Key("words"),
    "tasks_file": Key(),
    "endpoint_file": Key(),
    "endpoint_template": Key(default="kafka.env.j2"),
    "endpoint_mode": Key(default="0640"),
    "become": Key("bool", default=False),
    "after": Key("words", default=[]),
}

_LISTS = {"topics": _TOPIC_KEYS, "groups": _GROUP_KEYS, "clients": _CLIENT_KEYS, "hooks": HOOK_KEYS}


def derive_pair(variables: Mapping[str, Any], known: Mapping[str, Key] | None = None) -> dict[str, Any]:
    """The checked and derived pair from the ``kafka_dr_*`` variables (given without that prefix).

    Raises ``inventory_invalid`` with every problem found, so that one run shows all of them.
    ``known``: further variable names that are right (those of roles).
    """
    accepted = [f"kafka_dr_{name}" for name in (*VARIABLES, *RUN_VARIABLES, *_RESULTS, *(known or {}))]
    own = {name: value for name, value in variables.items() if name in VARIABLES}
    of_run = {name: value for name, value in variables.items() if name in RUN_VARIABLES}
    given = [f"kafka_dr_{name}" for name in variables]
    problems = [f'The variable "{name}" is unknown.{nearest(name, accepted)}' for name in given if name not in accepted]
    pair, found = check_mapping("kafka_dr", own, VARIABLES)
    for text in found + check_mapping("kafka_dr", of_run, RUN_VARIABLES)[1]:
        wrong_key = "needs the key" in text
        problems.append(text.replace(*(('"', '"kafka_dr_') if wrong_key else ("kafka_dr.", "kafka_dr_")), 1))
    if not found:
        problems += _check_parts(pair) + _check_accepted_groups(pair, variables)
    if not problems:
        problems += check_values(pair, of_run)
    if not problems:
        problems += part_of(pair, variables.get("application") or None, exact=variables.get("rights") == "exact")
    if not problems:
        problems += _contradictions(pair) + shared_endpoint_files(pair)
    if problems:
        raise DrError(
            "inventory_invalid",
            "The inventory is not usable: " + " ".join(map(printable, problems)),
            "Nothing was changed. See the inventory reference in docs/inventory.md.",
        )
    return _derived(pair)


def _check_parts(pair: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    clusters: dict[str, Any] = {}
    for alias, cluster in pair["clusters"].items():
        clusters[str(alias)], found = check_mapping(f"kafka_dr_clusters.{alias}", cluster, _CLUSTER)
        problems += found
    pair["clusters"] = clusters
    sites: dict[str, Any] = {}
    for alias, site in pair["srm"].items():
        sites[str(alias)], found = check_mapping(f"kafka_dr_srm.{alias}", site, _SRM_KEYS)
        problems += found
    pair["srm"] = sites
    for name, keys in _LISTS.items():
        items = [{"name": item} if name == "groups" and isinstance(item, str) else item for item in pair[name]]
        checked = [check_mapping(f"kafka_dr_{name}[{index}]", item, keys) for index, item in enumerate(items)]
        pair[name] = [value for value, found in checked if not found]
        problems += [text for value, found in checked for text in found]
    pair["flow"], found = check_mapping("kafka_dr_flow", pair["flow"], _FLOW_KEYS)
    problems += found
    if problems:
        return problems
    hooks = [problem for hook in pair["hooks"] for problem in check_hook(hook)]
    return _check_clusters(pair) + _check_topics(pair) + _check_clients(pair) + hooks + check_adopt(pair)


def _check_accepted_groups(pair: Mapping[str, Any], variables: Mapping[str, Any]) -> list[str]:
    """A misspelled name would accept nothing, and be seen in the middle of a move only."""
    declared = [group["name"] for group in pair["groups"]]
    return [
        f'kafka_dr_accept_skips names "{name}", which is not in kafka_dr_groups.{nearest(name, declared)}'
        for name in names(variables.get("accept_skips") or [])
        if name not in declared
    ]


def _check_clusters(pair: dict[str, Any]) -> list[str]:
    clusters, separator = pair["clusters"], pair["separator"]
    problems = []
    if len(clusters) != 2:
        problems.append(f"kafka_dr_clusters must hold exactly two clusters, found {len(clusters)}.")
    if pair["home"] not in clusters:
        hint = nearest(pair["home"], clusters)
        problems.append(f'kafka_dr_home is "{pair["home"]}", which is not in kafka_dr_clusters.{hint}')
    for alias in clusters:
        if not _ALIAS.fullmatch(alias) or (separator and separator in alias):
            problems.append(
                f'The alias "{alias}" must consist of letters, digits, "-" and "_" and not contain the separator'
                f' "{separator}": MirrorMaker 2 could not tell alias from topic.'
            )
    for key in ("bootstrap_servers", "cluster_id"):
        values = [cluster[key] for cluster in clusters.values() if cluster[key]]
        if len(values) == 2 and values[0] == values[1]:
            problems.append(
                f'Both clusters have the same {key} "{values[0]}": a pair on one cluster would copy its own replicas.'
            )
    return problems + (_check_connect(pair) if pair["engine"] == "connect" else _check_srm(pair))


def _check_connect(pair: dict[str, Any]) -> list[str]:
    return [
        f'kafka_dr_clusters.{alias} needs the key "connect_url" with kafka_dr_engine "connect".'
        for alias, cluster in pair["clusters"].items()
        if not cluster["connect_url"]
    ]


def _check_srm(pair: dict[str, Any]) -> list[str]:
    if pair["policy"] == "identity":
        return [
            'kafka_dr_policy "identity" cannot be used with kafka_dr_engine "srm": its offsets cannot be set,'
            " so a failback would copy everything again."
        ]
    missing = [alias for alias in pair["clusters"] if alias not in pair["srm"]]
    unknown = [alias for alias in pair["srm"] if alias not in pair["clusters"]]
    problems = [
        f'kafka_dr_flow sets "{key}", which follows from where the applications live.'
        for key in own_settings(pair["flow"])
    ]
    problems += [
        f'The group "{group["name"]}" has a comma or a blank in its name, which srm-control cannot take.'
        for group in pair["groups"]
        if set(", \t") & set(group["name"])
    ]
    problems += _excluded_by_srm(pair)
    problems += [f'kafka_dr_srm needs the site "{alias}" with kafka_dr_engine "srm".' for alias in missing]
    return problems + [
        f'kafka_dr_srm names "{alias}", which is not in kafka_dr_clusters.{nearest(alias, pair["clusters"])}'
        for alias in unknown
    ]


def _excluded_by_srm(pair: dict[str, Any]) -> list[str]:
    """Declared names that the default filters leave out. srm-control adds names, and takes no default away."""
    named = [(kind, entry["name"]) for kind in ("topics", "groups") for entry in pair[kind]]
    return [
        f'kafka_dr_{kind} names "{name}", which MirrorMaker 2 leaves out by default ({kind}.exclude is "{pattern}").'
        ' With kafka_dr_engine "srm" this default cannot be changed from here. Use another name, or engine "connect".'
        for kind, name in named
        if (pattern := excluded_by_default(kind, name))
    ]


def _check_topics(pair: dict[str, Any]) -> list[str]:
    names = [topic["name"] for topic in pair["topics"]]
    problems = [f'kafka_dr_topics names "{name}" {count} times.' for name, count in Counter(names).items() if count > 1]
    if not names:
        problems.append("kafka_dr_topics is empty: there is nothing to protect.")
    for topic in pair["topics"]:
        name = topic["name"]
        if not is_legal_topic(name):
            problems.append(f'"{name}" is not a legal topic name.')
        elif is_internal(name):
            problems.append(f'The topic "{name}" is internal to Kafka, Connect or MirrorMaker 2 and cannot be moved.')
        elif name.startswith("."):  # ReplicationPolicy.isInternalTopic of Kafka 4.3, whatever topics.exclude says
            problems.append(f'The topic "{name}" begins with a dot: the replication policy leaves it out.')
        if topic["partitions"] < 1:
            problems.append(f'The topic "{name}" needs at least 1 partition, found {topic["partitions"]}.')
        alias, separator, _rest = name.partition(pair["separator"] or "\0")
        if pair["policy"] == "default" and separator and alias in pair["clusters"]:
            problems.append(
                f'The topic "{name}" begins with the alias "{alias}": MirrorMaker 2 takes it for a replica and'
                " does not copy it. Choose other aliases."
            )
    problems += [
        f'The group "{group["name"]}" names the unknown topic "{topic}".{nearest(str(topic), names)}'
        for group in pair["groups"]
        for topic in group["topics"] or []
        if topic not in names
    ]
    groups = Counter(group["name"] for group in pair["groups"])
    return problems + [f'kafka_dr_groups names "{name}" {count} times.' for name, count in groups.items() if count > 1]


def _contradictions(pair: dict[str, Any]) -> list[str]:
    """Topics of a group against those of its clients, if every one of these declares some."""
    problems = []
    for group in pair["groups"]:
        readers = [client for client in pair["clients"] if client["group"] == group["name"]]
        if not group["topics"] or not readers or not all(client["topics"] for client in readers):
            continue
        declared, read = set(group["topics"]), {topic for client in readers for topic in client["topics"]}
        names = ", ".join(f'"{client["name"]}"' for client in readers)
        if declared != read:
            problems.append(
                f'The group "{group["name"]}" has the topics {", ".join(sorted(declared))}, its clients {names} read'
                f" {', '.join(sorted(read))}. Declare the same topics for both."
            )
    return problems


def _check_clients(pair: dict[str, Any]) -> list[str]:
    problems = []
    topics = [topic["name"] for topic in pair["topics"]]
    moved = [group["name"] for group in pair["groups"] if group["mode"] == "moved"]
    names = Counter(client["name"] for client in pair["clients"])
    problems += [f'kafka_dr_clients names "{name}" {count} times.' for name, count in names.items() if count > 1]
    for client in pair["clients"]:
        where = f'The client "{client["name"]}"'
        for topic in [*(client["topics"] or []), *(client["outputs"] or [])]:
            if topic not in topics:
                problems.append(f'{where} names the unknown topic "{topic}".{nearest(topic, topics)}')
        if client["outputs"] is not None and client["role"] != "processor":
            problems.append(f'{where} has outputs, which only a processor has: its role is "{client["role"]}".')
        if client["role"] != "producer" and client["group"] not in moved:
            hint = nearest(str(client["group"]), moved)
            problems.append(f'{where} needs a group out of kafka_dr_groups, found "{client["group"]}".{hint}')
        needed = {"command": ("start", "stop"), "systemd": ("unit",), "tasks": ("tasks_file",)}[client["control"]]
        problems += [
            f'{where} has control "{client["control"]}" and needs the key "{key}".' for key in needed if not client[key]
        ]
        for other in client["after"]:
            if other not in names:
                problems.append(f'{where} is to start after the unknown client "{other}".{nearest(other, names)}')
    if not problems and cutover_order(pair["clients"]) is None:
        problems.append('The "after" keys of kafka_dr_clients form a circle.')
    return problems


def cutover_order(clients: list[dict[str, Any]]) -> list[str] | None:
    """Client names in starting order: each behind those in its ``after`` list. None for a circle.

    Stopping uses the reverse. Processors consume and produce, so the order between them matters.
    """
    waiting = {client["name"]: set(client["after"]) for client in clients}
    order: list[str] = []
    while waiting:
        ready = [name for name, after in waiting.items() if not after & set(waiting)]
        if not ready:
            return None
        order += ready
        for name in ready:
            del waiting[name]
    return order


def _group_topics(pair: dict[str, Any], names: list[str]) -> dict[str, list[str]]:
    """The originals that a group reads: as the inventory says, else what its clients read."""
    declared = {}
    for group in pair["groups"]:
        own = [client["topics"] for client in pair["clients"] if client["group"] == group["name"]]
        read = set(group["topics"] or [topic for topics in own for topic in topics])
        if read:
            declared[group["name"]] = [name for name in names if name in read]
    return declared


def _manager(site: Mapping[str, Any]) -> dict[str, Any]:
    """Where Cloudera Manager is, and what is wanted of it: for modules that look at a site's service, or stop it."""
    return {key: site[key] for key in ("url", "client", "api_version", "cluster", "service", "reverse_checkpointing")}


def _syncs(pair: dict[str, Any], naming: Naming, source: str, target: str) -> dict[str, Any]:
    """The offset-syncs topic of a flow, and the alias ``on`` which it lies; made before MirrorMaker 2 would make it.

    On the target it survives the loss of the source; Streams Replication Manager has it on the source.
    """
    on, other = (source, target) if pair["engine"] == "srm" else (target, source)
    config = {"cleanup.policy": "compact", "min.compaction.lag.ms": pair["flow"]["syncs_compaction_lag_ms"]}
    factor = pair["flow"]["replication_factor"]
    topic = {"name": naming.offset_syncs(other), "partitions": 1, "replication_factor": factor, "config": config}
    return {"on": on, "topic": topic}


def _journal(pair: dict[str, Any]) -> dict[str, Any]:
    """The journal topic: never expires, as safe as the safest topic of the pair."""
    factors = [topic["replication_factor"] for topic in pair["topics"] if topic["replication_factor"]]
    return {
        "name": pair["journal_topic"],
        "partitions": 1,
        "replication_factor": max(factors, default=None),
        "config": {"cleanup.policy": "delete", "retention.ms": -1, "retention.bytes": -1, "max.message.bytes": 8388608},
    }


def _derived(pair: dict[str, Any]) -> dict[str, Any]:
    naming = Naming(pair["policy"], pair["separator"])
    home = pair["home"]
    away = next(alias for alias in pair["clusters"] if alias != home)
    moved = [group["name"] for group in pair["groups"] if group["mode"] == "moved"]
    hold = is_set(pair["hold_retention"])
    topics = [without_retention(topic) for topic in pair["topics"]] if hold else pair["topics"]
    names = [topic["name"] for topic in topics]
    order = cutover_order(pair["clients"]) or []
    clients = sorted(pair["clients"], key=lambda client: order.index(client["name"]))
    application = pair["application"]
    for alias, cluster in pair["clusters"].items():
        cluster["application"] = application
        cluster["srm"] = _manager(pair["srm"][alias]) if pair["engine"] == "srm" else None
        cluster["admin_client"] = cluster["client"] if cluster["admin_client"] is None else cluster["admin_client"]
    for client in clients:
        client["topics"] = list(client["topics"] or names)
    return {
        "name": "-".join(sorted(pair["clusters"])) + (f".{application}" if application else ""),
        "application": application,
        "engine": pair["engine"],
        "policy": pair["policy"],
        "separator": pair["separator"],
        "home": home,
        "away": away,
        "run_on": pair["run_on"],
        "journal": _journal(pair),
        # Connectors of a flow. What kafka_dr_confirm has to say where the state of a cluster is about to be written.
        "parts": list(CONNECTORS),
        "confirms": {alias: alias for alias in pair["clusters"]},
        "state": {**_journal(pair), "name": STATE_TOPIC, "config": {"cleanup.policy": "compact"}},
        "clusters": {alias: {"alias": alias, **cluster} for alias, cluster in pair["clusters"].items()},
        "srm": {alias: {"alias": alias, **site} for alias, site in pair["srm"].items()},
        "topics": topics,
        "hold_retention": hold,
        "groups": moved,
        "group_topics": _group_topics(pair, names),
        "local_groups": [group["name"] for group in pair["groups"] if group["mode"] == "local"],
        "clients": clients,
        "hooks": pair["hooks"],
        "flow": pair["flow"],
        "adopt": {
            flow_name(*ends): found
            for ends in ((home, away), (away, home))
            if (found := adopted_flow(pair, *ends)) is not None
        },
        "flows": {
            flow_name(source, target): {
                "name": flow_name(source, target),
                "source": source,
                "target": target,
                "connect_url": pair["clusters"][target]["connect_url"],
                "connect_client": pair["clusters"][target]["connect_client"],
                "replicas": {name: naming.replica(source, name) for name in names},
                "syncs": _syncs(pair, naming, source, target),
            }
            for source, target in ((home, away), (away, home))
        },
    }

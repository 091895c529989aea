# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rehearsal: a second pair with its own names, so that it does not change the real one.

Other aliases give other connectors, replicas, checkpoints and offset-syncs, because MirrorMaker 2 names all of them
after the aliases. Topics, groups, journal and state topic have their own names, too.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..engines.finding import engine_inventory
from ..errors import DrError
from ..names import CONNECTORS, connector_name, flow_name, naming_of, rehearsal_alias, rehearsal_separator
from ..security import librdkafka_properties
from .layout import laid_out
from .pair import derive_pair

__all__ = ["CANARY", "belongings", "rehearsal_aliases", "rehearsal_pair"]

# Every name of a rehearsal begins with it, except names that MirrorMaker 2 makes from the aliases.
CANARY = "kafka-dr-rehearsal"
_PRODUCER = f"{CANARY}-producer"
_GROUPS = ("1", "2")
_PARTITIONS = 3
# An interrupted rehearsal ends by itself: its producer stops after one hour, and its records expire one hour later.
_SECONDS = 3600
_CLUSTER = ("bootstrap_servers", "cluster_id", "client", "admin_client")


def rehearsal_aliases(pair: Mapping[str, Any]) -> dict[str, str]:
    """The rehearsal's alias of each cluster, by the pair's alias."""
    return {alias: rehearsal_alias(alias, pair["separator"]) for alias in pair["clusters"]}


def rehearsal_pair(pair: Mapping[str, Any], active: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The pair of a rehearsal that moves away from ``active``, where the applications live now.

    ``options``: ``host`` and ``folder`` of its clients, ``program`` (their command), ``template`` (their endpoint
    file), ``rate`` (records per second), ``principal`` and ``client`` (their login; without them, the collection's
    own). Adds ``rehearsal``, which the role of that name reads. Raises ``rehearsal_impossible``.
    """
    alias = rehearsal_aliases(pair)
    _require_possible(pair, options)
    prefix = _prefix(pair)
    entered = next(name for name in pair["clusters"] if name != active)
    engine = engine_inventory(pair["engine"])
    keys = (*_CLUSTER, *engine.cluster_keys)
    rehearsal = derive_pair(
        {
            "engine": pair["engine"],
            "policy": pair["policy"],
            "separator": rehearsal_separator(pair["separator"]),
            "run_on": pair["run_on"],
            "home": alias[active],
            "clusters": {alias[name]: _cluster(cluster, keys) for name, cluster in pair["clusters"].items()},
            "topics": [_topic(pair)],
            "groups": [prefix + number for number in _GROUPS],
            # What they read has been settled for the pair.
            "accept_undeclared": [*pair["groups"], *pair["local_groups"], *pair["accept_undeclared"]],
            "clients": _clients(pair, options),
            "journal_topic": f"{prefix}journal-internal",
            "flow": pair["flow"],
            **({pair["engine"]: _sites(pair, alias)} if engine.site_keys else {}),
        }
    )
    rehearsal["state"]["name"] = f"{prefix}state-internal"
    # Heartbeats have the same topic for all aliases, so a rehearsal writes none. It replicates the pair's.
    rehearsal["parts"] = [part for part in CONNECTORS if part != "heartbeat"]
    rehearsal["confirms"] = dict.fromkeys(rehearsal["clusters"], entered)
    rehearsal = laid_out(rehearsal)
    logins = {alias[name]: _login(pair["clusters"][name], options["client"]) for name in pair["clusters"]}
    return {**rehearsal, "rehearsal": _of_role(pair, rehearsal, options, logins)}


def _prefix(pair: Mapping[str, Any]) -> str:
    """Has the pair's name, because a cluster may belong to several pairs."""
    return f"{CANARY}-{pair['name']}-"


def _require_possible(pair: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    refused = engine_inventory(pair["engine"]).refusals.rehearsal
    if refused:
        raise DrError(
            "rehearsal_impossible",
            f'A rehearsal needs its own flows, which kafka_dr_engine "{pair["engine"]}" cannot have: {refused}.',
            "Rehearse with a pair that has the engine connect.",
        )
    own = [topic["name"] for topic in (*pair["topics"], pair["journal"])] + pair["groups"] + pair["local_groups"]
    taken = sorted(name for name in own if name.startswith(CANARY))
    taken += sorted(set(rehearsal_aliases(pair).values()) & set(pair["clusters"]))
    if taken:
        raise DrError(
            "rehearsal_impossible",
            f'"{taken[0]}" in the inventory has a name that is reserved for rehearsals, which would delete it.',
            "Give it another name.",
        )
    if bool(options["principal"]) != bool(options["client"]):
        raise DrError(
            "rehearsal_impossible",
            "Only one of kafka_dr_rehearsal_principal and kafka_dr_rehearsal_client is set. The first one names the"
            " principal of the rehearsal's clients, the second one has their login.",
            "Set both, or neither.",
        )


def _cluster(cluster: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: cluster[key] for key in keys if cluster[key] is not None}


def _sites(pair: Mapping[str, Any], alias: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The sites of the engine, by the rehearsal's alias."""
    sites = pair[pair["engine"]]
    return {
        alias[name]: {key: value for key, value in site.items() if key != "alias" and value is not None}
        for name, site in sites.items()
    }


def _topic(pair: Mapping[str, Any]) -> dict[str, Any]:
    """The rehearsal's topic, with as many replicas as the pair's journal."""
    return {
        "name": f"{_prefix(pair)}canary",
        "partitions": _PARTITIONS,
        "replication_factor": pair["journal"]["replication_factor"],
        "config": {"retention.ms": 2 * _SECONDS * 1000},
    }


def _clients(pair: Mapping[str, Any], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One producer, and one consumer for each group."""
    names = {_PRODUCER: None, **{f"{CANARY}-consumer-{number}": _prefix(pair) + number for number in _GROUPS}}
    return [
        {
            "name": name,
            "role": "consumer" if group else "producer",
            **({"group": group} if group else {}),
            **({"principal": options["principal"]} if options["principal"] else {}),
            "hosts": options["host"],
            "start": _call(options, "start", name),
            "stop": _call(options, "stop", name),
            "endpoint_file": f"{options['folder']}/{name}.env",
            "endpoint_template": options["template"],
            "endpoint_mode": "0600",
        }
        for name, group in names.items()
    ]


def _call(options: Mapping[str, Any], verb: str, name: str) -> list[str]:
    return [*options["program"], verb, name, "--dir", options["folder"]]


def _login(cluster: Mapping[str, Any], client: Mapping[str, Any]) -> dict[str, str]:
    base = {**cluster["client"], **client} if client else cluster["admin_client"]
    return dict(librdkafka_properties(base))


def _of_role(
    pair: Mapping[str, Any], rehearsal: Mapping[str, Any], options: Mapping[str, Any], logins: Mapping[str, Any]
) -> dict[str, Any]:
    """What the role ``rehearsal`` needs besides a pair.

    ``of``: alias of the pair by that of the rehearsal. ``ledger``: definitions of the clients. ``belongings``: the
    objects that a rehearsal creates. ``name_parts``: texts; each of its names contains one of them.
    """
    principal = options["principal"]
    return {
        "of": {name: alias for alias, name in rehearsal_aliases(pair).items()},
        "pair": pair["name"],
        "principal": principal,
        "logins": logins,
        "fence_logins": {principal: logins[rehearsal["home"]]} if principal else {},
        "ledger": {"clients": {client["name"]: _definition(client, options) for client in rehearsal["clients"]}},
        "belongings": {alias: belongings(rehearsal, alias) for alias in rehearsal["clusters"]},
        "name_parts": _fingerprints(pair, rehearsal),
    }


def _fingerprints(pair: Mapping[str, Any], rehearsal: Mapping[str, Any]) -> list[str]:
    """Texts; each name of this rehearsal contains one of them, and hardly any other name does."""
    here, there, separator = rehearsal["home"], rehearsal["away"], rehearsal["separator"]
    around = [f"{text}{alias}{separator}" for alias in (here, there) for text in ("", separator)]
    return [_prefix(pair), flow_name(here, there), flow_name(there, here), *around]


def _definition(client: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger's definition of a client."""
    rate = float(options["rate"])
    own = {"group": client["group"]} if client["group"] else {"rate": rate, "limit": max(1, int(rate * _SECONDS))}
    return {"role": client["role"], "endpoint_file": client["endpoint_file"], **own}


def belongings(rehearsal: Mapping[str, Any], alias: str) -> dict[str, list[str]]:
    """The topics, groups, connectors and ACL principals that a rehearsal creates on one cluster."""
    naming = naming_of(rehearsal["policy"], rehearsal["separator"])
    other = next(name for name in rehearsal["clusters"] if name != alias)
    topics = [
        *rehearsal["names"][alias],
        rehearsal["journal"]["name"],
        rehearsal["state"]["name"],
        *(topic["name"] for topic in rehearsal["syncs"][alias]),
        naming.checkpoints(other),
        naming.heartbeats(other),
    ]
    connectors = [connector_name(other, alias, part) for part in CONNECTORS]
    return {
        "topics": sorted(set(topics)),
        "groups": list(rehearsal["groups"]),
        "connectors": connectors,
        "principals": sorted({client["principal"] for client in rehearsal["clients"] if client["principal"]}),
    }

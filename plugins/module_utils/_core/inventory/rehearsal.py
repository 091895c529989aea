# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rehearsal: the pair once more, under names of its own, so that nothing of the real one is touched.

Other aliases give other connectors, replicas, checkpoints and offset-syncs (MirrorMaker 2 names all of them after the
aliases); topics, groups, journal and state topic have names of their own as well.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._engines.finding import engine_inventory
from ..errors import DrError
from ..names import CONNECTORS, Naming, connector_name, flow_name
from ..security import librdkafka_properties
from .layout import laid_out
from .pair import derive_pair

__all__ = ["CANARY", "belongings", "rehearsal_aliases", "rehearsal_pair"]

# Everything of a rehearsal begins with it, but for what MirrorMaker 2 names after the aliases.
CANARY = "kafka-dr-rehearsal"
_PRODUCER = f"{CANARY}-producer"
_GROUPS = ("1", "2")
_PARTITIONS = 3
# An interrupted rehearsal ends by itself: its producer after an hour's records, which expire an hour later.
_SECONDS = 3600
_CLUSTER = ("bootstrap_servers", "cluster_id", "client", "admin_client")


def rehearsal_aliases(pair: Mapping[str, Any]) -> dict[str, str]:
    """By alias of the pair, that of the rehearsal on the same cluster."""
    glue = "_" if "-" in pair["separator"] else "-"
    return {alias: f"rehearsal{glue}{alias}" for alias in pair["clusters"]}


def _separator(pair: Mapping[str, Any]) -> str:
    """Not the pair's: its flows copy whatever they read as heartbeats, and would copy those that a rehearsal has
    copied.
    """
    return ".." if "-" in pair["separator"] else "--"


def rehearsal_pair(pair: Mapping[str, Any], active: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The pair of a rehearsal, laid out like any other, away from ``active``: where the applications live now.

    ``options``: ``host`` and ``folder`` of its clients, ``program`` (their command), ``template`` (their endpoint
    file), ``rate`` (records in a second), ``principal`` and ``client`` (as whom they work; else as this collection
    itself). Adds ``rehearsal``, which the role of that name reads. Raises ``rehearsal_impossible``.
    """
    alias = rehearsal_aliases(pair)
    _require_possible(pair, options)
    prefix = _prefix(pair)
    entered = next(name for name in pair["clusters"] if name != active)
    keys = (*_CLUSTER, *engine_inventory(pair["engine"]).cluster_keys)
    rehearsal = derive_pair(
        {
            "engine": pair["engine"],
            "policy": pair["policy"],
            "separator": _separator(pair),
            "run_on": pair["run_on"],
            "home": alias[active],
            "clusters": {alias[name]: _cluster(cluster, keys) for name, cluster in pair["clusters"].items()},
            "topics": [_topic(pair)],
            "groups": [prefix + number for number in _GROUPS],
            "clients": _clients(pair, options),
            "journal_topic": f"{prefix}journal-internal",
            "flow": pair["flow"],
        }
    )
    rehearsal["state"]["name"] = f"{prefix}state-internal"
    # Heartbeats have one topic, whatever the aliases: those of a rehearsal would stay in it. It copies the pair's.
    rehearsal["parts"] = [part for part in CONNECTORS if part != "heartbeat"]
    rehearsal["confirms"] = dict.fromkeys(rehearsal["clusters"], entered)
    rehearsal = laid_out(rehearsal)
    logins = {alias[name]: _login(pair["clusters"][name], options["client"]) for name in pair["clusters"]}
    return {**rehearsal, "rehearsal": _of_role(pair, rehearsal, options, logins)}


def _prefix(pair: Mapping[str, Any]) -> str:
    """A cluster may be a side of several pairs."""
    return f"{CANARY}-{pair['name']}-"


def _require_possible(pair: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    refused = engine_inventory(pair["engine"]).refusals.rehearsal
    if refused:
        raise DrError(
            "rehearsal_impossible",
            f'A rehearsal needs flows of its own, which kafka_dr_engine "{pair["engine"]}" cannot have: {refused}.',
            "Rehearse with a pair whose engine is connect.",
        )
    own = [topic["name"] for topic in (*pair["topics"], pair["journal"])] + pair["groups"] + pair["local_groups"]
    taken = sorted(name for name in own if name.startswith(CANARY))
    taken += sorted(set(rehearsal_aliases(pair).values()) & set(pair["clusters"]))
    if taken:
        raise DrError(
            "rehearsal_impossible",
            f'"{taken[0]}" of the inventory is named as what a rehearsal makes and deletes.',
            "Give it another name; a rehearsal would delete it.",
        )
    if bool(options["principal"]) != bool(options["client"]):
        raise DrError(
            "rehearsal_impossible",
            "Of kafka_dr_rehearsal_principal and kafka_dr_rehearsal_client only one is given: the"
            " one says who the clients of a"
            " rehearsal are, the other how they log in.",
            "Give both, or neither.",
        )


def _cluster(cluster: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: cluster[key] for key in keys if cluster[key] is not None}


def _topic(pair: Mapping[str, Any]) -> dict[str, Any]:
    """As safe as the safest topic of the pair."""
    return {
        "name": f"{_prefix(pair)}canary",
        "partitions": _PARTITIONS,
        "replication_factor": pair["journal"]["replication_factor"],
        "config": {"retention.ms": 2 * _SECONDS * 1000},
    }


def _clients(pair: Mapping[str, Any], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One that writes, and one for each group."""
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
    """What the role ``rehearsal`` needs beyond a pair.

    ``of``: alias of the pair by that of the rehearsal. ``ledger``: definitions of the clients. ``belongings``: what a
    rehearsal
    makes. ``name_parts``: texts of which all its names bear one.
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
    """Texts of which each name of this rehearsal bears one, and hardly anything else does."""
    here, there, separator = rehearsal["home"], rehearsal["away"], rehearsal["separator"]
    around = [f"{text}{alias}{separator}" for alias in (here, there) for text in ("", separator)]
    return [_prefix(pair), flow_name(here, there), flow_name(there, here), *around]


def _definition(client: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A client of the ledger."""
    rate = float(options["rate"])
    own = {"group": client["group"]} if client["group"] else {"rate": rate, "limit": max(1, int(rate * _SECONDS))}
    return {"role": client["role"], "endpoint_file": client["endpoint_file"], **own}


def belongings(rehearsal: Mapping[str, Any], alias: str) -> dict[str, list[str]]:
    """The topics, groups, connectors and ACL principals that a rehearsal creates on one cluster."""
    naming = Naming(rehearsal["policy"], rehearsal["separator"])
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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adoption: how the inventory declares an existing flow, and which connectors can be taken over (R33).

Source: org.apache.kafka.connect.mirror.MirrorMaker (a dedicated MirrorMaker 2 has one herder for each flow, with the
group ``SOURCE-mm2`` and the offsets topic ``mm2-offsets.SOURCE.internal`` on the target), DefaultReplicationPolicy.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..engines.finding import engine_inventory
from ..names import CONNECTORS, Naming, PrefixedNaming, flow_name, naming_of, offsets_topic
from ..resources.connector_settings import PRODUCER, unsafe_settings
from ..schema import Key, check_mapping, nearest

__all__ = ["adopted_flow", "check_adopt", "config_problems", "undeclared_topics", "unknown_order"]

_KEYS = {
    "source": Key(),
    "checkpoint": Key(),
    "heartbeat": Key(),
    "connect_url": Key(),
    "connect_client": Key("dict", default={}),
    "offsets_topic": Key(),
    "group": Key(),
    "leave_topics": Key("list", default=[]),
}
# Settings with which an earlier connector may have left out records or changed their order.
_ORDER = ("errors.tolerance", *PRODUCER)


def check_adopt(pair: Mapping[str, Any]) -> list[str]:
    """Problems of ``kafka_dr_adopt``, in words."""
    given = pair["adopt"]
    if not given:
        return []
    refused = engine_inventory(pair["engine"]).refusals.adoption
    if refused:
        return [f'kafka_dr_adopt cannot be used with kafka_dr_engine "{pair["engine"]}": {refused}.']
    if naming_of(pair["policy"]).starts_at_cut:
        return [
            f'kafka_dr_adopt is not needed with kafka_dr_policy "{pair["policy"]}": enable finds by content where a'
            " flow starts. Stop the other connector, and remove kafka_dr_adopt."
        ]
    flows = [flow_name(*ends) for ends in _directions(pair["clusters"])]
    problems = []
    for flow, found in given.items():
        if flow not in flows:
            problems.append(
                f'kafka_dr_adopt names the flow "{flow}", wanted {" or ".join(flows)}.{nearest(flow, flows)}'
            )
        else:
            problems += _check_flow(pair, flow, found)
    return problems


def _directions(clusters: Iterable[str]) -> list[tuple[str, str]]:
    return [(source, target) for source in clusters for target in clusters if source != target]


def _check_flow(pair: Mapping[str, Any], flow: str, found: Any) -> list[str]:
    where = f"kafka_dr_adopt.{flow}"
    one, problems = check_mapping(where, found, _KEYS)
    if problems:
        return problems
    if bool(one["source"]) == bool(one["offsets_topic"]):
        return [
            f'{where} needs exactly one of the keys "source" (the name of a connector) and "offsets_topic" (that of a'
            f' dedicated MirrorMaker 2, usually "{offsets_topic(flow.split("->")[0])}").'
        ]
    if one["group"] and not one["offsets_topic"]:
        problems.append(f'{where} has the key "group", which only a dedicated MirrorMaker 2 has.')
    if one["connect_url"] and engine_inventory(pair["engine"]).site_keys:
        problems.append(
            f'{where} has the key "connect_url", which kafka_dr_engine "{pair["engine"]}" does not use: an operator'
            " would start a connector again that REST has stopped. Name a connector of the site, or an offsets topic."
        )
    connect = [key for key in ("checkpoint", "heartbeat", "connect_url", "connect_client") if one[key]]
    if one["offsets_topic"] and connect:
        problems.append(f'{where} has both "offsets_topic" and "{connect[0]}", which a dedicated MirrorMaker 2 lacks.')
    own = {f"{flow}.{name}" for name in CONNECTORS.values()}
    problems += [
        f'{where}.{part} is "{one[part]}", which is the name of the pair\'s own connector.'
        for part in CONNECTORS
        if one[part] in own
    ]
    listed = [topic["name"] for topic in pair["topics"]]
    return problems + [
        f'{where}.leave_topics names "{topic}", which kafka_dr_topics lists.'
        for topic in one["leave_topics"]
        if topic in listed
    ]


def adopted_flow(pair: Mapping[str, Any], source: str, target: str) -> dict[str, Any] | None:
    """The entry of a flow in ``kafka_dr_adopt``, with defaults; None: it has none."""
    found = pair["adopt"].get(flow_name(source, target))
    if found is None:
        return None
    one, _problems = check_mapping("", found, _KEYS)
    cluster = pair["clusters"][target]
    own = one["connect_url"] is None and not engine_inventory(pair["engine"]).site_keys
    return {
        "connectors": {part: one[part] for part in CONNECTORS if one[part]},
        "connect_url": cluster["connect_url"] if own else one["connect_url"],
        "connect_client": cluster["connect_client"] if own else one["connect_client"],
        "offsets_topic": one["offsets_topic"],
        "group": one["group"] or f"{source}-mm2",
        "leave_topics": [str(topic) for topic in one["leave_topics"]],
    }


def config_problems(part: str, config: Mapping[str, str], source: str, target: str, naming: Naming) -> list[str]:
    """Why the connector with ``config`` does not replicate like a connector of the pair, in words.

    Another alias, policy or separator gives replicas other names. A transform gives them other content. Producer
    settings or ``errors.tolerance`` may have left out records (R38).
    """
    wanted = {
        "connector.class": (CONNECTORS[part], ""),
        "source.cluster.alias": (source, ""),
        "target.cluster.alias": (target, ""),
    }
    if part == "source":
        wanted["replication.policy.class"] = (naming.java_class, PrefixedNaming.java_class)
        wanted["replication.policy.separator"] = (naming.separator, ".")
        wanted["transforms"] = ("", "")
        wanted["predicates"] = ("", "")
    order = {key: value for key, value in config.items() if key in _ORDER and part == "source"}
    problems = [f"{text[:1].lower()}{text[1:]}".rstrip(".") for text in unsafe_settings(order, ())]
    for key, (value, default) in wanted.items():
        found = config.get(key, default)
        short = found.rsplit(".", 1)[-1] if key.endswith(".class") else found
        if short != value:
            problems.append(f'its setting {key} is "{found}", wanted "{value}"')
    return problems


def unknown_order(name: str, config: Mapping[str, str] | None = None) -> str:
    """A warning if a file that cannot be read decided how ``name`` has written until now (R38); "": none did.

    ``config``: that of the source connector ``name``; None: ``name`` is the flow of a dedicated MirrorMaker 2.
    """
    missing = [key for key in PRODUCER if config is None or config.get(key) is None]
    if not missing:
        return ""
    who = f"the dedicated MirrorMaker 2 of {name}" if config is None else f'the workers of "{name}"'
    return (
        f"The file of {who} decided on {', '.join(missing)} until now, and cannot be read. For the records that are"
        " replicated already, only a comparison of their content is evidence."
    )


def undeclared_topics(replicated: Iterable[str], listed: Iterable[str], left: Iterable[str]) -> list[str]:
    """Topics that no flow would replicate after the adoption, and that the inventory neither lists nor leaves."""
    known = {*listed, *left}
    return sorted({topic for topic in replicated if topic not in known and not _is_heartbeats(topic)})


def _is_heartbeats(topic: str) -> bool:
    return topic == "heartbeats" or topic.endswith("heartbeats")

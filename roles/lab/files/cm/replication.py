# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replication Configs: parse the string of lines joined by `|` into the settings of each flow. Pure.

Precedence as in org.apache.kafka.connect.mirror.MirrorMakerConfig: unprefixed, `connectors.`, `ALIAS.`, `A->B.`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PACKAGE = "org.apache.kafka.connect.mirror."
CONNECTORS = ("MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector")
# Matches no name. MirrorMaker 2 partly replaces an empty list by its default.
NOTHING = "(?!)"
# The default exclusions of MirrorMaker 2. They still apply if the list denies other topics.
TOPICS_EXCLUDE = (r".*[\-\.]internal", r".*\.replica", "__.*")
GROUPS_EXCLUDE = ("console-consumer-.*", "connect-.*", "__.*")
CLIENTS = ("producer.", "consumer.", "admin.")
FLOW = re.compile(r"(?P<source>[^.>|=]+)->(?P<target>[^.>|=]+)(?:\.(?P<rest>.+))?$")
# Cloudera Manager properties that are passed to the connectors.
FIELDS = ("refresh.topics.interval.seconds", "refresh.groups.interval.seconds", "sync.topic.configs.interval.seconds")
SRM_DEFAULTS = {"emit.heartbeats.interval.seconds": "5"}
# Unprefixed keys of the three connectors (MirrorConnectorConfig, MirrorSourceConfig, MirrorCheckpointConfig,
# MirrorHeartbeatConfig). Any other unprefixed key is for the worker or has no effect.
# fmt: off
UNPREFIXED = frozenset((
    "add.source.alias.to.metrics", "admin.timeout.ms", "checkpoints.topic.replication.factor",
    "config.properties.exclude", "consumer.poll.timeout.ms", "emit.checkpoints.enabled",
    "emit.checkpoints.interval.seconds", "emit.heartbeats.enabled", "emit.heartbeats.interval.seconds",
    "emit.offset-syncs.enabled", "enabled", "groups.exclude", "heartbeats.replication.enabled",
    "heartbeats.topic.replication.factor", "metric.reporters", "offset-syncs.topic.location",
    "offset-syncs.topic.replication.factor", "offset.lag.max", "refresh.groups.enabled",
    "refresh.groups.interval.seconds", "refresh.topics.enabled", "refresh.topics.interval.seconds",
    "replication.factor", "replication.policy.class", "replication.policy.separator", "sync.group.offsets.enabled",
    "sync.group.offsets.interval.seconds", "sync.topic.acls.enabled", "sync.topic.acls.interval.seconds",
    "sync.topic.configs.enabled", "sync.topic.configs.interval.seconds", "tasks.max", "topics.exclude",
))
# fmt: on


@dataclass
class Lists:
    """Allowed and denied names or patterns of a flow."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def match(self, name: str) -> bool:
        """Patterns match whole names."""
        return _any(self.allowed, name) and not _any(self.denied, name)


@dataclass
class Flow:
    """``settings``: the common settings of its three connectors, without clusters, topics and groups."""

    source: str
    target: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def enabled(self) -> bool:
        return self.settings.get("enabled", "").strip().lower() == "true"

    def seconds(self, name: str, default: float) -> float:
        """An interval in seconds. Returns the default if it is missing or not a number."""
        try:
            return float(self.settings.get(name, default))
        except ValueError:
            return default

    def truth(self, name: str, default: bool) -> bool:
        return self.settings.get(name, str(default)).strip().lower() == "true"


def parse(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the lines by key, where the last one wins, and notes on ignored lines."""
    found: dict[str, str] = {}
    notes = []
    for line in filter(None, (part.strip() for part in text.split("|"))):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not key:
            notes.append(f"no key and value: {line}")
            continue
        if key in found:
            notes.append(f"set twice, the last one counts: {key}")
        found[key] = value
    return found, notes


def aliases(clusters: str) -> list[str]:
    return [name.strip() for name in clusters.split(",") if name.strip()]


def flow(source: str, target: str, lines: Mapping[str, str], fields: Mapping[str, str]) -> Flow:
    """Settings of a flow. ``fields``: values of Cloudera Manager properties, which every line overrides."""
    found = {name: fields[name] for name in FIELDS if name in fields}
    found = {**SRM_DEFAULTS, **found}
    found |= {key: value for key, value in lines.items() if key in UNPREFIXED and key != "enabled"}
    # In MirrorMaker 2 the unprefixed key enables every flow. SRM documents only the prefixed key.
    found |= _stripped(lines, "connectors.")
    for side, alias in (("source", source), ("target", target)):
        own = _stripped(lines, f"{alias}.")
        for key, value in own.items():
            found[f"{side}.{key}" if key.startswith(CLIENTS) else f"{side}.cluster.{key}"] = value
    found["enabled"] = "false"
    found |= _stripped(lines, f"{source}->{target}.")
    return Flow(source, target, found)


def ignored(lines: Mapping[str, str], known: list[str]) -> list[str]:
    """Keys without an effect. They are no error, as in SRM."""
    return [f"ignored: {key} ({reason})" for key in lines if (reason := _why_ignored(key, known))]


def _why_ignored(key: str, known: list[str]) -> str:
    if match := FLOW.match(key):
        unknown = [alias for alias in match.group("source", "target") if alias not in known]
        if unknown:
            return f"unknown alias {unknown[0]}"
        return "" if match["rest"] else "not a property of the flow; .enabled starts it"
    if key.startswith("workers."):
        return "the lab's worker has settings of its own"
    if key in UNPREFIXED and key != "enabled":
        return ""
    if key.startswith("connectors.") or any(key.startswith(f"{alias}.") for alias in known):
        return ""
    return "no connector knows it without a prefix"


def connectors(flow: Flow, servers: Mapping[str, str], topics: Lists, groups: Lists) -> dict[str, dict[str, str]]:
    """Configurations of the three connectors, by name. ``servers``: bootstrap servers by alias."""
    common = {
        "source.cluster.alias": flow.source,
        "target.cluster.alias": flow.target,
        "source.cluster.bootstrap.servers": servers[flow.source],
        "target.cluster.bootstrap.servers": servers[flow.target],
        **flow.settings,
        "topics": ",".join(topics.allowed) or NOTHING,
        "topics.exclude": ",".join((*TOPICS_EXCLUDE, *topics.denied)),
        "groups": ",".join(groups.allowed) or NOTHING,
        "groups.exclude": ",".join((*GROUPS_EXCLUDE, *groups.denied)),
    }
    return {name: {**common, "name": name, "connector.class": PACKAGE + name} for name in CONNECTORS}


def servers(
    values: Mapping[str, str],
    lines: Mapping[str, str],
    known: list[str],
    accounts: Mapping[str, Any],
    own: Mapping[str, str],
) -> dict[str, str]:
    """Bootstrap servers by alias: from a line, else the co-located cluster, else the external account of that name."""
    found = {}
    for alias in known:
        items = (accounts.get(alias) or {}).get("items", {})
        beside = own.get(alias) if alias == values.get("colocated.cluster.alias") else None
        found[alias] = lines.get(f"{alias}.bootstrap.servers") or beside or items.get("kafka_bootstrap_servers")
    return {alias: address for alias, address in found.items() if address}


def _stripped(lines: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key[len(prefix) :]: value for key, value in lines.items() if key.startswith(prefix) and key != prefix}


def _any(patterns: tuple[str, ...], name: str) -> bool:
    for pattern in patterns:
        try:
            if re.fullmatch(pattern, name):
                return True
        except re.error:
            continue
    return False

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connector settings that would invalidate the proofs of a cutover, and settings that have no effect. Pure.

A setting counts as it is in force (R38). A connector's own value overrides that of its worker. So each setting for
which a worker has a value of its own is written into the connector (``IN_FORCE``). A connector without it is unsafe.

Sources: org.apache.kafka.connect.runtime.Worker (baseProducerConfigs: Connect's defaults, then ``producer.*`` of the
worker, then ``producer.override.*`` of the connector), MirrorConnectorConfig (sourceConsumerConfig,
sourceProducerConfig and targetProducerConfig read the connector alone).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

__all__ = [
    "CONVERTERS",
    "FLOW_SETTINGS",
    "IN_FORCE",
    "ISOLATION",
    "OPTIONS",
    "PRODUCER",
    "as_text",
    "left_open",
    "risky",
    "unknown_settings",
    "unsafe_settings",
]

#: Keys of kafka_dr_flow that have settings: for all connectors, and for each of them.
FLOW_SETTINGS = ("settings", "source_settings", "checkpoint_settings", "heartbeat_settings")
# Settings that follow from an option of the module.
OPTIONS = {
    "name": "source.alias and target.alias",
    "connector.class": "parts",
    "tasks.max": "tasks_max",
    "topics": "topics",
    "groups": "groups",
    "source.cluster.alias": "source.alias",
    "target.cluster.alias": "target.alias",
    "source.cluster.bootstrap.servers": "source.bootstrap_servers",
    "target.cluster.bootstrap.servers": "target.bootstrap_servers",
    "replication.policy.class": "policy",
    "replication.policy.separator": "separator",
    "offset-syncs.topic.location": "offset_syncs_location",
}
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
_ORDER = "Translation depends on the order of replication, which needs one request in flight and acknowledgement by all"
_GIVEN_UP = "The flow would give up a record and write the next one, so a copy would not prove the records before it"
_CONTENT = "Records are compared by content, so they must arrive unchanged"
_SKIPPED_RANGES = "Records would be skipped without a trace"
_ABORTED = "Aborted records would become real ones on the target"
_SYNCS = "Offset-syncs must be stored in the order in which records were replicated"
_MOST = str(2**31 - 1)

#: What each converter must be. Without them the worker's own converters apply.
CONVERTERS: Mapping[str, str] = dict.fromkeys(("key.converter", "value.converter", "header.converter"), _BYTES)
#: The producer of a connector's tasks. ``producer.*`` of the worker's file would apply without these.
PRODUCER: Mapping[str, str] = {
    "producer.override.acks": "all",
    "producer.override.max.in.flight.requests.per.connection": "1",
    "producer.override.delivery.timeout.ms": _MOST,
    "producer.override.retries": _MOST,
    # An interceptor for tracing adds headers to every record.
    "producer.override.interceptor.classes": "",
}
#: The consumer of a source connector. MirrorMaker 2's default is read_uncommitted.
ISOLATION: Mapping[str, str] = {"source.consumer.isolation.level": "read_committed"}
#: By part: the settings that carry a proof and that the connector itself must have, because a default would win (R38).
IN_FORCE: Mapping[str, Mapping[str, str]] = {
    "source": {**CONVERTERS, **ISOLATION, **PRODUCER},
    # A lost or late checkpoint would hide that a group was set back.
    "checkpoint": {**CONVERTERS, **PRODUCER},
    "heartbeat": CONVERTERS,
}
_OWN_PRODUCERS = ("producer.", "source.producer.", "target.producer.")
_OWN_CONSUMERS = ("consumer.", "source.consumer.")

# key: (the only safe values, why)
_ALLOWED: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(CONVERTERS, ((_BYTES,), _CONTENT)),
    "transforms": (("",), _CONTENT),
    "predicates": (("",), _CONTENT),
    "errors.tolerance": (("none",), _SKIPPED_RANGES),
    "producer.override.acks": (("all", "-1"), _ORDER),
    "producer.override.max.in.flight.requests.per.connection": (("1",), _ORDER),
    "producer.override.delivery.timeout.ms": ((_MOST,), _GIVEN_UP),
    "producer.override.retries": ((_MOST,), _GIVEN_UP),
    "producer.override.interceptor.classes": (("",), _CONTENT),
    "replication.policy.internal.topic.separator.enabled": (("true",), "Internal topics would have other names"),
}
for _prefix in _OWN_CONSUMERS:
    _ALLOWED |= {
        f"{_prefix}isolation.level": (("read_committed",), _ABORTED),
        f"{_prefix}auto.offset.reset": (("earliest", "none"), _SKIPPED_RANGES),
        f"{_prefix}interceptor.classes": (("",), _CONTENT),
    }
# The producer of offset-syncs. It is idempotent unless one of these settings has another value.
for _prefix in _OWN_PRODUCERS:
    _ALLOWED |= {
        f"{_prefix}acks": (("all", "-1"), _SYNCS),
        f"{_prefix}enable.idempotence": (("true",), _SYNCS),
        f"{_prefix}max.in.flight.requests.per.connection": (tuple("12345"), _SYNCS),
    }
_HEARTBEATS = "heartbeats.replication.enabled"
# Types as MirrorMaker 2 and the clients define them. A worker refuses another value only after topics were created.
_FORMS = (
    (re.compile(r"(.+\.)?(replication\.factor|interval\.seconds|lag\.max|ms)"), re.compile(r"-?[0-9]{1,18}"), "number"),
    (re.compile(r"(.+\.)?enabled?"), re.compile(r"true|false", re.IGNORECASE), "true or false"),
)
# Without these settings a connector uses the worker's or MirrorMaker 2's defaults, which are not safe.
_REQUIRED = {
    **{key: _ALLOWED[key][1] for settings in IN_FORCE.values() for key in settings},
    _HEARTBEATS: "Pairs of other aliases would replicate each other's heartbeats without end",
}
# key: (values that cause a warning, why)
_RISKY = {
    "emit.offset-syncs.enabled": (("false",), "offsets can then be translated only by reading records"),
    "emit.checkpoints.enabled": (("false",), "the checkpoint connector then does nothing"),
    "sync.topic.acls.enabled": (("true",), "MirrorMaker 2 never removes an ACL that it replicated"),
    "enabled": (("false",), "the connector is RUNNING and does nothing"),
}

# Settings of Kafka 4.x: ConnectorConfig, SourceConnectorConfig, the three Mirror*Config and their filters.
_KNOWN_TEXT = """
admin.timeout.ms checkpoints.topic.replication.factor config.action.reload config.properties.exclude
config.property.filter.class connector.class connector.plugin.version consumer.poll.timeout.ms
emit.checkpoints.enabled emit.checkpoints.interval.seconds emit.heartbeats.enabled emit.heartbeats.interval.seconds
emit.offset-syncs.enabled enabled errors.log.enable errors.log.include.messages errors.retry.delay.max.ms
errors.retry.timeout errors.tolerance exactly.once.support forwarding.admin.class group.filter.class groups
groups.exclude header.converter header.converter.plugin.version heartbeats.replication.enabled
heartbeats.topic.replication.factor key.converter key.converter.plugin.version metric.reporters name offset.lag.max
offset-syncs.topic.location offset-syncs.topic.replication.factor offsets.storage.topic predicates
refresh.groups.enabled refresh.groups.interval.seconds refresh.topics.enabled refresh.topics.interval.seconds
replication.factor replication.policy.class replication.policy.internal.topic.separator.enabled
replication.policy.separator security.protocol source.cluster.alias source.cluster.bootstrap.servers
sync.group.offsets.enabled sync.group.offsets.interval.seconds sync.topic.acls.enabled
sync.topic.acls.interval.seconds sync.topic.configs.enabled sync.topic.configs.interval.seconds target.cluster.alias
target.cluster.bootstrap.servers tasks.max tasks.max.enforce topic.filter.class topics topics.exclude
transaction.boundary transaction.boundary.interval.ms transforms use.defaults.from value.converter
value.converter.plugin.version
"""
_KNOWN = frozenset(_KNOWN_TEXT.split())
_FREE_PREFIXES = (
    *(f"{side}{role}." for side in ("", "source.", "target.") for role in ("admin", "consumer", "producer")),
    *("source.cluster.", "target.cluster.", "topic.creation.", "sasl.", "ssl.", "metrics."),
    *("key.converter.", "value.converter.", "header.converter.", "replication.policy."),
)
# Kafka Connect passes these to a client or a plugin, but silently ignores a time-out with a cluster prefix.
_CLUSTER_PREFIXES = ("source.cluster.", "target.cluster.")
_CLUSTER_KEYS = ("alias", "bootstrap.servers", "security.", "sasl.", "ssl.", "client.", "metric", "connections.")


def unsafe_settings(config: Mapping[str, str | None], target_brokers: Iterable[str], given: bool = False) -> list[str]:
    """Why ``config`` is unsafe, one sentence each. ``given``: they are the user's settings, not a connector's."""
    problems = []
    for key, value in config.items():
        if given and key in OPTIONS:
            problems.append(f'The setting "{key}" comes from the option {OPTIONS[key]}. Set that option instead.')
        elif given and (reason := _misuse(key, value)):
            problems.append(f'The setting "{key}" is {reason}.')
        elif value is None:
            continue
        elif key in _ALLOWED and value.strip() not in _ALLOWED[key][0]:
            allowed, why = _ALLOWED[key]
            safe = " or ".join(f'"{text}"' for text in allowed if text) or "no value"
            problems.append(f'The setting "{key}" is "{value}", wanted {safe}. {why}.')
        elif key == "producer.override.bootstrap.servers" and _other_brokers(value, target_brokers):
            problems.append(f'The setting "{key}" must name the brokers of the target, found "{value}".')
    return problems


def _misuse(key: str, value: str | None) -> str:
    """Why the user must not set this value, although a connector may have it."""
    if value is None:
        return f"null, so an unsafe default would apply. {_REQUIRED[key]}" if key in _REQUIRED else ""
    if key == _HEARTBEATS and value.strip().lower() != "false":
        return f'"{value}", wanted "false". {_REQUIRED[key]}'
    if key.endswith(".bootstrap.servers") and not key.startswith("producer.override."):
        return f'"{value}"; the brokers of a flow come from its clusters'
    for names, form, kind in _FORMS:
        if names.fullmatch(key) and not form.fullmatch(value.strip()):
            return f'"{value}", wanted {"a whole " if kind == "number" else ""}{kind}'
    return ""


def as_text(value: Any) -> str:
    """The text of a setting, as Kafka Connect stores it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(as_text(item) for item in value) if isinstance(value, (list, tuple)) else str(value)


def left_open(part: str, config: Mapping[str, str | None], skipped: Container[str] = ()) -> list[str]:
    """Settings that the connector of ``part`` lacks although a proof depends on them, one sentence per reason (R38).

    ``skipped``: settings that another layer is known to decide.
    """
    missing: dict[str, list[str]] = {}
    for key in IN_FORCE[part]:
        if key not in skipped and config.get(key) is None and not _set_elsewhere(key, config):
            decides = "it reads uncommitted records" if key in ISOLATION else "the file of its workers decides"
            missing.setdefault(f"{decides}. {_ALLOWED[key][1]}.", []).append(f'"{key}"')
    return [
        f"The {'setting' if len(keys) == 1 else 'settings'} {', '.join(keys)} {'is' if len(keys) == 1 else 'are'} not"
        f" set, so {reason}"
        for reason, keys in missing.items()
    ]


def _set_elsewhere(key: str, config: Mapping[str, str | None]) -> bool:
    """The source consumer also reads the shorter name (MirrorSourceConfig)."""
    return key in ISOLATION and config.get("consumer.isolation.level") is not None


def risky(config: Mapping[str, str | None]) -> list[str]:
    """Warnings about settings of the user that are allowed."""
    return [f'{key} is "{config[key]}": {why}.' for key, (values, why) in _RISKY.items() if config.get(key) in values]


def unknown_settings(config: Mapping[str, str | None], known: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Settings without effect, each with the nearest known name, or "".

    Kafka Connect accepts them without a warning. ``known``: further names, from the worker's validation.
    """
    names = _KNOWN | set(known)
    found = []
    for key, value in config.items():
        if value is None or key in names:
            continue
        if key.startswith(_CLUSTER_PREFIXES):
            side, _cluster, rest = key.split(".", 2)
            if not rest.startswith(_CLUSTER_KEYS):
                found.append((key, f"{side}.admin.{rest}"))
        elif not key.startswith(_FREE_PREFIXES):
            found.append((key, "".join(difflib.get_close_matches(key, names, n=1, cutoff=0.8))))
    return found


def _other_brokers(value: str, target_brokers: Iterable[str]) -> bool:
    return not {address.strip().lower() for address in value.split(",")} & set(target_brokers)

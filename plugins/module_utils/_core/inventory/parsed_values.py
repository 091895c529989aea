# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory values that a later step parses, checked before the first change.

Every function returns the problems that it found, each as one sentence that names the variable.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from posixpath import normpath
from typing import Any

from ..checks.readiness import CHECKS
from ..engines.finding import engine_inventory
from ..errors import DrError
from ..names import HEARTBEATS, STATE_TOPIC, Naming, is_internal, naming_of, salvage_topic
from ..redaction import is_secret, without_login
from ..resources.connector_settings import FLOW_SETTINGS, as_text
from ..resources.topic_filters import filters_of
from ..schema import names, nearest, one_line, unquoted
from ..security import java_properties
from ..values import file_mode, heap_bytes

__all__ = [
    "AUDIT_KINDS",
    "VALUE_CHECKS",
    "addresses",
    "check_hosts",
    "is_legal_topic",
    "shared_endpoint_files",
]

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SEPARATOR = re.compile(r"[A-Za-z0-9._-]+")
# A broker address that both librdkafka and the Java clients accept: [PROTOCOL://]HOST:PORT. HOST is a name or an IPv6
# address in brackets.
_ADDRESS = re.compile(
    r"(?:(?:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL)://)?(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})"
)
# Properties that are texts, besides secrets: a number, or true, is a text whose quotes are missing.
_TEXTS = re.compile(r"(?:^|[._])(?:username|principal|client\.id|location|keytab|protocol|mechanisms?|exclude)$")
# Options of a login that are no texts, such as dfs.block.access.token.enable.
_NO_TEXTS = re.compile(r"[._](?:enabled?|ms)$")
_PRINCIPAL = re.compile(r"User:[^*\s]\S*(?: \S+)*")
# More than any cluster supports: a larger count is a typing error.
_PARTITIONS_MAX = 100_000
_FACTOR_MAX = 32_767
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_UNIT = re.compile(r"[A-Za-z0-9:_.@\\-]+")
_OWN_PROPERTIES = {
    "bootstrap.servers": "kafka_dr_clusters has a key bootstrap_servers for it",
    "metadata.broker.list": "kafka_dr_clusters has a key bootstrap_servers for it",
    "group.id": "the group of an application is declared in kafka_dr_groups",
}
# Kinds of differences that an audit can accept: KINDS of spark/kafka_dr_audit/differences.py.
AUDIT_KINDS = (
    *("LOST", "CORRUPT", "REORDERED", "MISPLACED", "ABORTED", "FOREIGN", "DUPLICATE"),
    *("ERRANT", "NOT_YET", "NEWER", "EXPIRED", "COMPACTED", "RETIMED"),
)
_ACCEPTED_TOPICS = ("accept_foreign_writers", "accept_tail", "accept_expired", "accept_newer_keys", "copy_again")


def is_legal_topic(name: str) -> bool:
    """Kafka's rule for topic names (org.apache.kafka.common.internals.Topic)."""
    return bool(_TOPIC.fullmatch(name)) and name not in (".", "..")


def addresses(servers: str) -> list[str] | None:
    """``host:port`` of each bootstrap server in lower case; None if the text is not a list of such addresses."""
    found = []
    for text in servers.split(","):
        match = _ADDRESS.fullmatch(text.strip(" "))
        if match is None or not 0 < int(match[2]) < 65536:
            return None
        found.append(f"{match[1]}:{int(match[2])}".lower())
    return found


def _check_separator(pair: Mapping[str, Any]) -> list[str]:
    separator = pair["separator"]
    if _SEPARATOR.fullmatch(separator):
        return []
    return [
        f'kafka_dr_separator is "{separator}", wanted one or more characters that are allowed in topic names: letters,'
        ' digits, ".", "_" and "-".'
    ]


# ---- clusters


def _check_connections(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    seen: dict[str, str] = {}
    for alias, cluster in pair["clusters"].items():
        where = f"kafka_dr_clusters.{alias}"
        found = addresses(cluster["bootstrap_servers"])
        if found is None:
            shown = one_line(without_login(cluster["bootstrap_servers"]))
            problems.append(
                f'{where}.bootstrap_servers is "{shown}", wanted host:port, or several of them separated by commas.'
            )
        # Another check reports values that are equal as a whole.
        same = [address for address in found or [] if address in seen and seen[address] != alias]
        if same and len({one["bootstrap_servers"] for one in pair["clusters"].values()}) > 1:
            problems.append(
                f'{where}.bootstrap_servers names "{same[0]}", as does kafka_dr_clusters.{seen[same[0]]}: both would be'
                " the same cluster."
            )
        seen.update(dict.fromkeys(found or [], alias))
        for key in ("client", "admin_client"):
            problems += _check_client(f"{where}.{key}", cluster[key] or {}, translated=key == "client")
    return problems


def _check_client(where: str, client: Mapping[Any, Any], translated: bool) -> list[str]:
    texts = [key for key in client if not isinstance(key, str)]
    if texts:
        return [f"{where} has the key {texts[0]!r}, wanted the name of a client property."]
    problems = [
        f'{where} sets "{key}": {reason}.'
        for key, reason in _OWN_PROPERTIES.items()
        if key in client or f"java.{key}" in client
    ]
    problems += _check_plain(where, client)
    problems += [
        f'{where} has the unknown property "{key}": names of client properties contain dots, as in "sasl.username".'
        for key in client
        if "." not in key and key not in ("debug", "retries")
    ]
    protocol = client.get("security.protocol")
    if protocol is not None and str(protocol).upper() not in _PROTOCOLS:
        problems.append(f'{where} has security.protocol "{protocol}", wanted one of: {", ".join(_PROTOCOLS)}.')
    if problems or not translated:
        return problems
    try:
        java_properties(client)
    except DrError as error:
        return [f"{where}: {error.message} {error.hint}"]
    return []


def _check_plain(where: str, settings: Mapping[Any, Any], more: tuple[type, ...] = ()) -> list[str]:
    """Values that cannot be written as one text, unless their type is one of ``more``, and logins that are no texts."""
    problems = []
    for key, value in settings.items():
        if not isinstance(value, (str, int, float, *more)) or _shown(value) in ("nan", "inf", "-inf"):
            wanted = "a text, a number or true or false"
        elif isinstance(key, str) and _wants_text(key) and unquoted(value):
            wanted = "a text"
        else:
            continue
        hint = unquoted(value) if wanted == "a text" or isinstance(value, date) else ""
        problems.append(f'{where} has the value {_shown(value)} for "{key}", wanted {wanted}.{hint}')
    return problems


def _wants_text(key: str) -> bool:
    return (is_secret(key) or _TEXTS.search(key) is not None) and not _NO_TEXTS.search(key)


def _shown(value: Any) -> str:
    known = (bool, int, float, list, datetime, date)
    kind = next((kind for kind in known if isinstance(value, kind)), type(value)).__name__
    return str(value) if kind == "float" and not math.isfinite(value) else kind


# ---- settings of the flows

_PRODUCER_BROKERS = "producer.override.bootstrap.servers"


def _check_flow(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for key in ("replication_factor", "tasks_max", "syncs_compaction_lag_ms"):
        value = pair["flow"][key]
        if value is not None and not 0 < value <= (_FACTOR_MAX if key == "replication_factor" else 2**63 - 1):
            problems.append(f"kafka_dr_flow.{key} is {value}, wanted at least 1.")
    for key in FLOW_SETTINGS:
        problems += _check_settings(pair, f"kafka_dr_flow.{key}", pair["flow"][key])
    return problems


def _check_settings(pair: Mapping[str, Any], where: str, given: Mapping[Any, Any]) -> list[str]:
    """Settings for the connectors of both flows."""
    strange = [key for key in given if not isinstance(key, str) or not re.fullmatch(r"[!-<>-~]+", key)]
    if strange:
        return [f"{where} has the key {strange[0]!r}, wanted the name of a setting."]
    plain = _check_plain(where, given, (list, type(None)))
    if plain:
        return plain
    config = {key: None if value is None else as_text(value) for key, value in given.items()}
    problems = []
    if config.pop(_PRODUCER_BROKERS, None) is not None:
        problems.append(
            f'{where} sets "{_PRODUCER_BROKERS}" for both flows, but it can be correct only for one of them. Remove it,'
            " and set the connect_url of each cluster to the workers next to it."
        )
    problems += engine_inventory(pair["engine"]).setting_problems(where, config)
    return problems + _check_excluded(pair, where, config)


def _check_excluded(pair: Mapping[str, Any], where: str, config: Mapping[str, str | None]) -> list[str]:
    """Declared names that a custom ``topics.exclude`` or ``groups.exclude`` excludes; null restores the default."""
    problems = []
    for kind in ("topics", "groups"):
        if f"{kind}.exclude" in config:
            (taken,) = filters_of({f"{kind}.exclude": config[f"{kind}.exclude"]}, (kind,))
            problems += [
                f'{where} sets "{kind}.exclude", which excludes the {kind.removesuffix("s")} "{entry["name"]}".'
                for entry in pair[kind]
                if taken.takes(entry["name"]) is False and entry.get("mode") != "local"
            ]
    return problems


# ---- topics and groups


def _check_topic_values(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for topic in pair["topics"]:
        factor = topic["replication_factor"]
        if topic["partitions"] > _PARTITIONS_MAX:
            problems.append(
                f'The topic "{topic["name"]}" has {topic["partitions"]} partitions, wanted at most {_PARTITIONS_MAX}.'
            )
        if factor is not None and not 0 < factor <= _FACTOR_MAX:
            problems.append(f'The topic "{topic["name"]}" has replication_factor {factor}, wanted at least 1.')
        problems += [
            f'The topic "{topic["name"]}" has the config {key!r}: {value!r}, wanted the name of a topic setting and a'
            " text, a number, a list, or true or false."
            for key, value in topic["config"].items()
            if not isinstance(key, str) or not isinstance(value, str | int | float | list) or str(value) == "nan"
        ]
    return problems


def _check_topic_names(pair: Mapping[str, Any]) -> list[str]:
    """Names on each cluster: replica names that are too long, and names whose metrics collide in Kafka."""
    naming = naming_of(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    problems = []
    for alias in pair["clusters"]:
        replicas = {naming.replica(alias, name): name for name in originals}
        problems += [
            f'The topic "{name}" cannot be replicated: its replica\'s name would have {len(replica)} characters,'
            " wanted at most 249."
            for replica, name in replicas.items()
            if len(replica) > 249 and is_legal_topic(name)
        ]
        others = [naming.replica(other, name) for other in pair["clusters"] if other != alias for name in originals]
        reserved = _reserved(pair, naming, alias)
        problems += [
            f'The topic "{name}" has the name that {reserved[name]}. Choose another name.'
            for name in originals
            if name in reserved and name != pair["journal_topic"] and is_legal_topic(name) and not is_internal(name)
        ]
        here = dict.fromkeys([*originals, *others, *reserved])
        by_metric: dict[str, list[str]] = {}
        for name in here:
            by_metric.setdefault(name.replace(".", "_"), []).append(name)
        problems += [
            f'The topics "{found[0]}" and "{found[1]}" would both be on {alias}, and their names differ only in "." and'
            ' "_": Kafka refuses such topics because their metrics collide.'
            for found in by_metric.values()
            if len(found) > 1
        ]
    return list(dict.fromkeys(problems))


def _reserved(pair: Mapping[str, Any], naming: Naming, alias: str) -> dict[str, str]:
    """Reserved topic names on ``alias``, and what uses them."""
    found = {salvage_topic(t["name"]): f'salvage uses for restored records of "{t["name"]}"' for t in pair["topics"]}
    for other in pair["clusters"]:
        found[naming.offset_syncs(other)] = "MirrorMaker 2 uses for its offset-syncs"
        if other != alias:
            found[naming.checkpoints(other)] = "MirrorMaker 2 uses for its checkpoints"
            found[naming.heartbeats(other)] = "MirrorMaker 2 uses for heartbeats"
    return {**found, HEARTBEATS: "MirrorMaker 2 uses for heartbeats", pair["journal_topic"]: "", STATE_TOPIC: ""}


def _check_salvage(pair: Mapping[str, Any]) -> list[str]:
    if pair["salvage"] != "replay" or pair["salvage_into"] == "original":
        return []
    return [
        f'The tail of the topic "{topic["name"]}" cannot be replayed into a topic of its own: the name would have'
        f' {length} characters, wanted at most 249. Set kafka_dr_salvage_into to "original".'
        for topic in pair["topics"]
        if (length := len(salvage_topic(topic["name"]))) > 249 and is_legal_topic(topic["name"])
    ]


def _check_journal(pair: Mapping[str, Any]) -> list[str]:
    name, naming = pair["journal_topic"], naming_of(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    replicas = [naming.replica(alias, topic) for alias in pair["clusters"] for topic in originals]
    reason = ""
    if not is_legal_topic(name):
        reason = "which is not a valid topic name"
    elif name in originals or name in replicas:
        reason = "which is a topic of the pair"
    elif name in map(salvage_topic, originals):
        reason = "which salvage uses for restored records"
    elif name == STATE_TOPIC:
        reason = "which is the topic of the pair's latest state"
    elif is_internal(name.removesuffix("-internal")) or name.startswith("."):
        reason = "which belongs to Kafka, Kafka Connect or MirrorMaker 2"
    return [f'kafka_dr_journal_topic is "{one_line(name)}", {reason}. Choose another name.'] if reason else []


def _check_groups(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_groups names "{one_line(group["name"])}", wanted a name that is not empty and has no control'
        " characters."
        for group in pair["groups"]
        if not group["name"].strip() or not group["name"].isprintable()
    ]


# ---- applications


def _check_applications(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for client in pair["clients"]:
        where = f'The client "{client["name"]}"'
        principal = client["principal"]
        if not client["name"].strip():
            problems.append("kafka_dr_clients has a client without a name.")
        if not client["hosts"].strip():
            problems.append(f"{where} has an empty hosts, wanted a host or a group of the Ansible inventory.")
        if principal is not None and not _PRINCIPAL.fullmatch(principal):
            problems.append(
                f'{where} has the principal "{one_line(principal)}", wanted one such as "User:payments-api", without'
                " a wildcard."
            )
        if client["role"] == "producer" and client["group"] is not None:
            problems.append(
                f'{where} is a producer and names the group "{client["group"]}". Remove the group or correct the role.'
            )
        if file_mode(client["endpoint_mode"]) is None:
            problems.append(
                f'{where} has the endpoint_mode "{client["endpoint_mode"]}", wanted octal digits such as "0640".'
            )
        for key in ("endpoint_file", "tasks_file"):
            value = client[key]
            if value is not None and (not value.startswith("/") or value.endswith("/") or not value.isprintable()):
                problems.append(f'{where} has the {key} "{one_line(value)}", wanted an absolute path of a file.')
        if client["unit"] is not None and not _UNIT.fullmatch(client["unit"]):
            problems.append(f'{where} has the unit "{one_line(client["unit"])}", which systemd would not accept.')
        for key in ("start", "stop"):
            if client[key] is not None and not client[key]:
                problems.append(f"{where} has an empty list in {key}, wanted a command and its arguments.")
    return problems


def shared_endpoint_files(pair: Mapping[str, Any], hosts: Mapping[str, Sequence[str]]) -> list[str]:
    """Clients that would overwrite each other's endpoint file, in sentences. ``hosts``: groups of the inventory."""
    users: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for client in pair["clients"]:
        for host in hosts.get(client["hosts"]) or [client["hosts"]]:
            if client["endpoint_file"]:
                users.setdefault((host, normpath(client["endpoint_file"])), []).append(client)
    found: dict[tuple[str, str], str] = {}
    for (host, path), clients in users.items():
        if len({_process(client) for client in clients}) > 1:
            # One problem is enough for all hosts of a group.
            found.setdefault((path, _quoted_names(clients)), host)
    return [
        f'The clients {names} on "{host}" have the same endpoint_file "{path}". Only declarations of one process may'
        " share it."
        for (path, names), host in found.items()
    ]


def check_hosts(pair: Mapping[str, Any], hosts: Mapping[str, Sequence[str]]) -> list[str]:
    """Clients on hosts that the Ansible inventory does not have, in sentences. ``hosts``: its groups, with ``all``."""
    known = {*hosts, *hosts.get("all", ()), "localhost"}
    problems = []
    for client in pair["clients"]:
        where, name = f'The client "{client["name"]}" has hosts "{one_line(client["hosts"])}"', client["hosts"]
        if name.strip() and name not in known:
            problems.append(f"{where}, which is neither a host nor a group of the Ansible inventory.")
        elif name in hosts and not hosts[name]:
            problems.append(f"{where}, which is an empty group of the Ansible inventory.")
    return problems


def _quoted_names(clients: Iterable[Mapping[str, Any]]) -> str:
    return " and ".join(f'"{client["name"]}"' for client in clients)


def _process(client: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(client[key]) for key in ("control", "unit", "tasks_file", "start"))


# ---- a run

# The minimum that Spark's UnifiedMemoryManager requires of a driver.
_LEAST_HEAP = 450 * 2**20
# What a 64-bit JVM can address.
_MOST_HEAP = 2**47


def _check_run(pair: Mapping[str, Any]) -> list[str]:
    problems = [] if pair["run_on"].strip() else ["kafka_dr_run_on is empty, wanted a host of the Ansible inventory."]
    metrics, principal, memory = (pair[key] for key in ("metrics_file", "rehearsal_principal", "spark_memory"))
    if metrics and not re.fullmatch(r"[/~].*[^/]\.prom", metrics):
        problems.append(
            f'kafka_dr_metrics_file is "{one_line(metrics)}", wanted an absolute path that ends in ".prom":'
            " node_exporter reads no other files."
        )
    if principal and not _PRINCIPAL.fullmatch(principal):
        problems.append(
            f'kafka_dr_rehearsal_principal is "{one_line(principal)}", wanted one such as'
            ' "User:rehearsal", without a wildcard.'
        )
    if memory is not None and not _LEAST_HEAP <= (heap_bytes(memory) or 0) <= _MOST_HEAP:
        problems.append(
            f'kafka_dr_spark_memory is "{one_line(memory)}", wanted a whole number and one of the letters k, m, g and'
            ' t, such as "2g", and at least "450m": the driver of Spark does not start with less.'
        )
    problems += _check_client("kafka_dr_rehearsal_client", pair["rehearsal_client"] or {}, translated=False)
    return problems + _check_spark_conf(pair["spark_conf"] or {})


def _check_aliases(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_{key} is "{pair[key]}", which is not in kafka_dr_clusters.{nearest(pair[key], pair["clusters"])}'
        for key in ("to", "applications_on")
        if pair[key] and pair[key] not in pair["clusters"]
    ]


def _check_spark_conf(given: Mapping[Any, Any]) -> list[str]:
    strange = [key for key in given if not isinstance(key, str) or not re.fullmatch(r"spark\.[!-<>-~]+", key)]
    return [
        *(f'kafka_dr_spark_conf has the key "{key}", wanted the name of a Spark setting.' for key in strange),
        *_check_plain("kafka_dr_spark_conf", given),
    ]


# ---- what a run accepts by name


def _check_accepted_topics(pair: Mapping[str, Any]) -> list[str]:
    naming = naming_of(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    known = {*originals, *(naming.replica(alias, name) for alias in pair["clusters"] for name in originals)}
    return [text for variable in _ACCEPTED_TOPICS for text in _unknown(variable, pair[variable], known, "topic")]


def _check_drop(pair: Mapping[str, Any]) -> list[str]:
    """A name that the inventory lists and lets leave the pair: one of both is a mistake."""
    kinds = {
        "topics": {topic["name"] for topic in pair["topics"]},
        "groups": {group["name"] for group in pair["groups"] if group["mode"] == "moved"},
    }
    return [
        f'kafka_dr_drop names "{name}", which kafka_dr_{kind} lists. Remove it from one of them.'
        for kind, listed in kinds.items()
        for name in names(pair["drop"] or [])
        if name in listed
    ]


def _check_accepted_checks(pair: Mapping[str, Any]) -> list[str]:
    return _unknown("ready_accept", pair["ready_accept"], {check.name for check in CHECKS}, "check")


def _check_accepted_groups(pair: Mapping[str, Any]) -> list[str]:
    """Wrong groups. A misspelt name would accept nothing, which would show only in the middle of a move."""
    declared = [group["name"] for group in pair["groups"]]
    return [
        f'kafka_dr_accept_skips names "{name}", which is not in kafka_dr_groups.{nearest(name, declared)}'
        for name in names(pair["accept_skips"] or [])
        if name not in declared
    ] + [
        f'kafka_dr_accept_undeclared names "{name}", which is in kafka_dr_groups too. Remove it from one of them.'
        for name in names(pair["accept_undeclared"] or [])
        if name in declared
    ]


def _check_audit_accept(pair: Mapping[str, Any]) -> list[str]:
    topics = [topic["name"] for topic in pair["topics"]]
    problems = []
    for topic, kinds in (pair["audit_accept"] or {}).items():
        if topic not in topics:
            problems.append(f'kafka_dr_audit_accept names the unknown topic "{topic}".{nearest(str(topic), topics)}')
        if not isinstance(kinds, list | tuple):
            problems.append(f'kafka_dr_audit_accept needs a list of kinds for "{topic}".')
            continue
        problems += [
            f'kafka_dr_audit_accept names the unknown kind "{kind}" for "{topic}".{nearest(str(kind), AUDIT_KINDS)}'
            for kind in kinds
            if kind not in AUDIT_KINDS
        ]
    return problems


def _check_logins(pair: Mapping[str, Any]) -> list[str]:
    principals = [client["principal"] for client in pair["clients"] if client["principal"]]
    problems = []
    for principal, login in (pair["fence_logins"] or {}).items():
        if principal not in principals:
            problems.append(
                f'kafka_dr_fence_logins names the principal "{principal}", which no client of kafka_dr_clients has.'
                f"{nearest(str(principal), principals)}"
            )
        elif not isinstance(login, Mapping):
            problems.append(f'kafka_dr_fence_logins needs a dictionary of client properties for "{principal}".')
        else:
            problems += _check_client(f'kafka_dr_fence_logins["{principal}"]', login, translated=False)
    return problems


def _unknown(variable: str, given: Any, known: Iterable[str], kind: str) -> list[str]:
    return [
        f'kafka_dr_{variable} names the unknown {kind} "{name}".{nearest(name, known)}'
        for name in names(given or [])
        if name not in known
    ]


#: Checks of all variables, each with the variables that it needs without wrong types: in an incomplete list, an
#: existing name would look unknown.
VALUE_CHECKS: tuple[tuple[str, Callable[[Mapping[str, Any]], list[str]]], ...] = (
    ("", _check_separator),
    ("", _check_connections),
    ("engine", _check_flow),
    ("", _check_topic_values),
    ("policy separator", _check_topic_names),
    ("topics", _check_salvage),
    ("policy separator", _check_journal),
    ("", _check_groups),
    ("", _check_applications),
    ("topics clusters policy separator", _check_accepted_topics),
    ("", _check_drop),
    ("", _check_accepted_checks),
    ("groups", _check_accepted_groups),
    ("topics", _check_audit_accept),
    ("clients", _check_logins),
    ("clusters", _check_aliases),
    ("", _check_run),
)

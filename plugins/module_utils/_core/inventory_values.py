# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventory values that a later step parses: refused before the first change, by what will parse them.

Every function returns the problems that it found, each as one sentence that names the variable.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from posixpath import normpath
from typing import Any
from urllib.parse import urlsplit

from .errors import DrError
from .names import STATE_TOPIC, Naming, is_internal
from .readiness_checks import CHECKS
from .schema import Key, check_mapping, names, nearest
from .security import java_properties
from .values import file_mode

__all__ = ["AUDIT_KINDS", "addresses", "check_values", "is_legal_topic", "printable", "shared_endpoint_files"]

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SEPARATOR = re.compile(r"[A-Za-z0-9._-]+")
# A broker address as librdkafka and the Java clients both read it: [PROTOCOL://]HOST:PORT, HOST an IPv6 address in
# brackets or a name.
_ADDRESS = re.compile(
    r"(?:(?:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL)://)?(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})"
)
_PRINCIPAL = re.compile(r"User:[^*\s]\S*(?: \S+)*")
# More than any cluster serves: a count beyond this is a slip of the pen.
_PARTITIONS_MAX = 100_000
_FACTOR_MAX = 32_767
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_UNIT = re.compile(r"[A-Za-z0-9:_.@\\-]+")
_CONNECT_KEYS = {
    **dict.fromkeys(("url_username", "url_password", "ca_path", "client_cert", "client_key"), Key()),
    **dict.fromkeys(("validate_certs", "use_proxy"), Key("flag")),
}
_OWN_PROPERTIES = {
    "bootstrap.servers": "kafka_dr_clusters has a key bootstrap_servers for it",
    "metadata.broker.list": "kafka_dr_clusters has a key bootstrap_servers for it",
    "group.id": "the group of an application is declared in kafka_dr_groups",
}
# Kinds of differences that an audit may be told to accept: KINDS of spark/kafka_dr_audit/differences.py.
AUDIT_KINDS = (
    *("LOST", "CORRUPT", "REORDERED", "MISPLACED", "ABORTED", "FOREIGN", "DUPLICATE"),
    *("ERRANT", "NOT_YET", "NEWER", "EXPIRED", "COMPACTED", "RETIMED"),
)
_ACCEPTED_TOPICS = ("accept_foreign", "accept_tail", "accept_expired", "accept_newer_keys", "copy_again")


def is_legal_topic(name: str) -> bool:
    """Kafka's rule for topic names (org.apache.kafka.common.internals.Topic)."""
    return bool(_TOPIC.fullmatch(name)) and name not in (".", "..")


def addresses(servers: str) -> list[str] | None:
    """``host:port`` of each bootstrap server in lower case, None if the text is not a list of such addresses."""
    found = []
    for text in servers.split(","):
        match = _ADDRESS.fullmatch(text.strip(" "))
        if match is None or not 0 < int(match[2]) < 65536:
            return None
        found.append(f"{match[1]}:{int(match[2])}".lower())
    return found


def check_values(pair: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    """Problems of a pair whose keys have the right types. ``run``: the variables of a run, without their prefix."""
    return [
        *_check_separator(pair),
        *_check_connections(pair),
        *_check_topic_values(pair),
        *_check_topic_names(pair),
        *_check_journal(pair),
        *_check_groups(pair),
        *_check_applications(pair),
        *_check_accepted(pair, run),
    ]


def _check_separator(pair: Mapping[str, Any]) -> list[str]:
    separator = pair["separator"]
    if _SEPARATOR.fullmatch(separator):
        return []
    return [
        f'kafka_dr_separator is "{separator}", wanted one or more of the characters that topic names allow: letters,'
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
            problems.append(
                f'{where}.bootstrap_servers is "{_one_line(cluster["bootstrap_servers"])}", wanted host:port, or'
                " several of them with commas between."
            )
        # Equal texts as a whole have a message of their own.
        same = [address for address in found or [] if address in seen and seen[address] != alias]
        if same and len({one["bootstrap_servers"] for one in pair["clusters"].values()}) > 1:
            problems.append(
                f'{where}.bootstrap_servers names "{same[0]}", as kafka_dr_clusters.{seen[same[0]]} does: both would'
                " lead to the same cluster."
            )
        seen.update(dict.fromkeys(found or [], alias))
        if cluster["connect_url"]:
            problems += _check_url(f"{where}.connect_url", cluster["connect_url"])
        problems += check_mapping(f"{where}.connect_client", cluster["connect_client"], _CONNECT_KEYS)[1]
        for key in ("client", "admin_client"):
            problems += _check_client(f"{where}.{key}", cluster[key] or {}, translated=key == "client")
    for alias, site in pair["srm"].items():
        problems += _check_url(f"kafka_dr_srm.{alias}.url", site["url"])
    return problems


def _check_url(where: str, url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", url)
        port = parts.port
    except ValueError:
        return [f'{where} is "{_one_line(url)}", which is not a URL.']
    if "@" in parts.netloc:
        return [f"{where} contains a user name or a password. Give them in connect_client or client instead."]
    if not whole or port == 0 or parts.query or parts.fragment:
        return [f'{where} is "{_one_line(url)}", wanted an address such as "https://host:8083".']
    return []


def _check_client(where: str, client: Mapping[Any, Any], translated: bool) -> list[str]:
    texts = [key for key in client if not isinstance(key, str)]
    if texts:
        return [f"{where} has the key {texts[0]!r}, wanted the name of a client property."]
    problems = [
        f'{where} sets "{key}": {reason}.'
        for key, reason in _OWN_PROPERTIES.items()
        if key in client or f"java.{key}" in client
    ]
    problems += [
        f'{where} has the value {type(value).__name__} for "{key}", wanted a text, a number or true or false.'
        for key, value in client.items()
        if not isinstance(value, str | int | float)
    ]
    problems += [
        f'{where} has the unknown property "{key}": names of client properties have dots, such as "sasl.username".'
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
    for key in ("replication_factor", "tasks_max", "syncs_compaction_lag_ms"):
        value = pair["flow"][key]
        if value is not None and not 0 < value <= (_FACTOR_MAX if key == "replication_factor" else 2**63 - 1):
            problems.append(f"kafka_dr_flow.{key} is {value}, wanted at least 1.")
    return problems


def _check_topic_names(pair: Mapping[str, Any]) -> list[str]:
    """Names on each cluster: replicas that are too long, and names that Kafka takes for each other in metrics."""
    naming = Naming(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    problems = []
    for alias in pair["clusters"]:
        replicas = {naming.replica(alias, name): name for name in originals}
        problems += [
            f'The topic "{name}" cannot be replicated: its replica\'s name would have {len(replica)} characters,'
            " and Kafka allows 249."
            for replica, name in replicas.items()
            if len(replica) > 249 and is_legal_topic(name)
        ]
        others = [naming.replica(other, name) for other in pair["clusters"] if other != alias for name in originals]
        here = dict.fromkeys([*originals, *others])
        by_metric: dict[str, list[str]] = {}
        for name in here:
            by_metric.setdefault(name.replace(".", "_"), []).append(name)
        problems += [
            f'The topics "{found[0]}" and "{found[1]}" would both be on {alias}, and their names differ in "." and "_"'
            " only: Kafka refuses such topics, whose metrics collide."
            for found in by_metric.values()
            if len(found) > 1
        ]
    return list(dict.fromkeys(problems))


def _check_journal(pair: Mapping[str, Any]) -> list[str]:
    name, naming = pair["journal_topic"], Naming(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    replicas = [naming.replica(alias, topic) for alias in pair["clusters"] for topic in originals]
    reason = ""
    if not is_legal_topic(name):
        reason = "which is not a legal topic name"
    elif name in originals or name in replicas:
        reason = "which is a topic of the pair"
    elif name == STATE_TOPIC:
        reason = "which is the topic of the pair's latest state"
    elif is_internal(name.removesuffix("-internal")) or name.startswith("."):
        reason = "which belongs to Kafka, Kafka Connect or MirrorMaker 2"
    return [f'kafka_dr_journal_topic is "{_one_line(name)}", {reason}. Choose another name.'] if reason else []


def _check_groups(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_groups names "{_one_line(group["name"])}", wanted a name without control characters that is not'
        " empty."
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
            problems.append(f"{where} has an empty text in hosts, wanted a host or a group of the Ansible inventory.")
        if principal is not None and not _PRINCIPAL.fullmatch(principal):
            problems.append(
                f'{where} has the principal "{_one_line(principal)}", wanted one such as "User:payments-api", without'
                " a wildcard."
            )
        if client["role"] == "producer" and client["group"] is not None:
            problems.append(f'{where} is a producer and names the group "{client["group"]}". Remove it, or its role.')
        if file_mode(client["endpoint_mode"]) is None:
            problems.append(
                f'{where} has the endpoint_mode "{client["endpoint_mode"]}", wanted octal digits such as "0640".'
            )
        for key in ("endpoint_file", "tasks_file"):
            value = client[key]
            if value is not None and (not value.startswith("/") or value.endswith("/") or not value.isprintable()):
                problems.append(f'{where} has the {key} "{_one_line(value)}", wanted an absolute path of a file.')
        if client["unit"] is not None and not _UNIT.fullmatch(client["unit"]):
            problems.append(f'{where} has the unit "{_one_line(client["unit"])}", which systemd would not accept.')
        for key in ("start", "stop"):
            if client[key] is not None and not client[key]:
                problems.append(f"{where} has an empty list in {key}, wanted a command and its arguments.")
    for alias, site in pair["srm"].items():
        if not site["command"]:
            problems.append(f"kafka_dr_srm.{alias}.command is empty, wanted a command and its arguments.")
    return problems


def shared_endpoint_files(pair: Mapping[str, Any]) -> list[str]:
    """Problems of applications that would overwrite each other's endpoint file."""
    users: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for client in pair["clients"]:
        if client["endpoint_file"]:
            users.setdefault((client["hosts"], normpath(client["endpoint_file"])), []).append(client)
    return [
        f'The clients {_quoted_names(found)} on "{hosts}" have the same endpoint_file "{path}". Only declarations of'
        " one process may share it."
        for (hosts, path), found in users.items()
        if len({_process(client) for client in found}) > 1
    ]


def _quoted_names(clients: Iterable[Mapping[str, Any]]) -> str:
    return " and ".join(f'"{client["name"]}"' for client in clients)


def _process(client: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(client[key]) for key in ("control", "unit", "tasks_file", "start"))


# ---- what a run accepts by name


def _check_accepted(pair: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    naming = Naming(pair["policy"], pair["separator"])
    originals = [topic["name"] for topic in pair["topics"]]
    known = {*originals, *(naming.replica(alias, name) for alias in pair["clusters"] for name in originals)}
    problems = []
    for variable in _ACCEPTED_TOPICS:
        problems += _unknown(variable, run.get(variable), known, "topic")
    problems += _check_audit_accept(run.get("audit_accept") or {}, originals)
    problems += _check_logins(run.get("fence_logins") or {}, pair)
    return problems + _unknown("ready_accept", run.get("ready_accept"), {check.name for check in CHECKS}, "check")


def _check_audit_accept(given: Mapping[Any, Any], topics: list[str]) -> list[str]:
    problems = []
    for topic, kinds in given.items():
        if topic not in topics:
            problems.append(f'kafka_dr_audit_accept names the unknown topic "{topic}".{nearest(str(topic), topics)}')
        if not isinstance(kinds, list | tuple):
            problems.append(f'kafka_dr_audit_accept has no list of kinds for "{topic}".')
            continue
        problems += [
            f'kafka_dr_audit_accept names the unknown kind "{kind}" for "{topic}".{nearest(str(kind), AUDIT_KINDS)}'
            for kind in kinds
            if kind not in AUDIT_KINDS
        ]
    return problems


def _check_logins(given: Mapping[Any, Any], pair: Mapping[str, Any]) -> list[str]:
    principals = [client["principal"] for client in pair["clients"] if client["principal"]]
    problems = []
    for principal, login in given.items():
        if principal not in principals:
            problems.append(
                f'kafka_dr_fence_logins names the principal "{principal}", which no client of kafka_dr_clients has.'
                f"{nearest(str(principal), principals)}"
            )
        elif not isinstance(login, Mapping):
            problems.append(f'kafka_dr_fence_logins has no dictionary of client properties for "{principal}".')
        else:
            problems += _check_client(f'kafka_dr_fence_logins["{principal}"]', login, translated=False)
    return problems


def _unknown(variable: str, given: Any, known: Iterable[str], kind: str) -> list[str]:
    return [
        f'kafka_dr_{variable} names the unknown {kind} "{name}".{nearest(name, known)}'
        for name in names(given or [])
        if name not in known
    ]


def printable(text: str) -> str:
    """``text`` on one line, with escapes for characters that a terminal would not show."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def _one_line(text: str) -> str:
    """``text`` as part of a message: printable, and not longer than a screen is wide."""
    shown = printable(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What scenarios ask without the collection: outside.py COMMAND, which prints one line of JSON.

The commands: ``clusters [ALIAS...]``, ``arrived [ALIAS...]``, ``report FILE``, ``load DIR N``, ``count DIR``.
``clusters`` and ``arrived`` read ``kafka_dr_clusters`` from standard input.
"""

from __future__ import annotations

import base64
import json
import ssl
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

# What producers of all scenarios write; its replica is called so too, behind an alias.
TOPIC = "Payments"


def clusters(described: dict[str, Any], aliases: tuple[str, ...]) -> dict[str, Any]:
    """What Kafka says by alias (all without one), and by state the connectors of the workers beside those clusters."""
    asked = {alias: described[alias] for alias in aliases or described}
    states: dict[str, list[str]] = {"RUNNING": [], "STOPPED": []}
    for one in asked.values():
        for name, state in _connectors(one).items() if "connect_url" in one else ():
            states.setdefault(state, []).append(name)
    kafka = {alias: _kafka(one) for alias, one in asked.items()}
    return {"connectors": {state: sorted(names) for state, names in states.items()}, **kafka}


def arrived(described: dict[str, Any], aliases: tuple[str, ...]) -> dict[str, Any]:
    """What ``clusters`` says, and by flow between them that is not stopped how many records it has not noted as sent.

    How much lies on both sides does not tell: two flows may owe the same, and what one sends again hides what it owes.
    """
    found = clusters(described, aliases)
    owed = {}
    for name in [name for state, names in found["connectors"].items() if state != "STOPPED" for name in names]:
        source, target = name.removesuffix(".MirrorSourceConnector").split("->")
        if target in found and source in found:  # of the other connectors the name goes on
            owed[name] = _owed(found[source]["ends"], _ask(described[target], f"connectors/{quote(name)}/offsets"))
    return {**found, "owed": owed}


def _owed(ends: list[int], noted: dict[str, Any]) -> int:
    """MirrorMaker 2 notes the offset of the last record that it has sent."""
    sent = {
        one["partition"]["partition"]: one["offset"]["offset"] + 1
        for one in noted["offsets"]
        if one["partition"]["topic"] == TOPIC and one["offset"]
    }
    return sum(max(0, end - sent.get(number, 0)) for number, end in enumerate(ends))


def _kafka(described: dict[str, Any]) -> dict[str, Any]:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient, OffsetSpec

    own = {"bootstrap.servers": described["bootstrap_servers"], "log_level": 0}
    admin = AdminClient({**own, **described.get("admin_client", {})})
    listed = admin.list_topics(timeout=15).topics
    topics = {name: len(topic.partitions) for name, topic in listed.items() if not name.startswith("__")}
    every = [TopicPartition(name, number) for name, partitions in topics.items() for number in range(partitions)]
    starts, ends = (
        {one: found.result(15).offset for one, found in admin.list_offsets(dict.fromkeys(every, spec)).items()}
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    records = sum(end - starts[one] for one, end in ends.items() if one.topic.split(".")[-1] == TOPIC)
    groups = [found.group_id for found in admin.list_consumer_groups().result(15).valid]
    unread = {group: _unread(admin, group, ends) for group in groups if not group.startswith("connect-")}
    written = [ends[TopicPartition(TOPIC, number)] for number in range(topics.get(TOPIC, 0))]
    return {"topics": topics, "records": records, "ends": written, "unread": unread, "denied": _denied(admin)}


def _unread(admin: Any, group: str, ends: dict[Any, int]) -> dict[str, int | None]:
    """By topic: offsets between the group's positions and the ends; None where a partition has no position."""
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(15)
    behind: dict[str, int | None] = {}
    for committed_offset in asked.topic_partitions:
        before = behind.get(committed_offset.topic, 0)
        known = (
            None
            if committed_offset.offset < 0
            else ends[TopicPartition(committed_offset.topic, committed_offset.partition)]
        )
        behind[committed_offset.topic] = (
            None if before is None or known is None else before + known - committed_offset.offset
        )
    return behind


def _denied(admin: Any) -> list[str]:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType
    from confluent_kafka.admin import ResourceType as Type

    any_text: Any = None  # which its types do not know
    any_of = (Type.ANY, any_text, ResourcePatternType.ANY, any_text, any_text)
    every = AclBindingFilter(*any_of, AclOperation.ANY, AclPermissionType.DENY)
    try:
        found = admin.describe_acls(every).result(15)
    except KafkaException as error:
        if error.args[0].name() == "SECURITY_DISABLED":
            return []
        raise
    return sorted(f"{acl.principal} {acl.operation.name} {acl.name}" for acl in found)


def _connectors(described: dict[str, Any]) -> dict[str, str]:
    found = _ask(described, "connectors?expand=status")
    return {name: one["status"]["connector"]["state"] for name, one in found.items()}


def _ask(described: dict[str, Any], what: str) -> dict[str, Any]:
    access = described.get("connect_client", {})
    request = urllib.request.Request(f"{described['connect_url']}/{what}")
    if "url_username" in access:
        login = f"{access['url_username']}:{access['url_password']}".encode()
        request.add_header("Authorization", f"Basic {base64.b64encode(login).decode()}")
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if "ca_path" in access:
        handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=access["ca_path"])))
    with urllib.request.build_opener(*handlers).open(request, timeout=15) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def report(path: Path) -> dict[str, Any]:
    """What a report says in short, and where it is not what its published schema promises."""
    from schemas import faults

    found = json.loads(path.read_text())
    verdicts = {check["name"]: check["verdict"] for check in found.get("checks", []) if "verdict" in check}
    return {**found, "verdicts": verdicts, "faults": faults(found)}


def load(folder: Path, records: int) -> dict[str, Any]:
    """Applications that do not run start; returns when they have written and read so many more records."""
    from scenario import Scenario

    pair = Scenario(folder)
    pair.start()
    pair.traffic(records)
    return {"acknowledged": pair.count("acknowledged")}


def count(folder: Path) -> dict[str, int]:
    """Applications stop, groups having read to the end; the ledgers are compared record by record."""
    from scenario import Scenario, totals

    pair = Scenario(folder)
    pair.stop()
    return totals(pair.check())


def main(command: str, *words: str) -> Any:
    if command == "clusters":
        return clusters(json.load(sys.stdin), words)
    if command == "arrived":
        return arrived(json.load(sys.stdin), words)
    if command == "report":
        return report(Path(words[0]))
    if command == "load":
        return load(Path(words[0]), int(words[1]))
    return count(Path(words[0]))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])) + "\n")

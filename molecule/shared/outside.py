# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read clusters, reports and ledgers without the collection. ``outside.py COMMAND`` prints one line of JSON.

The commands are ``clusters [ALIAS...]``, ``arrived [ALIAS...]``, ``report FILE``, ``load DIR N`` and ``count DIR``.
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

#: The topic that the producers of all scenarios write. The name of its replica ends with it.
TOPIC = "Payments"


def clusters(described: dict[str, Any], aliases: tuple[str, ...]) -> dict[str, Any]:
    """Topics, offsets and ACLs by alias (default: all), and the connectors of those clusters' workers by state."""
    selected = {alias: described[alias] for alias in aliases or described}
    states: dict[str, list[str]] = {"RUNNING": [], "STOPPED": []}
    for cluster in selected.values():
        for name, state in _connectors(cluster).items() if "connect_url" in cluster else ():
            states.setdefault(state, []).append(name)
    kafka = {alias: _kafka(cluster) for alias, cluster in selected.items()}
    return {"connectors": {state: sorted(names) for state, names in states.items()}, **kafka}


def arrived(described: dict[str, Any], aliases: tuple[str, ...]) -> dict[str, Any]:
    """The result of ``clusters`` with ``unsent``: by running flow, the number of records without a stored offset.

    Record counts of both clusters are no substitute: two flows may lag by the same number, and duplicates may hide lag.
    """
    found = clusters(described, aliases)
    unsent = {}
    for name in [name for state, names in found["connectors"].items() if state != "STOPPED" for name in names]:
        source, target = name.removesuffix(".MirrorSourceConnector").split("->")
        if target in found and source in found:  # source connectors only: the names of the others have another suffix
            offsets = _get(described[target], f"connectors/{quote(name)}/offsets")
            unsent[name] = _unsent(found[source]["ends"], offsets)
    return {**found, "unsent": unsent}


def _unsent(ends: list[int], stored: dict[str, Any]) -> int:
    """Number of records after the stored offsets. MirrorMaker 2 stores the offset of the last record that it sent."""
    sent = {
        entry["partition"]["partition"]: entry["offset"]["offset"] + 1
        for entry in stored["offsets"]
        if entry["partition"]["topic"] == TOPIC and entry["offset"]
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
        {
            partition: found.result(15).offset
            for partition, found in admin.list_offsets(dict.fromkeys(every, spec)).items()
        }
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    records = sum(end - starts[partition] for partition, end in ends.items() if partition.topic.split(".")[-1] == TOPIC)
    groups = [found.group_id for found in admin.list_consumer_groups().result(15).valid]
    unread = {group: _unread(admin, group, ends) for group in groups if not group.startswith("connect-")}
    written = [ends[TopicPartition(TOPIC, number)] for number in range(topics.get(TOPIC, 0))]
    return {"topics": topics, "records": records, "ends": written, "unread": unread, "denied": _denied(admin)}


def _unread(admin: Any, group: str, ends: dict[Any, int]) -> dict[str, int | None]:
    """Lag of the group by topic, in offsets. None if a partition of the topic has no committed offset."""
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(15)
    lag: dict[str, int | None] = {}
    for committed_offset in asked.topic_partitions:
        before = lag.get(committed_offset.topic, 0)
        end = (
            None
            if committed_offset.offset < 0
            else ends[TopicPartition(committed_offset.topic, committed_offset.partition)]
        )
        lag[committed_offset.topic] = None if before is None or end is None else before + end - committed_offset.offset
    return lag


def _denied(admin: Any) -> list[str]:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType
    from confluent_kafka.admin import ResourceType as Type

    any_text: Any = None  # the library accepts None, its type hints do not
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
    found = _get(described, "connectors?expand=status")
    return {name: connector["status"]["connector"]["state"] for name, connector in found.items()}


def _get(described: dict[str, Any], path: str) -> dict[str, Any]:
    access = described.get("connect_client", {})
    request = urllib.request.Request(f"{described['connect_url']}/{path}")
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
    """The report with ``verdicts`` (by check) and ``faults`` (violations of its published schema)."""
    from schemas import faults

    found = json.loads(path.read_text())
    verdicts = {check["name"]: check["verdict"] for check in found.get("checks", []) if "verdict" in check}
    return {**found, "verdicts": verdicts, "faults": faults(found)}


def load(folder: Path, records: int) -> dict[str, Any]:
    """Start stopped applications and wait until all have written and read ``records`` more records."""
    from scenario import Scenario

    pair = Scenario(folder)
    pair.start()
    pair.traffic(records)
    return {"acknowledged": pair.count("acknowledged")}


def count(folder: Path) -> dict[str, int]:
    """Stop the applications after their groups have read to the end, and compare the ledgers record by record."""
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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A coordinator that answers after the time-out: librdkafka crashed the process as soon as the broker answered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import NewTopic

from brokers import admin

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

# Late answers to 36 requests each.
ROUNDS = int(os.environ.get("KAFKA_DR_LATE_ROUNDS", "3"))
# In a process of its own, which prints one line at the time-out and one after the broker has continued.
CLIENT = """
import sys
import time
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka

kafka = Kafka(sys.argv[1], {}, 3.0)
kafka.identify(None)
names = [f"late-{number}" for number in range(5)]
print("connected", flush=True)
sys.stdin.readline()
try:
    {
        "describe": lambda: groups.describe(kafka, names),
        "offsets": lambda: groups.committed_offsets(kafka, names),
        "delete": lambda: groups.delete(kafka, names),
        "commit": lambda: print(groups.commit(kafka, {names[0]: {Partition("late", 0): groups.Committed(1)}})),
    }[sys.argv[2]]()
except DrError as error:
    print(error.code, flush=True)
print("timed out", flush=True)
sys.stdin.readline()
kafka.timeout = 15.0
# A commit that was given up before it was sent is not sent later.
until, looks = time.monotonic() + 5, 0
while looks == 0 or time.monotonic() < until:
    try:
        assert groups.committed_offsets(kafka, names) == {name: {} for name in names}
        looks += 1
    except DrError as error:  # A slow broker. A crash ends the process.
        print(error, file=sys.stderr, flush=True)
print("alive", flush=True)
"""


@pytest.mark.parametrize("request_kind", ["describe", "offsets", "delete", "commit"])
def test_a_process_survives_a_broker_that_continues_after_the_time_out(
    lab: Any, request_kind: str, tmp_path: Path
) -> None:
    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    own = admin(lab, "P")
    if "late" not in own.list_topics().topics:
        own.create_topics([NewTopic("late", 1, 1)])["late"].result(30)
    # A crash leaves a stack.
    command = [sys.executable, "-X", "faulthandler", "-c", CLIENT, servers, request_kind]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    errors = tmp_path / "errors"
    with (
        errors.open("w") as said,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, bufsize=1, env=environment
        ) as client,
    ):
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        lab.pause("P", "broker")
        try:
            client.stdin.write("go\n")
            answer = client.stdout.readline()
            assert "did not answer" in answer or answer == "kafka_unreachable\n"
            assert client.stdout.readline() == "timed out\n"
        finally:
            lab.resume("P", "broker")
        client.stdin.write("go\n")
        last = client.stdout.readline()
        assert (last, client.wait(60)) == ("alive\n", 0), errors.read_text()


# Every request that our code sends to a broker other than a coordinator: librdkafka ends its time-out by itself. A
# longer time-out of sockets keeps the connection, so that the late answer arrives.
OTHERS = """
import sys
from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclBinding, AclBindingFilter, AclOperation, AclPermissionType, AlterConfigOpType, ConfigEntry, ConfigResource,
    NewPartitions, NewTopic, OffsetSpec, ResourcePatternType, ResourceType,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka

kafka = Kafka(sys.argv[1], {"socket.timeout.ms": int(sys.argv[2])}, 10.0)
kafka.identify(None)
admin, late, nothing = kafka.admin, {"request_timeout": 1.0}, {"request_timeout": 1.0, "validate_only": True}
place = (ResourceType.TOPIC, "late", ResourcePatternType.LITERAL, "User:late", "*")
acl = AclBinding(*place, AclOperation.READ, AclPermissionType.ALLOW)
acls = AclBindingFilter(*place, AclOperation.READ, AclPermissionType.ALLOW)
entry = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
setting = ConfigResource(ResourceType.TOPIC, "late", incremental_configs=[entry])

def ask():
    yield admin.list_consumer_groups(**late)
    yield admin.describe_acls(acls, **late)
    yield from admin.create_acls([acl], **late).values()
    yield from admin.delete_acls([acls], **late).values()
    yield from admin.describe_topics(TopicCollection(["late"]), **late).values()
    yield from admin.describe_topics(TopicCollection(["late"]), include_authorized_operations=True, **late).values()
    yield from admin.describe_configs([ConfigResource(ResourceType.TOPIC, "late")], **late).values()
    yield from admin.list_offsets({TopicPartition("late", 0): OffsetSpec.latest()}, **late).values()
    yield from admin.create_topics([NewTopic("late-2", 1, 1)], **nothing).values()
    yield from admin.create_partitions([NewPartitions("late", 2)], **nothing).values()
    yield from admin.incremental_alter_configs([setting], **nothing).values()
    yield from admin.delete_topics(["late-none"], **late).values()

while True:
    print("alive", flush=True)
    if sys.stdin.readline() == "end\\n":
        break
    for future in [future for _time in range(3) for future in ask()]:
        try:
            future.result(10)
        except KafkaException:
            pass
    kafka.timeout = 0.1
    try:
        kafka.identify(None)
    except Exception as error:
        print(type(error).__name__, flush=True)
    kafka.timeout = 10.0
    sys.stdin.readline()
    kafka.identify(None)
"""


@pytest.mark.parametrize("socket_timeout", [1000, 60_000])
def test_a_process_survives_late_answers_to_all_other_requests(lab: Any, socket_timeout: int) -> None:
    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    own = admin(lab, "P")
    if "late" not in own.list_topics().topics:
        own.create_topics([NewTopic("late", 1, 1)])["late"].result(30)
    command = [sys.executable, "-X", "faulthandler", "-c", OTHERS, servers, str(socket_timeout)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        for _round in range(ROUNDS):
            assert client.stdout.readline() == "alive\n"
            lab.pause("P", "broker")
            try:
                client.stdin.write("go\n")
                assert client.stdout.readline() == "Unreachable\n"
            finally:
                lab.resume("P", "broker")
            client.stdin.write("go\n")
        assert client.stdout.readline() == "alive\n"
        client.stdin.write("end\n")
    assert client.returncode == 0

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A coordinator that answers after the time-out: librdkafka crashed the process as soon as the broker answered."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from confluent_kafka.admin import NewTopic

from brokers import admin

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

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
        "commit": lambda: print(groups.commit(kafka, {names[0]: {Partition("late", 0): 1}})),
    }[sys.argv[2]]()
except DrError as error:
    print(error.code, flush=True)
print("timed out", flush=True)
sys.stdin.readline()
kafka.timeout = 15.0
# A commit that was given up before it was sent is not sent later.
until = time.monotonic() + 5
while time.monotonic() < until:
    assert groups.committed_offsets(kafka, names) == {name: {} for name in names}
print("alive", flush=True)
"""


@pytest.mark.parametrize("request_kind", ["describe", "offsets", "delete", "commit"])
def test_a_process_survives_a_broker_that_continues_after_the_time_out(lab: Any, request_kind: str) -> None:
    servers = lab.info()["clusters"]["P"]["bootstrap_servers"]
    own = admin(lab, "P")
    if "late" not in own.list_topics().topics:
        own.create_topics([NewTopic("late", 1, 1)])["late"].result(30)
    # A crash leaves a stack.
    command = [sys.executable, "-X", "faulthandler", "-c", CLIENT, servers, request_kind]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    ) as client:
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
        assert client.stdout.readline() == "alive\n"
    assert client.returncode == 0

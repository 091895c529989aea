# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of topics while a playbook runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from brokers import admin
from lab.lab import Lab


def hold_copies(lab: Lab, alias: str, topic: str, hold: bool) -> None:
    """MirrorMaker 2 stays RUNNING and replicates nothing, because its producer gets a retriable error each time.

    With one replica, ``min.insync.replicas`` of 2 refuses every write with acks=all (NOT_ENOUGH_REPLICAS).
    """
    entry = ConfigEntry("min.insync.replicas", "2" if hold else "1", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client = admin(lab, alias)
    for done in client.incremental_alter_configs([resource]).values():
        done.result()


def delete_topic(lab: Lab, alias: str, topic: str) -> None:
    """Delete a topic, as an administrator might."""
    client = admin(lab, alias)
    for done in client.delete_topics([topic]).values():
        done.result()


# Writes when a line arrives, and is killed within the transaction.
_KILLED = """
import json, os, signal, sys
from confluent_kafka import Producer
properties, topic = json.loads(sys.argv[1]), sys.argv[2]
producer = Producer(properties)
producer.init_transactions(30)
print("ready", flush=True)
sys.stdin.readline()
producer.begin_transaction()
producer.produce(topic, b"never committed", partition=0)
assert producer.flush(30) == 0
os.kill(os.getpid(), signal.SIGKILL)
"""


class LeftOpen:
    """A producer that is killed within its transaction, which stays open for ``seconds`` or until it comes back."""

    def __init__(self, lab: Lab, alias: str, topic: str, seconds: float) -> None:
        self._seconds = seconds
        self._properties: dict[str, Any] = {
            **lab.client(),
            "bootstrap.servers": lab.info()["clusters"][alias]["bootstrap_servers"],
            "transactional.id": "left-open",
            "transaction.timeout.ms": int(seconds * 1000),
        }
        self._since: float | None = None
        command = [sys.executable, "-c", _KILLED, json.dumps(self._properties), topic]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    @property
    def is_open(self) -> bool:
        """Whether the brokers cannot have aborted the transaction."""
        return self._since is not None and time.monotonic() - self._since < self._seconds

    def write(self) -> None:
        """Begin the transaction and write a record. Return when the producer is dead."""
        self._since = time.monotonic()
        self._process.communicate("write\n", timeout=60)
        assert self._process.returncode == -signal.SIGKILL, self._process.returncode

    def come_back(self) -> None:
        """Another producer with the same id ends the transaction."""
        Producer(self._properties).init_transactions(30)
        self._since = None

    def end(self) -> None:
        """End the producer if it has written nothing."""
        self._process.kill()
        self._process.wait()

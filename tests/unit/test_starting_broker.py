# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A broker that knows of no broker yet: librdkafka crashed the process that asked it to describe the cluster (R35)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.brokers import describe_cluster
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from repository import files, name, product, read
from starting_broker import StartingBroker, starting_broker

# In a process of its own, which must survive 200 answers without a broker, or 40 late ones.
CLIENT = """
import sys
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka

kafka = Kafka(sys.argv[1], {}, 10.0)
print(kafka.identify(None), flush=True)
sys.stdin.readline()
kafka.timeout = float(sys.argv[3])
for number in range(int(sys.argv[2])):
    try:
        kafka.identify(None)
    except DrError as error:
        assert error.code == "kafka_unreachable" and error.retriable, error
print("refused", flush=True)
sys.stdin.readline()
kafka.timeout = 10.0
print(kafka.identify(None), flush=True)
"""

# In a process of its own, which reads offsets from a broker that no longer coordinates the group.
READER = """
import sys
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka

groups.require_all_visible = lambda kafka: None
kafka = Kafka(sys.argv[1], {}, 10.0)
for number in range(10):
    try:
        groups.known_committed_offsets(kafka, ["g", "h"])
    except DrError as error:
        assert error.retriable and "Not coordinator" in error.message, error
        print("refused")
"""


def survives(broker: StartingBroker, times: int, seconds: float, empty: bool, delay: float) -> None:
    command = [sys.executable, "-X", "faulthandler", "-c", CLIENT, broker.address, str(times), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "starting\n"
        broker.knows_itself, broker.delay = not empty, delay
        client.stdin.write("go\n")
        assert client.stdout.readline() == "refused\n"
        broker.knows_itself, broker.delay = True, 0.0
        client.stdin.write("go\n")
        assert client.stdout.readline() == "starting\n"
    assert client.returncode == 0


def test_a_process_survives_answers_without_a_broker() -> None:
    with starting_broker() as broker:
        survives(broker, 200, 0.02, empty=True, delay=0.0)
        assert broker.empty >= 200


def test_a_process_survives_answers_after_the_time_out() -> None:
    with starting_broker() as broker:
        survives(broker, 40, 0.05, empty=False, delay=0.06)
        assert broker.late >= 20


def test_the_error_names_the_cause_and_a_wait_goes_on() -> None:
    with starting_broker() as broker:
        broker.knows_itself = False
        kafka = Kafka(broker.address, {}, 0.5)
        with pytest.raises(DrError, match="knows of no broker") as error:
            kafka.identify(None)
        assert error.value.retriable
        threading.Timer(0.5, lambda: setattr(broker, "knows_itself", True)).start()
        assert Kafka(broker.address, {}, 5.0).identify("starting") == "starting"


class Unconnected(Kafka):
    """Has no client that would get some of the broker's answers."""

    def _connected(self) -> Any:
        return None


def recording(run: Any, ended: list[int], broker: StartingBroker) -> Any:
    """Return ``run``, which then adds the exit code of each process. The broker has started after the first one."""

    def recorded(*args: Any, **options: Any) -> Any:
        done = run(*args, **options)
        ended.append(done.returncode)
        broker.knows_itself = True
        return done

    return recorded


def test_what_only_the_description_has_is_asked_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with starting_broker() as broker:
        kafka = Unconnected(broker.address, {}, 5.0)
        host, port = broker.address.split(":")
        assert describe_cluster(kafka) == {
            "cluster_id": "starting",
            "controller": 1,
            "brokers": [{"id": 1, "host": host, "port": int(port), "rack": None}],
            "operations": [],
        }
        ended: list[int] = []
        monkeypatch.setattr(subprocess, "run", recording(subprocess.run, ended, broker))
        # Without the first answer the client would wait for a broker, and would not crash.
        broker.next_answers, broker.knows_itself = [True], False
        assert describe_cluster(kafka)["cluster_id"] == "starting"
        assert ended == [-signal.SIGABRT, 0]


def test_no_other_code_describes_the_cluster() -> None:
    """Not even in the lab: a crash of its process would leave brokers running."""
    found = [name(path) for path in [*product(), *files("spark/**/*.py")] if ".describe_cluster(" in read(path)]
    assert found == ["plugins/module_utils/_kafka/brokers.py"]


def test_the_refusal_of_a_former_coordinator_crashes_no_reader() -> None:
    """librdkafka's issue 5040: the admin client of confluent-kafka crashes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with starting_broker() as broker:
        command = [sys.executable, "-X", "faulthandler", "-c", READER, broker.address]
        read = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (read.stdout, read.returncode) == ("refused\n" * 10, 0), read.stderr

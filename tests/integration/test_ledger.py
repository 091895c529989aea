# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger clients with a real broker: a ledger never shows a better result than the real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

pytestmark = pytest.mark.integration

PROGRAM = Path(__file__).resolve().parents[2] / "roles" / "lab" / "files" / "ledger"


class World:
    """A topic, a folder of ledgers, and the program."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.bootstrap, self.folder = bootstrap, folder
        self.topic = f"Payments-{uuid.uuid4().hex[:8]}"
        self.admin = AdminClient({"bootstrap.servers": bootstrap})
        self.clients: dict[str, dict[str, Any]] = {}

    def create(self, topic: str, partitions: int = 4) -> None:
        self.admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(10)

    def define(self, name: str, role: str, topics: str = "", bootstrap: str = "", **options: Any) -> None:
        endpoint = self.folder / f"{name}.env"
        bootstrap = bootstrap or self.bootstrap
        endpoint.write_text(
            f"KAFKA_BOOTSTRAP_SERVERS={bootstrap}\nKAFKA_ALIAS=P\nKAFKA_TOPICS={topics or self.topic}\n"
        )
        self.clients[name] = {"role": role, "endpoint_file": str(endpoint), **options}
        (self.folder / "clients.json").write_text(json.dumps({"clients": self.clients}))

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PROGRAM), *arguments, "--dir", str(self.folder)]
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)

    def start(self, *names: str) -> None:
        for name in names:
            done = self.run("start", name)
            assert done.returncode == 0, done.stdout + done.stderr

    def stop(self, *names: str) -> None:
        for name in names:
            done = self.run("stop", name)
            assert done.returncode == 0, done.stdout + done.stderr

    def read_all(self, name: str, seconds: int) -> bool | None:
        """Stop the client and return whether it had read everything. None if it did not run."""
        done = self.run("stop", name, "--read", str(seconds))
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1]).get("read_all")

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("status", name).stdout)
        return found

    def count(self, name: str, what: str) -> int:
        return int(self.status(name)["counts"].get(what, 0))

    def check(self) -> dict[str, Any]:
        self.run("check", "--json", str(self.folder / "check.json"))
        found: dict[str, Any] = json.loads((self.folder / "check.json").read_text())
        return found

    def commit_start(self, group: str, topic: str = "", partitions: int = 4) -> None:
        """Commit offsets before the group starts, as a cutover does.

        The coordinator may not know a new topic yet, and reports that for each partition.
        """
        places = [TopicPartition(topic or self.topic, number, 0) for number in range(partitions)]

        def is_accepted() -> bool:
            request = ConsumerGroupTopicPartitions(group, places)
            found = self.admin.alter_consumer_group_offsets([request])[group].result(10).topic_partitions
            return not any(place.error for place in found)

        wait_until(is_accepted, f"the acceptance of the offsets of {group}")

    def lag(self, group: str, partitions: int = 4) -> int:
        places = [TopicPartition(self.topic, number) for number in range(partitions)]
        ends = self.admin.list_offsets({place: OffsetSpec.latest() for place in places})
        request = ConsumerGroupTopicPartitions(group, places)
        found = self.admin.list_consumer_group_offsets([request])[group].result(10).topic_partitions
        return sum(ends[place].result(10).offset - place.offset for place in found)


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
        time.sleep(0.1)


@pytest.fixture
def world(lab: Any, tmp_path: Path) -> Iterator[World]:
    world = World(lab.info()["clusters"]["P"]["bootstrap_servers"], tmp_path)
    world.create(world.topic)
    yield world
    for name in world.clients:
        world.run("stop", name, "--kill")
    world.admin.delete_topics([world.topic])[world.topic].result(10)


def test_a_stop_by_sigterm_flushes_and_leaves_no_unknown_records(world: World) -> None:
    world.define("pay", "producer", rate=2000)
    world.define("settlement", "consumer")
    world.commit_start("settlement")
    world.start("settlement", "pay")
    wait_until(lambda: world.count("pay", "acknowledged") > 1000, "acknowledgements")
    world.stop("pay")
    status = world.status("pay")
    assert (status["running"], status["exit_code"], status["counts"]["unknown"]) == (False, 0, 0)
    assert status["counts"]["announced"] == status["counts"]["acknowledged"]
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    result = world.check()
    assert result["verdict"] == "clean"
    assert result["groups"]["settlement"]["processed"] == result["totals"]["acknowledged"] > 1000
    assert (result["totals"]["processed_twice"], result["totals"]["out_of_order"], result["totals"]["unknown"]) == (
        0,
        0,
        0,
    )


def test_start_and_stop_are_idempotent_and_quick(world: World) -> None:
    world.define("pay", "producer", rate=100)
    world.start("pay")
    again = world.run("start", "pay")
    assert (again.returncode, json.loads(again.stdout.splitlines()[-1])["changed"]) == (0, False)
    assert "already running" in again.stdout
    begun = time.monotonic()
    world.stop("pay")
    assert time.monotonic() - begun < 30  # after which it would be killed
    again = world.run("stop", "pay")
    assert (again.returncode, json.loads(again.stdout.splitlines()[-1])["changed"]) == (0, False)


def test_after_a_kill_records_in_flight_are_unknown_and_not_lost(world: World) -> None:
    world.define("pay", "producer", rate=5000)
    world.define("settlement", "consumer")
    world.commit_start("settlement")
    world.start("settlement", "pay")
    killed = world.run("stop", "pay", "--kill")
    assert killed.returncode == 3
    assert "killed" in killed.stdout
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    result = world.check()
    assert result["verdict"] == "clean"
    producer = next(iter(result["producers"].values()))
    assert producer["unknown"] == producer["announced"] - producer["acknowledged"] >= 0
    assert result["groups"]["settlement"]["processed"] >= producer["acknowledged"] > 0


def test_a_producer_that_cannot_flush_exits_with_3(world: World, lab: Any) -> None:
    world.define("pay", "producer", rate=1000, flush_seconds=1)
    world.start("pay")
    broker = lab.info()["clusters"]["P"]["pids"]["broker"]
    os.kill(broker, signal.SIGSTOP)
    try:
        wait_until(lambda: world.count("pay", "announced") > world.count("pay", "acknowledged") + 500, "a backlog")
        stopped = world.run("stop", "pay")
    finally:
        os.kill(broker, signal.SIGCONT)
    assert stopped.returncode == 3
    assert "records is unknown after a flush" in stopped.stdout
    assert world.status("pay")["exit_code"] == 3


def test_a_restarted_producer_continues_with_the_next_number(world: World) -> None:
    world.define("pay", "producer", rate=1000)
    world.define("settlement", "consumer")
    world.commit_start("settlement")
    world.start("settlement")
    for kill in (False, True, False):
        world.start("pay")
        world.run("stop", "pay", *(["--kill"] if kill else []))
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    lines = (world.folder / "ledger-pay.log").read_text().splitlines()
    announced = [list(map(int, line.split("\t")[1:3])) for line in lines if line.startswith("A\t")]
    assert all(later[0] == earlier[1] + 1 for earlier, later in pairwise(announced))
    result = world.check()
    assert (result["verdict"], result["totals"]["processed_twice"], result["totals"]["phantom"]) == ("clean", 0, 0)


def test_aborted_records_are_in_the_log_and_never_processed(world: World) -> None:
    world.define("ledger-tx", "transactional", rate=2000, transaction_size=50, abort_share=0.25, limit=2000)
    world.define("settlement", "consumer")
    world.commit_start("settlement")
    world.start("settlement", "ledger-tx")
    wait_until(lambda: world.status("ledger-tx")["exit_code"] == 0, "the end of the transactions")
    places = [TopicPartition(world.topic, number) for number in range(4)]
    ends = world.admin.list_offsets({place: OffsetSpec.latest() for place in places})
    assert sum(item.result(10).offset for item in ends.values()) > 2000  # All records and the markers.
    wait_until(lambda: world.count("settlement", "processed") >= 1500, "the committed records")
    world.stop("settlement")
    result = world.check()
    assert (result["totals"]["acknowledged"], result["totals"]["aborted"]) == (1500, 500)
    assert (result["verdict"], result["groups"]["settlement"]["processed"]) == ("clean", 1500)


def test_a_slow_consumer_lags_and_catches_up_once_it_is_fast(world: World) -> None:
    world.define("pay", "producer", rate=2000, limit=2000)
    world.define("settlement", "consumer", process_ms=10)
    world.commit_start("settlement")
    world.start("settlement", "pay")
    wait_until(lambda: world.status("pay")["exit_code"] == 0, "the last acknowledgement")
    assert world.lag("settlement") > 1000
    world.stop("settlement")
    half = world.check()
    assert half["verdict"] == "damaged"
    assert half["totals"]["lost"] == 2000 - half["totals"]["processed"] > 1000
    world.define("settlement", "consumer")
    world.start("settlement")
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    result = world.check()
    assert (result["verdict"], result["totals"]["processed"], result["totals"]["processed_twice"]) == ("clean", 2000, 0)


def every_member_has_work(world: World, name: str, members: int) -> bool:
    running = [member for member in world.status(name)["members"] if member["running"]]
    return len(running) == members and all(member["counts"].get("processed") for member in running)


@pytest.mark.parametrize("assignment", ["cooperative-sticky", "range"])
def test_members_that_join_and_leave_process_no_record_twice(world: World, assignment: str) -> None:
    world.define("pay", "producer", rate=3000)
    world.define("settlement", "consumer", assignment=assignment)
    world.commit_start("settlement")
    world.start("settlement", "pay")
    for members in (2, 3, 1, 2):
        if members == 1:
            world.stop("settlement")
        world.define("settlement", "consumer", assignment=assignment, members=members)
        world.start("settlement")
        wait_until(partial(every_member_has_work, world, "settlement", members), f"work for {members} members")
    world.stop("pay")
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    result = world.check()
    assert (result["verdict"], result["totals"]["processed_twice"], result["totals"]["out_of_order"]) == ("clean", 0, 0)
    assert len(list(world.folder.glob("ledger-settlement*.log"))) == 3


@pytest.mark.parametrize("role", ["producer", "transactional"])
def test_all_records_before_a_mark_are_read_no_matter_who_wrote_them_and_when(world: World, role: str) -> None:
    """They were written before the members began, so the members' counts do not help.

    Transactions end with a marker.
    """
    world.define("pay", role, rate=4000, limit=4000)
    world.commit_start("settlement")
    world.start("pay")
    wait_until(lambda: not world.status("pay")["running"], "all records")
    world.define("settlement", "consumer", members=2, limit_rate=400)
    world.start("settlement")
    assert world.read_all("settlement", 1) is False
    assert world.check()["groups"]["settlement"]["lost"] > 2000
    world.start("settlement")
    assert world.read_all("settlement", 60) is True
    found = world.check()["groups"]["settlement"]
    assert (found["lost"], found["processed"], found["processed_twice"]) == (0, 4000, 0)
    assert world.read_all("settlement", 60) is None  # No member runs.


def test_a_killed_consumer_may_process_records_twice_but_loses_none(world: World) -> None:
    world.define("pay", "producer", rate=3000)
    world.define("settlement", "consumer", session_ms=6000)
    world.commit_start("settlement")
    world.start("settlement", "pay")
    for _round in range(2):
        assert world.run("stop", "settlement", "--kill").returncode == 3
        world.start("settlement")
    world.stop("pay")
    wait_until(lambda: world.lag("settlement") == 0, "the end of the topic")
    world.stop("settlement")
    result = world.check()
    assert (result["verdict"], result["totals"]["lost"], result["totals"]["phantom"]) == ("clean", 0, 0)


def test_a_consumer_without_a_committed_offset_ends_with_a_clear_message(world: World) -> None:
    world.define("pay", "producer", limit=100)
    world.define("settlement", "consumer")
    world.start("pay")
    world.run("start", "settlement")
    wait_until(lambda: world.status("settlement")["exit_code"] is not None, "the end of the consumer")
    status = world.status("settlement")
    assert status["exit_code"] == 5
    assert f"no valid committed offset on {world.topic}-" in status["message"]
    world.define("settlement", "consumer", reset="earliest")
    world.start("settlement")
    wait_until(lambda: world.count("settlement", "processed") == 100, "all records")


def test_a_missing_topic_is_a_clear_error_of_the_start(world: World) -> None:
    world.define("pay", "producer", topics="Nowhere")
    started = world.run("start", "pay")
    assert started.returncode == 1
    assert "Nowhere" in started.stderr


def test_a_start_without_activity_in_time_is_an_error_and_can_be_stopped(world: World) -> None:
    world.define("pay", "producer", bootstrap="127.0.0.1:1")
    started = world.run("start", "pay", "--wait", "1")
    assert started.returncode == 1
    assert "does not work after" in started.stderr
    world.stop("pay")


def test_a_processor_writes_every_record_once(world: World) -> None:
    output = f"{world.topic}-settled"
    world.create(output)
    world.define("pay", "producer", rate=1500)
    world.define("enrich", "processor", group="enrich", output_topics=[output])
    world.define("audit", "consumer", topics=output)
    world.commit_start("enrich")
    world.commit_start("audit", output)
    world.start("audit", "enrich", "pay")
    wait_until(lambda: world.count("enrich", "processed") > 500, "processed records")
    world.stop("enrich")
    world.start("enrich")
    assert world.run("stop", "enrich", "--kill").returncode == 3
    world.start("enrich")
    wait_until(lambda: world.count("enrich", "processed") > 500, "processed records after the kill")
    world.stop("pay")
    produced = world.count("pay", "acknowledged")
    assert produced > 1000
    wait_until(lambda: world.check()["groups"]["enrich"]["lost"] == 0, "everything processed")
    assert world.read_all("enrich", 60) is True
    wait_until(lambda: world.check()["groups"]["audit"]["lost"] == 0, "everything handed on")
    world.stop("audit")
    result = world.check()
    assert result["verdict"] == "clean"
    assert (result["totals"]["processed_twice"], result["totals"]["phantom"]) == (0, 0)
    enrich = result["groups"]["enrich"]
    # After a kill between commit and ledger, only the output shows that the transaction was committed.
    assert result["groups"]["audit"]["processed"] == enrich["processed"] + enrich["maybe_processed"]
    world.admin.delete_topics([output])[output].result(10)


def test_check_refuses_an_empty_set_of_ledgers(world: World) -> None:
    assert world.run("check").returncode == 2
    (world.folder / "ledger-x.log").write_text("not a ledger\n")
    assert world.run("check").returncode == 2

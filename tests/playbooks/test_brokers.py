# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three brokers and two workers per cluster: brokers and workers restart and fail while applications move."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kills import disturbed
from lab.lab import Lab
from scenario import Scenario, totals

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "ledger-tx", "role": "transactional", "rate": 100},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
PROVEN = {"drained", "committed_offsets", "first_write", "groups"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """An enabled pair with three brokers and two workers per cluster, under load. The tests run in order."""
    folder = tmp_path_factory.mktemp("brokers")
    with Scenario(folder, partitions=6, clients=CLIENTS, brokers=3, workers=2).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made
        made.stop()


@contextmanager
def meanwhile(work: Callable[[Lab, threading.Event], None], folder: object) -> Iterator[list[str]]:
    """Disturb the lab while the block runs. The list has a line for each disturbance; errors are raised at the end."""
    done, errors = threading.Event(), []
    lines: list[str] = []
    lab = Lab(str(folder), quiet=True)

    def disturb() -> None:
        try:
            while not done.is_set():
                work(lab, done)
                lines.append("round")
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield lines
    finally:
        done.set()
        thread.join()
    if errors:
        raise errors[0]


def rolling() -> Callable[[Lab, threading.Event], None]:
    """Restart all brokers, by turns on both clusters, each one once all replicas are in sync."""
    parts = itertools.cycle([(alias, part) for part in ("broker", "broker-2", "broker-3") for alias in ("P", "B")])

    def work(lab: Lab, done: threading.Event) -> None:
        alias, part = next(parts)
        lab.restart(alias, part)
        lab.wait_in_sync(alias)
        done.wait(1.0)

    return work


def proven(report: dict[str, object], pair: Scenario) -> None:
    """Check that the cutover completed with its evidence, and that the ledgers agree."""
    assert report["outcome"] == "completed", report
    verdicts = {check["name"]: check["verdict"] for check in report["checks"]}  # type: ignore[attr-defined]
    assert {name: verdicts[name] for name in PROVEN} == dict.fromkeys(PROVEN, "PROVEN"), report
    assert report["rereads"] == 0, report
    pair.traffic(500)


def test_brokers_restart_one_after_the_other_during_a_round_trip(pair: Scenario) -> None:
    for name, to in (("failover_cutoff", "B"), ("failback", "P")):
        with meanwhile(rolling(), pair.folder) as restarts:
            report = pair.move(name, to)
        assert len(restarts) > 1, "brokers restarted during the move"
        proven(report, pair)


def test_brokers_restart_during_a_continuous_cutover_and_a_checkpoint(pair: Scenario) -> None:
    with meanwhile(rolling(), pair.folder) as restarts:
        report = pair.move("failover_continuous", "B")
        pair.playbook("reverse_checkpoint")
    assert len(restarts) > 1
    assert report["outcome"] == "completed", report
    pair.traffic(500)
    proven(pair.move("failback", "P"), pair)


def test_a_round_trip_with_one_broker_of_each_cluster_down(pair: Scenario) -> None:
    lab = Lab(pair.folder, quiet=True)
    for alias in ("P", "B"):
        lab.kill(alias, "broker-2")
    try:
        pair.traffic(500)
        proven(pair.move("failover_cutoff", "B"), pair)
        proven(pair.move("failback", "P"), pair)
    finally:
        for alias in ("P", "B"):
            lab.start(alias, "broker-2")
            lab.wait_in_sync(alias)


def test_one_of_two_workers_dies_while_the_flow_is_stopped(pair: Scenario) -> None:
    """The first worker in ``connect_url`` dies at the barrier, so requests go to the next one."""
    lab = Lab(pair.folder, quiet=True)
    killed: list[bool] = []
    confirmed = {"kafka_dr_confirm": "B"}
    rc, output = disturbed(
        pair, "phase_barrier.yml", "failover_cutoff", confirmed, lambda _run: killed.append(lab.kill("B", "connect"))
    )
    assert (rc, killed) == (0, [True]), output[-2000:]
    lab.start("B", "connect")
    proven(json.loads((pair.reports / "cutoff-B.json").read_text()), pair)
    proven(pair.move("failback", "P"), pair)


def test_the_ledgers_of_all_moves_are_clean(pair: Scenario) -> None:
    pair.stop()
    counted = totals(pair.check())
    pair.start()
    assert {name: counted[name] for name in ("lost", "phantom")} == {"lost": 0, "phantom": 0}, counted
    assert counted["processed_twice"] == 0, counted

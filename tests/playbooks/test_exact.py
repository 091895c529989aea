# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups stopped in the middle of their work continue with the next record, in both directions.

Transactions with aborted records, groups that lag, and a Connect worker killed while it replicates. Records that
MirrorMaker 2 then left twice in a replica are counted separately from re-reads caused by an offset (R2, R4 and R7).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from accounts import Account, Place, TenureSpan, account, committed_offsets, ends, read_log, resent
from lab.lab import Lab
from scenario import ROOT, Scenario, totals

pytestmark = pytest.mark.long

PARTITIONS = 12
CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "ledger-tx", "role": "transactional", "rate": 100, "abort_share": 0.2, "transaction_size": 20},
    {"name": "settlement", "role": "consumer", "group": "settlement", "limit_rate": 150},
    {"name": "fraud", "role": "consumer", "group": "fraud", "limit_rate": 200},
]
SEED = int(os.environ["KAFKA_DR_SEED"])  # conftest.py draws one.
SHORT, LONG = 1, 20


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Scenario]:
    """A new pair for every run, because all four topics are read from their beginning afterwards."""
    kind: dict[str, Any] = getattr(request, "param", {})
    with Scenario(tmp_path_factory.mktemp("exact"), clients=CLIENTS, **kind).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        yield made


def worker(scenario: Scenario, verb: str, alias: str) -> None:
    command = [sys.executable, str(ROOT / "roles" / "lab" / "files" / "lab"), verb, "--dir", str(scenario.folder)]
    subprocess.run([*command, alias, "connect"], check=True, capture_output=True)


def tenure(scenario: Scenario, draw: random.Random, target: str) -> None:
    """Run for a while.

    The worker of the flow dies twice: the records that it resends are before and after the offsets.
    """
    restart(scenario, draw, target)
    passed = scenario.count("acknowledged")
    scenario.wait(lambda: scenario.slowest_reader() > passed, 180, "the groups pass what was sent again")
    # They continue to read until the cutover stops them, some ten seconds after its start.
    scenario.wait(lambda: lag(scenario) > 4000, 120, "the groups fall behind")
    restart(scenario, draw, target)


def unlimited(scenario: Scenario) -> None:
    """Let the groups read as fast as they can."""
    definitions = scenario.folder / "ledger" / "clients.json"
    clients = json.loads(definitions.read_text())["clients"]
    for name in scenario.names("consumer"):
        scenario.ledger("stop", name)
        clients[name].pop("limit_rate")
    definitions.write_text(json.dumps({"clients": clients}))
    for name in scenario.names("consumer"):
        scenario.ledger("start", name)


def restart(scenario: Scenario, draw: random.Random, target: str) -> None:
    """SIGKILL while records are replicated. New ones arrive meanwhile."""
    acknowledged(scenario, draw.randint(300, 900))
    worker(scenario, "kill", target)
    acknowledged(scenario, draw.randint(100, 400))
    worker(scenario, "start", target)


def acknowledged(scenario: Scenario, more: int) -> None:
    wanted = scenario.count("acknowledged") + more
    scenario.wait(lambda: scenario.count("acknowledged") >= wanted, 60, f"{more} more records are acknowledged")


def lag(scenario: Scenario) -> int:
    return scenario.count("acknowledged") - scenario.slowest_reader()


def logs_of(scenario: Scenario) -> tuple[dict[Place, Any], dict[Place, Place]]:
    lab = Lab(scenario.folder, quiet=True)
    clusters = lab.info()["clusters"]
    logs: dict[Place, Any] = {}
    copies: dict[Place, Place] = {}
    for alias, other in (("P", "B"), ("B", "P")):
        for number in range(PARTITIONS):
            for topic in ("Payments", f"{other}.Payments"):
                servers = clusters[alias]["bootstrap_servers"]
                logs[alias, topic, number] = read_log(servers, topic, number, lab.client())
            copies[alias, f"{other}.Payments", number] = (other, "Payments", number)
    return logs, copies


def tenures_of(group: str, moves: list[dict[str, Any]], logs: dict[Place, Any]) -> list[TenureSpan]:
    """On P from the beginning, then from each move's offsets to the next one's barrier, and on P again to the end."""
    last = {
        (topic, number): logs["P", topic, number][-1][0] + 1 if logs["P", topic, number] else 0
        for topic in ("Payments", "B.Payments")
        for number in range(PARTITIONS)
    }
    left = [ends(move["barrier"]["committed_offsets"])[group] for move in moves]
    stays = [TenureSpan("P", {key: (0, at) for key, at in left[0].items()})]
    for number, move in enumerate(moves):
        until = left[number + 1] if number + 1 < len(moves) else None
        starts = committed_offsets(move["committed_offsets"])[group].items()
        spans = {key: (at, max(at, last[key]) if until is None else until[key]) for key, at in starts}
        stays.append(TenureSpan(move["to"], spans))
    return stays


def run(scenario: Scenario, seed: int, trips: int = 1) -> dict[str, Any]:
    draw = random.Random(seed)
    scenario.start()
    moves = []
    for name, to in trips * [("failover_cutoff", "B"), ("failback", "P")]:
        tenure(scenario, draw, to)
        moves.append(scenario.move(name, to, kafka_dr_drain_groups_timeout=0))
    unlimited(scenario)
    scenario.stop(seconds=240)
    check = scenario.check()
    logs, copies = logs_of(scenario)
    groups = {group: account(tenures_of(group, moves, logs), logs, copies) for group in ("settlement", "fraud")}
    twice = {place: resent(log) for place, log in logs.items() if place in copies}
    aborted = scenario.count("aborted")
    return {"moves": moves, "check": check, "groups": groups, "resent": twice, "aborted": aborted}


def counts(found: dict[str, Any]) -> dict[str, Any]:
    """Whether the run was demanding enough: lag at the stop, and records sent twice around an offset."""
    out = found["moves"][0]
    starts = committed_offsets(out["committed_offsets"])
    around = [
        (any(offset < at for offset in again), any(offset >= at for offset in again))
        for (alias, topic, number), again in found["resent"].items()
        if alias == "B"
        for at in (starts[group][topic, number] for group in starts)
    ]
    lagging = [row for row in out["committed_offsets"] if row["method"] in ("content", "sync", "tail")]
    return {
        "lagging": len(lagging),
        "resent_before": sum(before for before, _after in around),
        "resent_after": sum(after for _before, after in around),
        "checkpoint_rereads": out["checkpoint_rereads"],
        "aborted": found["aborted"],
    }


@pytest.mark.parametrize(
    ("pair", "number"),
    [
        pytest.param(
            {"secure": n % 2 == 0},
            n,
            marks=[] if n < SHORT else [pytest.mark.soak],
            id=f"{'open' if n % 2 else 'secured'}-seed-{SEED + n}",
        )
        for n in range(LONG)
    ],
    indirect=["pair"],
)
def test_groups_stopped_in_the_middle_continue_with_the_next_record(pair: Scenario, number: int) -> None:
    found = run(pair, SEED + number)
    hard = counts(found)
    print(f"seed {SEED + number}: {hard}, {found['groups']}")
    exact(found)
    # Only a demanding run counts.
    assert min(hard[key] for key in ("lagging", "resent_before", "resent_after", "aborted")) > 0


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_second_and_third_failovers_start_every_group_where_it_left_off(pair: Scenario) -> None:
    """R7: on all four topics, with groups that lag all the time."""
    exact(run(pair, SEED, trips=3))


@pytest.mark.soak
@pytest.mark.parametrize("pair", [{"exactly_once": True}], indirect=True, ids=["exactly-once"])
def test_with_exactly_once_workers_no_record_is_twice_in_a_replica(pair: Scenario) -> None:
    """R4: killed workers leave no duplicates then, and no group processes a record twice."""
    found = run(pair, SEED)
    exact(found)
    assert {place: again for place, again in found["resent"].items() if again} == {}
    assert totals(found["check"])["processed_twice"] == 0
    assert counts(found)["lagging"] > 0


def exact(found: dict[str, Any]) -> None:
    summed = totals(found["check"])
    assert summed["lost"] == summed["phantom"] == summed["unknown"] == 0
    for report in found["moves"]:
        assert (report["outcome"], report["rereads"]) == ("completed", 0)
    for group, counted in found["groups"].items():
        assert (counted.skipped, counted.caused) == (0, 0), f"{group}: {counted}"
        # Records that are twice in a replica are processed twice: exactly as many as reading it shows.
        assert found["check"]["groups"][group]["processed_twice"] == counted.repeated


def test_an_account_distinguishes_re_reads_by_an_offset_from_duplicates_in_a_replica() -> None:
    source = [(number, b"r%d" % number) for number in range(6)]
    copies = [b"r0", b"r1", b"r2", b"r1", b"r2", b"r3", b"r4", b"r5"]
    logs = {("P", "T", 0): source, ("B", "P.T", 0): list(enumerate(copies))}
    of = {("B", "P.T", 0): ("P", "T", 0)}

    def at(start: int) -> Account:
        return account([TenureSpan("P", {("T", 0): (0, 2)}), TenureSpan("B", {("P.T", 0): (start, 8)})], logs, of)

    assert at(2) == Account(repeated=2, caused=0, skipped=0)  # r2 and r1 again: they are there.
    assert at(4) == Account(repeated=0, caused=0, skipped=0)
    assert at(1) == Account(repeated=3, caused=1, skipped=0)
    assert at(5).skipped == 1

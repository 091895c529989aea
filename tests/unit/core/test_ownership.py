# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R31: a superseded controller has no effect any more, and the clocks of two machines are never compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.leases import (
    Lease,
    Watch,
    newest,
    open_leases,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.ownership import (
    Claim,
    Token,
    refuse_older,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import JournalState, fold

ENABLED = Event(1, 0, "", "enabled", 10.0, {"active": "P"})
STARTED = Event(2, 0, "r1", "started", 20.0, {"type": "cutoff", "from": "P", "to": "B"})
PNR = Event(2, 1, "r1", "pnr", 21.0, {})
RESUMED = Event(2, 2, "r1", "resumed", 22.0, {"holder": None})
ENDED = Event(2, 3, "r1", "ended", 23.0, {"result": "completed"})
NEXT = Event(3, 0, "r2", "started", 24.0, {"type": "disaster", "from": "B", "to": "P"})
MINE = Claim(run="r1", holder_generation=0)
LEASE = Lease("pair", "enable", "", "enable-1", 100.0, 700.0, number=4)


def state(*events: Event) -> JournalState:
    return fold([ENABLED, *events])


def asked(claim: Claim, now: JournalState, *leases: Lease) -> str:
    try:
        claim.require(now, leases)
    except DrError as error:
        return error.code
    return "held"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([STARTED], "held"),
        ([STARTED, PNR], "held"),
        ([STARTED, PNR, RESUMED], "run_superseded"),
        ([STARTED, RESUMED, ENDED], "run_superseded"),
        ([STARTED, ENDED], "run_ended"),
        ([STARTED, PNR, NEXT], "run_superseded"),
        ([STARTED, ENDED, NEXT], "run_superseded"),
        ([], "run_superseded"),  # The journal was lost meanwhile.
    ],
)
def test_a_run_is_held_until_another_controller_or_run_takes_over(events: list[Event], expected: str) -> None:
    assert asked(MINE, state(*events)) == expected


def test_hooks_after_a_run_may_follow_its_end_but_no_other_run() -> None:
    after = replace(MINE, after_end=True)
    assert asked(after, state(STARTED, ENDED)) == "held"
    assert asked(after, state(STARTED, ENDED, NEXT)) == "run_superseded"
    assert asked(after, state(STARTED, RESUMED, ENDED)) == "run_superseded"


def test_a_run_without_a_holder_generation_is_a_programming_error() -> None:
    assert asked(Claim(run="r1"), state(STARTED)) == "bad_option"


@pytest.mark.parametrize(
    ("leases", "expected"),
    [
        ([LEASE], "held"),
        ([LEASE.over(200.0, "abandoned", {})], "run_superseded"),
        ([replace(LEASE, run="enable-2", number=5)], "run_superseded"),
        ([], "run_superseded"),
    ],
)
def test_a_lease_is_held_until_it_is_ended_or_replaced(leases: list[Lease], expected: str) -> None:
    assert asked(Claim(lease="enable-1"), JournalState(), *leases) == expected


def test_a_lease_that_was_taken_away_names_its_outcome() -> None:
    for lease, reason in (
        (LEASE.over(200.0, "abandoned", {}), "ended with the outcome abandoned"),
        (None, "another controller"),
    ):
        with pytest.raises(DrError, match=reason):
            Claim(lease="enable-1").require(JournalState(), [] if lease is None else [lease])


@pytest.mark.parametrize("guard", [{}, {"pair": "x", "run": None, "lease": None}, {"lease": ""}])
def test_without_a_run_or_a_lease_nothing_is_checked(guard: dict[str, Any]) -> None:
    assert Claim.of(guard) is None


@pytest.mark.parametrize(
    ("mine", "kept", "newer"),
    [
        (Token(2, 0), None, True),
        (Token(2, 0), {"journal": 1.0, "epoch": 2, "holder_generation": 0}, False),
        (Token(2, 1), {"journal": 1.0, "epoch": 2, "holder_generation": 0}, True),
        (Token(3, 0), {"journal": 1.0, "epoch": 2, "holder_generation": 7}, True),
        # A journal that was re-created after a loss counts from the beginning.
        (Token(1, 0), {"journal": 9.0, "epoch": 40, "holder_generation": 0}, True),
    ],
)
def test_a_host_lets_the_newest_controller_work_and_keeps_its_token(
    mine: Token, kept: dict[str, Any] | None, newer: bool
) -> None:
    assert refuse_older(mine, 1.0, kept, "here") is newer


@pytest.mark.parametrize(
    "kept", [{"journal": 1.0, "epoch": 2, "holder_generation": 1}, {"journal": 1.0, "epoch": 3, "holder_generation": 0}]
)
def test_a_host_refuses_an_older_controller(kept: dict[str, Any]) -> None:
    with pytest.raises(DrError) as refused:
        refuse_older(Token(2, 0), 1.0, kept, "/etc/.a.env.kafka-dr-token")
    assert refused.value.code == "run_superseded"
    assert "/etc/.a.env.kafka-dr-token" in refused.value.message


@pytest.mark.parametrize("wrong_by", [-7200.0, 0.0, 7200.0, 1e9])
def test_a_lease_is_abandoned_by_local_observation_and_not_by_the_clock_of_its_holder(wrong_by: float) -> None:
    clock = [5.0]
    lease = replace(LEASE, since=LEASE.since + wrong_by, until=LEASE.until + wrong_by)
    watch = Watch(lambda: clock[0])
    assert watch.live([lease]) == [lease]
    clock[0] += 599.0
    assert watch.live([lease]) == [lease]
    clock[0] += 1.0
    assert watch.live([lease]) == []


def test_a_lease_that_changes_while_it_is_watched_restarts_the_watch() -> None:
    clock = [0.0]
    watch = Watch(lambda: clock[0])
    watch.live([LEASE])
    clock[0] = 599.0
    renewed = replace(LEASE, run="enable-2", number=5)
    assert watch.live([renewed]) == [renewed]
    clock[0] = 700.0
    assert watch.live([renewed]) == [renewed]


@pytest.mark.parametrize("wrong_by", [-7200.0, 7200.0])
def test_the_later_lease_of_two_copies_counts_no_matter_what_the_writers_clocks_show(wrong_by: float) -> None:
    later = replace(LEASE, run="enable-2", number=5, since=LEASE.since + wrong_by, until=LEASE.until + wrong_by)
    copies = [{LEASE.key: LEASE.as_dict()}, {later.key: later.as_dict()}]
    assert newest(copies, "pair") == newest(reversed(copies), "pair") == [later]


def test_a_lease_that_ended_in_one_copy_has_ended() -> None:
    over = LEASE.over(650.0, "abandoned", {})
    copies = [{LEASE.key: LEASE.as_dict()}, {LEASE.key: over.as_dict()}]
    assert open_leases(newest(copies, "pair")) == open_leases(newest(reversed(copies), "pair")) == []

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evidence in Kafka that the group sync of a flow is off, and what a stop makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import PROVEN, UNKNOWN
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven import engine as aiven_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven.group_sync import (
    CLOCK_DIFFERENCE,
    Evidence,
    SyncedCheckpoint,
    judge,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.tests.unit.aiven.api import Api

KEY = Partition("P.T", 0)
#: The worker's clock shows an earlier time than this machine's clock.
WORKER, HERE = 1000.0, 1300.0


def evidence(*checkpoints: tuple[int, float], offset: int | None = 4, idle: bool = True, now: float = HERE) -> Evidence:
    """``checkpoints``: downstream offset and time (worker's clock)."""
    return Evidence(
        tuple(SyncedCheckpoint("g", KEY, downstream, time) for downstream, time in checkpoints),
        {"g": {} if offset is None else {KEY: offset}},
        frozenset({"g"} if idle else ()),
        now,
    )


@pytest.mark.parametrize("offset", [4, None])
def test_an_offset_that_stays_below_a_checkpoint_for_two_intervals_proves_that_sync_is_off(offset: int | None) -> None:
    seen = evidence((5, WORKER), (5, WORKER + 120.0), offset=offset)
    assert judge(seen, 60.0).verdict == PROVEN
    assert judge(seen, 60.1).verdict == UNKNOWN


def test_the_age_is_measured_by_one_clock() -> None:
    """This machine's clock is far ahead of the worker's, which proves nothing."""
    seen = evidence((5, WORKER), now=WORKER + CLOCK_DIFFERENCE)
    assert judge(seen, 60.0).verdict == UNKNOWN
    assert judge(seen, 60.0, elapsed=119.9).verdict == UNKNOWN
    assert judge(seen, 60.0, elapsed=120.0).verdict == PROVEN
    assert judge(evidence((5, WORKER), now=WORKER + CLOCK_DIFFERENCE + 120.0), 60.0).verdict == PROVEN


def test_an_offset_at_or_above_the_checkpoint_proves_nothing() -> None:
    assert judge(evidence((5, WORKER), (5, WORKER + 500.0), offset=5), 60.0).verdict == UNKNOWN
    assert judge(evidence((0, WORKER), (0, WORKER + 500.0), offset=None), 60.0).verdict == UNKNOWN
    assert judge(evidence(), 60.0).verdict == UNKNOWN


def test_a_group_with_members_proves_nothing() -> None:
    """MirrorMaker 2 never writes for such a group."""
    assert judge(evidence((5, WORKER), (5, WORKER + 500.0), idle=False), 60.0).verdict == UNKNOWN


def test_only_checkpoints_after_a_change_count() -> None:
    seen = evidence((5, WORKER), (6, WORKER + 500.0))
    assert judge(seen, 60.0, since=WORKER + 500.0).verdict == UNKNOWN
    assert judge(seen, 60.0, since=WORKER).verdict == UNKNOWN
    assert judge(seen, 60.0, since=WORKER, elapsed=120.0).verdict == PROVEN


# ---- a stop

OFF = evidence((5, WORKER), (5, WORKER + 500.0))
NOTHING = evidence()
YOUNG = evidence((5, WORKER), now=WORKER)


def stopped(
    api: Api, monkeypatch: pytest.MonkeyPatch, *seen: Evidence, on: bool = False, check: bool = False
) -> Result:
    """Stop P->B. ``seen``: what each read finds; the last one is repeated. ``on``: group sync is on in the API."""
    left = list(seen)
    monkeypatch.setattr(aiven_engine, "read_evidence", lambda *_values: left.pop(0) if len(left) > 1 else left[0])
    monkeypatch.setattr(aiven_engine, "_CHECKPOINT_SECONDS", 0.2)
    fields: dict[str, Any] = {"enabled": True, "sync_group_offsets_enabled": on}
    api.mirror_maker.create({"source_cluster": "P", "target_cluster": "B", **fields})
    return api.engine().stop("P", "B", True, Bounds(0.6, 0.05), check)


def test_a_stop_with_evidence_changes_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    done = stopped(api, monkeypatch, OFF)
    assert (done.failure, done.outcomes, done.warnings, api.writes) == (None, [], [], [])
    assert api.mirror_maker.flows["P", "B"]["enabled"] is True


def test_without_a_checkpoint_above_an_offset_a_warning_says_that_only_the_api_reports_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = stopped(api, monkeypatch, NOTHING)
    assert done.failure is None
    assert "Only Aiven's API reports that the group sync of P->B is off" in done.warnings[0]


def test_a_young_checkpoint_is_waited_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    done = stopped(api, monkeypatch, YOUNG, YOUNG, OFF)
    assert (done.failure, done.warnings) == (None, [])


def test_a_young_checkpoint_that_stays_young_is_an_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = stopped(api, monkeypatch, YOUNG).failure
    assert failure is not None
    assert failure.code == "aiven_group_sync"
    assert "Nothing was committed" in failure.hint


def test_group_sync_that_was_on_needs_evidence_from_after_the_change(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    failure = stopped(api, monkeypatch, OFF, on=True).failure
    assert failure is not None
    assert failure.code == "aiven_group_sync"
    assert api.writes == [("PUT", 200)]
    api.mirror_maker.delete(("P", "B"))
    later = evidence((5, WORKER), (5, WORKER + 500.0), (6, WORKER + 501.0), (6, WORKER + 700.0))
    assert stopped(api, monkeypatch, OFF, later, on=True).failure is None


def test_check_mode_names_the_change_and_reads_no_evidence(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    done = stopped(api, monkeypatch, OFF, on=True, check=True)
    assert ([one.status for one in done.outcomes], api.writes) == (["planned"], [])


def test_without_the_api_only_evidence_lets_a_disaster_go_on(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.fail("unavailable")
    done = stopped(api, monkeypatch, OFF)
    assert done.failure is None
    assert "Kafka proves that group sync to B is off" in done.warnings[0]
    api.mirror_maker.delete(("P", "B"))
    failure = stopped(api, monkeypatch, NOTHING).failure
    assert failure is not None
    assert failure.code == "aiven_busy"


def test_a_wrong_token_is_not_excused_by_evidence(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.site["token"] = "wrong"
    failure = stopped(api, monkeypatch, OFF).failure
    assert failure is not None
    assert failure.code == "aiven_not_authorized"


def test_a_flow_that_does_not_exist_needs_no_evidence(api: Api) -> None:
    done = api.engine().stop("P", "B", True, Bounds(0.5), check=False)
    assert (done.failure, done.outcomes) == (None, [])

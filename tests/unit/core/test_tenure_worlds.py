# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Offsets over several tenures of a pair with the policy identity: no record is skipped, and a cut stays a cut.

R1 to R4 and R22. The worlds count only because rules that are known to be wrong skip records in them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.spans import span_forward, span_reverse
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import (
    Side,
    TargetOffset,
    enter_same,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import Tenure, flat, locate
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import (
    Translated,
    forward,
    reverse,
)
from ansible_collections.switchback.kafka_dr.tests.unit.core.tenure_worlds import (
    BLURRED,
    DEAD_WORKERS,
    KEY,
    Entry,
    Tally,
    TenureWorld,
    committed_offsets,
    world,
)
from effort import share

# As in test_translation_worlds. The normal run has 3,000 worlds: each holds several tenures, and all are checked.
COUNT = share(3_000, least=100)
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))
EACH = 4

Through = Callable[[TenureWorld, Tenure, int], Translated]


def whole(made: TenureWorld, tenure: Tenure, commit: int) -> Translated:
    """Translate with the whole tenure."""
    rule = forward if tenure.source == made.active else reverse
    return rule(commit, made.copy(tenure, made.bounds(tenure)))


def narrow(made: TenureWorld, tenure: Tenure, commit: int) -> Translated:
    """Translate with the spans that are read around an offset: wider only while the next record is not proven."""
    away = tenure.source == made.active
    bounds = made.bounds(tenure)
    best: Translated | None = None
    for width in (2, 8, 64):
        span = (span_forward if away else span_reverse)(commit, bounds, width, 0)
        found = (forward if away else reverse)(commit, made.copy(tenure, bounds, span.source, span.replica))
        best = found if best is None or found.rereads < best.rereads else best
        if best.rereads == 0:
            break
    assert best is not None
    # What was not seen is read, or counted.
    return whole(made, tenure, commit) if best.unseen else best


def enter(made: TenureWorld, all_tenures: list[Tenure], commit: int, through: Through, final: bool) -> TargetOffset:
    """The offset on the idle cluster of a group whose committed offset is ``commit`` on the active one."""
    place = locate(all_tenures, made.active, KEY, commit)
    translated = None
    gone = place.other is not None and place.other < made.starts[made.idle]
    if place.tenure is not None and (place.other is None or gone or "compacted" in made.kinds):
        translated = through(made, all_tenures[place.tenure], commit)
    left = Side(commit, *made.log(made.active), not made.unread(commit))
    tenure = None if place.tenure is None else all_tenures[place.tenure]
    at_least = None if tenure is None or tenure.source != made.active else tenure.at_least.get(KEY)
    return enter_same(left, Side(None, *made.log(made.idle)), final, place, translated, at_least)


# ---- rules that are known to be wrong


def from_the_end(made: TenureWorld, commit: int) -> int | None:
    """As if both logs had a copy of each record: the same distance from the end."""
    return made.ends[made.idle] - (made.ends[made.active] - commit)


def after_the_cut(made: TenureWorld, commit: int) -> int | None:
    """As if the cut were one offset later: the first record to replicate is taken for the last replicated one."""
    cut_records = [
        {**cut_record, "cut": {"T": {"0": flat(cut_record["cut"]).get(KEY, 0) + 1}}} for cut_record in made.cut_records
    ]
    wrong = replace(made, cut_records=cut_records)
    return enter(wrong, wrong.tenures(), commit, whole, False).offset


def stored_end(made: TenureWorld, commit: int) -> TargetOffset:
    """As if the offset that a dead worker stored were the end of what it replicated (R45)."""
    cut_records = [
        {name: value for name, value in one.items() if name not in ("disaster", "found")} for one in made.cut_records
    ]
    wrong = replace(made, cut_records=cut_records)
    return enter(wrong, wrong.tenures(), commit, whole, False)


BAD_RULES: dict[str, Callable[[TenureWorld, int], int | None]] = {
    "from the end": from_the_end,
    "after the cut": after_the_cut,
}


@pytest.fixture(scope="module")
def tally() -> Tally:
    found = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        made, draw = world(seed), random.Random(seed)
        all_tenures = made.tenures()
        for commit in committed_offsets(made, all_tenures, draw, EACH):
            final = "running" not in made.kinds and draw.random() < 0.5
            for name, through in (("whole", whole), ("narrow", narrow)):
                found.note(made, name, commit, enter(made, all_tenures, commit, through, final))
            if DEAD_WORKERS in made.kinds and not made.kinds & BLURRED:
                wrong = stored_end(made, commit)
                again = 0 if wrong.offset is None else made.reread(commit, wrong.offset)
                found.checked["stored end, read again"] += again > 0
                found.checked["stored end, refused"] += wrong.offset is None and not made.in_tail(commit)
        if seed % 2 == 0:
            for name, rule in BAD_RULES.items():
                offset = rule(made, commit)
                found.skipped_by[name] += offset is not None and bool(made.skipped(commit, offset))
    print(f"worlds with the seeds {FIRST} to {FIRST + COUNT - 1}: {dict(found.checked)}, bad rules {found.skipped_by}")
    return found


def test_no_target_offset_ever_skips_records(tally: Tally) -> None:
    assert tally.checked["whole"] == tally.checked["narrow"] == COUNT * EACH
    assert tally.skipped[:3] == []


def test_target_offsets_are_exact_if_records_are_distinguishable(tally: Tally) -> None:
    """Markers, aborted records, resends, tails, new partitions and lost offset-syncs do not change that."""
    assert tally.checked["clear"] > COUNT // 2
    assert tally.inexact[:3] == []


def test_records_missing_on_the_cluster_being_entered_are_counted(tally: Tally) -> None:
    """R30: retention and compaction on the cluster being entered, over one tenure or several."""
    assert tally.checked["gone"] > COUNT // 10
    assert tally.uncounted[:3] == []


def test_rereads_are_within_the_reported_bound(tally: Tally) -> None:
    assert tally.unbounded[:3] == []


def test_only_in_a_tail_there_is_no_target_offset(tally: Tally) -> None:
    assert tally.checked["tails"] > COUNT // 300
    assert (tally.refused[:3], tally.guessed[:3]) == ([], [])


def test_the_worlds_detect_the_rules_that_are_wrong(tally: Tally) -> None:
    assert {name for name in BAD_RULES if tally.skipped_by[name] < COUNT // 100} == set()


def test_the_stored_offset_of_a_dead_worker_is_not_taken_for_the_end(tally: Tally) -> None:
    """R45: the worlds hold dead workers, and the wrong rule reads records again, or refuses an offset, in some."""
    assert tally.checked[DEAD_WORKERS] > COUNT // 10
    assert tally.checked["stored end, read again"] > COUNT // 300
    assert tally.checked["stored end, refused"] > COUNT // 300


def dead_worker(equal: bool, found: bool) -> TenureWorld:
    """The flow stored 99 and replicated 160 records; P kept 20 more. Then the applications moved to B."""
    made = TenureWorld(0, frozenset(), active="B")
    made.logs["P"] = [Entry(at, 1000, "x" if equal else f"r{at}", 0, at if at < 160 else None) for at in range(180)]
    made.logs["B"] = made.logs["P"][:160] + [Entry(160 + at, 2000, f"b{at}", 0, 1000 + at) for at in range(9)]
    made.logs["P"] += [Entry(180 + at, 2000, f"b{at}", 0, 1000 + at) for at in range(9)]
    made.ends, made.last_replicated_offset = {"P": 189, "B": 169}, 168
    cut_record = {"from": "P", "to": "B", "disaster": True, "ends": {"T": {"0": 100}}, "cut": {"T": {"0": 160}}}
    cut_record |= {"resumed": {"T": {"0": 180}}} | ({"found": {"T": {"0": 160}}} if found else {})
    made.cut_records = [cut_record]
    return made


@pytest.mark.parametrize("found", [False, True])
def test_a_group_that_lags_after_a_disaster_goes_home_to_its_next_record(found: bool) -> None:
    """R45, the counterexample: 130 is right, and 100, exactly after the last record, was offered."""
    made = dead_worker(equal=False, found=found)
    target = enter(made, made.tenures(), 130, whole, True)
    assert (target.offset, target.quality, target.rereads) == (130, "exact", 0)
    assert stored_end(made, 130).offset == 100


def test_equal_records_leave_a_lower_bound_whose_rereads_are_counted() -> None:
    made = dead_worker(equal=True, found=False)
    target = enter(made, made.tenures(), 130, whole, True)
    assert target.offset is not None
    assert (target.offset <= 130, target.quality) == (True, "safe")
    assert (target.rereads or 0) >= made.reread(130, target.offset) > 0


def test_an_offset_in_the_tail_after_a_lower_bound_is_refused_although_the_end_is_unknown() -> None:
    """In the next tenure but one, a group still lags on P in what may be the tail."""
    made = dead_worker(equal=False, found=False)
    made.active = "P"
    made.cut_records.append({"from": "B", "to": "P", "ends": {"T": {"0": 169}}, "cut": {"T": {"0": 189}}})
    offsets = {commit: enter(made, made.tenures(), commit, whole, True).offset for commit in (100, 130, 160, 170, 180)}
    assert offsets == {100: 100, 130: 130, 160: 160, 170: None, 180: 160}


def _other_side(made: TenureWorld, cut_records: list[dict[str, Any]], commit: int) -> int | None:
    """From the journal alone: the newest cut at ``commit`` on the active cluster, as its offset on the idle one."""

    def at(cut_record: Mapping[str, Any], alias: str) -> int:
        begin = cut_record["cut"] if alias == cut_record["to"] else cut_record["resumed"] or cut_record["ends"]
        return int(flat(begin).get(KEY, 0))

    return next(
        (at(cut_record, made.idle) for cut_record in reversed(cut_records) if at(cut_record, made.active) == commit),
        None,
    )


def test_an_offset_at_a_cut_is_the_cut() -> None:
    """R22: for all records around it, and for every log start that retention has set since."""
    wrong, seen = [], 0
    for seed in range(FIRST, FIRST + COUNT):
        made = world(seed)
        all_tenures = made.tenures()
        for tenure in all_tenures[1:]:
            commit = tenure.first(made.active, KEY)
            expected = _other_side(made, made.cut_records, commit)
            assert expected is not None
            expected = max(expected, made.starts[made.idle])
            found = enter(made, all_tenures, commit, whole, False)
            seen += 1
            quality = "skips" if found.skips.possible else "exact"
            if (found.method, found.quality, found.rereads, found.offset) != ("cut", quality, 0, expected):
                wrong.append(f"seed {seed}: {made.active}:{commit} -> {found}, the cut is {expected}")
    assert seen > COUNT
    assert wrong[:3] == []

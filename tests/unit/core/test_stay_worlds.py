# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions over several stays of a pair with the policy identity: nothing is skipped, and a cut is a cut.

SOUNDNESS 1 to 4 and 22. The worlds count only because rules that are known to be wrong do skip in them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.positions import Position, Side, enter_same
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.spans import Span, span_forward, span_reverse
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.stays import Place, Stay, locate
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.translation import Translated, forward, reverse
from ansible_collections.switchback.kafka_dr.tests.unit.core.stay_worlds import KEY, StayWorld, world

# As in test_translation_worlds, at a seventh of the worlds: each holds several stays, and is looked at several times.
COUNT = max(100, int(os.environ.get("KAFKA_DR_WORLDS", "20000")) * 3 // 20)
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))
COMMITS = 4
# Worlds in which not every record can be told from every other one, or not everything is there and known.
BLURRED = frozenset(("identical", "periodic", "repeats", "adopted", "retention", "compacted", "running"))

Through = Callable[[StayWorld, Stay, int], Translated]


def whole(made: StayWorld, stay: Stay, commit: int) -> Translated:
    """Through all of the stay."""
    return (forward if stay.source == made.active else reverse)(commit, made.copy(stay))


class Refused(Exception):
    """A reader answers an offset outside the log with an error, and the move is refused."""


def narrow(made: StayWorld, stay: Stay, commit: int) -> Translated:
    """Through the spans that are read around a position: wider only while the next record is not proven."""
    away = stay.source == made.active
    bounds, best = made.bounds(stay), None
    for width in (2, 8, 64):
        span = (span_forward if away else span_reverse)(commit, bounds, width)
        for alias, (begin, end) in ((stay.source, span.source), (stay.target, span.replica)):
            if begin < end and not made.starts[alias] <= begin <= made.ends[alias]:
                raise Refused(f"{alias} is read from {begin}, its log is {made.log(alias)}")
        found = (forward if away else reverse)(commit, made.copy(stay, span.source, span.replica))
        best = found if best is None or found.rereads < best.rereads else best
        if best.exact:
            break
    assert best is not None
    return best


def enter(made: StayWorld, all_stays: list[Stay], commit: int, through: Through, final: bool) -> Position:
    """The position on the idle side of a group that stands at ``commit`` on the active one."""
    place = locate(all_stays, made.active, KEY, commit)
    translated = None
    if place.stay is not None and place.other is None:
        translated = through(made, all_stays[place.stay], commit)
    left = Side(commit, *made.log(made.active), not made.unread(commit))
    return enter_same(left, Side(None, *made.log(made.idle)), final, place, translated)


# ---- rules that are known to be wrong


def one_flow(made: StayWorld, commit: int) -> int | None:
    """As if the newest flow had copied everything from the beginning of both logs."""
    stay = Stay(made.active, made.idle, {made.active: {}, made.idle: {}}, None)
    return forward(commit, made.copy(stay)).offset


def cut_behind(made: StayWorld, commit: int) -> int | None:
    """As if a stay began one record behind the cut: what the flow copied last, taken for what it copies next."""
    later = [{**seam, "cut": {"T": {"0": seam["cut"].get("T", {}).get("0", 0) + 1}}} for seam in made.seams]
    wrong = StayWorld(**{**vars(made), "seams": later})
    return enter(wrong, wrong.stays(), commit, whole, False).offset


BAD_RULES = {"one flow": one_flow, "cut behind": cut_behind}


# ---- looking at the worlds


@dataclass
class Tally:
    """What happened in all worlds; failures by the seeds that show them."""

    skipped: list[str] = field(default_factory=list)
    inexact: list[str] = field(default_factory=list)
    unbounded: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    skipped_by: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)

    def note(self, made: StayWorld, name: str, commit: int, found: Position) -> None:
        text = f"seed {made.seed}: {name}, {made.active}:{commit} -> {found} in {sorted(made.kinds)}"
        self.checked[name] += 1
        self.checked[found.method] += 1
        if found.offset is None or found.rereads is None:
            self.checked["tails"] += made.in_tail(commit)
            if not made.in_tail(commit):
                self.refused.append(text)
            return
        if made.in_tail(commit) and found.method != "end":
            self.tails.append(text)
        if lost := made.skipped(commit, found.offset):
            self.skipped.append(f"{text}, skips {lost}")
        if not made.kinds & BLURRED:
            self.checked["clear"] += 1
            again = made.reread(commit, found.offset)
            if again or found.quality != "exact":
                self.inexact.append(f"{text}, reads {again} again")
            if len(again) > found.rereads:
                self.unbounded.append(f"{text}, reads {again} again")


def commits(made: StayWorld, all_stays: list[Stay], draw: random.Random) -> list[int]:
    """Positions on the active side, as often in an old stay as in the present one."""
    end, chosen = made.ends[made.active], []
    for _number in range(COMMITS):
        stay = draw.choice(all_stays)
        last = end if stay.end is None else stay.end[made.active].get(KEY, 0)
        chosen.append(draw.randint(stay.first(made.active, KEY), last))
    return chosen


@pytest.fixture(scope="module")
def tally() -> Tally:
    found = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        made, draw = world(seed), random.Random(seed)
        all_stays = made.stays()
        for commit in commits(made, all_stays, draw):
            final = "running" not in made.kinds and draw.random() < 0.5
            for name, through in (("whole", whole), ("narrow", narrow)):
                try:
                    found.note(made, name, commit, enter(made, all_stays, commit, through, final))
                except Refused as error:
                    found.refused.append(f"seed {seed}: {name} {made.active}:{commit}: {error} in {sorted(made.kinds)}")
            for name, rule in BAD_RULES.items():
                offset = rule(made, commit)
                found.skipped_by[name] += offset is not None and bool(made.skipped(commit, offset))
    print(f"worlds with the seeds {FIRST} to {FIRST + COUNT - 1}: {dict(found.checked)}, bad rules {found.skipped_by}")
    return found


def test_no_position_ever_skips(tally: Tally) -> None:
    assert tally.checked["whole"] == tally.checked["narrow"] == COUNT * COMMITS
    assert tally.skipped[:3] == []


def test_positions_are_exact_where_records_can_be_told_apart(tally: Tally) -> None:
    assert tally.checked["clear"] > COUNT // 2
    assert tally.inexact[:3] == []


def test_rereads_are_bounded_as_said(tally: Tally) -> None:
    assert tally.unbounded[:3] == []

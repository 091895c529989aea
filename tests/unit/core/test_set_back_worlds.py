# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups that were set back on purpose, in any tenure, with offsets that were stored before and after it (R39).

The worlds count only because the rules before R39 skip records in them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.disaster import (
    Checkpointed,
    PresyncedOffset,
    Tail,
    overtaken,
    survived,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import (
    OwnOffset,
    Side,
    enter_original,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import TenurePlace, locate
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import (
    after_last_rewind,
    checkpoint,
    forward,
    reverse,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_ids import CheckpointsEnd
from ansible_collections.switchback.kafka_dr.tests.unit.core import tenure_worlds, worlds
from ansible_collections.switchback.kafka_dr.tests.unit.core.tenure_worlds import KEY, GroupHistory, group_history
from effort import share

COUNT = share(4_000, least=200)
# Groups of one world.
GROUPS = 4
FIRST = int(os.environ.get("KAFKA_DR_WORLD_SEED", "0"))


@dataclass
class Tally:
    """What the rule skips, and in how many worlds the rule before it skipped records."""

    skipped: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


# ---- planned moves: the original on the cluster being entered


@pytest.fixture(scope="module")
def planned() -> Tally:
    tally = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        made, draw = worlds.world(seed), random.Random(seed)
        seen = made.copy()
        own = made.source_end if draw.random() < 0.4 else draw.randint(made.first, made.source_end)
        there = forward(own, seen)
        # The group moved with the forward translation, then it read on, or was set back, or both.
        reached = draw.randint(min(there.offset, made.replica_end), made.replica_end)
        commit = reached if draw.random() < 0.4 else draw.randint(0, reached)
        translated = reverse(commit, seen) if draw.random() < 0.9 else None
        left = Side(commit, made.start, made.source_end, False)
        # Records before the own offset that may not be replicated count as re-reads (``Evidence.known_replicated``).
        last = -1 if made.last_replicated_offset is None else made.last_replicated_offset
        certain = there.exact and there.method == "end" and last >= own - 1
        arrived = there.offset if certain else None
        stored = OwnOffset(own, arrived)
        found = enter_original(left, Side(None, made.start, made.source_end), False, translated, stored)
        assert found.offset is not None
        tally.counts["own"] += found.method == "own"
        tally.counts["set back"] += commit < there.offset
        text = f"seed {seed}: own {own} -> {there.offset}, now {commit} -> {translated}: {found}"
        if lost := made.skipped_reverse(commit, found.offset):
            tally.skipped.append(f"{text}, skips {lost}")
        if found.method == "own" and found.quality == "exact":
            tally.skipped.append(f"{text}, an own offset is never exact")
        # Also if the committed offsets on the replica expire. The group has read what is before its own offset.
        compacted = Side(None, made.start, made.source_end, compacted=made.compacted("P"))
        for where, at, stands in ((Side(None, 0, made.replica_end, False), None, stored), (left, commit, stored)):
            alone = enter_original(where, compacted, False, None if at is None else translated, stands)
            if alone.method != "own":
                continue
            gone = [one for one in made.lost_reverse(0 if at is None else at, own) if one >= own]
            tally.counts["gone after the own offset"] += bool(gone)
            if alone.skips.at_most is not None and alone.skips.at_most < len(gone):
                tally.skipped.append(f"{text}, {len(gone)} after its own offset are gone: {alone}")
        before = own if own >= made.start and (translated is None or own > translated.offset) else found.offset
        tally.counts["the higher offset skips"] += bool(made.skipped_reverse(commit, before))
    return tally


def test_no_group_that_was_set_back_skips_records_in_a_planned_move(planned: Tally) -> None:
    assert planned.counts["set back"] > COUNT // 5
    assert planned.counts["own"] > COUNT // 400
    assert planned.counts["gone after the own offset"] > COUNT // 100
    assert planned.skipped[:3] == []


def test_the_higher_of_both_offsets_skips_records_in_many_worlds(planned: Tally) -> None:
    assert planned.counts["the higher offset skips"] > COUNT // 10


# ---- disasters, with the policy identity


def offset_after_a_disaster(made: GroupHistory, before_r39: bool = False, without_ids: bool = False) -> int:
    """As ``_pair/offsets/disaster_barrier`` and ``_pair/observation/internal_topics`` combine what is stored.

    ``without_ids``: as if the topic with checkpoints were always the same.
    """
    world, tenures = made.world, made.world.tenures()
    newest = made.newest_checkpoint

    def first_newer(end: CheckpointsEnd) -> int:
        return end.end if without_ids else end.within(made.checkpoints_id)

    if newest is not None and newest.at < first_newer(made.checkpoints_at_move) and not before_r39:
        newest = None
    place = TenurePlace(None) if newest is None else locate(tenures, world.active, KEY, newest.upstream)
    present = place == TenurePlace(len(tenures) - 1)
    claims = [replace(one, checkpoints=first_newer(end)) for one, end in made.stored]
    if before_r39:
        # Values had no tenure, own offsets no equivalent on the other cluster, and old checkpoints voided nothing.
        stored = [*claims, *made.outdated]
        claims = [one if not one.own else PresyncedOffset(one.offset, 0.0) for one in stored]
    known = newest is not None and (before_r39 or not overtaken(newest, claims))
    claims += [PresyncedOffset(place.other, 0.0)] if place.other is not None and known else []
    tail = Tail(*world.log(world.idle), world.last_replicated_offset, tenures[-1].first(world.idle, KEY))
    checkpointed = newest if present else None
    found = survived(tail, checkpointed, claims, None if before_r39 else newest)
    assert found.offset is not None
    return found.offset


@pytest.fixture(scope="module")
def disasters() -> Tally:
    tally = Tally()
    for seed in range(FIRST, FIRST + COUNT):
        # Few worlds are fit, and to make one takes longer than what groups do in it.
        made, draw = tenure_worlds.world(seed), random.Random(seed)
        for one in filter(None, (group_history(made, draw) for _number in range(GROUPS))):
            tally.counts["groups"] += 1
            tally.counts["set back"] += one.set_back
            offset = offset_after_a_disaster(one)
            tally.counts["above the log start"] += offset > made.starts[made.idle]
            if lost := made.skipped(one.committed_offset, offset):
                tally.skipped.append(f"seed {seed}: {one} starts at {offset}, skips {lost}")
            before = offset_after_a_disaster(one, before_r39=True)
            tally.counts["skips before R39"] += bool(made.skipped(one.committed_offset, before))
            without_ids = offset_after_a_disaster(one, without_ids=True)
            tally.counts["skips without ids"] += bool(made.skipped(one.committed_offset, without_ids))
    return tally


def test_no_group_that_was_set_back_in_any_tenure_skips_records_after_a_disaster(disasters: Tally) -> None:
    assert disasters.counts["groups"] > GROUPS * COUNT // 20
    assert disasters.counts["set back"] > disasters.counts["groups"] // 4
    assert disasters.counts["above the log start"] > disasters.counts["groups"] // 4
    assert disasters.skipped[:3] == []


def test_the_rules_before_skip_records_after_a_disaster_in_many_worlds(disasters: Tally) -> None:
    assert disasters.counts["skips before R39"] > disasters.counts["groups"] // 10


def test_offsets_of_a_checkpoints_topic_that_was_created_again_skip_records_without_its_id(disasters: Tally) -> None:
    """R43: and no clock of a worker shows which of them are newer."""
    assert disasters.counts["skips without ids"] > 0


def test_a_checkpoint_of_an_earlier_tenure_voids_what_was_stored() -> None:
    """R39: presynced at 160, set back by hand to 20, and the checkpoint lies before the present tenure."""
    presynced = PresyncedOffset(160, 2.0, 160, 30)
    own = PresyncedOffset(100, 0.0, 100, 10, own=True)
    newest = Checkpointed(20, 20, 3.0, 40)
    for stored in ([presynced, own], [presynced], [own]):
        found = survived(Tail(0, 160, floor=100), None, stored, newest)
        assert (found.offset, found.method) == (0, "start")
        assert found.hazards == ("the group was set back after its offset was stored",)
    # A checkpoint from before the last move is older than both, and voids nothing.
    assert survived(Tail(0, 160, floor=100), None, [presynced, own], replace(newest, at=9, time=0.0)).offset == 160


def test_what_the_scheduled_job_found_is_newer_than_the_groups_own_offset() -> None:
    own = PresyncedOffset(100, 0.0, 100, 10, own=True)
    assert survived(Tail(0, 160), None, [PresyncedOffset(20, 2.0, 20, 30), own]).offset == 20
    assert survived(Tail(0, 160), None, [PresyncedOffset(120, 2.0, 120, 30), own]).offset == 120
    # An inexact translation may be low although the group was not set back.
    assert survived(Tail(0, 160), None, [PresyncedOffset(90, 2.0, 105, 30), own]).offset == 100
    unknown = replace(own, upstream=None)
    assert survived(Tail(0, 160), None, [PresyncedOffset(90, 2.0, 105, 30), unknown]).offset == 90


def test_mirrormaker_2_translates_a_set_back_group_only_if_it_has_an_offset_sync_there() -> None:
    """The worlds write a checkpoint only where MirrorMaker 2 would."""
    assert checkpoint(20, after_last_rewind([])) is None

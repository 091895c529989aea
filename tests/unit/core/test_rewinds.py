# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Offset-syncs show where a flow sends again, in random runs of MirrorMaker 2 with gaps on the source."""

from __future__ import annotations

import random

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.rewinds import Rewind, open_rewind
from effort import share

WORLDS = share(20_000, least=200)


def sync(upstream: int, downstream: int) -> OffsetSync:
    return OffsetSync("t", 0, upstream, downstream)


def replicated(draw: random.Random) -> tuple[list[int], list[OffsetSync]]:
    """Source offsets in the order of the replica, and the offset-syncs as OffsetSyncWriter writes them."""
    offsets = [at for at in range(draw.randint(1, 60)) if draw.random() < 0.9] or [0]
    lag_max, restarts = draw.choice((0, 3, 10)), draw.randint(0, 3)
    replica: list[int] = []
    syncs: list[OffsetSync] = []
    cursor = flushed = 0
    fresh = True
    while cursor < len(offsets) and len(replica) < 300:
        at, here = len(replica), offsets[cursor]
        replica.append(here)
        if fresh or here != replica[-2] + 1 or at - syncs[-1].downstream > lag_max:
            syncs.append(sync(here, at))
        fresh, cursor = False, cursor + 1
        if draw.random() < 0.1:
            flushed = cursor
        if restarts and draw.random() < 0.1:
            cursor, restarts, fresh = flushed, restarts - 1, True
        if draw.random() < 0.02:
            break
    return replica, syncs


def test_every_unfinished_resend_is_detected_and_contains_its_first_copies() -> None:
    opened = closed = 0
    for seed in range(WORLDS):
        replica, syncs = replicated(random.Random(seed))
        found = open_rewind(syncs, 0, len(replica))
        last, unfinished = replica[-1], replica[-1] < max(replica)
        if unfinished:
            opened += 1
            assert found is not None, (seed, replica, syncs)
            place = replica.index(last, found.first)
            assert place < found.restart, (seed, found, replica)
            # A group at that offset skips nothing.
            assert {one for one in replica if one > last} <= set(replica[place:]), (seed, found, replica)
        elif len(set(replica)) == len(replica):
            closed += 1
            assert found is None, (seed, found, replica)
    assert min(opened, closed) > WORLDS // 20


def test_a_run_after_all_records_replicated_before_is_not_open() -> None:
    syncs = [sync(0, 0), sync(5, 10)]
    assert open_rewind(syncs, 0, 12) == Rewind(0, 10)
    assert open_rewind(syncs, 3, 12) == Rewind(3, 10)
    assert open_rewind(syncs, 0, 21) is None
    assert open_rewind([sync(0, 0), sync(4, 4), sync(9, 9), sync(5, 10)], 0, 12) == Rewind(4, 10)
    assert open_rewind(syncs[1:], 0, 12) is None
    assert open_rewind([], 0, 12) is None

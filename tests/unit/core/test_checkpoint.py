# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MirrorMaker 2's own translation rule, which reports compare with."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import (
    after_last_rewind,
    checkpoint,
)


@pytest.mark.parametrize(
    ("commit", "written", "offset"),
    [
        (5, [], None),
        (5, [(5, 3)], 3),  # Equal upstream offset: the next record is that record itself.
        (6, [(5, 3)], 4),  # Above it: the offset after it, never the difference.
        (500, [(5, 3)], 4),
        (4, [(5, 3)], None),
        (7, [(0, 0), (5, 3), (9, 7)], 4),
        (9, [(0, 0), (5, 3), (9, 7)], 7),
        # Sent again after a crash: offset-syncs from before the rewind do not count.
        (5, [(0, 0), (8, 8), (3, 9), (9, 15)], 10),
        (2, [(0, 0), (8, 8), (3, 9), (9, 15)], None),
        # The same record was acknowledged twice: the later copy counts, because every record below it has an earlier
        # copy.
        (5, [(5, 3), (5, 8)], 8),
        # The replica was re-created: offsets of the earlier replica mean other records.
        (100, [(100, 100), (101, 0)], None),
        (101, [(100, 100), (101, 0)], 0),
    ],
)
def test_a_checkpoint_is_translated_as_mirrormaker_2_does_it(
    commit: int, written: list[tuple[int, int]], offset: int | None
) -> None:
    syncs = [OffsetSync("T", 0, upstream, downstream) for upstream, downstream in written]
    assert checkpoint(commit, after_last_rewind(syncs)) == offset

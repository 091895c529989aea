# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MirrorMaker 2's own rule, with which reports compare."""

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
        (5, [(5, 3)], 3),  # equal upstream: the record itself is next
        (6, [(5, 3)], 4),  # above: the offset behind it, never the difference
        (500, [(5, 3)], 4),
        (4, [(5, 3)], None),
        (7, [(0, 0), (5, 3), (9, 7)], 4),
        (9, [(0, 0), (5, 3), (9, 7)], 7),
        # Sent again after a crash: what was written before the rewind does not count.
        (5, [(0, 0), (8, 8), (3, 9), (9, 15)], 10),
        (2, [(0, 0), (8, 8), (3, 9), (9, 15)], None),
        # The same record acknowledged twice: the later copy, everything below it has one in front.
        (5, [(5, 3), (5, 8)], 8),
        # The replica was re-created: offsets of the earlier one mean other records.
        (100, [(100, 100), (101, 0)], None),
        (101, [(100, 100), (101, 0)], 0),
    ],
)
def test_checkpoint(commit: int, written: list[tuple[int, int]], offset: int | None) -> None:
    syncs = [OffsetSync("T", 0, upstream, downstream) for upstream, downstream in written]
    assert checkpoint(commit, after_last_rewind(syncs)) == offset

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems that stopping the applications cannot solve are refused before the first application stops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.lasting_gaps import (
    GroupOnPartition,
    lasting_problems,
)

#: The source log is [30, 40), everything is replicated, and the group's committed offset is 5. It has no members.
EXPIRED = GroupOnPartition(
    ("T", 0), commit=5, end=40, idle=True, read_to_end=False, last_replicated_offset=39, start=30
)
LAGGING = replace(EXPIRED, commit=35)
PAST = replace(EXPIRED, commit=1000)
SAFE = {"group": "g", "offset": 5, "rereads": 12, "reason": "MirrorMaker 2's offset-sync, verified"}
NONE = {**SAFE, "offset": None, "rereads": None}


@pytest.mark.parametrize(
    ("row", "standing", "lag", "expected"),
    [
        (NONE, PAST, "refuse", "committed offset 1000 is past the log end 40"),
        (NONE, PAST, "reread", "committed offset 1000 is past the log end 40"),
        (NONE, replace(PAST, idle=False), "refuse", "past the log end"),
        (SAFE, EXPIRED, "refuse", "committed offset 5 is before the log start 30; at most 12 records"),
        (SAFE, LAGGING, "refuse", "committed offset 35 is below the log end 40, and it has no members"),
        (SAFE, EXPIRED, "reread", ""),
        # R45: in a tail, or after a lower bound of what a dead worker had replicated.
        (NONE, LAGGING, "reread", "committed offset 35 cannot be moved: MirrorMaker 2's offset-sync, verified"),
        (NONE, replace(LAGGING, idle=False), "reread", ""),
        # Each of these may change once the applications have stopped.
        (SAFE, replace(LAGGING, idle=False), "refuse", ""),
        (SAFE, replace(LAGGING, read_to_end=True), "refuse", ""),
        (SAFE, replace(LAGGING, read_to_end=None), "refuse", ""),
        (SAFE, replace(LAGGING, last_replicated_offset=34), "refuse", ""),
        (SAFE, replace(LAGGING, last_replicated_offset=None), "refuse", ""),
        (NONE, replace(PAST, commit=40), "refuse", ""),
        (NONE, replace(PAST, commit=None), "refuse", ""),
    ],
)
def test_only_problems_that_a_stop_cannot_change_are_refused(
    row: dict[str, Any], standing: GroupOnPartition, lag: str, expected: str
) -> None:
    found = lasting_problems([(row, standing)], "P", lag)
    assert bool(found) is bool(expected)
    for text in found:
        assert expected in text
        assert text.startswith('group "g" on P T-0: ')

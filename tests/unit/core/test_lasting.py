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
    is_higher_there,
    lasting_problems,
    stays_higher_there,
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


HIGHER = {"existing": 33, "offset": 8, "own": None, "quality": "exact"}


@pytest.mark.parametrize(
    ("parts", "higher"),
    [
        ({}, True),
        ({"existing": None}, False),
        ({"offset": None}, False),
        ({"existing": 8}, False),
        ({"existing": 7}, False),
        # R39: the move lowers the group's own offset of an earlier tenure.
        ({"own": 33}, False),
        ({"quality": "safe"}, True),
    ],
)
def test_only_an_offset_of_another_writer_is_higher_there(parts: dict[str, Any], higher: bool) -> None:
    assert is_higher_there({**HIGHER, **parts}) is higher


@pytest.mark.parametrize("lag", ["refuse", "reread"])
def test_a_higher_offset_that_no_group_will_pass_stays(lag: str) -> None:
    """R6: commit_offsets would refuse it with all applications stopped."""
    for quality in ("exact", "safe"):
        assert stays_higher_there({**HIGHER, "quality": quality}, idle=True, waits=True, group_lag=lag)
    # It has no unread record, or its next one is not replicated yet: then its offset will be higher.
    assert not stays_higher_there(HIGHER, idle=True, waits=False, group_lag=lag)
    assert not stays_higher_there({**HIGHER, "existing": 8}, idle=True, waits=True, group_lag=lag)


@pytest.mark.parametrize(
    ("quality", "lag", "stays"),
    [
        # It must read to the end, and passes that offset; or the barrier refuses it.
        ("exact", "refuse", False),
        ("exact", "reread", True),
        # An offset that is not exact may be too low itself.
        ("safe", "reread", False),
        ("skips", "reread", False),
    ],
)
def test_a_group_with_members_may_pass_a_higher_offset(quality: str, lag: str, stays: bool) -> None:
    row = {**HIGHER, "quality": quality}
    assert stays_higher_there(row, idle=False, waits=False, group_lag=lag) is stays

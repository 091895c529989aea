# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records left on an abandoned cluster: unknown is not zero, and an unreadable log does not block."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.rescue import _Progress

Key = tuple[str, int]
A, B = ("Payments", 0), ("Payments", 1)


@pytest.mark.parametrize(
    ("ends", "last_replicated_offset", "missing", "done"),
    [
        ({A: 10, B: 0}, {A: 9}, {A: 0, B: 0}, True),
        ({A: 10, B: 5}, {A: 7, B: 4}, {A: 2, B: 0}, False),
        # The log has records, but no offset is stored for it.
        ({A: 10}, {}, {A: None}, False),
        # No leader: neither known nor worth waiting for.
        ({A: 10, B: None}, {A: 9, B: 3}, {A: 0, B: None}, True),
        # The log ends below the last replicated offset: no tail.
        ({A: 3}, {A: 9}, {A: 0}, True),
    ],
    ids=["replicated", "lagging", "unknown", "no-leader", "truncated"],
)
def test_the_remaining_records_of_a_partition(
    ends: dict[Key, int | None], last_replicated_offset: dict[Key, int], missing: dict[Key, int | None], done: bool
) -> None:
    found = _Progress(ends, last_replicated_offset)
    assert found.missing() == missing
    assert found.done is done

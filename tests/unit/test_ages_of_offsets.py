# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ages of offsets and heartbeats, which another machine's clock has written (R43)."""

from __future__ import annotations

import struct
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.status import lease_lines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.last_records import heartbeat_age
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.disaster_barrier import _ages

KEY = struct.pack(">h", 1) + b"P" + struct.pack(">h", 1) + b"B"


def offset(group: str, as_of: float | None, rereads: int = 1) -> dict[str, Any]:
    return {"group": group, "method": "checkpoint", "rereads": rereads, "as_of": as_of}


def heartbeat(ago: float) -> Record:
    value = struct.pack(">hq", 0, int((time.time() - ago) * 1000))
    return Record(7, None, None, KEY, value, ())


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=5))
def test_the_age_of_a_groups_offsets_is_that_of_the_oldest_and_never_below_zero(ahead: list[float | None]) -> None:
    now = time.time()
    found = _ages([offset("g", None if one is None else now + one) for one in ahead])["g"]
    if any(one is None or one > 1 for one in ahead):
        assert found is None
    else:
        known = [one for one in ahead if one is not None]
        assert found is None or found >= max(0.0, -min(known) - 0.1)


def test_an_offset_that_repeats_nothing_has_no_age() -> None:
    assert _ages([offset("g", None, rereads=0)]) == {}


@pytest.mark.parametrize(("ago", "known"), [(55.8, True), (3600.0, True), (-3600.0, False), (-1.0, False)])
def test_a_heartbeat_of_a_clock_that_is_ahead_has_no_age(ago: float, known: bool) -> None:
    """It was 0.0 s old, for an hour after the flow had ended."""
    age = heartbeat_age(heartbeat(ago))
    assert (age is not None) == known
    assert age is None or ago - 1 < age < ago + 30
    assert heartbeat_age(None) is None


def test_a_lease_of_a_clock_that_is_ahead_has_no_age() -> None:
    lease = {
        "kind": "committed_offsets",
        "to": "B",
        "since": 1000.0,
        "holder": None,
        "ended": 1010.0,
        "outcome": "done",
        "counts": {"rereads": 0},
    }
    assert "presynced 20 s ago" in lease_lines([lease], 1020.0)[0]
    assert "presynced at an unknown time" in lease_lines([lease], 990.0)[0]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of a lost cluster: the progress of its replay, and its records as lines of a file."""

from __future__ import annotations

import base64
import json

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tails import (
    Progress,
    first_offset,
    line,
    provenance,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import Record

PLAN = Progress("B-P", "P", "T", 0, "id", "salvage", 5, 9, 5)


def test_a_tail_begins_after_the_replicated_and_the_salvaged_records() -> None:
    assert first_offset(None, None) == 0
    assert first_offset(4, None) == 5
    assert first_offset(4, PLAN) == 9
    assert first_offset(20, PLAN) == 21


def test_progress_is_read_back_unchanged() -> None:
    assert Progress.of(json.loads(json.dumps(PLAN.as_dict()))) == PLAN
    assert PLAN.key == "B-P/salvage/P/T/0"
    assert not PLAN.done
    assert Progress.of({**PLAN.as_dict(), "through": 9}).done


@pytest.mark.parametrize("data", [None, b"", b"text", "Grüße".encode(), bytes(range(256))])
def test_a_line_is_readable_and_preserves_every_byte(data: bytes | None) -> None:
    found = json.loads(line("T", 3, Record(7, 1700000000000, "CreateTime", data, data, (("h", data),))))
    assert (found["topic"], found["partition"], found["offset"], found["timestamp"]) == ("T", 3, 7, 1700000000000)
    for shown, kept in ((found["key"], found["key_base64"]), tuple(found["headers"][0][1:])):
        assert (None if kept is None else base64.b64decode(kept)) == data
        assert shown is None or shown.encode() == data
    assert "\n" not in line("T", 0, Record(0, None, None, b"a\nb", data, ()))


def test_the_origin_of_a_record_is_in_its_headers() -> None:
    assert provenance("id", "T", 3, 7) == [
        ("kafka_dr.salvage.cluster", b"id"),
        ("kafka_dr.salvage.topic", b"T"),
        ("kafka_dr.salvage.partition", b"3"),
        ("kafka_dr.salvage.offset", b"7"),
    ]

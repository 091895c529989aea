# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows that pass between modules as one string come out as they went in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.compressed import (
    compress,
    compress_at,
    dropped_at,
    expand,
    json_text,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2**63) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ROWS: list[dict[str, Any]] = [{"topic": "Payments", "partition": 0, "offset": 12}]


@given(VALUES, st.sampled_from(["", "first", "first.*", "*", "*.second", "first.*.second", "0"]))
def test_a_value_is_the_same_after_compression_at_any_path(value: Any, path: str) -> None:
    assert expand(compress_at(value, path.split(".") if path else [], json_text)) == value


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("rows", {"rows": compress(json_text(ROWS)), "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("nested.*.rows", {"rows": ROWS, "nested": [{"rows": compress(json_text(ROWS)), "name": "P->B"}], "none": []}),
        ("none", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("nested.*.name", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("absent.*.rows", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
    ],
)
def test_only_the_rows_at_the_path_become_a_string(path: str, wanted: dict[str, Any]) -> None:
    value = {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}
    assert compress_at(value, path.split("."), json_text) == wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("rows", {"nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("nested.*.rows", {"rows": ROWS, "nested": [{"name": "P->B"}], "none": []}),
        ("none", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}]}),
        ("nested.*.name", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("absent.*.rows", {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}),
        ("nested.*.*", {"rows": ROWS, "nested": [{"name": "P->B"}], "none": []}),
    ],
)
def test_rows_that_a_record_has_do_not_travel(path: str, wanted: dict[str, Any]) -> None:
    value = {"rows": ROWS, "nested": [{"rows": ROWS, "name": "P->B"}], "none": []}
    assert dropped_at(value, path.split(".")) == wanted


def test_a_string_of_rows_is_expanded_at_any_depth() -> None:
    inner = compress(json_text(ROWS))
    assert expand({"facts": [{"status": {"groups": inner}}]}) == {"facts": [{"status": {"groups": ROWS}}]}


def test_rows_of_24_000_partitions_become_a_string_of_a_fifth_of_their_text() -> None:
    rows = [{"group": f"group-{number // 120}", "topic": "P.Payments", "partition": number} for number in range(24_000)]
    assert len(compress(json_text(rows))) < len(json_text(rows)) / 5

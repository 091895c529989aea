# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of topic settings: how users write them, how the broker returns them, and when both mean the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.values import kind_of, same, text_of


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("retention.ms", "7d", "604800000"),
        ("retention.ms", 604800000, "604800000"),
        ("retention.ms", 604800000.0, "604800000"),
        ("retention.ms", "1.5h", "5400000"),
        ("retention.ms", "90 min", "5400000"),
        ("retention.ms", -1, "-1"),
        ("segment.bytes", "1GiB", "1073741824"),
        ("segment.bytes", "1 gb", "1000000000"),
        ("max.message.bytes", 1048588, "1048588"),
        ("cleanup.policy", ["compact", "delete"], "compact,delete"),
        ("cleanup.policy", [], ""),
        ("preallocate", True, "true"),
        ("preallocate", "Yes", "true"),
        ("unclean.leader.election.enable", "off", "false"),
        ("min.cleanable.dirty.ratio", 0.5, "0.5"),
        ("min.cleanable.dirty.ratio", "0.50", "0.5"),
        ("min.insync.replicas", "2", "2"),
        ("compression.type", "zstd", "zstd"),
        ("some.new.setting", "7d", "7d"),
        ("some.new.timeout.ms", "2s", "2000"),
    ],
)
def test_a_value_becomes_the_text_of_the_broker(name: str, value: Any, text: str) -> None:
    assert text_of(name, value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "soon"),
        ("retention.ms", "7x"),
        ("retention.ms", "0.0001ms"),
        ("segment.bytes", "many"),
        ("preallocate", "maybe"),
        ("min.insync.replicas", "two"),
        ("min.insync.replicas", "NaN"),
        ("flush.messages", "1e999999"),
        ("retention.ms", "9" * 60 + "d"),
    ],
)
def test_an_unreadable_value_is_left_for_the_broker_to_refuse(name: str, value: str) -> None:
    assert text_of(name, value) == value


@pytest.mark.parametrize(
    ("name", "wanted", "found", "equal"),
    [
        ("cleanup.policy", "compact,delete", "delete, compact", True),
        ("cleanup.policy", "compact", "compact,delete", False),
        ("preallocate", "true", "True", True),
        ("retention.ms", "1000", "1000.0", True),
        ("retention.ms", "1000", "1001", False),
        ("min.cleanable.dirty.ratio", "0.5", "0.50", True),
        ("compression.type", "zstd", "ZSTD", False),
        ("compression.type", "zstd", "zstd", True),
        ("compression.type", "zstd", None, False),
    ],
)
def test_texts_are_compared_by_meaning(name: str, wanted: str, found: str | None, equal: bool) -> None:
    assert same(name, wanted, found) is equal


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.b.ms", "duration"), ("a.bytes", "size"), ("a.enable", "bool"), ("a.ratio", "number"), ("a.b", "text")],
)
def test_unknown_settings_are_typed_by_their_suffix(name: str, kind: str) -> None:
    assert kind_of(name) == kind


NAMES = st.sampled_from(["retention.ms", "segment.bytes", "cleanup.policy", "preallocate", "flush.messages", "other"])
VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.from_regex(r"\d{1,6}(\.\d)? ?[a-zA-Z]{1,3}")
)


@given(NAMES, VALUES)
def test_the_text_of_a_text_is_itself(name: str, value: Any) -> None:
    once = text_of(name, value)
    assert text_of(name, once) == once
    assert same(name, once, once)


@given(NAMES, st.text(max_size=8), st.text(max_size=8))
def test_equality_is_symmetric(name: str, left: str, right: str) -> None:
    assert same(name, left, right) == same(name, right, left)

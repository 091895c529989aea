# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts combine to the worst one, and no verdict at all proves nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import (
    NOT_APPLICABLE,
    PROVEN,
    REFUTED,
    UNKNOWN,
    combine,
)

VERDICTS = st.lists(st.sampled_from([PROVEN, REFUTED, UNKNOWN]))


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([], UNKNOWN),
        ([PROVEN], PROVEN),
        ([PROVEN, PROVEN], PROVEN),
        ([PROVEN, UNKNOWN], UNKNOWN),
        ([UNKNOWN], UNKNOWN),
        ([PROVEN, UNKNOWN, REFUTED], REFUTED),
        (["anything else"], UNKNOWN),
        ([PROVEN, NOT_APPLICABLE], PROVEN),
        ([UNKNOWN, NOT_APPLICABLE], UNKNOWN),
        ([NOT_APPLICABLE], UNKNOWN),
    ],
)
def test_the_combination_is_the_worst_verdict(parts: list[str], whole: str) -> None:
    assert combine(parts) == whole
    assert combine(iter(parts)) == whole


@given(VERDICTS, st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(parts: list[str], random: object) -> None:
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert combine(shuffled) == combine(parts)


@given(VERDICTS, st.sampled_from([REFUTED, UNKNOWN]))
def test_a_part_that_is_not_proven_never_leaves_the_whole_proven(parts: list[str], bad: str) -> None:
    assert combine([*parts, bad]) != PROVEN

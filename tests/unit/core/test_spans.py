# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parts of both logs are read: enough around an offset, and never outside the logs.

That a part of the logs is safe and exact is tested in test_translation_worlds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import OffsetSync
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.read_copies import Anchor
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.spans import (
    LogBounds,
    Span,
    merged,
    span_forward,
    span_reverse,
    span_skips,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import Translated
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Range


@st.composite
def ranges(draw: st.DrawFn, longest: int) -> Range:
    start = draw(st.integers(0, longest))
    return start, draw(st.integers(start, longest))


#: Each record is at one offset of either log.
ENDS = (lambda places: places[0], lambda places: places[1])


@st.composite
def logs(draw: st.DrawFn, longest: int = 100) -> LogBounds:
    """Both logs of a flow, with offset-syncs that may have expired on either cluster."""
    pairs = draw(st.lists(st.tuples(st.integers(0, longest), st.integers(0, longest)), max_size=12, unique_by=ENDS))
    upstream, downstream = (sorted(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    syncs = [OffsetSync("T", 0, *places) for places in zip(upstream, downstream, strict=True)]
    source = draw(ranges(longest))
    return LogBounds(source, draw(ranges(longest)), draw(st.none() | st.integers(0, longest)), syncs)


def inside(part: Range, log: Range) -> bool:
    return log[0] <= part[0] <= part[1] <= log[1]


def reaches(part: Range, low: int, high: int, log: Range) -> bool:
    """Whether the part has every offset of the log in [low, high)."""
    return part[0] <= max(low, log[0]) and part[1] >= min(high, log[1])


@given(logs(), st.integers(0, 100), st.integers(1, 10))
def test_the_records_around_an_offset_are_read_with_the_source_records_of_their_offset_syncs(
    bounds: LogBounds, offset: int, width: int
) -> None:
    commit = min(max(offset, bounds.replica[0]), bounds.replica[1])
    span = span_reverse(commit, bounds, width, 0)
    assert inside(span.source, bounds.source)
    assert inside(span.replica, bounds.replica)
    assert reaches(span.replica, commit - width, commit + width, bounds.replica)
    # Not more than the nearest offset-syncs around it, or ten times the width.
    assert span.replica[1] - span.replica[0] <= 20 * width + 1
    upstream = [sync.upstream for sync in bounds.syncs if span.replica[0] <= sync.downstream < span.replica[1]]
    if upstream:
        assert reaches(span.source, min(upstream) - width, max(upstream) + 1 + width, bounds.source)


@given(logs(), st.integers(0, 100), st.integers(1, 10))
def test_from_an_offset_of_the_source_its_next_records_are_read(bounds: LogBounds, offset: int, width: int) -> None:
    commit = min(max(offset, bounds.source[0]), bounds.source[1])
    span = span_forward(commit, bounds, width, 0)
    assert inside(span.source, bounds.source)
    assert inside(span.replica, bounds.replica)
    assert reaches(span.source, commit - 1, commit + width, bounds.source)
    # The last offset-sync below it is read, unless it is so far below that another one is needed first.
    below = [sync for sync in bounds.syncs if sync.upstream < commit]
    if below and bounds.replica[0] <= below[-1].downstream < bounds.replica[1] and commit - below[-1].upstream <= width:
        assert reaches(span.replica, below[-1].downstream, below[-1].downstream + 1, bounds.replica)


@given(logs(), st.integers(0, 100), st.integers(1, 10))
def test_a_short_log_is_read_as_a_whole(bounds: LogBounds, offset: int, width: int) -> None:
    """R36: every missing copy shows. Forward, it is the unread part of the source."""
    assert span_reverse(offset, bounds, width, 100) == Span(bounds.source, bounds.replica, (offset,))
    commit = min(max(offset, bounds.source[0]), bounds.source[1])
    span = span_forward(commit, bounds, width, 100)
    assert span.source[1] == bounds.source[1]
    assert span.replica[1] == bounds.replica[1]


SPANS = st.builds(Span, ranges(100), ranges(100), st.tuples(st.integers(0, 100)))


@given(st.lists(SPANS, max_size=8), st.integers(0, 30))
def test_spans_that_are_read_at_once_contain_each_of_them(spans: list[Span], gap: int) -> None:
    joined = merged(spans, gap)
    for span in spans:
        assert any(
            inside(span.source, one.source)
            and inside(span.replica, one.replica)
            and set(span.committed_offsets) <= set(one.committed_offsets)
            for one in joined
        )
    assert {offset for one in joined for offset in one.committed_offsets} == {
        offset for span in spans for offset in span.committed_offsets
    }
    assert [one.replica[0] for one in joined] == sorted(one.replica[0] for one in joined)


@pytest.mark.parametrize(("distance", "count"), [(0, 1), (5, 1), (6, 2)])
def test_spans_are_joined_up_to_a_gap_on_both_clusters(distance: int, count: int) -> None:
    first = Span((0, 10), (0, 10), (1,))
    away = (10 + distance, 20 + distance)
    assert len(merged([first, Span(away, (10, 20), (2,))], 5)) == count
    assert len(merged([first, Span((10, 20), away, (2,))], 5)) == count


LARGE = LogBounds(
    (50, 300_000),
    (70, 300_000),
    299_999,
    [OffsetSync("T", 0, *one) for one in ((40, 80), (90, 60), (95, 99), (400, 400))],
)


def test_of_more_than_can_be_compared_the_first_records_that_both_logs_still_have_are_read() -> None:
    """R30: around the log starts, it shows what expired. The first offset-sync of which both have the record is 95."""
    doubtful = Translated(100, "sync", 5)
    for span in (span_skips(100, doubtful, LARGE, True), span_skips(100, doubtful, LARGE, False)):
        assert (span.source, span.replica) == ((95, 1095), (99, 1099))
    without = replace(LARGE, syncs=[])
    assert span_skips(100, doubtful, without, True).source == (50, 1050)
    assert span_skips(100, doubtful, without, True).replica == (70, 1070)


def test_all_unread_records_are_read_to_count_those_that_are_skipped() -> None:
    bounds = replace(LARGE, source=(50, 40_000), replica=(70, 40_000))
    found = Translated(20_100, "sync", 5, Anchor(20_000, 20_050))
    assert span_skips(20_010, found, bounds, True) == Span((19_999, 40_000), (20_050, 40_000), (20_010,))
    assert span_skips(20_060, replace(found, offset=20_030), bounds, False).source == (19_999, 40_000)
    # A lower one of the source than its log start cannot be read.
    assert span_skips(10, Translated(20, "start", 5), bounds, True).source == (50, 40_000)

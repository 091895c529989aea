# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a group starts on the cluster being entered: never after records it has not read, never outside the log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.bindings import HELD, UNBOUND, Binding
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.read_copies import COMPACTED, NOT_STORED
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.skipped_records import NO_SKIPS, Skips
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.target_offsets import (
    OwnOffset,
    Side,
    TargetOffset,
    enter_original,
    enter_replica,
    enter_same,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.tenures import TenurePlace
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.translation import Translated

# ---- the replica


LOG = Side(None, 0, 40)
LAGGING = Side(30, 0, 50, False)


@pytest.mark.parametrize(
    ("left", "replica", "final", "translated", "expected"),
    [
        # The group read to the end after the barrier: the end, no matter what was translated.
        (Side(50, 0, 50, True), LOG, True, Translated(9, "content", 0), ("end", "exact", 40, 0)),
        # A marker after the last record does not matter (R19).
        (Side(49, 0, 50, True), LOG, True, None, ("end", "exact", 40, 0)),
        # Without a barrier, the end of the replica proves nothing.
        (Side(50, 0, 50, True), LOG, False, Translated(36, "sync", 4), ("sync", "safe", 36, 4)),
        (Side(30, 0, 50, False), LOG, True, Translated(24, "content", 0), ("content", "exact", 24, 0)),
        (Side(30, 0, 50, None), LOG, True, Translated(15, "sync", 9), ("sync", "safe", 15, 9)),
        # Retention continued meanwhile: the offset is inside the log, but the expired records are skipped (R30).
        (Side(30, 0, 50, False), Side(None, 30, 40), True, Translated(15, "sync", 9), ("sync", "skips", 30, 9)),
        (Side(None, 0, 0, True), Side(None, 0, 0), True, None, ("empty", "exact", 0, 0)),
        (Side(0, 0, 0, True), Side(None, 0, 0), True, None, ("end", "exact", 0, 0)),
    ],
)
def test_the_offset_on_a_replica(
    left: Side, replica: Side, final: bool, translated: Translated | None, expected: tuple[str, str, int, int]
) -> None:
    """R7: the offset on the replica follows from the committed offset on the original."""
    found = enter_replica(left, replica, final, translated)
    assert (found.method, found.quality, found.offset, found.rereads) == expected


@pytest.mark.parametrize(
    ("left", "replica", "message"),
    [
        (Side(None, 0, 50), LOG, "no committed offset on the cluster being left"),
        (
            Side(None, 0, 0),
            LOG,
            "no committed offset on the cluster being left",
        ),  # Never written, but records were replicated.
        (Side(50, None, None, None), LOG, "could not be read"),
        (Side(50, 0, 50, True), Side(None, None, None), "could not be read"),
        # Never written there, but records are on the cluster being left.
        (Side(None, 0, 50), Side(None, 0, 0), "no committed offset on the cluster being left"),
        (Side(51, 0, 50, True), LOG, "past the log end 50"),
        (Side(30, 0, 50, False), LOG, "could not be translated"),
    ],
)
def test_without_evidence_there_is_no_offset_on_the_replica(left: Side, replica: Side, message: str) -> None:
    """R8: auto.offset.reset must never decide, and a guess is not an offset."""
    found = enter_replica(left, replica, True, None)
    assert (found.offset, found.quality, found.rereads) == (None, "none", None)
    assert message in found.reason


def test_a_commit_on_the_target_does_not_raise_the_start_on_the_replica() -> None:
    """R6: the committed offset on the cluster being left is the truth."""
    left, found = Side(30, 0, 50, False), Translated(24, "content", 0)
    plain = enter_replica(left, Side(None, 0, 40), True, found)
    assert enter_replica(left, Side(38, 0, 40), True, found) == plain


SHORT = Translated(10, "start", 7, skips=Skips(3, 5), needed=2)
LOG_10 = Side(None, 10, 30)
LOG_30, COMPACTED_30 = Side(None, 0, 30), Side(None, 0, 30, compacted=True)


@pytest.mark.parametrize(
    ("found", "skips", "reason"),
    [
        # The counted number, and records that expired since, never become "safe".
        (enter_replica(Side(12, 0, 50, False), Side(None, 10, 40), True, SHORT), Skips(3, 5), "3 to 5 records"),
        (enter_replica(Side(12, 0, 50, False), Side(None, 14, 40), True, SHORT), Skips(3, 9), "3 to 9 records"),
        # Only unread records can be skipped.
        (
            enter_replica(Side(48, 0, 50, False), Side(None, 30, 40), True, replace(SHORT, skips=NO_SKIPS)),
            Skips(0, 2),
            "",
        ),
        (
            enter_same(Side(30, 0, 50, False), Side(None, 25, 40), True, TenurePlace(1, 22), None),
            Skips(0, 3),
            "starts at 25",
        ),
        # The group has read the records before its own earlier offset there.
        (enter_original(Side(15, 0, 20, False), LOG_10, True, SHORT, OwnOffset(9, 15)), Skips(1, 1), "1 record that"),
        (
            enter_original(Side(15, 0, 20, False), LOG_10, True, SHORT, OwnOffset(12, 15)),
            NO_SKIPS,
            "own earlier committed offset",
        ),
        (
            enter_original(Side(15, 0, 20, False), LOG_10, True, replace(SHORT, rereads=0), OwnOffset(12, 15)),
            NO_SKIPS,
            "only the log start",
        ),
        # It was set back since, so it wants the records before its own offset again.
        (enter_original(Side(15, 0, 20, False), LOG_10, True, SHORT, OwnOffset(9, 16)), Skips(3, 5), "3 to 5"),
        (enter_original(Side(None, 0, 20), Side(None, 10, 30), True, None), Skips(0, 10), "up to 10 records"),
        (
            enter_original(
                Side(15, 0, 20, False),
                LOG_10,
                True,
                replace(SHORT, offset=20, hazards=COMPACTED),
                OwnOffset(12, 15),
            ),
            Skips(3, 5),
            "compacted",
        ),
        # Compaction may have removed records after its own earlier offset, or before its first one.
        (enter_original(Side(None, 0, 20), COMPACTED_30, True, None, OwnOffset(27)), Skips(0, 3), "compacted"),
        (
            enter_original(
                Side(15, 0, 20, False),
                COMPACTED_30,
                True,
                Translated(20, "sync", 9, skips=Skips(0, 4)),
                OwnOffset(27, 15),
            ),
            Skips(0, 3),
            "compacted",
        ),
        (
            enter_original(Side(15, 0, 20, False), COMPACTED_30, True, Translated(20, "sync", 9), OwnOffset(27, 15)),
            NO_SKIPS,
            "own earlier",
        ),
        (enter_original(Side(None, 0, 20), COMPACTED_30, True, None), Skips(0, 30), "compacted"),
        (enter_original(Side(None, 0, 20, True), COMPACTED_30, False, None), NO_SKIPS, "no earlier"),
    ],
)
def test_missing_records_are_counted_separately(found: TargetOffset, skips: Skips, reason: str) -> None:
    """R30: raising an offset to the log start is a skip."""
    assert (found.skips, found.quality == "skips") == (skips, skips.possible)
    assert reason in found.reason


def test_records_that_expired_on_both_clusters_are_reported_and_not_counted() -> None:
    """R30: such a record is lost to the group with or without a move."""
    found = enter_replica(Side(5, 30, 50, False), Side(None, 0, 40), True, Translated(6, "start", 0))
    assert (found.skips, found.quality) == (NO_SKIPS, "exact")
    assert "25 offsets that it had not read have expired on the cluster being left, too" in found.reason


def test_the_reason_of_an_inexact_offset_names_compaction() -> None:
    """A verified offset-sync does not explain why a group reads again."""
    found = enter_replica(LAGGING, LOG, True, Translated(15, "sync", 9, hazards=COMPACTED))
    assert "the source is compacted and the replica is compacted" in found.reason
    assert (
        enter_replica(LAGGING, LOG, True, Translated(15, "sync", 9)).reason == "MirrorMaker 2's offset-sync, verified"
    )
    exact = enter_replica(LAGGING, LOG, True, Translated(15, "sync", 0, hazards=COMPACTED))
    assert "compacted" not in exact.reason


def test_an_offset_of_a_flow_that_has_stored_none_may_skip_records_and_says_why() -> None:
    """R36: an unread record without a copy is missing, or not replicated yet."""
    translated = Translated(15, "content", 0, hazards=(NOT_STORED,))
    found = enter_replica(LAGGING, LOG, True, replace(translated, skips=Skips(0, 2)))
    assert (found.quality, found.skips) == ("skips", Skips(0, 2))
    assert found.reason.endswith(f"are gone: {NOT_STORED}")
    assert enter_replica(LAGGING, LOG, True, translated).quality == "exact"


# ---- the original


MOVED = Binding(False, True, "the log was cut and filled again since the offset was stored")


@pytest.mark.parametrize(
    ("left", "original", "drained", "translated", "own", "expected"),
    [
        (Side(20, 0, 20, True), LOG_30, True, None, None, ("end", "exact", 30, 0)),
        (Side(20, 0, 20, True), LOG_30, True, None, OwnOffset(12, 20), ("end", "exact", 30, 0)),
        # Not drained: the copy may lack records, so reading all of it proves nothing.
        (Side(20, 0, 20, True), LOG_30, False, None, OwnOffset(12, 20), ("own", "safe", 12, 18)),
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "content", 0), None, ("content", "exact", 25, 0)),
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), None, ("sync", "safe", 25, 3)),
        # The group is where it arrived, or after that, so its own offset is proven, and the translation is too low. The
        # offsets between them may have no records, so they are not subtracted.
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), OwnOffset(27, 15), ("own", "safe", 27, 3)),
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 9), OwnOffset(27, 14), ("own", "safe", 27, 3)),
        # R39: an exact translation decides, and not what the group had on Y before.
        (
            Side(15, 0, 20, False),
            LOG_30,
            True,
            Translated(25, "content", 0),
            OwnOffset(27, 17),
            ("content", "exact", 25, 0),
        ),
        (
            Side(15, 0, 20, False),
            LOG_30,
            True,
            Translated(25, "content", 0),
            OwnOffset(27, 15),
            ("content", "exact", 25, 0),
        ),
        # It was set back since it arrived, or where it arrived was not exact: its own offset may be too high.
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), OwnOffset(27, 16), ("sync", "safe", 25, 3)),
        (Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), OwnOffset(27), ("sync", "safe", 25, 3)),
        (Side(15, 0, 20, False), LOG_30, True, None, OwnOffset(27, 16), ("start", "safe", 0, 30)),
        # R37: Y:T has other records than when the offset was journaled.
        (
            Side(15, 0, 20, False),
            LOG_30,
            True,
            Translated(25, "sync", 3),
            OwnOffset(27, 15, MOVED),
            ("sync", "safe", 25, 3),
        ),
        (Side(None, 0, 20), LOG_30, True, None, OwnOffset(27, 15, MOVED), ("start", "safe", 0, 30)),
        # It has no committed offset on the replica, so it was not set back there.
        (Side(None, 0, 20), LOG_30, True, None, OwnOffset(27), ("own", "safe", 27, 3)),
        (Side(15, 0, 20, None), LOG_30, True, None, OwnOffset(30, 15), ("own", "safe", 30, 0)),
        # The group's own offset expired, or it has none: the log start, and the records before it are skipped (R30).
        (Side(15, 0, 20, False), Side(None, 14, 30), True, None, OwnOffset(12, 15), ("start", "skips", 14, 16)),
        (Side(None, 0, 20), LOG_30, True, None, None, ("start", "safe", 0, 30)),
        (Side(None, None, None), Side(None, 5, 30), True, None, None, ("start", "skips", 5, 25)),
        # The replica had no unread record, so nothing is skipped.
        (Side(None, None, None, True), Side(None, 5, 30), False, None, None, ("start", "safe", 5, 25)),
        (Side(None, None, None), Side(None, 0, 0), False, None, None, ("empty", "exact", 0, 0)),
    ],
)
def test_the_offset_on_an_original(
    left: Side,
    original: Side,
    drained: bool,
    translated: Translated | None,
    own: OwnOffset | None,
    expected: tuple[str, str, int, int],
) -> None:
    """R7 and R39: the exact translation; else the own offset of a group that was not set back; else the log start."""
    found = enter_original(left, original, drained, translated, own)
    assert (found.method, found.quality, found.offset, found.rereads) == expected


def test_a_group_that_was_set_back_on_the_mirrored_topic_starts_where_it_was_set_back_to() -> None:
    """R39: it had read 30 records on Y, and was set back to 10 on X:``Y.T``. At 30 it would never read 20 of them."""
    left, own = Side(10, 0, 30, False), OwnOffset(30, 30)
    exact = enter_original(left, LOG_30, True, Translated(10, "content", 0), own)
    assert (exact.offset, exact.quality) == (10, "exact")
    assert (
        "its own earlier committed offset 30 does not count: the group was set back since, from 30 to 10"
        in exact.reason
    )
    # That explains it, and not that the earlier offset is not bound to the log any more.
    assert enter_original(left, LOG_30, True, Translated(10, "content", 0), replace(own, binding=MOVED)) == exact
    inexact = enter_original(left, LOG_30, True, Translated(8, "sync", 4), own)
    assert (inexact.offset, inexact.quality, inexact.rereads) == (8, "safe", 4)


@pytest.mark.parametrize(("hazards", "most", "expected"), [((), 5, Skips(3, 3)), (COMPACTED, None, Skips(3, None))])
def test_missing_records_before_its_own_offset_have_been_read_on_the_original(
    hazards: tuple[str, ...], most: int | None, expected: Skips
) -> None:
    """R36: of the records 5 to 7, 10 and 11 that have no copy, the group has read 5 and 6 on Y itself."""
    translated = Translated(20, "content", 0, hazards=hazards, skips=Skips(5, most), missing=((5, 8), (10, 12)))
    for own in (OwnOffset(7, 15), OwnOffset(7, 15, MOVED)):
        found = enter_original(Side(15, 0, 20, False), LOG_30, True, translated, own)
        assert found.skips == (expected if own.binding is HELD else Skips(5, most))
        assert f"at offsets {'7' if own.binding is HELD else '5 to 7'}, 10 to 11 of the source" in found.reason
    # Read to the end, all that is left to say is which records never arrived on the replica.
    assert enter_original(Side(20, 0, 20, True), LOG_30, True, translated, OwnOffset(7, 15)).skips == Skips(3, 3)


def test_an_own_offset_stands_in_with_its_reason() -> None:
    """R39: never silently, and never as exact."""
    found = enter_original(Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), OwnOffset(27, 15))
    assert "because the committed offset on the replica has no exact translation" in found.reason
    without = enter_original(Side(15, 0, 20, False), LOG_30, True, Translated(25, "sync", 3), OwnOffset(27, 15, MOVED))
    assert "27 is not used: the log was cut and filled again" in without.reason


@pytest.mark.parametrize(
    ("left", "original", "own", "message"),
    [
        (Side(15, 0, 20, False), LOG_30, OwnOffset(31, 15), "past the log end 30"),
        (Side(15, 0, 20, False), LOG_30, OwnOffset(31, None, MOVED), "past the log end 30"),
        (Side(20, 0, 20, True), Side(None, None, 30), OwnOffset(12), "could not be read"),
        (Side(20, 0, 20, True), Side(None, 0, None), OwnOffset(12), "could not be read"),
    ],
)
def test_without_evidence_there_is_no_offset_on_the_original(
    left: Side, original: Side, own: OwnOffset, message: str
) -> None:
    """R8: a guess is not an offset."""
    found = enter_original(left, original, True, None, own)
    assert (found.offset, found.quality, found.rereads) == (None, "none", None)
    assert message in found.reason


# ---- the same topic: the policy identity


INSIDE, AT_CUT, IN_TAIL = TenurePlace(1), TenurePlace(1, 22), TenurePlace(None)


@pytest.mark.parametrize(
    ("left", "entered", "final", "place", "translated", "expected"),
    [
        # A cut is a cut, with or without a barrier.
        (Side(30, 0, 50, False), LOG, True, AT_CUT, None, ("cut", "exact", 22, 0)),
        (Side(30, 0, 50, None), LOG, False, AT_CUT, None, ("cut", "exact", 22, 0)),
        (Side(0, 0, 50, False), LOG, True, TenurePlace(0, 0), None, ("cut", "exact", 0, 0)),
        # Retention continued meanwhile: the log start is the next remaining record (R30). Never after the end.
        (Side(30, 0, 50, False), Side(None, 25, 40), True, AT_CUT, None, ("cut", "skips", 25, 0)),
        # Every record after the cut was read.
        (Side(50, 0, 50, None), Side(None, 25, 40), True, AT_CUT, None, ("cut", "exact", 25, 0)),
        (Side(30, 0, 50, False), Side(None, 0, 20), True, AT_CUT, None, ("cut", "exact", 20, 0)),
        # The group read to the end after the barrier: the end, no matter where its committed offset is.
        (Side(50, 0, 50, True), LOG, True, INSIDE, None, ("end", "exact", 40, 0)),
        (Side(50, 0, 50, True), LOG, True, IN_TAIL, None, ("end", "exact", 40, 0)),
        (Side(30, 0, 50, True), LOG, True, AT_CUT, None, ("end", "exact", 40, 0)),
        # Without a barrier the end proves nothing.
        (Side(50, 0, 50, True), LOG, False, INSIDE, Translated(36, "sync", 4), ("sync", "safe", 36, 4)),
        (Side(50, 0, 50, True), LOG, False, AT_CUT, None, ("cut", "exact", 22, 0)),
        (Side(31, 0, 50, False), LOG, True, INSIDE, Translated(24, "content", 0), ("content", "exact", 24, 0)),
        (Side(31, 0, 50, None), LOG, True, INSIDE, Translated(15, "sync", 9), ("sync", "safe", 15, 9)),
        (
            Side(31, 0, 50, False),
            Side(None, 20, 40),
            True,
            INSIDE,
            Translated(15, "start", 9),
            ("start", "skips", 20, 9),
        ),
        # The group's earlier offset there does not count, because it belongs to an earlier tenure.
        (Side(31, 0, 50, False), Side(39, 0, 40), True, INSIDE, Translated(24, "tail", 0), ("tail", "exact", 24, 0)),
        (Side(None, 0, 0, True), Side(None, 0, 0), True, IN_TAIL, None, ("empty", "exact", 0, 0)),
        (Side(0, 0, 0, True), Side(None, 0, 0), True, TenurePlace(0, 0), None, ("end", "exact", 0, 0)),
    ],
)
def test_the_offset_on_the_same_topic(
    left: Side,
    entered: Side,
    final: bool,
    place: TenurePlace,
    translated: Translated | None,
    expected: tuple[str, str, int, int],
) -> None:
    """R22: an offset at a cut becomes the cut, and one inside a tenure is translated within it."""
    found = enter_same(left, entered, final, place, translated)
    assert (found.method, found.quality, found.offset, found.rereads) == expected


@pytest.mark.parametrize(
    ("left", "entered", "place", "message"),
    [
        (Side(30, 0, 50, False), LOG, IN_TAIL, "a tail that was written after a cut and never replicated"),
        (Side(30, 0, 50, False), LOG, INSIDE, "could not be translated"),
        (Side(None, 0, 50), LOG, IN_TAIL, "no committed offset on the cluster being left"),
        (Side(None, 0, 0), LOG, IN_TAIL, "no committed offset on the cluster being left"),
        (Side(51, 0, 50, True), LOG, AT_CUT, "past the log end 50"),
        (Side(30, None, 50), LOG, AT_CUT, "could not be read"),
        (Side(30, 0, None), LOG, AT_CUT, "could not be read"),
        (Side(30, 0, 50, True), Side(None, None, 40), AT_CUT, "could not be read"),
        (Side(30, 0, 50, True), Side(None, 0, None), AT_CUT, "could not be read"),
    ],
)
def test_without_evidence_there_is_no_offset_on_the_same_topic(
    left: Side, entered: Side, place: TenurePlace, message: str
) -> None:
    """R8: a guess is not an offset."""
    found = enter_same(left, entered, True, place, None)
    assert (found.offset, found.quality, found.rereads) == (None, "none", None)
    assert message in found.reason


OPTIONAL = st.one_of(st.none(), st.integers(0, 20))
SIDES = st.builds(Side, OPTIONAL, OPTIONAL, OPTIONAL, st.sampled_from([None, True, False]))
ORDERED = SIDES.filter(lambda side: side.start is None or side.end is None or side.start <= side.end)
TRANSLATED = st.one_of(
    st.none(),
    st.builds(Translated, st.integers(0, 25), st.sampled_from(["content", "sync", "tail"]), st.integers(0, 9)),
)


def _sound(found: TargetOffset, log: Side) -> bool:
    if found.offset is None:
        return (found.method, found.quality, found.rereads) == ("none", "none", None)
    assert log.start is not None
    assert log.end is not None
    counted = found.rereads is not None and found.rereads >= 0
    counted = counted and (found.quality == "skips") == found.skips.possible
    return log.start <= found.offset <= log.end and counted and found.quality in ("exact", "safe", "skips")


@given(ORDERED, ORDERED, st.booleans(), TRANSLATED)
def test_every_offset_on_a_replica_is_inside_its_log(
    left: Side, replica: Side, final: bool, translated: Translated | None
) -> None:
    """R8: S <= offset <= E for all observations."""
    assert _sound(enter_replica(left, replica, final, translated), replica)


OWN = st.one_of(st.none(), st.builds(OwnOffset, st.integers(0, 25), OPTIONAL, st.sampled_from([HELD, MOVED, UNBOUND])))


@given(ORDERED, ORDERED, st.booleans(), TRANSLATED, OWN)
def test_every_offset_on_an_original_is_inside_its_log(
    left: Side, original: Side, drained: bool, translated: Translated | None, own: OwnOffset | None
) -> None:
    """R8: S <= offset <= E for all observations."""
    assert _sound(enter_original(left, original, drained, translated, own), original)


@given(ORDERED, ORDERED, TRANSLATED)
def test_without_the_barrier_no_offset_depends_on_the_end_of_the_replica(
    left: Side, replica: Side, translated: Translated | None
) -> None:
    """R20: the end of the replica is final only after a stop that left no tasks."""
    assert enter_replica(left, replica, False, translated).method != "end"


PLACES = st.one_of(
    st.builds(TenurePlace, st.integers(0, 3)),
    st.builds(TenurePlace, st.integers(0, 3), st.integers(0, 25)),
    st.just(TenurePlace(None)),
)


@given(ORDERED, ORDERED, st.booleans(), PLACES, TRANSLATED)
def test_every_offset_on_the_same_topic_is_inside_its_log(
    left: Side, entered: Side, final: bool, place: TenurePlace, translated: Translated | None
) -> None:
    """R8: S <= offset <= E for all observations."""
    assert _sound(enter_same(left, entered, final, place, translated), entered)
    assert enter_same(left, entered, False, place, translated).method != "end"

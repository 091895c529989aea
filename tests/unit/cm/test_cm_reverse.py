# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reverse rule, when a checkpoint is sent, which offsets group sync may write, and
MirrorMaker 2's binary records.
"""

from __future__ import annotations

import random

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets import internal_records as formats
from cm.records import Checkpoint, Sync, read_checkpoint, read_sync
from cm.reverse import Emitted, Syncs, commits


def syncs(*pairs: tuple[int, int]) -> Syncs:
    found = Syncs()
    for upstream, downstream in pairs:
        found.add(Sync("T", 0, upstream, downstream))
    return found


@pytest.mark.parametrize(
    ("commit", "upstream"), [(4, None), (5, 10), (6, 11), (99, 11), (100, 205), (101, 206), (100_000, 206)]
)
def test_an_equal_offset_translates_to_upstream_and_a_later_one_to_upstream_plus_one(
    commit: int, upstream: int | None
) -> None:
    assert syncs((10, 5), (205, 100)).upstream("T", 0, commit) == upstream


def test_other_topics_and_partitions_have_no_translation() -> None:
    assert syncs((10, 5)).upstream("T", 1, 50) is None
    assert syncs((10, 5)).upstream("U", 0, 50) is None


def test_old_offset_syncs_do_not_count_after_the_replica_went_back() -> None:
    assert syncs((100, 90), (200, 10)).upstream("T", 0, 95) == 201
    assert syncs((100, 90), (200, 10)).upstream("T", 0, 9) is None


def test_it_never_skips_no_matter_what_was_sent_again() -> None:
    """In replicas with resent records, the records after the translated offset include all unconsumed ones."""
    rng = random.Random(7)
    for _world in range(300):
        replica: list[int] = []
        store, at = Syncs(), 0
        while len(replica) < 60:
            if rng.random() < 0.05 and at:
                at = rng.randrange(max(0, at - 10), at)
            if rng.random() < 0.3:
                store.add(Sync("T", 0, at, len(replica)))
            replica.append(at)
            at += 1
        commit = rng.randrange(len(replica) + 1)
        committed_offset = store.upstream("T", 0, commit)
        assert committed_offset is None or set(range(committed_offset)) <= set(replica[:commit])


def checkpoint(upstream: int, downstream: int, group: str = "G") -> Checkpoint:
    return Checkpoint(group, "T", 0, upstream, downstream)


def test_a_checkpoint_is_sent_when_the_group_went_back_or_its_offset_advanced() -> None:
    sent = Emitted()
    assert sent.is_due(checkpoint(5, 10))
    sent.add(checkpoint(5, 10))
    assert not sent.is_due(checkpoint(5, 10))
    assert not sent.is_due(checkpoint(6, 10))
    assert not sent.is_due(checkpoint(6, 9))
    assert sent.is_due(checkpoint(4, 9))
    assert sent.is_due(checkpoint(6, 11))
    assert sent.is_due(checkpoint(5, 10, "Other"))


@pytest.mark.parametrize("state", ["EMPTY", "DEAD"])
def test_a_commit_only_advances(state: str) -> None:
    assert commits([checkpoint(5, 10)], state, {}) == {("T", 0): 10}
    assert commits([checkpoint(5, 10)], state, {("T", 0): 9}) == {("T", 0): 10}
    assert commits([checkpoint(5, 10)], state, {("T", 0): 10}) == {}
    assert commits([checkpoint(5, 10)], state, {("T", 0): 11}) == {}


@pytest.mark.parametrize("state", ["STABLE", "PREPARING_REBALANCING", "COMPLETING_REBALANCING", "UNKNOWN"])
def test_a_group_that_is_not_known_to_be_idle_is_not_changed(state: str) -> None:
    assert commits([checkpoint(5, 10)], state, {}) == {}


# ---- records: two readings of MirrorMaker 2's format must agree


def test_both_readers_read_a_checkpoint_back_unchanged() -> None:
    wanted = Checkpoint("gruppe-ä", "P.T", 7, 2**40, 12, "meta")
    assert read_checkpoint(wanted.key(), wanted.value()) == wanted
    other = formats.decode_checkpoint(wanted.key(), wanted.value())
    assert (other.group, other.topic, other.partition) == ("gruppe-ä", "P.T", 7)
    assert (other.upstream, other.downstream, other.metadata) == (2**40, 12, "meta")


def test_known_bytes_are_read() -> None:
    assert Checkpoint("G", "T", 1, 2, 3).key().hex() == "000147" + "000154" + "00000001"
    assert Checkpoint("G", "T", 1, 2, 3).value().hex() == "0000" + "0000000000000002" + "0000000000000003" + "0000"
    key, value = bytes.fromhex("000154" + "00000004"), bytes.fromhex("0000000000000009" + "0000000000000008")
    assert read_sync(key, value) == Sync("T", 4, 9, 8)


@pytest.mark.parametrize("key", ["", "0001", "ffff", "00ff54"])
def test_a_damaged_record_is_an_error(key: str) -> None:
    with pytest.raises(Exception, match=r"requires a buffer|a text of"):
        read_sync(bytes.fromhex(key), b"\0" * 16)


def test_another_version_is_refused() -> None:
    found = Checkpoint("G", "T", 1, 2, 3)
    with pytest.raises(ValueError, match="version 1"):
        read_checkpoint(found.key(), b"\0\1" + found.value()[2:])

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MirrorMaker 2's internal records, compared with bytes that Kafka's own classes wrote."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.internal_records import (
    Checkpoint,
    Heartbeat,
    OffsetSync,
    decode_checkpoint,
    decode_heartbeat,
    decode_offset_sync,
)

SYNC_KEY = bytes.fromhex("00085061796d656e747300000003")
SYNC_VALUE = bytes.fromhex("0000011f71fb04cb000000000000002a")
CHECKPOINT_KEY = bytes.fromhex("0003677270000a502e5061796d656e747300000003")
CHECKPOINT_VALUE = bytes.fromhex("00000000000000000064000000000000002a00026d64")
HEARTBEAT_KEY = bytes.fromhex("000150000142")
HEARTBEAT_VALUE = bytes.fromhex("00000000018bcfe56800")
INT64 = st.integers(0, 2**63 - 1)
TEXT = st.text(max_size=40)


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def test_the_golden_offset_sync_is_read() -> None:
    assert decode_offset_sync(SYNC_KEY, SYNC_VALUE) == OffsetSync("Payments", 3, 1234567890123, 42)


def test_the_golden_checkpoint_is_read() -> None:
    expected = Checkpoint("grp", "P.Payments", 3, 100, 42, "md")
    assert decode_checkpoint(CHECKPOINT_KEY, CHECKPOINT_VALUE) == expected


def test_the_golden_heartbeat_is_read() -> None:
    assert decode_heartbeat(HEARTBEAT_KEY, HEARTBEAT_VALUE) == Heartbeat("P", "B", 1700000000000)


def test_an_empty_metadata_text_is_read() -> None:
    value = struct.pack(">hqq", 0, 7, 5) + b"\x00\x00"
    assert decode_checkpoint(CHECKPOINT_KEY, value).metadata == ""


@given(TEXT, st.integers(0, 2**31 - 1), INT64, INT64)
def test_any_offset_sync_is_read_back(topic: str, partition: int, upstream: int, downstream: int) -> None:
    key, value = string(topic) + struct.pack(">i", partition), struct.pack(">qq", upstream, downstream)
    assert decode_offset_sync(key, value) == OffsetSync(topic, partition, upstream, downstream)


@given(TEXT, TEXT, INT64, INT64, TEXT)
def test_any_checkpoint_is_read_back(group: str, topic: str, upstream: int, downstream: int, metadata: str) -> None:
    key = string(group) + string(topic) + struct.pack(">i", 1)
    value = struct.pack(">hqq", 0, upstream, downstream) + string(metadata)
    assert decode_checkpoint(key, value) == Checkpoint(group, topic, 1, upstream, downstream, metadata)


@pytest.mark.parametrize("length", range(len(SYNC_VALUE)))
def test_a_truncated_offset_sync_is_refused(length: int) -> None:
    with pytest.raises(DrError) as refused:
        decode_offset_sync(SYNC_KEY, SYNC_VALUE[:length])
    assert refused.value.code == "bad_record"


@pytest.mark.parametrize("length", range(len(CHECKPOINT_VALUE)))
def test_a_truncated_checkpoint_is_refused(length: int) -> None:
    with pytest.raises(DrError) as refused:
        decode_checkpoint(CHECKPOINT_KEY, CHECKPOINT_VALUE[:length])
    assert refused.value.code == "bad_record"


@pytest.mark.parametrize(
    ("decode", "key", "value"),
    [
        (decode_checkpoint, CHECKPOINT_KEY, b"\x00\x01" + CHECKPOINT_VALUE[2:]),
        (decode_heartbeat, HEARTBEAT_KEY, b"\x00\x01" + HEARTBEAT_VALUE[2:]),
    ],
)
def test_another_version_is_refused_with_the_next_step(decode: object, key: bytes, value: bytes) -> None:
    with pytest.raises(DrError) as refused:
        decode(key, value)  # type: ignore[operator]
    assert refused.value.code == "unknown_version"
    assert "version 1" in refused.value.message
    assert "newer" in refused.value.hint


@pytest.mark.parametrize("key", [b"\xff\xff" + SYNC_KEY[2:], b"\x7f\xff" + SYNC_KEY[2:], SYNC_KEY[:9], b""])
def test_a_key_with_a_bad_text_length_is_refused(key: bytes) -> None:
    with pytest.raises(DrError) as refused:
        decode_offset_sync(key, SYNC_VALUE)
    assert refused.value.code == "bad_record"


def test_bytes_that_are_not_utf_8_are_refused_as_a_bad_record() -> None:
    with pytest.raises(DrError) as refused:
        decode_offset_sync(b"\x00\x02\xff\xfe\x00\x00\x00\x03", SYNC_VALUE)
    assert refused.value.code == "bad_record"

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flip one bit of one record on a broker's disk and correct its checksum: only the content shows the change.

Source: org.apache.kafka.common.record.DefaultRecordBatch and DefaultRecord (message format 2). The broker must be down.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEAD = struct.Struct(">qiibIh")  # Base offset, length, leader epoch, magic, checksum, attributes.
_CHECKED = 21  # The checksum covers the bytes from the attributes on.
_RECORDS = 61
_COMPRESSION = 0b111
_CONTROL = 0b100000


def flip(segment: Path) -> int:
    """Flip a bit of the first value of a batch in the middle of a log segment. Return the offset of its record."""
    data = bytearray(segment.read_bytes())
    starts, at = [], 0
    while at + _RECORDS < len(data):
        _offset, length, _epoch, magic, _crc, attributes = _HEAD.unpack_from(data, at)
        if length <= 0:
            break
        if magic == 2 and not attributes & (_COMPRESSION | _CONTROL):
            starts.append((at, length))
        at += 12 + length
    if not starts:
        raise ValueError(f"{segment} holds no plain batch of records")
    at, length = starts[len(starts) // 2]
    end = at + 12 + length
    data[_value(data, at + _RECORDS)] ^= 1
    struct.pack_into(">I", data, at + 17, crc32c(bytes(data[at + _CHECKED : end])))
    with segment.open("r+b") as file:
        file.seek(at)
        file.write(data[at:end])
    return int(_HEAD.unpack_from(data, at)[0])


def _value(data: bytearray, at: int) -> int:
    """The index of the first byte of the value of the record that begins here."""
    _length, at = _varint(data, at)
    _timestamp, at = _varint(data, at + 1)
    _delta, at = _varint(data, at)
    key, at = _varint(data, at)
    value, at = _varint(data, at + max(key, 0))
    if value <= 0:
        raise ValueError("the record has no value")
    return at


def _varint(data: bytearray, at: int) -> tuple[int, int]:
    raw = shift = 0
    while True:
        byte = data[at]
        raw |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (raw >> 1) ^ -(raw & 1), at


def crc32c(data: bytes) -> int:
    """Castagnoli's polynomial, as in RFC 3720. A batch has a few hundred bytes, so no table is needed."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _bit in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the metadata of a committed offset mean the same on the other cluster.

A consumer may commit a text with an offset. Only the application knows what it means, and it may refer to offsets. A
text that says which records after the committed offset are processed makes the application skip other records where
these have other offsets. So metadata go along only with an exact offset, and only if each record that they may refer to
is at the same place on both clusters (R49):

- **Kafka Streams** stores times and no offsets.
- **Parallel Consumer** stores which of the offsets from the committed one on are processed. An offset without a record
  counts as processed, so both logs must also have the same offsets without a record.
- Any other text may refer to every offset of the partition.

Sources: TopicPartitionMetadata, ProcessorMetadata (Kafka 4.3.1); OffsetMapCodecManager, OffsetEncoding, OffsetBitSet,
OffsetRunLength (Parallel Consumer 0.5.3).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import binascii
import struct
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..partition import Range
from .fingerprints import HasFields, fingerprints

__all__ = ["OUT_OF_PLACE", "HasOffset", "LogParts", "Place", "dropped_metadata", "in_place", "to_compare"]

# Times before 1973 and after 5138 are not taken for times: another format may begin with the same byte.
_TIMES = range(10**11, 10**14)
_NO_TIME = -1
# The default of the broker's setting offset.metadata.max.bytes. A broker refuses longer ones.
_LONGEST = 4096
# Offsets that are compared for one committed offset.
_MOST = 20_000
_BIT_SETS = {ord("l"): ">h", ord("o"): ">i"}
_RUN_LENGTHS = {ord("n"): "h", ord("e"): "i"}
_COMPRESSED = b"aJsp"
_ZSTD = b"\x28\xb5\x2f\xfd"

OUT_OF_PLACE = "the records that they may refer to have other places there"


class HasOffset(HasFields, Protocol):
    """A record of a log."""

    @property
    def offset(self) -> int:
        """Its offset."""


@dataclass(frozen=True)
class Place:
    """A committed offset on the cluster being left, its exact translation, and both logs."""

    commit: int
    offset: int
    left: Range
    entered: Range


@dataclass(frozen=True)
class LogParts:
    """The parts of both logs whose records must be at the same places; empty if there is nothing to compare."""

    left: Range
    entered: Range


def to_compare(metadata: str, place: Place) -> LogParts | str:
    """What to compare before these metadata may go along, or the reason why they cannot."""
    if len(metadata.encode()) > _LONGEST:
        return f"they have more than {_LONGEST} bytes"
    data = _decoded(metadata)
    if _is_streams(data):
        return LogParts((place.commit, place.commit), (place.offset, place.offset))
    shift = place.offset - place.commit
    if _is_parallel_consumer(data):
        length = _length(data)
        low, high = place.commit, place.left[1] if length is None else place.commit + length
    elif shift:
        return f"their format is unknown, and the offset is {place.offset} instead of {place.commit}"
    else:
        low, high = max(place.left[0], place.entered[0]), place.left[1]
    if high > place.left[1] or high + shift > place.entered[1]:
        return "they may refer to offsets after the end of the log"
    if high - low > _MOST:
        return f"they may refer to {high - low} records, and at most {_MOST} are compared"
    return LogParts((low, high), (low + shift, high + shift))


def in_place(left: Sequence[HasOffset], entered: Sequence[HasOffset], compared: LogParts) -> bool:
    """Whether the records of both parts are the same, one by one and at the same distances."""
    shift = compared.entered[0] - compared.left[0]
    if [record.offset + shift for record in left] != [record.offset for record in entered]:
        return False
    of_left, of_entered = fingerprints(left, entered)
    return of_left == of_entered


def dropped_metadata(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name the report rows of offsets whose metadata do not go along, each with the reason."""
    return [
        f"{row['group']} {row['topic']}-{row['partition']}: {row['metadata_dropped']}"
        for row in rows
        if row.get("metadata_dropped")
    ]


def _decoded(metadata: str) -> bytes:
    """The bytes of a Base64 text; empty if it is none."""
    try:
        return b64decode(metadata, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_streams(data: bytes) -> bool:
    """Version 1: a time. Version 2: a time, then a map of names and times, which is left out if it is empty."""
    if len(data) < 9 or data[0] not in (1, 2) or (data[0] == 1 and len(data) > 9):
        return False
    return _is_time(data[1:9]) and (len(data) == 9 or _is_map(data[9:]))


def _is_map(data: bytes) -> bool:
    try:
        (count,), at = struct.unpack_from(">i", data), 4
        for _entry in range(count):
            (size,) = struct.unpack_from(">i", data, at)
            data[at + 4 : at + 4 + size].decode()
            if size < 0 or not _is_time(data[at + 4 + size : at + 12 + size]):
                return False
            at += 12 + size
    except (struct.error, UnicodeDecodeError):
        return False
    return count > 0 and at == len(data)


def _is_time(data: bytes) -> bool:
    if len(data) != 8:
        return False
    (time,) = struct.unpack(">q", data)
    return time == _NO_TIME or time in _TIMES


def _is_parallel_consumer(data: bytes) -> bool:
    if not data:
        return False
    return (data[0] in _COMPRESSED and data[1:5] == _ZSTD) or _length(data) is not None


def _length(data: bytes) -> int | None:
    """How many offsets Parallel Consumer's metadata refer to; None: they are compressed, or of another format."""
    kind, body = data[0], data[1:]
    if kind in _BIT_SETS:
        size = struct.calcsize(_BIT_SETS[kind])
        if len(body) <= size:
            return None
        (count,) = struct.unpack_from(_BIT_SETS[kind], body)
        return int(count) if count > 0 and len(body) == size + (count + 7) // 8 + 1 else None
    if kind in _RUN_LENGTHS:
        number, rest = divmod(len(body), struct.calcsize(f">{_RUN_LENGTHS[kind]}"))
        runs = () if rest else struct.unpack(f">{number}{_RUN_LENGTHS[kind]}", body)
        return sum(runs) if runs and min(runs) >= 0 and sum(runs) > 0 else None
    return None

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which records of a source and of its replica may be the same record, judged by the fields that MirrorMaker 2 carries.

MirrorMaker 2 carries key, value and headers unchanged and in order, and distinguishes null from empty. Two fields it
does not always carry:

- **timestamp**: the copy of a record without one (-1) gets the time of replication. In a replica topic with
  ``message.timestamp.type=LogAppendTime``, a copy gets the broker's time. A source record's LogAppendTime is carried.
- **header names**: bytes that are not UTF-8 become U+FFFD. No client here can read the original name.

Sources: MirrorSourceTask.convertRecord, ConnectUtils.checkAndConvertTimestamp, RecordHeader.key (Kafka 4.3.1), and
tests/integration/test_carried_fields.py, which asserts each of these statements on real clusters.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Hashable, Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

__all__ = ["HasFields", "carries_times", "fingerprints", "has_time", "identity", "may_be_copy"]

_APPENDED = "LogAppendTime"
_REPLACED = "\N{REPLACEMENT CHARACTER}"


class HasFields(Protocol):
    """A record as a consumer returns it."""

    @property
    def timestamp(self) -> int | None:
        """Epoch milliseconds; None: the record has none."""

    @property
    def timestamp_type(self) -> str | None:
        """CreateTime or LogAppendTime; None: the record has no timestamp."""

    @property
    def key(self) -> bytes | None:
        """None differs from empty."""

    @property
    def value(self) -> bytes | None:
        """None is a tombstone."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]] | None:
        """In order; None: a name is not UTF-8, and the client cannot read it."""


def fingerprints(source: Sequence[HasFields], replica: Sequence[HasFields]) -> tuple[list[bytes], list[bytes]]:
    """Fingerprints of both sides. **If a record of ``replica`` is a copy of one of ``source``, theirs are equal.**

    Every proof of the translation depends on that sentence: only then does a missing match prove a missing copy. It
    holds because a field is omitted for *all* records of one key and value as soon as a single one of them, on either
    side, may have lost that field. A copy has the key and value of its original, so both omit the same fields and carry
    the others unchanged. Fingerprints of two calls cannot be compared. If every timestamp is carried, no field is
    omitted, and records of equal content but different times stay distinct.
    """
    untimed = {_body(one) for one in source if one.timestamp is None}
    untimed |= {_body(one) for one in replica if not has_time(one)}
    unnamed = {_body(one) for side in (source, replica) for one in side if not _readable(one)}
    return _fingerprints(source, untimed, unnamed), _fingerprints(replica, untimed, unnamed)


def identity(record: HasFields) -> str:
    """Return a fingerprint of every field, to find the same record again on the same log (R37), never on another."""
    return _digest(record, True, True).hex()


def may_be_copy(source: HasFields, replica: HasFields) -> bool:
    """May ``replica`` be a copy of ``source``? False proves that it is not; True proves nothing."""
    left, right = fingerprints([source], [replica])
    return left == right


def carries_times(source: Iterable[HasFields], replica: Iterable[HasFields]) -> bool:
    """Is every timestamp of these records carried?"""
    return all(one.timestamp is not None for one in source) and all(has_time(one) for one in replica)


def has_time(record: HasFields) -> bool:
    """Does the record have a timestamp that was not set by a broker?"""
    return record.timestamp is not None and record.timestamp_type != _APPENDED


def _readable(record: HasFields) -> bool:
    return record.headers is not None and not any(_REPLACED in name for name, _value in record.headers)


def _body(record: HasFields) -> Hashable:
    return record.key, record.value


def _fingerprints(
    records: Iterable[HasFields], untimed: Collection[Hashable], unnamed: Collection[Hashable]
) -> list[bytes]:
    if not untimed and not unnamed:
        return [_digest(one, True, True) for one in records]
    return [_digest(one, _body(one) not in untimed, _body(one) not in unnamed) for one in records]


def _digest(record: HasFields, timed: bool, named: bool) -> bytes:
    time = record.timestamp if timed and record.timestamp is not None else -1
    headers = record.headers if named and record.headers is not None else ()
    hashed = [struct.pack(">qi", time, len(headers))]
    for part in (record.key, record.value, *(part for header in headers for part in header)):
        data = part.encode() if isinstance(part, str) else part
        hashed += [struct.pack(">i", -1 if data is None else len(data)), data or b""]
    return blake2b(b"".join(hashed), digest_size=16).digest()

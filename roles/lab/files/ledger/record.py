# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format of a ledger record. Its identity is in the value, or in a header if it has no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SEPARATOR = b"|"
FOREIGN = ("-", -1)
#: The header with the identity of a record without a value.
IDENTITY = "ledger"
#: Whether a record has a key and a value, by shape.
SHAPES = {"plain": (True, True), "tombstone": (True, False), "keyless": (False, True), "bare": (False, False)}
Headers = list[tuple[str, str | bytes | None]]
#: A name that occurs twice, an empty value and a null.
ODD_HEADERS: Headers = [("trace", b"first"), ("empty", b""), ("none", None), ("trace", b"second")]


class Content(NamedTuple):
    """What a producer sends. None is Kafka's null."""

    key: bytes | None
    value: bytes | None
    headers: Headers


class Form(NamedTuple):
    """How a producer's records look."""

    size: int
    keys: int
    shapes: tuple[str, ...] = ("plain",)
    headers: bool = False


def content_of(producer: str, seq: int, form: Form) -> Content:
    """The record with this number. All keys have one shape for a round, and the next shape in the next round."""
    has_key, has_value = SHAPES[form.shapes[seq // form.keys % len(form.shapes)]]
    headers = list(ODD_HEADERS) if form.headers else []
    if not has_value:
        headers.append((IDENTITY, value_of(producer, seq, 0)))
    return Content(
        key_of(seq, form.keys) if has_key else None,
        value_of(producer, seq, form.size) if has_value else None,
        headers,
    )


def value_of(producer: str, seq: int, size: int, source: str = "") -> bytes:
    """``producer|seq|source|``, padded to `size` bytes. `source` is the input record of a processor's output."""
    head = f"{producer}|{seq}|{source}|".encode()
    return head.ljust(size, b".")


def identity_of(value: bytes | None, headers: Sequence[tuple[str, bytes | None]] = ()) -> tuple[str, int]:
    """Producer and sequence number, or FOREIGN for a record that no ledger client wrote."""
    if value is None:
        value = next((found for name, found in headers if name == IDENTITY), None) or b""
    parts = value.split(SEPARATOR, 3)
    if len(parts) != 4 or not parts[1].isdigit() or not parts[0].isascii() or b"\t" in parts[0]:
        return FOREIGN
    return parts[0].decode(), int(parts[1])


def key_of(seq: int, keys: int) -> bytes:
    return b"k%d" % (seq % keys)


def topic_of(seq: int, keys: int, topics: tuple[str, ...]) -> str:
    """Distribute keys over the topics. A key keeps its topic, so that the order within a key can be checked."""
    return topics[seq % max(keys, len(topics)) % len(topics)]

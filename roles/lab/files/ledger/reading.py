# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read ledgers as blocks of lines. Handling a block by columns is several times faster than line by line."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ledger.errors import LedgerError

TAB = b"\t"
Lines = list[bytes]
Blocks = Iterator[Lines]


@dataclass(frozen=True)
class Ledger:
    """A ledger that can be read repeatedly."""

    name: str
    header: Sequence[str]
    read: Callable[[], Blocks] = field(repr=False)

    @property
    def is_producer(self) -> bool:
        return self.header[2] == "producer"

    @property
    def owner(self) -> str:
        return self.header[3]


def of_kind(lines: Lines, kind: bytes) -> Lines:
    return [line for line in lines if line.startswith(kind)]


def kinds_of(lines: Lines) -> set[bytes]:
    return {line[:1] for line in lines}


def columns(lines: Lines, width: int) -> list[Lines]:
    """One list per field. Checks the field count of each line, because a wrong one would shift all later fields."""
    if not lines:
        return [[] for _column in range(width)]
    fields = TAB.join(lines).split(TAB)
    if len(fields) != width * len(lines) or set(fields[::width]) != {lines[0][:1]}:
        wrong = next((line for line in lines if line.count(TAB) != width - 1), b"")
        raise ValueError(wrong.decode(errors="replace"))
    return [fields[number::width] for number in range(width)]


def place_of(line: bytes) -> dict[str, object]:
    """Topic, partition and offset of a K, X or P line. All of these lines end with topic, partition, offset, time."""
    topic, partition, offset, time_us = line.decode().split("\t")[-4:]
    return {"topic": topic, "partition": int(partition), "offset": int(offset), "time_us": int(time_us)}


def settled(ledger: Ledger) -> Blocks:
    """A processor's lines, with Q lines as P lines at the commit. Those without an end become M lines at the end."""
    open_lines: dict[bytes, Lines] = {}
    is_plain = True
    for block in ledger.read():
        is_plain = is_plain and not kinds_of(block) & {b"Q", b"C", b"D"}
        yield block if is_plain else list(_settle(block, open_lines))
    yield [b"M\t" + record for records in open_lines.values() for record in records]


def _settle(block: Lines, open_lines: dict[bytes, Lines]) -> Iterator[bytes]:
    for line in block:
        kind = line[:1]
        if kind == b"Q":
            _mark, number, record = line.split(TAB, 2)
            open_lines.setdefault(number, []).append(record)
        elif kind in (b"C", b"D"):
            _mark, number, time_us = line.split(TAB)
            records = open_lines.pop(number, [])
            if kind == b"C":
                yield from (b"P\t" + record.rpartition(TAB)[0] + TAB + time_us for record in records)
        else:
            yield line


def time_of(line: bytes) -> int:
    return int(line[line.rindex(TAB) + 1 :])


def merged(streams: Sequence[Blocks]) -> Blocks:
    """P lines of several members in the order of time, in blocks of one member each."""
    heads = [head for stream in streams if (head := _next_head(stream)) is not None]
    while len(heads) > 1:
        heads.sort(key=lambda head: time_of(head[0][0]))
        lines, stream = heads[0]
        end = max(1, bisect_right(lines, time_of(heads[1][0][0]), key=time_of))
        yield lines[:end]
        rest = (lines[end:], stream) if end < len(lines) else _next_head(stream)
        heads[0:1] = [rest] if rest else []
    for lines, stream in heads:
        yield lines
        yield from stream


def _next_head(stream: Blocks) -> tuple[Lines, Blocks] | None:
    for lines in stream:
        if lines:
            return lines, stream
    return None


@contextlib.contextmanager
def blaming(*ledgers: Ledger) -> Iterator[None]:
    """Turn a parse error into a LedgerError that names the ledgers."""
    try:
        yield
    except (ValueError, IndexError) as error:
        names = ", ".join(ledger.name for ledger in ledgers)
        raise LedgerError(f"Ledger {names} has an invalid line: {error}.") from error

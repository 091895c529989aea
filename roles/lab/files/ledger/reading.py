# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""First pass over the ledgers: one byte a record and group, no object a record.

Five million records in three groups must fit into 2 GiB.
"""

from __future__ import annotations

import contextlib
import heapq
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ledger.errors import LedgerError
from ledger.gaps import Activity
from ledger.store import CUT

TAB = b"\t"
NONE, ANNOUNCED, ACKNOWLEDGED, FAILED, ABORTED = range(5)
OUTCOMES = {b"K": ACKNOWLEDGED, b"F": FAILED, b"U": ANNOUNCED, b"X": ABORTED}
MAYBE = 0x80  # bit beside the count of processings
SAMPLES = 20
MOST = 2  # "more than once" needs no exact number
Blocks = Iterator[list[bytes]]


@dataclass(frozen=True)
class Ledger:
    """A ledger that can be read as often as needed."""

    name: str
    header: Sequence[str]
    read: Callable[[], Blocks] = field(repr=False)

    @property
    def is_producer(self) -> bool:
        return self.header[2] == "producer"

    @property
    def owner(self) -> str:
        return self.header[3]


@dataclass
class Sent:
    """Everything one producer announced, by sequence number."""

    owner: str
    outcomes: bytearray = field(default_factory=bytearray)
    places: array[int] = field(default_factory=lambda: array("H"))  # index into topics
    topics: list[str] = field(default_factory=list)
    activity: Activity = field(default_factory=Activity)

    def count(self, outcome: int) -> int:
        return self.outcomes.count(outcome)


def place_of(line: bytes) -> dict[str, object]:
    """Where a K, X or P line says the record is; both end in topic, partition, offset, time."""
    topic, partition, offset, time_us = line.decode().split("\t")[-4:]
    return {"topic": topic, "partition": int(partition), "offset": int(offset), "time_us": int(time_us)}


@dataclass
class Disorder:
    """One record that came after a later one of its key."""

    producer: str
    seq: int
    after: int
    line: bytes

    def as_dict(self) -> dict[str, object]:
        return {"producer": self.producer, "seq": self.seq, "after": self.after, **place_of(self.line)}


@dataclass
class Taken:
    """Everything one group processed."""

    group: str
    sent: dict[str, Sent]
    counts: dict[str, bytearray] = field(default_factory=dict)
    subscribed: set[str] = field(default_factory=set)
    activity: Activity = field(default_factory=Activity)
    processings: int = 0
    reprocessings: int = 0
    foreign: int = 0
    strangers: set[tuple[str, int]] = field(default_factory=set)  # never announced
    disorders: list[Disorder] = field(default_factory=list)
    out_of_order: int = 0

    def covers(self, topic: str) -> bool:
        return any(re.match(name, topic) if name.startswith("^") else name == topic for name in self.subscribed)


def read_sent(ledger: Ledger) -> Sent:
    """What a producer's ledger says."""
    with _blaming(ledger):
        return _read_sent(ledger)


def _read_sent(ledger: Ledger) -> Sent:
    sent = Sent(ledger.owner)
    topics: dict[bytes, int] = {}
    time_before = b""
    outcomes, places = sent.outcomes, sent.places
    for line in lines_of(ledger):
        fields = line.split(TAB)
        if fields[0] == b"K":
            _, number, topic, _, _, time_us = fields
            seq = int(number)
            outcomes[seq] = ACKNOWLEDGED
            if topic not in topics:
                topics[topic] = len(topics)
                sent.topics.append(topic.decode())
            places[seq] = topics[topic]
            if time_us != time_before:
                sent.activity.add(int(time_us))
                time_before = time_us
        elif fields[0] == b"A":
            _announce(sent, int(fields[1]), int(fields[2]))
        elif fields[0] in OUTCOMES:
            outcomes[int(fields[1])] = OUTCOMES[fields[0]]
    return sent


def _announce(sent: Sent, first: int, last: int) -> None:
    missing = last + 1 - len(sent.outcomes)
    if missing > 0:
        sent.outcomes.extend(bytes(missing))
        sent.places.frombytes(bytes(missing * sent.places.itemsize))
    sent.outcomes[first : last + 1] = bytes([ANNOUNCED]) * (last + 1 - first)


def read_taken(group: str, ledgers: Sequence[Ledger], sent: dict[str, Sent]) -> Taken:
    """What the ledgers of a group's members say, merged by time."""
    with _blaming(*ledgers):
        return _read_taken(group, ledgers, sent)


def _read_taken(group: str, ledgers: Sequence[Ledger], sent: dict[str, Sent]) -> Taken:
    taken = Taken(group, sent)
    taken.counts = {owner: bytearray(len(item.outcomes)) for owner, item in sent.items()}
    newest: dict[bytes, dict[bytes, int]] = {}
    producer_before = time_before = b""
    counts, keys = bytearray(), {}
    for line in _merged(ledgers):
        if line[:1] != b"P":
            _take_other(taken, line)
            continue
        _, producer, number, key, _, _, _, time_us = line.split(TAB)
        if producer != producer_before:
            counts = taken.counts.get(producer.decode(), bytearray())
            keys = newest.setdefault(producer, {})
            producer_before = producer
        if time_us != time_before:
            taken.activity.add(int(time_us))
            time_before = time_us
        seq = int(number)
        taken.processings += 1
        if not 0 <= seq < len(counts):
            _take_stranger(taken, producer, seq)
        elif counts[seq]:
            taken.reprocessings += 1
            counts[seq] = MOST
        else:
            counts[seq] = 1
            if seq < keys.get(key, -1):
                _note_disorder(taken, Disorder(producer.decode(), seq, keys[key], line))
            else:
                keys[key] = seq
    return taken


def _take_stranger(taken: Taken, producer: bytes, seq: int) -> None:
    if seq < 0:
        taken.foreign += 1
    else:
        taken.strangers.add((producer.decode(), seq))


def _note_disorder(taken: Taken, disorder: Disorder) -> None:
    taken.out_of_order += 1
    if len(taken.disorders) < SAMPLES:
        taken.disorders.append(disorder)


def _take_other(taken: Taken, line: bytes) -> None:
    fields = line.split(TAB)
    if fields[0] == b"S" and fields[2] == b"start":
        taken.subscribed.update(fields[4].decode().split(","))
    elif fields[0] == b"M":
        counts = taken.counts.get(fields[1].decode())
        seq = int(fields[2])
        if counts is not None and 0 <= seq < len(counts) and not counts[seq]:
            counts[seq] = MAYBE


def lines_of(ledger: Ledger) -> Iterator[bytes]:
    for block in ledger.read():
        for line in block:
            if line and not line.endswith(CUT):
                yield line


def _merged(ledgers: Sequence[Ledger]) -> Iterator[bytes]:
    """A record may be first processed by one member and again by another: only time tells the order."""
    streams = [settled(ledger) for ledger in ledgers]
    if len(streams) == 1:
        return streams[0]
    return heapq.merge(*streams, key=_time_of)


def _time_of(line: bytes) -> int:
    """Lines without a time of their own (maybe-processed ones) come last."""
    if line[:1] == b"S":
        return int(line.split(TAB, 2)[1])
    return int(line[line.rindex(TAB) + 1 :]) if line[:1] == b"P" else 1 << 62


def settled(ledger: Ledger) -> Iterator[bytes]:
    """Lines of a processor's transactions as P lines of its commit; those without an end as M lines, at the end."""
    open_lines: dict[bytes, list[bytes]] = {}
    for line in lines_of(ledger):
        kind = line[:1]
        if kind in (b"P", b"S"):
            yield line
        elif kind == b"Q":
            _, number, record = line.split(TAB, 2)
            open_lines.setdefault(number, []).append(record)
        elif kind in (b"C", b"D"):
            _, number, time_us = line.split(TAB)
            records = open_lines.pop(number, [])
            if kind == b"C":
                yield from (b"P\t" + record.rpartition(TAB)[0] + TAB + time_us for record in records)
    for records in open_lines.values():
        yield from (b"M\t" + record for record in records)


@contextlib.contextmanager
def _blaming(*ledgers: Ledger) -> Iterator[None]:
    try:
        yield
    except (ValueError, IndexError) as error:
        names = ", ".join(ledger.name for ledger in ledgers)
        raise LedgerError(f"Ledger {names} holds a line that no ledger client writes: {error}.") from error

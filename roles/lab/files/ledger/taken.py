# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processed records of a group, from the ledgers of its members: one byte per record, no object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ledger.endpoint import covers
from ledger.gaps import Activity
from ledger.reading import TAB, Blocks, Ledger, Lines, blaming, columns, kinds_of, merged, of_kind, place_of, settled
from ledger.sent import Sent

SAMPLES = 20
MOST = 2  # 2 stands for "more than once"
MAYBE = 0x80
Row = tuple[int, bytes, bytes]  # sequence number, key, line


@dataclass
class Disorder:
    """One record that was processed after a later record of its key."""

    producer: str
    seq: int
    after: int
    line: bytes

    def as_dict(self) -> dict[str, object]:
        return {"producer": self.producer, "seq": self.seq, "after": self.after, **place_of(self.line)}


@dataclass
class Taken:
    """All records that one group processed."""

    group: str
    sent: dict[str, Sent]
    counts: dict[str, bytearray] = field(default_factory=dict)
    newest: dict[str, dict[bytes, int]] = field(default_factory=dict)  # by producer and key
    subscribed: set[str] = field(default_factory=set)
    activity: Activity = field(default_factory=Activity)
    reprocessings: int = 0
    foreign: int = 0
    unannounced: set[tuple[str, int]] = field(default_factory=set)  # never announced
    out_of_order: int = 0
    disorders: list[Disorder] = field(default_factory=list)

    def covers(self, topic: str) -> bool:
        return covers(self.subscribed, topic)


def read_taken(group: str, ledgers: Sequence[Ledger], sent: dict[str, Sent]) -> Taken:
    """Read the ledgers of all members in the order of time, because two members may process the same record."""
    taken = Taken(group, sent, {owner: bytearray(len(item.outcomes)) for owner, item in sent.items()})
    maybe: Lines = []
    with blaming(*ledgers):
        for block in merged([_records(taken, ledger, maybe) for ledger in ledgers]):
            _process(taken, block)
        _note_maybe(taken, maybe)
    return taken


def _records(taken: Taken, ledger: Ledger, maybe: Lines) -> Blocks:
    """Yield the P lines. Also collects the subscriptions, and M lines (maybe processed) in `maybe`."""
    for block in settled(ledger):
        kinds = kinds_of(block)
        if kinds == {b"P"}:
            yield block
            continue
        for line in of_kind(block, b"S"):
            _mark, _time, event, _member, topics = line.split(TAB)
            if event == b"start":
                taken.subscribed.update(topics.decode().split(","))
        maybe.extend(of_kind(block, b"M"))
        yield of_kind(block, b"P")


def _process(taken: Taken, lines: Lines) -> None:
    _marks, owners, numbers, keys, _topics, _partitions, _offsets, times = columns(lines, 8)
    seqs = list(map(int, numbers))
    for time_us in dict.fromkeys(times):
        taken.activity.add(int(time_us))
    names = dict.fromkeys(owners)
    for owner in names:
        rows: Iterable[Row] = zip(seqs, keys, lines, strict=True)
        if len(names) > 1:
            rows = [row for row, of in zip(rows, owners, strict=True) if of == owner]
        _process_of(taken, owner.decode(), rows)


def _process_of(taken: Taken, owner: str, rows: Iterable[Row]) -> None:
    counts = taken.counts.get(owner, bytearray())
    known = len(counts)
    newest = taken.newest.setdefault(owner, {})
    for seq, key, line in rows:
        if not 0 <= seq < known:
            _note_unannounced(taken, owner, seq)
        elif counts[seq]:
            counts[seq] = MOST
            taken.reprocessings += 1
        else:
            counts[seq] = 1
            if seq > newest.get(key, -1):
                newest[key] = seq
            else:
                _note_disorder(taken, Disorder(owner, seq, newest[key], line))


def _note_unannounced(taken: Taken, owner: str, seq: int) -> None:
    if seq < 0:
        taken.foreign += 1
    else:
        taken.unannounced.add((owner, seq))


def _note_disorder(taken: Taken, disorder: Disorder) -> None:
    taken.out_of_order += 1
    if len(taken.disorders) < SAMPLES:
        taken.disorders.append(disorder)


def _note_maybe(taken: Taken, lines: Lines) -> None:
    """Mark records as maybe processed, unless a P line shows that they were processed."""
    for line in lines:
        _mark, owner, number, _rest = line.split(TAB, 3)
        counts = taken.counts.get(owner.decode(), bytearray())
        if 0 <= int(number) < len(counts) and not counts[int(number)]:
            counts[int(number)] = MAYBE

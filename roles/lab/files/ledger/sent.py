# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A producer's ledger by sequence number: one byte for the outcome, two for the topic."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from ledger.gaps import Activity
from ledger.reading import TAB, Ledger, Lines, blaming, columns, of_kind

NONE, ANNOUNCED, ACKNOWLEDGED, FAILED, ABORTED = range(5)
OTHER_OUTCOMES = {b"F": FAILED, b"U": ANNOUNCED, b"X": ABORTED}


@dataclass
class Sent:
    """All records that one producer announced."""

    owner: str
    outcomes: bytearray = field(default_factory=bytearray)
    topic_numbers: array[int] = field(default_factory=lambda: array("H"))
    topics: list[str] = field(default_factory=list)
    activity: Activity = field(default_factory=Activity)

    def count(self, outcome: int) -> int:
        return self.outcomes.count(outcome)


def read_sent(ledger: Ledger) -> Sent:
    sent = Sent(ledger.owner)
    with blaming(ledger):
        for block in ledger.read():
            others = [line for line in block if not line.startswith(b"K")]
            # A number is announced once and before its outcome, so the announcements of a block can be read first.
            for line in of_kind(others, b"A"):
                _mark, first, last, _time = line.split(TAB)
                _announce(sent, int(first), int(last))
            _acknowledge(sent, of_kind(block, b"K"))
            for line in others:
                if line[:1] in OTHER_OUTCOMES:
                    sent.outcomes[int(line.split(TAB, 2)[1])] = OTHER_OUTCOMES[line[:1]]
    return sent


def _announce(sent: Sent, first: int, last: int) -> None:
    missing = last + 1 - len(sent.outcomes)
    if missing > 0:
        sent.outcomes.extend(bytes(missing))
        sent.topic_numbers.frombytes(bytes(missing * sent.topic_numbers.itemsize))
    sent.outcomes[first : last + 1] = bytes([ANNOUNCED]) * (last + 1 - first)


def _acknowledge(sent: Sent, lines: Lines) -> None:
    _marks, numbers, topics, _partitions, _offsets, times = columns(lines, 6)
    outcomes, topic_numbers = sent.outcomes, sent.topic_numbers
    seqs = list(map(int, numbers))
    for seq in seqs:
        outcomes[seq] = ACKNOWLEDGED
    known = {topic: _topic_number(sent, topic.decode()) for topic in dict.fromkeys(topics)}
    if set(known.values()) - {0}:  # 0 is the initial value
        for seq, topic in zip(seqs, topics, strict=True):
            topic_numbers[seq] = known[topic]
    for time_us in dict.fromkeys(times):
        sent.activity.add(int(time_us))


def _topic_number(sent: Sent, topic: str) -> int:
    if topic not in sent.topics:
        sent.topics.append(topic)
    return sent.topics.index(topic)

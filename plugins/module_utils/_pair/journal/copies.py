# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and merge the copies of a pair's journal, and append to them as the only writer.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.events import Event, decoded, merge
from ..._core.journal.state import JournalState, fold
from ..._core.partition import Partition
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._kafka.journal import Appender, Undecided, read
from ..._kafka.topics import describe, log_ends, log_ranges
from ..connections.clusters import on_each

__all__ = ["Book", "JournalCopies", "append", "read_copy", "read_state"]

# The transaction of a dead writer stays open for its time-out (15 s) and the broker's next check (10 s).
_UNDECIDED = Bounds(40.0, 0.05)
# How many other writers in a row may append first.
_ATTEMPTS = 5


@dataclass(frozen=True)
class Book:
    """The journal as it was read."""

    #: Events by alias of the cluster; None: the topic does not exist there.
    copies: Mapping[str, list[Event] | None]
    #: Log end up to which each copy was read, by alias.
    ends: Mapping[str, int]
    #: The union of all copies.
    events: list[Event]

    @cached_property
    def state(self) -> JournalState:
        return fold(self.events)

    @property
    def missing(self) -> list[str]:
        return sorted(alias for alias, copy in self.copies.items() if copy is None)

    def with_event(self, event: Event) -> Book:
        return replace(self, events=[*self.events, event])

    def holds(self, event: Event) -> bool:
        """Is exactly this event in the journal, and not only another one with its number?"""
        return any((one, one.kind, one.time) == (event, event.kind, event.time) for one in self.events)

    def lacking(self, alias: str) -> list[Event]:
        """Return the events that the copy of ``alias`` does not have."""
        have = {(event.epoch, event.seq, event.run) for event in self.copies[alias] or []}
        return [event for event in self.events if (event.epoch, event.seq, event.run) not in have]


class JournalCopies:
    """The journal on each cluster, and its writers.

    Two writers must not both succeed. A writer claims every copy, then reads the journal, then decides what to append.
    The first copy decides: the writer whose events are in it updates the other copies.
    """

    def __init__(self, kafkas: Mapping[str, Kafka], topic: str, pair: str) -> None:
        self._kafkas, self.topic, self._pair = kafkas, topic, pair
        self._writers: dict[str, Appender] = {}

    def open(self) -> None:
        self._writers = on_each(self._kafkas, lambda alias: Appender(self._kafkas[alias], self.topic, self._pair))

    def observe(self) -> Book:
        reads = on_each(self._kafkas, lambda alias: _read_whole(self._kafkas[alias], self.topic))
        copies = {alias: None if result is None else decoded(result[0], self._pair) for alias, result in reads.items()}
        ends = {alias: result[1] for alias, result in reads.items() if result is not None}
        return Book(copies, ends, merge(copy for copy in copies.values() if copy is not None))

    def claim(self, again: bool) -> None:
        for alias in sorted(self._writers):
            self._writers[alias].claim_again() if again else self._writers[alias].claim()

    def moved(self, book: Book) -> bool:
        """Has any process written to a copy since ``book`` was read?"""
        place = Partition(self.topic, 0)
        ends = on_each(self._kafkas, lambda alias: log_ends(self._kafkas[alias], {place}))
        return any(ends[alias][place] != end for alias, end in book.ends.items())

    def write(self, book: Book) -> None:
        """Append to each copy the events that it lacks, also those it missed while its cluster was down.

        Raises Undecided if it is unknown whether the first copy was written, for example after another writer's claim.
        """
        first, *others = sorted(self._writers)
        if book.lacking(first):
            self._writers[first].append(book.lacking(first))
        for alias in others:
            self._bring(self._writers[alias], book.lacking(alias))

    def _bring(self, writer: Appender, events: list[Event]) -> None:
        """Append to a copy other than the first, and claim it again if needed.

        The first copy has already decided: a writer that claimed this copy since was too late for the first one. An
        event that is written twice is read once.
        """
        for attempt in range(_ATTEMPTS):
            try:
                writer.append(events)
                return
            except Undecided:
                if attempt + 1 == _ATTEMPTS:
                    raise
                writer.claim_again()


def read_state(kafkas: Mapping[str, Kafka], pair: PairSpec) -> JournalState:
    """Return the state of the pair's journal, merged from the copies on ``kafkas``. Empty without a journal topic."""
    return JournalCopies(kafkas, pair.journal_topic, pair.name).observe().state


def append(
    copies: JournalCopies, book: Book, event: Event, decide: Callable[[Book], Event | None]
) -> tuple[JournalState, Book, Event | None]:
    """Append an event; call ``decide`` again each time another process wrote first.

    Returns the state before, the journal after, and the event that was written; None: ``decide`` returned none.
    """
    before = book.state
    for attempt in range(_ATTEMPTS):
        if book.missing:
            raise DrError(
                "journal_missing",
                f'The journal topic "{copies.topic}" does not exist on {", ".join(book.missing)}.',
                "Run the playbook enable: it creates the topic.",
            )
        copies.claim(again=attempt > 0)
        if copies.moved(book):
            book = copies.observe()
            again = event if book.holds(event) else decide(book)
            if again is None:
                return book.state, book, None
            before, event = before if again is event else book.state, again
        after = book if book.holds(event) else book.with_event(event)
        try:
            copies.write(after)
        except Undecided:
            continue
        return before, after, event
    raise DrError(
        "journal_busy",
        f"Other processes wrote to the journal {_ATTEMPTS} times while this run tried to write.",
        "Several runs of this pair are active. Wait until they have ended, then start again.",
    )


def read_copy(kafka: Kafka, topic: str, pair: str) -> list[Event] | None:
    """Return the events of one copy; None: the topic does not exist."""
    found = _read_whole(kafka, topic)
    return None if found is None else decoded(found[0], pair)


def _read_whole(kafka: Kafka, topic: str) -> tuple[list[bytes], int] | None:
    """Return the records, and the log end up to which they were read; None: the topic does not exist.

    A commit is acknowledged before its marker is in the log. A reader in that moment would miss the newest events, and
    a run would give its next event the number of the last one. So wait until no transaction is open before the end.
    """
    if describe(kafka, [topic])[topic] is None:
        return None
    place = Partition(topic, 0)
    high = log_ranges(kafka, {place}, "read_uncommitted")[place][1]
    settled = wait_until(
        lambda: log_ranges(kafka, {place}, "read_committed")[place], lambda span: span[1] >= high, _UNDECIDED
    )
    if not settled.done:
        raise DrError(
            "journal_busy",
            f'The journal "{topic}" ends at {high}, but a transaction is open from offset {settled.state[1]} on.',
            "Another run is writing, or one died, whose transaction the broker aborts after its time-out. Then start"
            " again.",
            kafka.bootstrap_servers,
        )
    return read(kafka, topic, settled.state), settled.state[1]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watch topics and groups until applications that the inventory does not control have stopped (R48).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.checks.other_applications import Standstill
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.partition import Partition
from ..._core.resources.groups import members_named
from ..._core.waiting import Bounds, Waited, wait_until
from ..._kafka.client import Kafka
from ..._kafka.groups import describe, known_committed_offsets
from ..._kafka.topics import describe_anew, log_ends
from ..._module import Result
from ..connections.clusters import connect_one
from .progress import ProgressLines

__all__ = ["StandstillRequest", "Watch", "standstill", "watched_texts"]

# Seconds for the last look after the time in which everything must be still.
_LAST_LOOK = 1.0
# Seconds that slow looks may take in addition.
_SLOW_LOOKS = 60.0
_GROUPS, _TOPICS = "groups", "topics"


@dataclass(frozen=True)
class StandstillRequest:
    """The options of ``dr_standstill_info``."""

    pair: PairSpec
    #: Alias of the cluster on which the applications must stop. No other cluster is contacted.
    at: str
    topics: Sequence[str]
    groups: Sequence[str]
    #: Seconds in which the topics must receive no record.
    settle: float
    #: Seconds in which the groups must commit nothing.
    idle_settle: float
    #: Of an earlier watch on the same host: since when, and with which digest, topics and groups did not change.
    seen: Mapping[str, Mapping[str, Any]]
    #: Seconds to wait, in addition to the time in which everything must be still.
    bounds: Bounds
    request_timeout: float


@dataclass
class _Unchanged:
    """Since when a topic's log ends or a group's committed offsets are the same."""

    #: ``time.monotonic``, which all processes of a host share.
    at: float = 0.0
    digest: str = ""
    #: The sum of a topic's log ends.
    end: int = 0
    #: Whether a change was observed; at the first look there is nothing to compare with.
    changed: bool = False

    def note(self, value: object, read: float) -> None:
        """Take a value that was read at ``read``."""
        digest = hashlib.sha256(repr(value).encode()).hexdigest()
        # A moment of the future is of another host, or of a time before this host was started again.
        if digest != self.digest or self.at > read:
            self.changed = self.digest not in ("", digest)
            self.at, self.digest = read, digest


class Watch:
    """Looks at topics and groups on one cluster, as often as :meth:`look` is called."""

    def __init__(
        self,
        kafka: Kafka,
        topics: Sequence[str],
        groups: Sequence[str],
        settles: tuple[float, float],
        seen: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """``settles``: seconds for which topics and groups must be still. ``seen``: as :meth:`as_seen` returned it."""
        self._kafka, self._topics, self._groups = kafka, topics, groups
        self._settle, self._idle_settle = settles
        self._read = time.monotonic()
        self._given = seen or {}
        self._items = {
            (part, name): _Unchanged(**self._given.get(part, {}).get(name, {}))
            for part, names in ((_TOPICS, topics), (_GROUPS, groups))
            for name in names
        }
        self._first: dict[str, int] = {}
        # What an earlier watch has seen is compared with, too.
        self._began = min([self._read, *(item.at for item in self._items.values() if item.digest)])

    def look(self) -> Standstill:
        """Look once. The result has what was seen in motion within the time for which it must be still."""
        self._read = time.monotonic()
        states = describe(self._kafka, self._groups)
        commits = known_committed_offsets(self._kafka, self._groups) if self._groups else {}
        ends = self._log_ends()
        read = time.monotonic()
        pending = set()
        for name, rows in commits.items():
            self._items[_GROUPS, name].note(sorted(rows.items()), read)
            # The offset of an open transaction is about to change.
            pending |= {name} if None in rows.values() else set()
        for topic, own in ends.items():
            item = self._items[_TOPICS, topic]
            self._first.setdefault(topic, item.end if item.digest else sum(own))
            item.note(own, read)
            item.end = sum(own)
        moving = {key for key, item in self._items.items() if item.changed and not self._still(key)}
        return Standstill(
            {name: members_named(state) or state.state for name, state in states.items() if state.active},
            [name for name in commits if not states[name].active and (name in pending or (_GROUPS, name) in moving)],
            {topic: sum(own) - self._first[topic] for topic, own in ends.items() if (_TOPICS, topic) in moving},
            read - self._began,
        )

    @property
    def needed(self) -> float:
        """Seconds for which a watch must last at least."""
        return max(self._settle if self._topics else 0.0, self._idle_settle if self._groups else 0.0)

    @property
    def settled(self) -> bool:
        """Whether nothing has changed for as long as it must be still, at the last look."""
        return all(self._still(key) for key in self._items)

    def as_seen(self) -> dict[str, dict[str, Any]]:
        """Return what a later watch on the same host may rely on."""
        rows: dict[str, dict[str, Any]] = {part: dict(self._given.get(part, {})) for part in (_TOPICS, _GROUPS)}
        for (part, name), item in self._items.items():
            rows[part][name] = {"at": item.at, "digest": item.digest, "end": item.end}
        return rows

    def _still(self, key: tuple[str, str]) -> bool:
        wanted = self._settle if key[0] == _TOPICS else self._idle_settle
        return self._read - self._items[key].at >= wanted

    def _log_ends(self) -> dict[str, list[int]]:
        """Return the high watermarks of each topic: a record of an open transaction was written, too."""
        states = describe_anew(self._kafka, self._topics) if self._topics else {}
        missing = [name for name, state in states.items() if state is None]
        if missing:
            raise DrError(
                "topic_missing",
                f'The topic "{missing[0]}" does not exist.',
                "Run the playbook switchback.kafka_dr.enable, or remove the topic from the inventory.",
                self._kafka.bootstrap_servers,
            )
        counts = {name: state.partitions for name, state in states.items() if state is not None}
        ends = log_ends(
            self._kafka, [Partition(name, index) for name, count in counts.items() for index in range(count)]
        )
        return {name: [ends[Partition(name, index)] for index in range(count)] for name, count in counts.items()}


def watched_texts(watch: Watch) -> list[str]:
    """Watch for as long as everything must be still, and return what is not, in words."""
    return _texts(watch, _watched(watch, Bounds(0.0, 0.5)).state)


def _watched(watch: Watch, bounds: Bounds) -> Waited[Standstill]:
    """Look until everything is still, for the time-out of ``bounds`` and as long as everything must be still."""
    until = time.monotonic() + bounds.timeout + watch.needed + _LAST_LOOK
    lines = ProgressLines(until)

    def look() -> Standstill:
        seen = watch.look()
        lines.show(seen.texts)
        return seen

    def over(seen: Standstill) -> bool:
        # What is still, is looked at for long enough, also if each look takes seconds.
        if not seen.texts:
            return watch.settled
        # What was written just now cannot be still for long enough any more.
        return time.monotonic() + (watch.needed if seen.written else 0.0) > until

    return wait_until(look, over, bounds.longer(2 * watch.needed + _SLOW_LOOKS))


def _texts(watch: Watch, seen: Standstill) -> list[str]:
    return seen.texts or ([] if watch.settled else ["they have not been observed for long enough"])


def standstill(request: StandstillRequest) -> Result:
    """Wait until topics and groups are still. Raises ``applications_running`` with what is not, after the bounds."""
    request.pair.require_alias(request.at)
    kafka = connect_one(request.at, request.pair.connections[request.at], request.request_timeout)
    watch = Watch(kafka, request.topics, request.groups, (request.settle, request.idle_settle), request.seen)
    waited = _watched(watch, request.bounds)
    extra = {"waited_s": round(waited.seconds, 3), "seen": watch.as_seen()}
    result = Result(extra=extra, requests=kafka.requests)
    texts = _texts(watch, waited.state)
    if texts:
        result.failure = DrError(
            "applications_running",
            f"Applications that the inventory does not control have not stopped on {request.at} after"
            f" {waited.seconds:.0f} s: {'; '.join(texts[:6])}.",
            "Let their teams stop them, then start the same playbook again. With kafka_dr_wait_for_applications the run"
            " says when to stop them, and waits for so many seconds.",
            kafka.bootstrap_servers,
        )
    return result

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the start offsets of a flow with the policy identity: always at a cut (R22).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.cutover_types import needs_source
from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.journal.ownership import Claim
from ..._core.journal.state import JournalState
from ..._core.listing import first_few
from ..._core.names import flow_name
from ..._core.offsets.bindings import Bound, Witness
from ..._core.offsets.tenures import flat, nested, tenures
from ..._core.partition import Partition, Range, Ranges
from ..._core.resources.topic_ids import joined, recreated
from ..._core.verdict import PROVEN, REFUTED
from ..._kafka.records import Reading, Record, data_records, digested, has_data, last_data_records
from ..._kafka.topics import describe
from ..._module import Result
from ..connections.clusters import both, on_each
from ..journal.copies import read_state
from ..journal.phases import note_phase
from ..observation.last_records import same_content
from ..observation.pair import ISOLATION, Pair
from .bindings import bindings
from .flow_topics import FlowTopics
from .replicated_ends import EndFound, TenureLogs, replicated_ends
from .requests import SeedRequest

__all__ = ["seed"]


@dataclass
class Beginning:
    """Where a flow starts."""

    #: First offset to replicate, by source partition.
    cut: dict[Partition, int]
    #: Partitions whose cut the journal does not hold yet.
    found: set[Partition] = field(default_factory=set)
    #: How many offsets the target holds after the cut, by partition.
    tails: dict[Partition, int] = field(default_factory=dict)
    #: After a disaster: where the replicated part of the target ends, by content (R45).
    ends: dict[Partition, EndFound] = field(default_factory=dict)

    def ends_found(self) -> dict[Partition, int]:
        """Return the ends that are known exactly."""
        return {key: end.end for key, end in self.ends.items() if end.found}


def seed(request: SeedRequest, check: bool) -> Result:
    """Set the offsets of a stopped source connector, and journal them if a run needs it.

    The flow starts at the cut of a cutover, if the caller or the journal has one. Otherwise, the connector keeps its
    offsets if they fit the logs, or the cut is found by comparing content, or refused.
    """
    seeding = _Seeding(request)
    result = Result(requests=seeding.pair.requests)
    result.extra = {"seeded": False, "cut_record": None, "partitions": [], "late_writes": []}
    if check:
        return result
    if seeding.cut is None and seeding.watched and seeding.running:
        return result
    seeding.require_still()
    begin = seeding.start()
    changed = seeding.set(begin)
    facts = {"flow": seeding.flow, "cut": nested(begin.cut), "resumed": seeding.ends(seeding.target)}
    if begin.ends:
        facts["found"] = nested(begin.ends_found())
    result.warnings += seeding.warnings(begin)
    result.extra = {"seeded": True, "cut_record": seeding.cut_record(begin), "partitions": seeding.rows(begin)}
    result.extra["late_writes"] = [
        f"{seeding.target} {key}: {count} offsets" for key, count in sorted(begin.tails.items())
    ]
    if changed is not None:
        result.outcomes.append(Outcome(changed, "done"))
    claim = seeding.claim
    if claim is not None:
        result.outcomes += note_phase(request.pair, claim, "seeded", facts, request.request_timeout)
    result.requests = seeding.pair.requests
    return result


class _Seeding:
    """Sets the start offsets of one flow."""

    def __init__(self, request: SeedRequest) -> None:
        self.source, self.target = request.source, request.target
        self.flow = flow_name(self.source, self.target)
        self._request = request
        self.pair = Pair(request.pair, [(self.source, self.target)], request.request_timeout)
        self._offsets = self.pair.engine.offsets(self.source, self.target)
        self._state: JournalState
        self._state, _counts = both(
            lambda: read_state(self.pair.kafka, request.pair),
            lambda: on_each(self.pair.kafka, self.pair.partitions),
        )
        facts = {} if request.moved else self._state.unseeded_cut or {}
        given = request.cut is not None
        #: First offset to replicate, and the target's log ends at the barrier; None: the cut is found by content.
        self.cut: Mapping[str, Mapping[str, int]] | None = request.cut if given else facts.get("cut")
        #: The last records before a cut of an earlier run, on the source (R37).
        self._cut_bound: Mapping[str, Any] = {} if given else facts.get("cut_bound") or {}
        self._barrier_ends: Mapping[str, Mapping[str, int]] = request.ends if given else facts.get("ends", {})
        # A disaster could not read them: they are what the flow had stored (R45).
        self._lower_bounds = not given and bool(facts.get("disaster"))
        self._logs = {
            alias: self.pair.ranges(alias, self.pair.topics, "read_uncommitted") for alias in (self.source, self.target)
        }

    @property
    def watched(self) -> bool:
        """Does the journal hold the start of each topic? Not after a move by hand, nor for a topic new to the pair."""
        return not self._request.moved and not self._joined

    @property
    def claim(self) -> Claim | None:
        """The run that journals where the flow starts; None: no run needs it.

        This is this controller's run, or a disaster failover that could not do it.
        """
        held, run = self._request.claim, self._state.run
        if held is not None and held.run:
            return held
        if self.cut is None or run is None or needs_source(run.type) or "seeded" in run.phases:
            return None
        return Claim(run=run.id) if run.passed is not None else None

    @property
    def running(self) -> bool:
        """Is the source connector already running?"""
        return self.pair.engine.observe(self.source, self.target).connectors["source"].state == "RUNNING"

    def require_still(self) -> None:
        """Raise unless both directions are stopped and the topics are the journaled ones."""
        self._offsets.require_stopped("Offsets can be set only on a stopped connector.")
        running = self.pair.engine.reverse_flows(self.source, self.target, self.pair.topics)
        if running:
            raise DrError(
                "both_directions",
                f"{', '.join(running)} replicates in the opposite direction of {self.flow}.",
                "With the policy identity this is a replication loop. Stop that connector first.",
            )
        other = recreated(self._state.topic_ids, self._ids)
        if other and self.cut is not None:
            raise DrError(
                "topic_recreated",
                f"These topics were created again since the pair was enabled: {'; '.join(other)}.",
                "The journaled cut refers to the deleted topics. The flow stays stopped. Find out which cluster holds"
                " the right records: see the row topic_recreated in docs/troubleshooting.md.",
            )

    @cached_property
    def _ids(self) -> dict[str, dict[str, str]]:
        states = on_each(self.pair.kafka, lambda alias: describe(self.pair.kafka[alias], self.pair.topics))
        return {
            alias: {name: state.topic_id for name, state in topics.items() if state is not None and state.topic_id}
            for alias, topics in states.items()
        }

    @property
    def _joined(self) -> list[str]:
        return joined(self._state.topic_ids, self._ids)

    def start(self) -> Beginning:
        """Return where the flow starts: at the cut of a cutover, else by content. Raises if that is unknown."""
        request, start = self._request, _Start(self.pair, self.source, self.target, self._logs)
        if self.cut is not None:
            self._require_same_records(flat(self.cut))
            ends = flat(self._barrier_ends)
            begin = start.at_cut(flat(self.cut), ends, request.accept_tail)
            if self._lower_bounds:
                begin.ends = self._replicated_ends(begin.cut, ends)
                start.require_copies(begin.ends, request.accept_tail)
            return start.with_tails(begin, ends, request.accept_tail)
        return start.by_content(self._offsets.read(), self._joined, request.moved)

    def _replicated_ends(
        self, cut: Mapping[Partition, int], stored: Mapping[Partition, int]
    ) -> dict[Partition, EndFound]:
        """Find by content where the replicated part of the target ends: the worker replicated more than it stored."""
        pair, lost, here = self.pair, self.target, self.source
        # The last tenure is that of the flow back.
        begin = tenures(self._state.cuts, here, lost)[-2].begin
        topics = FlowTopics(pair, lost, here, JournalFacts())
        topics.read_settings(pair.topics)
        committed = pair.ranges(lost, pair.topics)
        logs = {}
        for key, at_cut in cut.items():
            if key not in committed:
                continue
            first, there = begin[lost].get(key, 0), begin[here].get(key, 0)
            start, end = committed[key]
            low, low_here = max(start, first), min(max(self._logs[here][key][0], there), at_cut)
            logs[key] = TenureLogs(
                key,
                (low, max(low, end)),
                (low_here, at_cut),
                stored.get(key, first),
                start <= first,
                self._logs[here][key][0] <= there,
                topics.compacted(lost, key.topic) or topics.compacted(here, key.topic),
            )
        return replicated_ends(pair.kafka[lost], pair.kafka[here], logs)

    def warnings(self, begin: Beginning) -> list[str]:
        """Name the partitions whose replicated part ends at an unknown offset."""
        unknown = [f"{key} (at or after {end.end}: {end.reason})" for key, end in begin.ends.items() if not end.found]
        if not unknown:
            return []
        return [
            f"Where the replicated part of {len(unknown)} partitions on {self.target} ends is unknown:"
            f" {first_few(unknown, 3, '; ')}. Offsets of groups there are compared record by record. A move refuses an"
            " offset that this does not decide, or counts records that are read again."
        ]

    def _require_same_records(self, cut: Mapping[Partition, int]) -> None:
        """Raise if the source has other records before a journaled cut than when the cut was made (R37)."""
        stored = [
            Bound.of(key, cut[key], [Witness.of(fields) for fields in witnesses])
            for key, witnesses in flat(self._cut_bound).items()
            if key in cut
        ]
        # A compacted topic may have lost the record, so its absence alone shows nothing.
        held = bindings(self.pair.kafka[self.source], stored, self._logs[self.source], self.pair.topics)
        moved = sorted(bound.key for bound, binding in held.items() if binding.replaced)
        if moved:
            raise DrError(
                "cut_moved",
                f"{len(moved)} partitions on {self.source} were cut and filled again before the journaled cut, first"
                f" {moved[0]} before offset {cut[moved[0]]}.",
                f"From that offset, the flow {self.flow} would replicate records twice or not at all, so it stays"
                " stopped. Compare both clusters with the playbook verify, and copy what is missing by hand.",
            )

    def set(self, begin: Beginning) -> Change | None:
        """Write the offsets and read them back; None: they were already set."""
        stored = self._offsets.read()
        wanted = {key: offset - 1 for key, offset in begin.cut.items() if offset > 0}
        # Keep the offsets of heartbeats. Replicating them again would only add old heartbeats.
        wanted |= {key: offset for key, offset in stored.items() if key[0] == "heartbeats"}
        if stored == wanted:
            return None
        self._offsets.replace(wanted)
        return Change("offsets", self._offsets.name, "update", nested(stored), nested(wanted))

    def ends(self, alias: str) -> dict[str, dict[str, int]]:
        """Return the log ends on ``alias`` in the journal's form."""
        return nested({key: end for key, (_start, end) in self._logs[alias].items()})

    def cut_record(self, begin: Beginning) -> dict[str, Any] | None:
        """Return the cuts that the journal does not hold yet, in its form; None: it holds them all."""
        if not begin.found:
            return None
        target_ends = {key: span[1] for key, span in self._logs[self.target].items() if key in begin.found}
        cut = {key: offset for key, offset in begin.cut.items() if key in target_ends}
        ends = nested(target_ends)
        cut_record = {"from": self.target, "to": self.source, "ends": ends, "cut": nested(cut), "resumed": ends}
        return {**cut_record, "joined": self._joined}

    def rows(self, begin: Beginning) -> list[dict[str, Any]]:
        """Return a row for each partition, in the form of a flow's status."""
        return [
            {
                "topic": key.topic,
                "partition": key.partition,
                "cut": at,
                "tail": begin.tails.get(key, 0),
                "drained": REFUTED if key in begin.tails else PROVEN,
                "reason": "has records after the cut" if key in begin.tails else "no records after the cut",
            }
            for key, at in sorted(begin.cut.items())
        ]


class _Start:
    """Finds where a flow starts, by the logs of its topics on both clusters."""

    def __init__(self, pair: Pair, source: str, target: str, logs: Mapping[str, Ranges]) -> None:
        self._kafka, self._flow = pair.kafka, flow_name(source, target)
        self._source, self._target = source, target
        self._source_log, self._target_log = logs[source], logs[target]

    def at_cut(
        self, cut: Mapping[Partition, int], ends: Mapping[Partition, int], accept_tail: Collection[str]
    ) -> Beginning:
        """Start at the cut of a cutover; ``ends`` are the journaled ends of the cluster that was left.

        Raises unless the source still holds every record from the cut on, and the target every record before the ends.
        """
        for key in self._source_log.keys() - cut.keys():
            held = self._target_log.get(key, (0, 0))[1]
            if held:
                raise DrError(
                    "cut_missing",
                    f"{key} has no cut: it did not exist at the barrier, and holds records up to offset"
                    f" {held} on {self._target} now.",
                    f"It is unknown whether {self._source} has these records. The flow {self._flow} stays stopped. Copy"
                    f" the missing records by hand, or delete the topic on {self._target}, then run enable.",
                )
        begin = Beginning({key: cut.get(key, 0) for key in self._source_log})
        for key, offset in begin.cut.items():
            start, end = self._source_log[key]
            if not start <= offset <= end:
                early = f"{start - offset} offsets expired before they were replicated"
                raise DrError(
                    "cut_outside_log",
                    f"{key} on {self._source}: the cut {offset} is outside the log [{start}, {end});"
                    f" {early if offset < start else f'{offset - end} offsets are missing'}.",
                    f"The flow {self._flow} stays stopped. Raise the retention on {self._source}, and decide how to"
                    " handle the gap before the next move: see the row cut_outside_log in docs/troubleshooting.md.",
                )
        for key, (_start, end) in self._target_log.items():
            if end < ends.get(key, 0) and key.topic not in accept_tail:
                raise DrError(
                    "target_truncated",
                    f"{key} on {self._target} ends at {end}, but it ended at {ends[key]} at the cut.",
                    f"It has lost records that {self._source} has, and no flow replicates them again. The flow"
                    f" {self._flow} stays stopped. To accept the loss, name the topic in kafka_dr_accept_tail.",
                )
        return begin

    def require_copies(self, ends: Mapping[Partition, EndFound], accept_tail: Collection[str]) -> None:
        """Raise if the target holds records before the end of its replicated part that the source lacks."""
        gaps = [(key, end) for key, end in sorted(ends.items()) if end.missing and key.topic not in accept_tail]
        if not gaps:
            return
        key, first = gaps[0]
        raise DrError(
            "copies_missing",
            f"{len(gaps)} partitions on {self._target} hold records that {self._source} lacks, before the last one that"
            f" was replicated. {key}: {len(first.missing)} records in the offsets {first.missing[0]} to"
            f" {first.missing[-1]}.",
            f"Either {self._source} has lost their copies, or these offsets on {self._target} were written again after"
            f" the flow had replicated them. No flow replicates them. The flow {self._flow} stays stopped. Copy the"
            " records by hand; then, or to leave them there, name the topics in kafka_dr_accept_tail.",
        )

    def with_tails(self, begin: Beginning, ends: Mapping[Partition, int], accept_tail: Collection[str]) -> Beginning:
        """Add the records after the replicated part of the target. Raises unless they are accepted."""
        begin.tails = self._tails({**ends, **{key: end.end for key, end in begin.ends.items()}})
        refused = [key for key in begin.tails if key.topic not in accept_tail]
        if refused:
            topics = json.dumps(sorted({key.topic for key in refused}))
            raise DrError(
                "tail_left",
                f"{len(refused)} partitions on {self._target} hold records after the cut. {refused[0]}:"
                f" {begin.tails[refused[0]]} offsets that {self._source} does not hold.",
                f"The flow {self._flow} stays stopped, and nothing is lost: those records are on {self._target} only."
                " After a disaster, the playbook salvage lists, exports or replays them. Then, or to leave them there,"
                f" add -e '{{\"kafka_dr_accept_tail\": {topics}}}'.",
            )
        return begin

    def _tails(self, ends: Mapping[Partition, int]) -> dict[Partition, int]:
        """Count the offsets after the journaled ends of the cluster that was left, where these include data records."""
        spans = {
            key: (max(ends.get(key, 0), start), end)
            for key, (start, end) in self._target_log.items()
            if end > ends.get(key, 0)
        }
        data = has_data(self._kafka[self._target], spans, ISOLATION) if spans else {}
        return {key: span[1] - span[0] for key, span in spans.items() if data.get(key) is not False}

    def by_content(self, known: Mapping[Partition, int], new: Sequence[str], moved: bool) -> Beginning:
        """Start at the connector's own offsets (``known``), or after the copy of the target's last record.

        ``new``: topics new to the pair. ``moved``: a person moved the applications.
        """
        source_log, target_log = self._source_log, self._target_log
        last = last_data_records(self._kafka[self._target], target_log, ISOLATION)
        begin = Beginning({})
        for key, (start, end) in sorted(source_log.items()):
            if key in known and self._fits(key, known[key], last.get(key)):
                begin.cut[key] = known[key] + 1
            elif key not in target_log or target_log[key][1] == 0:
                begin.cut[key] = 0
            else:
                begin.cut[key] = self._find(key, last.get(key), (start, end))
                begin.found.add(key)
        # After a move by hand, every partition needs a cut. The records of a topic new to the pair were not observed.
        begin.found |= {key for key in begin.cut if moved or key.topic in new}
        return begin

    def _fits(self, key: Partition, last_replicated_offset: int, last: Record | None) -> bool:
        """Is the last record that the connector replicated the target's last record?"""
        start, end = self._source_log[key]
        if not start - 1 <= last_replicated_offset < end:
            return False
        span = {key: (start, last_replicated_offset + 1)}
        newest = (
            last_data_records(self._kafka[self._source], span, ISOLATION).get(key)
            if last_replicated_offset >= start
            else None
        )
        if newest is None:
            # The replicated records are gone here. That is safe only if no record can be missed or replicated twice.
            return last is None or last_replicated_offset + 1 >= end
        return _same(newest, last)

    def _find(self, key: Partition, last: Record | None, log: Range) -> int:
        """Return the offset after the only record on the source that equals the target's last record."""
        copies = []
        if last is not None:
            kafka = self._kafka[self._source]
            wanted, records = digested(last), data_records(kafka, key, *log, Reading(digests=True))
            copies = [record.offset for record in records if _same(record, wanted)]
        if len(copies) == 1:
            return copies[0] + 1
        end = self._target_log[key][1]
        cause = (
            f"its records have expired on {self._target}"
            if last is None
            else f"its last record there (offset {last.offset}) occurs {len(copies)} times on {self._source}"
        )
        raise DrError(
            "cut_unknown",
            f"{key} on {self._target} holds records up to offset {end}, and it is unknown which of them"
            f" {self._source} has: {cause}.",
            f"Without the cut, records would be replicated twice or not at all. The flow {self._flow} stays stopped."
            f" Remove {key.topic} from kafka_dr_topics and start again. Or, if {self._target} may be filled again from"
            " the start, delete the topic there first.",
        )


def _same(one: Record | None, other: Record | None) -> bool:
    """Can these be the same record? Either may be the copy, because the target's last record may be an original."""
    return bool(same_content(one, other) or same_content(other, one))

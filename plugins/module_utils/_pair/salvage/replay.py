# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replay the tail on the target, exactly once (R24).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.names import flow_name
from ..._core.offsets.skipped_ranges import add, usable
from ..._core.offsets.tails import Progress
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._kafka.salvage import Replayer
from ..._kafka.topics import describe
from ..journal.events import note
from ..journal.request import JournalRequest
from ..observation.pair import Pair
from ..offsets.bindings import last_witnesses
from .finding import Found, read_progress
from .newer_keys import newer_keys, require_accepted
from .request import LossFacts, SalvageRequest
from .tail import Tail, TailReader

__all__ = ["Replay"]


class Replay:
    """Replays tails on the target. Before that, it sets the flow's stored offsets past them."""

    def __init__(self, pair: Pair, request: SalvageRequest, found: Found, facts: LossFacts, reader: TailReader) -> None:
        self._pair, self._request, self._found = pair, request, found
        self._facts, self._reader = facts, reader
        self._source, self._target = request.source, request.target
        self._starts_at_cut = pair.naming.starts_at_cut
        #: Keys of the tail that were written again on the target; set by ``replay`` into the original topics.
        self.newer_keys: list[str] = []

    def replay(self, check: bool) -> list[Outcome]:
        """Record the ranges, set the flow's offsets past them, then replay the records, in this order."""
        tails = self._found.tails
        left = [tail for tail in tails if tail.records or tail.resumes]
        shorter = {tail.key: tail.truncated[0] - 1 for tail in tails if tail.truncated}
        into = self._request.into
        if into == "original":
            self.newer_keys = newer_keys(self._pair, self._target, left, self._reader, self._facts.cut)
            require_accepted(self.newer_keys, self._target, self._request.accept_newer_keys)
        set_back = bool(shorter) and not self._starts_at_cut
        if set_back or (left and not self._starts_at_cut and not self._found.flow_runs):
            # Check before a range is recorded, because enable refuses the flow until a recorded range is replayed.
            self._require_writable_offsets()
        raised = self._raised(left)
        forgotten = self._forget(shorter) if set_back else []
        if not check and (left or forgotten):
            spec, kafka = self._pair.spec, self._pair.kafka[self._target]
            with contextlib.closing(Replayer(kafka, spec.name, spec.state_topic)) as to:
                # The writer of a killed run is fenced now. Its committed progress counts.
                if left:
                    self._send(to, left)
                if forgotten:
                    to.note(forgotten)
        if set_back and not check:
            # The topic was accepted by name: the flow continues from the source's log end, without repeats.
            self._set_offsets(shorter, "The flow must not run with its old offsets.")
        changes = [
            Change("offsets", str(key), "lower", None, {"last_replicated_offset": at})
            for key, at in shorter.items()
            if set_back
        ]
        changes += raised
        changes += [
            Change(
                "tail",
                str(tail.key),
                "replay",
                None,
                {"into": self._request.replay_topic(tail.key[0]), "records": tail.records},
            )
            for tail in left
        ]
        return [Outcome(change, "planned" if check else "done") for change in changes]

    def _raised(self, tails: list[Tail]) -> list[Change]:
        """Return the changes of the flow's stored offsets, which are set past these tails before the replay."""
        if self._starts_at_cut or self._found.flow_runs:
            return []
        ends, now = {tail.key: tail.end - 1 for tail in tails}, self._found.replicated
        return [
            Change(
                "offsets",
                str(key),
                "raise",
                {"last_replicated_offset": now.get(key)},
                {"last_replicated_offset": at},
            )
            for key, at in ends.items()
            if at > now.get(key, -1)
        ]

    def _send(self, replayer: Replayer, tails: Sequence[Tail]) -> None:
        self._require_topics(tails)
        plans = self._plans(tails)
        replayer.note([plan for _tail, plan in plans])
        # From now on, a state topic without these plans is a lost one, and the ranges are unknown (R37).
        self._journal([plan for _tail, plan in plans])
        if not self._starts_at_cut and not self._found.flow_runs:
            self._set_flow_after({tail.key: plan.end - 1 for tail, plan in plans})
        cluster = self._pair.kafka[self._source].cluster_id
        for tail, plan in plans:
            tail.begin, tail.end = max(tail.begin, plan.through), plan.end
            for records in self._reader.chunks(tail):
                through = records[-1].offset + 1
                topic = self._request.replay_topic(tail.key[0])
                replayer.send(topic, cluster, records, replace(plan, through=through))
                tail.replayed += len(records)
            replayer.note([replace(plan, through=plan.end)])

    def _journal(self, plans: Sequence[Progress]) -> None:
        ids = {Partition(plan.topic, plan.partition): plan.topic_id for plan in plans}
        data = {"flow": flow_name(self._source, self._target), "partitions": nested(ids)}
        note(JournalRequest(self._pair.spec, "replayed", data, timeout=self._request.timeout), False)

    def _require_topics(self, tails: Sequence[Tail]) -> None:
        topics = {tail.key: self._request.replay_topic(tail.key[0]) for tail in tails}
        found = describe(self._pair.kafka[self._target], sorted(set(topics.values())))
        for (_topic, partition), name in topics.items():
            state = found[name]
            if state is None or state.partitions <= partition:
                raise DrError(
                    "salvage_topic",
                    f'The topic "{name}" on {self._target} does not exist with {partition + 1} or more partitions.',
                    "Nothing was written. Run the playbook salvage, which creates the topic.",
                )

    def _plans(self, tails: Sequence[Tail]) -> list[tuple[Tail, Progress]]:
        """Return the range of each tail to replay now: the rest of a replay that has begun, or the whole tail."""
        pair, into = self._pair.spec.name, self._request.into
        progress = read_progress(self._pair, self._source, self._target)
        plans: list[tuple[Tail, Progress]] = []
        for tail in tails:
            known, topic_id = progress.get(tail.key), self._found.topic_ids[tail.key[0]]
            if known is not None and known.topic_id != topic_id:
                known = None
            if known is not None and not known.done:
                if known.into != into:
                    raise DrError(
                        "salvage_elsewhere",
                        f"A replay of {tail.key} into {known.into} has not ended; requested: {into}.",
                        f"Finish it with kafka_dr_salvage_into={known.into} (option into) first: no record may be"
                        " replayed twice.",
                    )
                plans.append((tail, known))
                continue
            # The last child process of a killed run may have finished a range since the tail was found.
            begin = tail.begin if known is None else max(tail.begin, known.end)
            if begin < tail.end:
                plan = Progress(pair, self._source, *tail.key, topic_id, into, begin, tail.end, begin)
                plans.append((tail, self._with_skipped_range(plan, tail, known)))
        return plans

    def _with_skipped_range(self, plan: Progress, tail: Tail, known: Progress | None) -> Progress:
        """Return ``plan`` with the earlier skipped ranges, and the range that the flow skips because of this replay."""
        replica = self._pair.naming.replica(self._source, plan.topic)
        state = describe(self._pair.kafka[self._target], [replica])[replica]
        now = "" if state is None else state.topic_id
        forgotten = known is None and self._facts.replayed.get(tail.key) == plan.topic_id
        before = None if forgotten else () if known is None else known.skipped_ranges
        if before and known is not None:
            same = known.replica_id == now and usable(before, self._found.replicated.get(tail.key))
            before = before if same else None
        if self._starts_at_cut or self._found.flow_runs:
            if known is not None:
                plan = replace(plan, source_bound=known.source_bound, replica_bound=known.replica_bound)
            return replace(plan, skipped_ranges=before, replica_id=now)
        # Read the high watermark: later records come after records of open transactions, committed or not.
        logs = self._pair.ranges(self._target, [replica], "read_uncommitted") if state is not None else {}
        # A replica partition that the flow has not created yet is empty.
        key = Partition(replica, plan.partition)
        end = logs.get(key, (0, 0))[1]
        begin = tail.expired[0] if tail.expired else tail.begin
        plan = replace(plan, skipped_ranges=add(before, begin, plan.end, end), replica_id=now)
        sources = self._pair.ranges(self._source, [plan.topic])
        source = last_witnesses(self._pair.kafka[self._source], {tail.key: (sources[tail.key][0], plan.end)})
        copies = last_witnesses(self._pair.kafka[self._target], {key: logs[key]}) if key in logs else {}
        return replace(plan, source_bound=tuple(source.values()), replica_bound=tuple(copies.values()))

    def _forget(self, last: Mapping[Partition, int]) -> list[Progress]:
        """Return the shortened progress of partitions whose flow is set back to these offsets.

        It ends there, because the records after these offsets are others.
        """
        progress = read_progress(self._pair, self._source, self._target)
        return [
            replace(replay, skipped_ranges=None, end=min(replay.end, at + 1), through=min(replay.through, at + 1))
            for replay, at in ((progress[key], at) for key, at in last.items() if key in progress)
            if replay.topic_id == self._found.topic_ids[replay.topic]
        ]

    def _set_flow_after(self, ends: Mapping[Partition, int]) -> None:
        have = self._pair.engine.observe(self._source, self._target).last_replicated_offset
        higher = {key: at for key, at in ends.items() if at > have.get(key, -1)}
        self._set_offsets(higher, "No record was replayed.")

    def _require_writable_offsets(self) -> None:
        if not self._pair.engine.capabilities.offsets_writable:
            raise DrError(
                "no_offsets",
                f"The stored offsets of {self._source}->{self._target} cannot be set, so the flow would replicate the"
                " tail a second time.",
                "No record was replayed. Let the flow replicate the tail: run the playbook enable.",
            )

    def _set_offsets(self, wanted: Mapping[Partition, int], so_far: str) -> None:
        self._pair.engine.offsets(self._source, self._target).update(wanted, f"{so_far} Start the same playbook again.")

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists, exports and replays the tail of a side that was lost and has come back.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.names import salvage_topic
from .._core.offsets.fingerprints import fingerprints, has_time
from .._core.offsets.skipped_ranges import add, usable
from .._core.offsets.tails import BEGINNING, PROVENANCE, Progress, already_copied, first_offset, line
from .._core.offsets.tenures import flat
from .._core.resources.topic_ids import recreated
from .._files import write_whole
from .._kafka.latest import read_latest
from .._kafka.records import EXHAUSTED, Reading, Record, read_ranges
from .._kafka.salvage import Replayer
from .._kafka.topics import describe, offsets_at
from .._module import Result
from .connections.clusters import both, on_each
from .observation.pair import ISOLATION, Pair, Partition

__all__ = ["salvage"]

# Records of one partition that are held at a time.
_CHUNK = 10_000
# Offsets of a replica's end that are compared with the beginning of a tail.
_WINDOW = 1_000_000
# Records before a tail among which its neighbour must be the only one of its kind.
_CONTEXT = 2_000
_SECONDS = 60.0


def salvage(params: Mapping[str, Any], check: bool) -> Result:
    """Find the tail; write it to files (``export``); bring it over, once (``replay``)."""
    work = _Salvage(params)
    tails = work.find()
    result = Result(requests=work.pair.requests)
    if params["mode"] != "list":
        work.require_whole(tails)
    if params["mode"] == "export":
        result.outcomes = work.export(tails, check)
    elif params["mode"] == "replay":
        result.outcomes = work.replay(tails, check)
    rows = [tail.row() for tail in tails]
    result.extra = {
        "partitions": rows,
        "records": sum(row["records"] for row in rows),
        "after_failover": sum(row["after_failover"] for row in rows),
        "newer_keys": work.newer_keys,
        "lines": _lines(rows, params),
    }
    result.requests = work.pair.requests
    return result


@dataclass
class _Tail:
    """[begin, end) of one source partition. ``end``: last stable offset; ``high``: with undecided records."""

    key: Partition
    begin: int
    end: int
    high: int
    expired: tuple[int, int] | None = None
    # The log ends below what was copied: P came back without the end of it.
    truncated: tuple[int, int] | None = None
    copied: int = 0
    records: int = 0
    first_time: int | None = None
    last_time: int | None = None
    after_failover: int = 0
    resumes: Progress | None = None
    file: str | None = None
    replayed: int = 0

    @property
    def says_something(self) -> bool:
        """Anything that somebody should know, or that has to be ended."""
        return bool(self.records or self.expired or self.truncated or self.resumes or self.high > self.end)

    def row(self) -> dict[str, Any]:
        return {
            "topic": self.key[0],
            "partition": self.key[1],
            "begin": self.begin,
            "end": self.end,
            "records": self.records,
            "first_time": self.first_time,
            "last_time": self.last_time,
            "after_failover": self.after_failover,
            "already_copied": self.copied,
            "expired": None if self.expired is None else list(self.expired),
            "truncated": None if self.truncated is None else list(self.truncated),
            "undecided": 0 if self.resumes or self.truncated else max(0, self.high - self.end),
            "file": self.file,
            "replayed": self.replayed,
        }


class _Salvage:
    """P is the side that was lost, B the one where the applications live."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self.p, self.b = params["source"], params["target"]
        self.pair = Pair.of_params({**params, "flows": [{"source": self.p, "target": self.b}]})
        self.newer_keys: list[str] = []
        self._failover_ms = int(float(params["failed_over"]) * 1000) if params["failed_over"] else None
        self._identity = self.pair.naming.policy == "identity"
        self._cut = flat(params["cut"])
        self._resumed = flat(params["resumed"])
        self._flow_runs = False
        self._copied: dict[Partition, int] = {}
        self._ids: dict[str, str] = {}

    # ---- finding

    def find(self) -> list[_Tail]:
        """Every partition of P that holds what B has not."""
        self._ids = self._require_ours()[self.p]
        progress = {key: one for key, one in self._progress().items() if one.topic_id == self._ids.get(key[0])}
        copied = self._copied = self._require_still([one for one in progress.values() if not one.done])
        pair = self.pair
        logs, highs = both(
            lambda: pair.ranges(self.p, pair.topics), lambda: pair.ranges(self.p, pair.topics, "read_uncommitted")
        )
        tails = []
        for key, (start, end) in sorted(logs.items()):
            known, high = progress.get(key), highs[key][1]
            if known is not None and not known.done:
                tails.append(self._tail(key, (known.through, known.end), start, high, known))
                continue
            begin = first_offset(copied.get(key), known)
            # Behind that lies what came from B: the flow back had begun.
            limit = min(end, self._resumed.get(key, end))
            tail = self._tail(key, (begin, limit), start, high, None)
            if begin > high:
                tail.truncated = (high, begin)
            tails.append(tail)
        self._align(tails, copied, {key: start for key, (start, _end) in logs.items()})
        for tail in tails:
            for record in self._records(tail):
                tail.records += 1
                late = self._failover_ms is not None and (record.timestamp or 0) > self._failover_ms
                tail.after_failover += late
                times = [one for one in (tail.first_time, tail.last_time, record.timestamp) if one is not None]
                tail.first_time, tail.last_time = min(times, default=None), max(times, default=None)
        return [tail for tail in tails if tail.says_something]

    @staticmethod
    def _tail(key: Partition, span: tuple[int, int], start: int, high: int, resumes: Progress | None) -> _Tail:
        begin, end = span
        expired = (begin, min(start, end)) if begin < min(start, end) else None
        first = max(begin, start)
        return _Tail(key, first, max(end, first), high, expired, resumes=resumes)

    def _require_ours(self) -> dict[str, dict[str, str]]:
        ids = on_each(self.pair.kafka, lambda alias: describe(self.pair.kafka[alias], self.pair.topics))
        missing = [f"{name} on {alias}" for alias, found in ids.items() for name, state in found.items() if not state]
        if missing:
            hint = "Nothing was written. The playbook enable creates originals; or take the topic out of the inventory."
            raise DrError("topic_missing", f"There is no {', '.join(missing[:5])}.", hint)
        found = {
            alias: {name: state.topic_id for name, state in states.items() if state is not None}
            for alias, states in ids.items()
        }
        other = recreated(self._params["topic_ids"], found)
        if other:
            raise DrError(
                "topic_recreated",
                f"Created again since the pair was enabled: {'; '.join(other)}.",
                "What lies there is no tail of what was copied. Nothing was written. Take those topics out of the"
                " inventory to salvage the others.",
            )
        return found

    def _require_still(self, unfinished: list[Progress]) -> dict[Partition, int]:
        """Either the flow brings the tail over, or this does (SOUNDNESS 24).

        A replay that has not ended goes on while the flow runs: its offsets were set behind that range.
        """
        look = self.pair.engine.observe(self.p, self.b)
        source = look.connectors["source"]
        behind = [look.copied.get((one.topic, one.partition), -1) >= one.end - 1 for one in unfinished]
        if not source.final and not (unfinished and all(behind)):
            raise DrError(
                "flow_running",
                f'"{source.name}" is {source.state} with {len(source.tasks)} tasks, wanted STOPPED with none.',
                "While it runs it brings the tail over itself, and nothing may be done twice. Nothing was written.",
            )
        self._flow_runs = not source.final
        return look.copied

    def _progress(self) -> dict[Partition, Progress]:
        state = read_latest(self.pair.kafka[self.b], self._params["state_topic"]) or {}
        found = [
            Progress.of(value)
            for value in state.values()
            if value.get("kind") == "salvage" and (value["pair"], value["source"]) == (self._params["pair"], self.p)
        ]
        return {(one.topic, one.partition): one for one in found}

    def _align(self, tails: list[_Tail], copied: Mapping[Partition, int], starts: Mapping[Partition, int]) -> None:
        """Leave out what a worker had copied and not yet written down when it died."""
        replicas = self.pair.ranges(self.b, [self.pair.naming.replica(self.p, topic) for topic in self.pair.topics])
        for tail in tails:
            fresh = tail.resumes is None and tail.expired is None and tail.begin == copied.get(tail.key, -1) + 1
            if fresh and tail.begin < tail.end:
                self._align_one(tail, starts[tail.key], replicas)

    def _align_one(self, tail: _Tail, first: int, replicas: Mapping[Partition, tuple[int, int]]) -> None:
        kafka, replica = self.pair.kafka[self.b], (self.pair.naming.replica(self.p, tail.key[0]), tail.key[1])
        if replica not in replicas:
            return  # the flow has not grown it yet, so nothing was copied into it
        start, end = replicas[replica]
        if self._identity:
            # There the replica ends where the applications began to write.
            end = min(end, self._cut.get(tail.key, end))
        at = max(first, tail.begin - _CONTEXT)
        context = self._read(tail.key, at, tail.begin) if at < tail.begin else []
        lowest: int | None = None
        timed = next((one.timestamp for one in reversed(context) if has_time(one)), None)
        if timed is not None:
            # The copies of what follows that record lie after its copy.
            lowest = offsets_at(kafka, {replica: timed})[replica]
        elif tail.begin == first == start == 0:
            # Nothing is noted and nothing has expired: the first record of the one is the first of the other.
            lowest = 0
        if lowest is None or max(lowest, start) >= end:
            return
        span = (max(lowest, start), end)
        if span[1] - span[0] > _WINDOW:
            raise DrError(
                "tail_not_aligned",
                f"Where the copy of {tail.key[0]}-{tail.key[1]} ends cannot be told: {span[1] - span[0]} offsets of"
                f" {self.b} may lie behind the last noted record.",
                "Nothing was written. Let the flow bring the tail over, which needs no such look.",
            )
        read = read_ranges(kafka, {replica: span}, Reading(ISOLATION, timeout=_SECONDS))[replica]
        if read.ended != EXHAUSTED:
            raise DrError(
                "tail_not_aligned",
                f"{replica[0]}-{replica[1]} on {self.b} could not be read from {span[0]} to {span[1]}: {read.ended}.",
                "Nothing was written. Start again when every partition has a leader.",
            )
        if not read.records:
            return
        beginning = self._read(tail.key, tail.begin, tail.end, len(read.records))
        marks, there = fingerprints([*context, *beginning], read.records)
        before, ahead = marks[: len(context)], marks[len(context) :]
        tail.copied = already_copied([BEGINNING, *before], ahead, [BEGINNING, *there])
        if tail.copied:
            tail.begin = beginning[tail.copied - 1].offset + 1

    def _read(self, key: Partition, begin: int, end: int, limit: int = 0) -> list[Record]:
        reading = Reading(ISOLATION, limit=limit, timeout=_SECONDS)
        read = read_ranges(self.pair.kafka[self.p], {key: (begin, end)}, reading)[key]
        if not read.complete:
            raise DrError(
                "tail_unreadable",
                f"{key[0]}-{key[1]} on {self.p} could not be read from {begin} to {end}: {read.ended}.",
                "Start again when every partition has a leader; what is done is not done twice.",
            )
        unreadable = next((one.offset for one in read.records if one.headers is None), None)
        if unreadable is not None:
            raise DrError(
                "headers_unreadable",
                f"{key[0]}-{key[1]} on {self.p}: a header name of the record at offset {unreadable} is not UTF-8.",
                "confluent-kafka cannot read its headers, so it cannot be written unchanged. Nothing of it was written."
                " Restart the flow to copy the tail, or export and replay with another tool.",
            )
        return read.records

    def _records(self, tail: _Tail) -> Iterator[Record]:
        for chunk in self._chunks(tail):
            yield from chunk

    def _chunks(self, tail: _Tail) -> Iterator[list[Record]]:
        at = tail.begin
        while at < tail.end:
            records = self._read(tail.key, at, tail.end, _CHUNK)
            if records:
                yield records
            at = records[-1].offset + 1 if len(records) >= _CHUNK else tail.end

    def require_whole(self, tails: list[_Tail]) -> None:
        """What expired cannot be brought over: somebody must know."""
        accepted = self._params["accept_expired"]
        gone = [tail for tail in tails if (tail.expired or tail.truncated) and tail.key[0] not in accepted]
        if gone:
            first = gone[0]
            low, high = first.expired or first.truncated or (0, 0)
            why = "has been deleted by retention" if first.expired else "is gone: its log ended further behind before"
            raise DrError(
                "tail_expired" if first.expired else "tail_truncated",
                f"Of {len(gone)} tails a part {why}; {first.key[0]}-{first.key[1]} on {self.p}: offsets {low} to"
                f" {high - 1}.",
                "Nothing was written. To go on with the rest, name the topics in kafka_dr_accept_expired (option"
                " accept_expired).",
            )

    # ---- export

    def export(self, tails: list[_Tail], check: bool) -> list[Outcome]:
        """One file of JSON lines for each partition, and an index with their digests."""
        folder = Path(self._params["folder"])
        outcomes, index = [], []
        for tail in tails:
            if not tail.records:
                continue
            tail.file = str(folder / f"{tail.key[0]}-{tail.key[1]}.jsonl")
            text = "".join(f"{line(*tail.key, record)}\n" for record in self._records(tail))
            index.append({**tail.row(), "sha256": hashlib.sha256(text.encode()).hexdigest()})
            outcomes += self._file(Path(tail.file), text, tail.records, check)
        about = {
            "schema": "switchback.kafka_dr/salvage/1",
            "pair": self._params["pair"],
            "cluster": self.pair.kafka[self.p].cluster_id,
            "topic_ids": {name: self._params["topic_ids"].get(self.p, {}).get(name) for name in self.pair.topics},
            "files": index,
        }
        return outcomes + self._file(folder / "index.json", json.dumps(about, indent=2) + "\n", len(index), check)

    def _file(self, path: Path, text: str, records: int, check: bool) -> list[Outcome]:
        with contextlib.suppress(OSError):
            if path.read_text(encoding="utf-8") == text:
                return []
        change = Change("file", str(path), "write", None, {"records": records})
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text, 0o640)
        return [Outcome(change, "planned" if check else "done")]

    # ---- replay

    def replay(self, tails: list[_Tail], check: bool) -> list[Outcome]:
        """Note the ranges, set the flow behind them, then bring the records over: in this order, once."""
        left = [tail for tail in tails if tail.records or tail.resumes]
        shorter = {tail.key: tail.truncated[0] - 1 for tail in tails if tail.truncated}
        into = self._params["into"]
        if into == "original":
            self._require_no_newer_keys(left)
        set_back = bool(shorter) and not self._identity
        if set_back or (left and not self._identity and not self._flow_runs):
            # Before a range is noted: until a noted one is brought over, enable refuses the flow.
            self._require_writable_offsets()
        raised = self._raised(left)
        forgotten = self._forget(shorter) if set_back else []
        if not check and (left or forgotten):
            with contextlib.closing(
                Replayer(self.pair.kafka[self.b], self._params["pair"], self._params["state_topic"])
            ) as to:
                # The writer of a killed run is fenced now; what it had committed counts.
                if left:
                    self._bring(to, left)
                if forgotten:
                    to.note(forgotten)
        if set_back and not check:
            # Accepted by name: the flow goes on from where P's log ends now, instead of copying it all again.
            self._set_flow(shorter, "The flow must not run with its old offsets.")
        changes = [
            Change("offsets", f"{key[0]}-{key[1]}", "lower", None, {"copied": at})
            for key, at in shorter.items()
            if set_back
        ]
        changes += raised
        changes += [
            Change(
                "tail",
                f"{tail.key[0]}-{tail.key[1]}",
                "replay",
                None,
                {"into": self._target(tail.key[0]), "records": tail.records},
            )
            for tail in left
        ]
        return [Outcome(change, "planned" if check else "done") for change in changes]

    def _raised(self, tails: list[_Tail]) -> list[Change]:
        """The flow's stored offsets that are set after these tails, before a record is brought over."""
        if self._identity or self._flow_runs:
            return []
        ends = {tail.key: tail.end - 1 for tail in tails}
        return [
            Change("offsets", f"{key[0]}-{key[1]}", "raise", {"copied": self._copied.get(key)}, {"copied": at})
            for key, at in ends.items()
            if at > self._copied.get(key, -1)
        ]

    def _target(self, topic: str) -> str:
        return topic if self._params["into"] == "original" else salvage_topic(topic)

    def _bring(self, replayer: Replayer, tails: list[_Tail]) -> None:
        pair, into, cluster = self._params["pair"], self._params["into"], self.pair.kafka[self.p].cluster_id
        counts = describe(self.pair.kafka[self.b], sorted({self._target(tail.key[0]) for tail in tails}))
        now = self._progress()
        plans: list[tuple[_Tail, Progress]] = []
        for tail in tails:
            state, known = counts[self._target(tail.key[0])], now.get(tail.key)
            if state is None or state.partitions <= tail.key[1]:
                raise DrError(
                    "salvage_topic",
                    f'The topic "{self._target(tail.key[0])}" on {self.b} does not exist with {tail.key[1] + 1} or more'
                    " partitions.",
                    "The playbook salvage makes it. Nothing was written.",
                )
            if known is not None and known.topic_id != self._ids[tail.key[0]]:
                known = None
            if known is not None and not known.done:
                if known.into != into:
                    raise DrError(
                        "salvage_elsewhere",
                        f"A replay of {tail.key[0]}-{tail.key[1]} into {known.into} has not ended, wanted {into}.",
                        "Start it again as it began: nothing may be brought over twice.",
                    )
                plans.append((tail, known))
                continue
            # What a killed run's last child has finished since the look is not begun again.
            begin = tail.begin if known is None else max(tail.begin, known.end)
            if begin < tail.end:
                plan = Progress(pair, self.p, *tail.key, self._ids[tail.key[0]], into, begin, tail.end, begin)
                plans.append((tail, self._with_hole(plan, tail, known)))
        replayer.note([plan for _tail, plan in plans])
        if not self._identity and not self._flow_runs:
            self._set_flow_behind({tail.key: plan.end - 1 for tail, plan in plans})
        for tail, plan in plans:
            tail.begin, tail.end = max(tail.begin, plan.through), plan.end
            for records in self._chunks(tail):
                through = records[-1].offset + 1
                replayer.send(self._target(tail.key[0]), cluster, records, replace(plan, through=through))
                tail.replayed += len(records)
            replayer.note([replace(plan, through=plan.end)])

    def _with_hole(self, plan: Progress, tail: _Tail, known: Progress | None) -> Progress:
        """``plan`` with the holes of before, and the one that the flow will be set over for it."""
        replica = self.pair.naming.replica(self.p, plan.topic)
        state = describe(self.pair.kafka[self.b], [replica])[replica]
        now = "" if state is None else state.topic_id
        before = () if known is None else known.holes
        if before and known is not None:
            same = known.replica_id == now and usable(before, self._copied.get(tail.key))
            before = before if same else None
        if self._identity or self._flow_runs:
            return replace(plan, holes=before, replica_id=now)
        # With undecided records: what comes later lies behind them, whatever becomes of them.
        logs = self.pair.ranges(self.b, [replica], "read_uncommitted") if state is not None else {}
        # A partition that the flow has not grown yet is empty.
        end = logs.get((replica, plan.partition), (0, 0))[1]
        begin = tail.expired[0] if tail.expired else tail.begin
        return replace(plan, holes=add(before, begin, plan.end, end), replica_id=now)

    def _forget(self, last: Mapping[Partition, int]) -> list[Progress]:
        """Of partitions whose flow is set back to these offsets: from the next one on they mean other records."""
        now = self._progress()
        return [
            replace(one, holes=None, end=min(one.end, at + 1), through=min(one.through, at + 1))
            for one, at in ((now[key], at) for key, at in last.items() if key in now)
            if one.topic_id == self._ids[one.topic]
        ]

    def _set_flow_behind(self, ends: Mapping[Partition, int]) -> None:
        have = self.pair.engine.observe(self.p, self.b).copied
        self._set_flow({key: at for key, at in ends.items() if at > have.get(key, -1)}, "No record was brought over.")

    def _require_writable_offsets(self) -> None:
        if not self.pair.engine.capabilities.offsets_writable:
            raise DrError(
                "no_offsets",
                f"The stored offsets of {self.p}->{self.b} cannot be set, so the flow would bring the tail over again.",
                "No record was brought over. Let the flow bring the tail over: run the playbook enable.",
            )

    def _set_flow(self, wanted: Mapping[Partition, int], so_far: str) -> None:
        self.pair.engine.offsets(self.p, self.b).update(wanted, f"{so_far} Start the same playbook again.")

    def _require_no_newer_keys(self, tails: list[_Tail]) -> None:
        """A record that comes late would look like the newest of its key."""
        keys: dict[str, set[bytes]] = {}
        for tail in tails:
            keys.setdefault(tail.key[0], set()).update(one.key for one in self._records(tail) if one.key is not None)
        logs = self.pair.ranges(self.b, keys)
        found: dict[str, None] = {}
        for key, (start, end) in sorted(logs.items()):
            at = max(start, self._cut.get(key, start))
            while at < end:
                reading = Reading(ISOLATION, limit=_CHUNK, timeout=_SECONDS)
                read = read_ranges(self.pair.kafka[self.b], {key: (at, end)}, reading)[key]
                if not read.complete:
                    raise DrError(
                        "tail_unreadable",
                        f"{key[0]}-{key[1]} on {self.b} could not be read from {at} to {end}: {read.ended}.",
                        "Whether newer records have keys of the tail is not known. Nothing was written. Start again"
                        " when every partition has a leader.",
                    )
                for record in read.records:
                    # What a replay has brought over itself is not newer.
                    own = any(name.startswith(PROVENANCE) for name, _value in record.headers or ())
                    if record.key in keys[key[0]] and not own:
                        found.setdefault(f"{key[0]}: {(record.key or b'').decode(errors='replace')}")
                at = end if read.ended == EXHAUSTED or not read.records else read.records[-1].offset + 1
        self.newer_keys = list(found)
        topics = {name.split(":", 1)[0] for name in found} - set(self._params["accept_newer_keys"])
        if topics:
            raise DrError(
                "newer_keys",
                f"{len(found)} keys of the tail were written on {self.b} since, {', '.join(self.newer_keys[:5])}:"
                " brought over now, the older record would come last.",
                "Nothing was written. Replay into the topic <name>.salvage, or name the topics in"
                " kafka_dr_accept_newer_keys (option accept_newer_keys).",
            )


def _lines(rows: list[dict[str, Any]], params: Mapping[str, Any]) -> list[str]:
    """For a person."""
    total = sum(row["records"] for row in rows)
    if not rows:
        return [f"{params['source']} holds nothing that {params['target']} has not."]
    late = sum(row["after_failover"] for row in rows)
    lines = [f"{total} records on {params['source']} were never copied to {params['target']}"]
    if late:
        lines.append(f"  {late} of them were written after the failover (split brain)")
    for row in rows[:50]:
        where = f"  {row['topic']}-{row['partition']}: {row['records']} records in [{row['begin']}, {row['end']})"
        where += f", expired {row['expired'][0]} to {row['expired'][1] - 1}" if row["expired"] else ""
        where += f", ends at {row['truncated'][0]}, once at {row['truncated'][1]}" if row["truncated"] else ""
        where += f", {row['undecided']} offsets behind an open transaction" if row["undecided"] else ""
        lines.append(where)
    return lines

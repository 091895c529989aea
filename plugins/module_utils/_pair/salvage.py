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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._connect.offsets import copied_offsets, set_offsets
from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.names import connector_name
from .._core.salvage import Progress, already_copied, first_offset, line
from .._core.stays import flat
from .._core.topic_ids import recreated
from .._files import write_whole
from .._kafka.latest import read_latest
from .._kafka.records import EXHAUSTED, Reading, Record, first_data_records, read_ranges
from .._kafka.salvage import Replayer
from .._kafka.topics import describe, offsets_at
from .._module import Result
from .clusters import both, on_each
from .connect_engine import ConnectEngine
from .copies import mark
from .observe import ISOLATION, Pair, Partition

__all__ = ["salvage"]

# Records of one partition that are held at a time.
_CHUNK = 10_000
# Records of a replica's end that are compared with the beginning of a tail.
_WINDOW = 200_000
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
    copied: int = 0
    records: int = 0
    first_time: int | None = None
    last_time: int | None = None
    after_failover: int = 0
    resumes: Progress | None = None
    file: str | None = None
    replayed: int = 0
    offsets: list[int] = field(default_factory=list)

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
            "undecided": max(0, self.high - self.end),
            "file": self.file,
            "replayed": self.replayed,
        }


class _Salvage:
    """P is the side that was lost, B the one where the applications live."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self.p, self.b = params["source"], params["target"]
        self.pair = Pair({**params, "flows": [{"source": self.p, "target": self.b}]})
        self.newer_keys: list[str] = []
        self._failover_ms = int(float(params["failed_over"]) * 1000) if params["failed_over"] else None
        self._identity = self.pair.naming.policy == "identity"
        self._cut = flat(params["cut"])

    # ---- finding

    def find(self) -> list[_Tail]:
        """Every partition of P that holds what B has not."""
        self._require_ours()
        copied = self._require_still()
        pair = self.pair
        logs, highs = both(
            lambda: pair.ranges(self.p, pair.topics), lambda: pair.ranges(self.p, pair.topics, "read_uncommitted")
        )
        progress = self._progress()
        tails = []
        for key, (start, end) in sorted(logs.items()):
            known = progress.get(key)
            if known is not None and not known.done:
                tails.append(_Tail(key, known.through, known.end, highs[key][1], resumes=known))
                continue
            begin = first_offset(copied.get(key), known)
            expired = (begin, start) if begin < start else None
            tails.append(_Tail(key, max(begin, start), max(end, start, begin), highs[key][1], expired))
        self._align([tail for tail in tails if tail.resumes is None and tail.begin < tail.end])
        for tail in tails:
            for record in self._records(tail):
                tail.records += 1
                late = self._failover_ms is not None and (record.timestamp or 0) > self._failover_ms
                tail.after_failover += late
                times = [one for one in (tail.first_time, tail.last_time, record.timestamp) if one is not None]
                tail.first_time, tail.last_time = min(times, default=None), max(times, default=None)
        return [tail for tail in tails if tail.records or tail.expired or tail.high > tail.end]

    def _require_ours(self) -> None:
        ids = on_each(self.pair.kafka, lambda alias: describe(self.pair.kafka[alias], self.pair.topics))
        missing = [f"{name} on {alias}" for alias, found in ids.items() for name, state in found.items() if not state]
        if missing:
            raise DrError("topic_missing", f"There is no {', '.join(missing[:5])}.", "Nothing was written.")
        found = {
            alias: {name: state.topic_id for name, state in states.items() if state is not None}
            for alias, states in ids.items()
        }
        other = recreated(self._params["topic_ids"], found)
        if other:
            raise DrError(
                "topic_recreated",
                f"Created again since the pair was enabled: {'; '.join(other)}.",
                "What lies there is no tail of what was copied. Nothing was written.",
            )

    def _require_still(self) -> dict[Partition, int]:
        """Either the flow brings the tail over, or this does (SOUNDNESS 24)."""
        look = self.pair.engine.look(self.p, self.b)
        source = look.connectors["source"]
        if not source.final:
            raise DrError(
                "flow_running",
                f'"{source.name}" is {source.state} with {len(source.tasks)} tasks, wanted STOPPED with none.',
                "While it runs it brings the tail over itself, and nothing may be done twice. Nothing was written.",
            )
        return look.copied

    def _progress(self) -> dict[Partition, Progress]:
        state = read_latest(self.pair.kafka[self.b], self._params["state_topic"]) or {}
        found = [
            Progress.of(value)
            for value in state.values()
            if value.get("kind") == "salvage" and (value["pair"], value["source"]) == (self._params["pair"], self.p)
        ]
        return {(one.topic, one.partition): one for one in found}

    def _align(self, tails: list[_Tail]) -> None:
        """Leave out what a worker had copied and not yet written down when it died."""
        kafka = self.pair.kafka
        first = first_data_records(kafka[self.p], {tail.key: (tail.begin, tail.end) for tail in tails}, ISOLATION)
        renamed = {tail.key: (self.pair.naming.replica(self.p, tail.key[0]), tail.key[1]) for tail in tails}
        logs = self.pair.ranges(self.b, {name for name, _index in renamed.values()})
        moments = {}
        for key, record in first.items():
            if record is not None and record.timestamp is not None:
                moments[renamed[key]] = record.timestamp
        lowest = offsets_at(kafka[self.b], moments)
        for tail in tails:
            record, replica = first[tail.key], renamed[tail.key]
            if record is None:
                continue
            # With the policy identity the replica ends where the applications began to write.
            start, end = logs[replica][0], logs[replica][1]
            if self._identity:
                end = min(end, self._cut.get(tail.key, end))
            # None: nothing there is as late, so nothing of the tail is there.
            found = lowest.get(replica, start)
            low = max(end if found is None else found, start, end - _WINDOW)
            if low >= end:
                continue
            read = read_ranges(kafka[self.b], {replica: (low, end)}, Reading(ISOLATION, timeout=_SECONDS))[replica]
            beginning = self._read(tail.key, tail.begin, tail.end, len(read.records))
            timed = all(one.timestamp_type == "CreateTime" for one in (*beginning, *read.records))
            marks = ([mark(one, timed) for one in records] for records in (beginning, read.records))
            tail.copied = already_copied(*marks)
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
        gone = [tail for tail in tails if tail.expired and tail.key[0] not in self._params["accept_expired"]]
        if gone:
            first = gone[0]
            low, high = first.expired or (0, 0)
            raise DrError(
                "tail_expired",
                f"The beginning of {len(gone)} tails has been deleted by retention; {first.key[0]}-{first.key[1]} on"
                f" {self.p}: offsets {low} to {high - 1}.",
                "Nothing was written. To go on with the rest, name the topics in accept_expired.",
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
        left = [tail for tail in tails if tail.records]
        into = self._params["into"]
        if into == "original":
            self._require_no_newer_keys(left)
        outcomes = []
        if not check:
            replayer = Replayer(self.pair.kafka[self.b], self._params["pair"], self._params["state_topic"])
            with contextlib.closing(replayer):
                # The writer of a killed run is fenced now; what it had committed counts.
                self._bring(replayer, left, into)
        for tail in left:
            name = self._target(tail.key[0])
            change = Change(
                "tail", f"{tail.key[0]}-{tail.key[1]}", "replay", None, {"into": name, "records": tail.records}
            )
            outcomes.append(Outcome(change, "planned" if check else "done"))
        return outcomes

    def _target(self, topic: str) -> str:
        return topic if self._params["into"] == "original" else f"{topic}.salvage"

    def _bring(self, replayer: Replayer, tails: list[_Tail], into: str) -> None:
        pair, cluster = self._params["pair"], self.pair.kafka[self.p].cluster_id
        counts = describe(self.pair.kafka[self.b], sorted({self._target(tail.key[0]) for tail in tails}))
        for tail in tails:
            state = counts[self._target(tail.key[0])]
            if state is None or state.partitions <= tail.key[1]:
                raise DrError(
                    "salvage_topic",
                    f'The topic "{self._target(tail.key[0])}" on {self.b} does not exist with {tail.key[1] + 1} or more'
                    " partitions.",
                    "The playbook salvage makes it. Nothing was written.",
                )
        now = self._progress()
        plans: list[tuple[_Tail, Progress]] = []
        for tail in tails:
            known = now.get(tail.key)
            if known is not None and not known.done:
                if known.into != into:
                    raise DrError(
                        "salvage_elsewhere",
                        f"A replay of {tail.key[0]}-{tail.key[1]} into {known.into} has not ended, wanted {into}.",
                        "Start it again as it began: nothing may be brought over twice.",
                    )
                plans.append((tail, known))
            else:
                plans.append((tail, Progress(pair, self.p, *tail.key, into, tail.begin, tail.end, tail.begin)))
        replayer.note([plan for _tail, plan in plans])
        if not self._identity:
            self._set_flow_behind({tail.key: plan.end - 1 for tail, plan in plans})
        for tail, plan in plans:
            tail.begin = plan.through
            for records in self._chunks(tail):
                through = records[-1].offset + 1
                replayer.send(self._target(tail.key[0]), cluster, records, replace(plan, through=through))
                tail.replayed += len(records)
            replayer.note([replace(plan, through=plan.end)])

    def _set_flow_behind(self, ends: Mapping[Partition, int]) -> None:
        engine = self.pair.engine
        if not isinstance(engine, ConnectEngine):
            raise DrError(
                "no_offsets",
                "Streams Replication Manager's offsets cannot be set, so the flow would bring the tail over again.",
                "Let the flow bring it over: enable the pair. Nothing was written.",
            )
        rest, name = engine.rest(self.p, self.b), connector_name(self.p, self.b, "source")
        have = copied_offsets(rest, name, self.p)
        wanted = {**have, **{key: max(at, have.get(key, -1)) for key, at in ends.items()}}
        if wanted != have:
            set_offsets(rest, name, self.p, wanted)

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
                for record in read.records:
                    if record.key in keys[key[0]]:
                        found.setdefault(f"{key[0]}: {(record.key or b'').decode(errors='replace')}")
                at = end if read.ended == EXHAUSTED or not read.records else read.records[-1].offset + 1
        self.newer_keys = list(found)
        topics = {name.split(":", 1)[0] for name in found} - set(self._params["accept_newer_keys"])
        if topics:
            raise DrError(
                "newer_keys",
                f"{len(found)} keys of the tail were written on {self.b} since, {', '.join(self.newer_keys[:5])}:"
                " brought over now, the older record would come last.",
                "Nothing was written. Replay into the topic <name>.salvage, or name the topics in accept_newer_keys.",
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
        where += f", {row['undecided']} offsets behind an open transaction" if row["undecided"] else ""
        lines.append(where)
    return lines

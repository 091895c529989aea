# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify that the applications arrived: first writes read back, groups with members, no committed offset too low.

The members must be assigned every partition on which the run committed an offset (R40).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.checks.coverage import unassigned, unassigned_text
from ..._core.checks.other_applications import OtherApplications
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.state import JournalState
from ..._core.listing import first_few
from ..._core.partition import Partition
from ..._core.resources.groups import GroupState
from ..._core.verdict import NOT_APPLICABLE, PROVEN, REFUTED, UNKNOWN
from ..._core.waiting import Bounds, wait_until
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka
from ..._kafka.records import first_data_records
from ..._kafka.topics import log_ranges
from ..._module import Result
from ..connections.clusters import connect_one
from ..journal.copies import read_state
from ..observation.progress import ProgressLines

__all__ = ["ArrivalRequest", "arrival"]


@dataclass(frozen=True)
class ArrivalRequest:
    """The options of ``dr_arrival_info``."""

    pair: PairSpec
    #: Alias of the cluster being entered. No other cluster is contacted, because it may be lost.
    enter: str
    #: Groups that moved.
    groups: Sequence[str]
    #: What other teams start later: observed, and not waited for.
    not_awaited: OtherApplications
    bounds: Bounds
    request_timeout: float


def arrival(request: ArrivalRequest) -> Result:
    """Wait, within bounds (R21), for first writes and for members of every group. Then check the committed offsets."""
    request.pair.require_alias(request.enter)
    kafka = connect_one(request.enter, request.pair.connections[request.enter], request.request_timeout)
    barrier = _barrier(read_state({request.enter: kafka}, request.pair), request)
    cut = {Partition(topic, int(index)): at for topic, parts in barrier["cut"].items() for index, at in parts.items()}
    starts = _starts(barrier["entered"], request.groups)
    first: dict[str, dict[str, Any]] = {}
    topics, later = {topic for topic, _index in cut}, request.not_awaited
    lines = ProgressLines(time.monotonic() + request.bounds.timeout)

    def observe() -> dict[str, GroupState]:
        _first_writes(kafka, cut, first)
        states = kafka_groups.describe(kafka, request.groups)
        quiet, idle = sorted(topics - set(first)), _idle(states)
        texts = [f"no record was written to {first_few(quiet)}"] if quiet else []
        lines.show(texts + ([f"no members in {first_few(idle)}"] if idle else []))
        return states

    def missing(states: Mapping[str, GroupState]) -> dict[str, list[Partition]]:
        assigned = {group: state.assigned for group, state in states.items()}
        return unassigned(starts, assigned, barrier.get("precautions", {}))

    awaited = topics - set(later.topics)
    waited = wait_until(
        observe,
        lambda states: awaited <= set(first) and {*_idle(states), *missing(states)} <= set(later.groups),
        request.bounds,
    )
    states = waited.state
    extra: dict[str, Any] = {
        "first_write": _write_verdict(topics, first, waited.seconds, later),
        "groups": _group_verdict(kafka, states, starts, missing(states), waited.seconds, later),
        "first_records": first,
    }
    result = Result(extra=extra, requests=kafka.requests)
    if extra["groups"]["verdict"] == REFUTED:
        result.failure = DrError(
            "offset_wrong",
            extra["groups"]["reason"],
            "Stop that group's consumers, then find out which process committed this offset.",
        )
    return result


def _barrier(state: JournalState, request: ArrivalRequest) -> Mapping[str, Any]:
    """Return the facts of the run's barrier.

    ``cut``: log ends before the first producer started. ``entered``: the offsets that the run committed.
    """
    barrier = None if state.run is None else state.run.phases.get("barrier")
    if barrier is None:
        raise DrError(
            "journal_incomplete",
            f'The journal "{request.pair.journal_topic}" on {request.enter} holds no barrier of the present run.',
            "See the row journal_incomplete in docs/troubleshooting.md.",
        )
    return barrier


def _first_writes(kafka: Kafka, cut: Mapping[Partition, int], first: dict[str, dict[str, Any]]) -> None:
    """Read back each topic's first record at or after the cut: an acknowledgement is not a proof."""
    wanted = [key for key in cut if key[0] not in first]
    if not wanted:
        return
    ranges = log_ranges(kafka, wanted)
    spans = {key: (max(cut[key], start), end) for key, (start, end) in ranges.items() if end > cut[key]}
    for (topic, index), record in sorted(first_data_records(kafka, spans).items()):
        if record is not None and topic not in first:
            first[topic] = {"partition": index, "offset": record.offset, "timestamp": record.timestamp}


def _write_verdict(
    topics: set[str], first: Mapping[str, Any], seconds: float, later: OtherApplications
) -> dict[str, str]:
    quiet = sorted(topics - set(first))
    if quiet:
        others = [topic for topic in quiet if topic in later.topics]
        awaited = [topic for topic in quiet if topic not in later.topics]
        parts = [f"first records of {len(first)} of {len(topics)} topics read back"]
        parts += [f"within {seconds:.0f} s no record was written to {first_few(awaited)}"] if awaited else []
        parts += [f"not awaited, because other teams start their writers: {first_few(others)}"] if others else []
        reason = "; ".join(parts)
        return {"verdict": UNKNOWN, "reason": reason}
    if not topics:
        return {"verdict": UNKNOWN, "reason": "no topic was given"}
    return {"verdict": PROVEN, "reason": f"first records of {len(first)} topics read back"}


def _starts(entered: Sequence[Mapping[str, Any]], groups: Collection[str]) -> dict[str, dict[Partition, int]]:
    """Return the offsets that the run committed for these groups."""
    return {
        group["group"]: {Partition(row["topic"], row["partition"]): row["offset"] for row in group["committed_offsets"]}
        for group in entered
        if group["group"] in groups
    }


def _idle(states: Mapping[str, GroupState]) -> list[str]:
    return sorted(group for group, state in states.items() if state.state != "STABLE")


def _group_verdict(
    kafka: Kafka,
    states: Mapping[str, GroupState],
    starts_by_group: Mapping[str, Mapping[Partition, int]],
    missing: Mapping[str, Sequence[Partition]],
    seconds: float,
    later: OtherApplications,
) -> dict[str, str]:
    """Judge the groups. ``missing``: partitions with an offset of the run that no member is assigned (R40)."""
    committed = kafka_groups.committed_offsets(kafka, list(states))
    # Up to the high watermark: consumers of uncommitted records may have offsets after the last stable offset.
    ranges = log_ranges(kafka, {key for group in starts_by_group.values() for key in group}, "read_uncommitted")
    for group, starts in starts_by_group.items():
        for key, start in starts.items():
            offset = committed[group].get(key)
            low, high = ranges[key]
            if offset is None or not max(start, low) <= offset <= high:
                actual = "none" if offset is None else str(offset)
                where = f'Group "{group}" on {key}'
                text = (
                    f"{where} has the committed offset {actual}, expected {start} or higher, within the log"
                    f" [{low}, {high}]"
                )
                return {"verdict": REFUTED, "reason": text}
    idle = _idle(states)
    if idle:
        others = [group for group in idle if group in later.groups]
        awaited = [group for group in idle if group not in later.groups]
        parts = [f"groups without members after {seconds:.0f} s: {first_few(awaited)}"] if awaited else []
        parts += [f"not awaited, because other teams start their consumers: {first_few(others)}"] if others else []
        return {"verdict": UNKNOWN, "reason": "; ".join(parts)}
    if missing:
        reason = (
            f"after {seconds:.0f} s {unassigned_text(missing, committed, ranges)}. Its consumers must subscribe to"
            " these topics too, or nothing reads what is left there"
        )
        return {"verdict": UNKNOWN, "reason": reason}
    if not states:
        return {"verdict": NOT_APPLICABLE, "reason": "no group moved, so none had to arrive"}
    reason = f"{len(states)} groups have members on all their topics, no committed offset fell back"
    return {"verdict": PROVEN, "reason": reason}

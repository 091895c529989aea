# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Have the applications arrived: first writes read back, groups at work, no position below the committed one.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.errors import DrError
from ..._core.verdict import PROVEN, REFUTED, UNKNOWN
from ..._core.waiting import Bounds, wait_until
from ..._kafka import groups as kafka_groups
from ..._kafka.client import Kafka, connect
from ..._kafka.records import first_data_records
from ..._kafka.topics import log_ranges
from ..._module import Result

__all__ = ["arrival"]

Partition = tuple[str, int]


def arrival(params: Mapping[str, Any]) -> Result:
    """Wait, bounded, for first writes and for members of every group; then judge the positions."""
    kafka = connect(params)
    cut = {(topic, int(index)): at for topic, parts in params["cut"].items() for index, at in parts.items()}
    first: dict[str, dict[str, Any]] = {}

    def observe() -> dict[str, str]:
        _first_writes(kafka, cut, first)
        return {group: state.state for group, state in kafka_groups.describe(kafka, params["groups"]).items()}

    topics = {topic for topic, _index in cut}
    waited = wait_until(
        observe,
        lambda states: topics <= set(first) and all(state == "STABLE" for state in states.values()),
        Bounds(float(params["wait_timeout"]), float(params["wait_sleep"])),
    )
    extra: dict[str, Any] = {
        "first_write": _write_verdict(topics, first, waited.seconds),
        "groups": _group_verdict(kafka, waited.state, params["positions"], waited.seconds),
        "first_records": first,
    }
    result = Result(extra=extra, requests=kafka.requests)
    if extra["groups"]["verdict"] == REFUTED:
        result.failure = DrError("position_wrong", extra["groups"]["reason"], "Stop that group's consumers and look.")
    return result


def _first_writes(kafka: Kafka, cut: Mapping[Partition, int], first: dict[str, dict[str, Any]]) -> None:
    """Read back the first record behind the cut of every topic that has one: an acknowledgement is not yet proof."""
    wanted = [key for key in cut if key[0] not in first]
    if not wanted:
        return
    ranges = log_ranges(kafka, wanted)
    spans = {key: (max(cut[key], start), end) for key, (start, end) in ranges.items() if end > cut[key]}
    for (topic, index), record in sorted(first_data_records(kafka, spans).items()):
        if record is not None and topic not in first:
            first[topic] = {"partition": index, "offset": record.offset, "timestamp": record.timestamp}


def _write_verdict(topics: set[str], first: Mapping[str, Any], seconds: float) -> dict[str, str]:
    quiet = sorted(topics - set(first))
    if quiet:
        reason = f"no record was written within {seconds:.0f} s to: {', '.join(quiet)}"
        return {"verdict": UNKNOWN, "reason": reason}
    if not topics:
        return {"verdict": UNKNOWN, "reason": "no topic was given to look at"}
    return {"verdict": PROVEN, "reason": f"first records of {len(first)} topics read back"}


def _group_verdict(
    kafka: Kafka, states: Mapping[str, str], positions: list[dict[str, Any]], seconds: float
) -> dict[str, str]:
    committed = kafka_groups.positions(kafka, list(states))
    wanted = {
        group["group"]: {(one["topic"], one["partition"]): one["offset"] for one in group["positions"]}
        for group in positions
        if group["group"] in states
    }
    # To the very end: readers of uncommitted records may stand behind the last stable offset.
    ranges = log_ranges(kafka, {key for group in wanted.values() for key in group}, "read_uncommitted")
    for group, starts in wanted.items():
        for key, start in starts.items():
            now = committed[group].get(key)
            low, high = ranges[key]
            if now is None or not max(start, low) <= now <= high:
                found = "none" if now is None else str(now)
                where = f'Group "{group}" on {key[0]}-{key[1]}'
                text = f"{where} has position {found}, wanted {start} or more inside the log [{low}, {high}]"
                return {"verdict": REFUTED, "reason": text}
    idle = sorted(group for group, state in states.items() if state != "STABLE")
    if idle:
        reason = f"after {seconds:.0f} s without members: {', '.join(idle)}"
        return {"verdict": UNKNOWN, "reason": reason}
    if not states:
        return {"verdict": UNKNOWN, "reason": "no group was given to look at"}
    return {"verdict": PROVEN, "reason": f"{len(states)} groups have members, no position fell back"}

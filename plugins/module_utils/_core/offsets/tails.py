# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of a side that was lost: what it had acknowledged and never sent. Where it begins, and how it is carried.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .skipped_ranges import SkippedRange

__all__ = ["BEGINNING", "PROVENANCE", "Progress", "already_replicated", "first_offset", "line", "provenance"]

# Headers of a record that was brought over, so that anybody can tell where it comes from. The audit leaves them out.
PROVENANCE = "kafka_dr.salvage."
# Stands before the first record of both logs where no record is noted: like none of them.
BEGINNING = object()


@dataclass(frozen=True)
class Progress:
    """One partition of a replay: source offsets [begin, end), those below ``through`` are done. Kept in Kafka.

    It is written in the transaction that carries the records, so a replay that is killed goes on with the next one.
    ``skipped_ranges``: over which the flow was ever set, oldest first; None: not known. They are about the replica
    with the id
    ``replica_id``.
    """

    pair: str
    source: str
    topic: str
    partition: int
    topic_id: str
    into: str
    begin: int
    end: int
    through: int
    skipped_ranges: tuple[SkippedRange, ...] | None = None
    replica_id: str = ""

    @property
    def key(self) -> str:
        """One latest value for each partition."""
        return f"{self.pair}/salvage/{self.source}/{self.topic}/{self.partition}"

    @property
    def done(self) -> bool:
        """Nothing is left of it."""
        return self.through >= self.end

    def as_dict(self) -> dict[str, Any]:
        """As it is written."""
        skipped_ranges = (
            None if self.skipped_ranges is None else [list(skipped_range) for skipped_range in self.skipped_ranges]
        )
        return {"schema": 1, "kind": "salvage", **asdict(self), "skipped_ranges": skipped_ranges}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Progress:
        """As it was written."""
        skipped_ranges = value.get("skipped_ranges")
        # Of a record without holes it is not known over what the flow was set.
        known = {name: value[name] for name in cls.__dataclass_fields__ if name not in ("skipped_ranges", "replica_id")}
        noted = (
            None if skipped_ranges is None else tuple(SkippedRange(*skipped_range) for skipped_range in skipped_ranges)
        )
        return cls(**known, skipped_ranges=noted, replica_id=value.get("replica_id", ""))


def first_offset(last_replicated_offset: int | None, done: Progress | None) -> int:
    """Where the tail begins on the source: behind what the flow has copied, and behind what was brought over before."""
    behind = 0 if last_replicated_offset is None else last_replicated_offset + 1
    return behind if done is None else max(behind, done.end)


def already_replicated(context: Sequence[Hashable], tail: Sequence[Hashable], replica: Sequence[Hashable]) -> int:
    """How many of the first records of ``tail`` the replica holds, by fingerprint.

    What Kafka Connect has written down of a worker that died is a lower bound. MirrorMaker 2 goes on from there in
    order, perhaps more than once: so behind the copy of the last noted record come unbroken runs that each begin with
    the first record of the tail. ``context``: the source's records up to the last noted one; ``replica``: from before
    that one's copy to the end. Where nothing is noted and both logs are whole, ``BEGINNING`` stands for the last noted
    one. A record that is not the only one of its kind proves nothing: it counts as not copied.
    """
    if not context or not tail:
        return 0
    counts = Counter((*context, *tail))
    anchor = context[-1]
    if counts[anchor] > 1:
        return 0
    best = 0
    for place, fingerprint in enumerate(replica):
        if fingerprint != anchor:
            continue
        at = place + 1
        while at < len(replica) and replica[at] == tail[0]:
            length = 0
            while (
                length < len(tail)
                and at + length < len(replica)
                and replica[at + length] == tail[length]
                and counts[tail[length]] == 1
            ):
                length += 1
            best = max(best, length)
            if not length:
                break
            at += length
    return best


def provenance(cluster: str, topic: str, partition: int, offset: int) -> list[tuple[str, bytes | None]]:
    """Headers that say where a record was first."""
    values = {"cluster": cluster, "topic": topic, "partition": partition, "offset": offset}
    return [(f"{PROVENANCE}{name}", str(value).encode()) for name, value in values.items()]


def line(topic: str, partition: int, record: Any) -> str:
    """One line of JSON: texts for people where they are texts, base64 for programs always."""
    body: dict[str, Any] = {
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": record.timestamp_type,
    }
    for name in ("key", "value"):
        data = getattr(record, name)
        body[name], body[f"{name}_base64"] = _text(data), _base64(data)
    body["headers"] = [[name, _text(value), _base64(value)] for name, value in record.headers or ()]
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")

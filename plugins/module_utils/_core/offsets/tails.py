# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tail of a lost cluster: the records that it acknowledged and never replicated. The progress of its replay.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .bindings import Witness
from .skipped_ranges import SkippedRange

__all__ = ["PROVENANCE", "Progress", "first_offset", "line", "provenance"]

# Headers of a replayed record that name its origin. The audit ignores them.
PROVENANCE = "kafka_dr.salvage."


_SCHEMA = 3
_BOUNDS = ("source_bound", "replica_bound")
_OF_RANGES = ("skipped_ranges", "replica_id", *_BOUNDS)


@dataclass(frozen=True)
class Progress:
    """Progress of the replay of one partition, as a record of the state topic.

    The transaction that carries the replayed records also writes it, so an interrupted replay continues with the next
    record.
    """

    pair: str
    source: str
    topic: str
    partition: int
    topic_id: str
    into: str
    #: The replay covers the source offsets [begin, end).
    begin: int
    end: int
    #: Source offsets below this one are done.
    through: int
    #: Ranges that the flow was ever set to skip, oldest first; None: unknown.
    skipped_ranges: tuple[SkippedRange, ...] | None = None
    #: Topic id of the replica that ``skipped_ranges`` refer to.
    replica_id: str = ""
    #: The last records before the newest range, on the source and on the replica (R37). Empty: the log had none.
    source_bound: tuple[Witness, ...] = ()
    replica_bound: tuple[Witness, ...] = ()

    @property
    def key(self) -> str:
        """Key of the record: one latest value for each partition."""
        return f"{self.pair}/salvage/{self.source}/{self.topic}/{self.partition}"

    @property
    def done(self) -> bool:
        """Whether nothing is left to replay."""
        return self.through >= self.end

    def as_dict(self) -> dict[str, Any]:
        """The value of the record."""
        skipped_ranges = (
            None if self.skipped_ranges is None else [list(skipped_range) for skipped_range in self.skipped_ranges]
        )
        return {"schema": _SCHEMA, "kind": "salvage", **asdict(self), "skipped_ranges": skipped_ranges}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Progress:
        """Read the value of a record."""
        # Ranges of an earlier schema are not bound to records. Without ranges it is unknown what the flow skips.
        skipped_ranges = value.get("skipped_ranges") if value.get("schema") == _SCHEMA else None
        known = {name: value[name] for name in cls.__dataclass_fields__ if name not in _OF_RANGES}
        noted = (
            None if skipped_ranges is None else tuple(SkippedRange(*skipped_range) for skipped_range in skipped_ranges)
        )
        source, replica = (tuple(Witness.of(fields) for fields in value.get(name) or ()) for name in _BOUNDS)
        replica_id = value.get("replica_id", "")
        return cls(**known, skipped_ranges=noted, replica_id=replica_id, source_bound=source, replica_bound=replica)


def first_offset(last_replicated_offset: int | None, done: Progress | None) -> int:
    """First source offset of the tail: after the last replicated offset, and after earlier replays."""
    after = 0 if last_replicated_offset is None else last_replicated_offset + 1
    return after if done is None else max(after, done.end)


def provenance(cluster: str, topic: str, partition: int, offset: int) -> list[tuple[str, bytes | None]]:
    """Headers that name where a record was first written."""
    values = {"cluster": cluster, "topic": topic, "partition": partition, "offset": offset}
    return [(f"{PROVENANCE}{name}", str(value).encode()) for name, value in values.items()]


def line(topic: str, partition: int, record: Any) -> str:
    """One line of JSON: each field as base64, and also as text if it is valid UTF-8."""
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

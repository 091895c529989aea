# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and remove stored source offsets in the offsets topic of MirrorMaker 2, for workers without a REST interface.

Source: org.apache.kafka.connect.storage.OffsetStorageWriter (key ``[connector, partition]``, value ``{"offset": N}``),
MirrorUtils.wrapPartition, MirrorMakerConfig (the connector of a dedicated MirrorMaker 2 is MirrorSourceConnector).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from typing import Any

from .._core.errors import DrError
from .._core.partition import Partition
from .client import Kafka
from .latest import write_records
from .records import BLOCKED, EXHAUSTED, Reading, Record, read_ranges
from .topics import describe, log_ranges

__all__ = ["ConnectOffsets"]


class ConnectOffsets:
    """The stored source offsets of one connector for one source alias.

    Each read continues where the last one ended. The offsets are lower bounds, as old as the worker's last flush
    (offset.flush.interval.ms).
    """

    def __init__(self, kafka: Kafka, topic: str, connector: str, source_alias: str) -> None:
        self._kafka, self._topic = kafka, topic
        self._connector, self._alias = connector, source_alias
        self._reached: dict[Partition, int] = {}
        self._found: dict[Partition, int] = {}
        # The record that holds the offset: its key as the worker wrote it, and its partition of the offsets topic.
        self._reported: dict[Partition, tuple[bytes, int]] = {}

    def last_replicated_offset(self) -> dict[Partition, int]:
        """Return the offset of the last replicated record by source partition.

        A partition that is missing from the result is unknown, not 0. Empty if the offsets topic does not exist. Raises
        ``offsets_unreadable``.
        """
        state = describe(self._kafka, [self._topic])[self._topic]
        if state is None:
            return {}
        log = log_ranges(self._kafka, {Partition(self._topic, index) for index in range(state.partitions)})
        if any(end < self._reached.get(key, 0) for key, (_start, end) in log.items()):
            self._reached, self._found = {}, {}  # the topic was created again
        new = {key: (max(start, self._reached.get(key, 0)), end) for key, (start, end) in log.items()}
        for key, read in read_ranges(self._kafka, new, Reading("read_committed")).items():
            if read.ended not in (EXHAUSTED, BLOCKED):
                raise DrError(
                    "offsets_unreadable",
                    f"The stored offsets in {key} could not be read from offset {read.start} to {read.end}:"
                    f" {read.ended}.",
                    "Check that the partition has a leader and that this principal may READ it. Without it, the"
                    " replicated offsets are unknown.",
                    self._kafka.bootstrap_servers,
                )
            self._reached[key] = max(read.reached, new[key][0])
            for record in read.records:
                self._take(record, key[1])
        return dict(self._found)

    def forget(self) -> None:
        """Remove all stored offsets of this connector: write one tombstone for each key, as a reset over REST does.

        The workers must not run the connector. Raises ``offsets_not_set`` if an offset is still there afterwards.
        """
        self.last_replicated_offset()
        reported = [self._reported[place] for place in self._found]
        write_records(self._kafka, self._topic, [(key, None, index) for key, index in reported])
        left = self.last_replicated_offset()
        if left:
            first = min(left)
            raise DrError(
                "offsets_not_set",
                f'The topic "{self._topic}" has a stored offset for {first} after its removal: {left[first]}.',
                "Another program writes to the topic. Check that the service is stopped, then start the same playbook"
                " again.",
                self._kafka.bootstrap_servers,
            )

    def _take(self, record: Record, index: int) -> None:
        place = _place(record.key, self._connector, self._alias)
        if place is None:
            return
        offset = _offset(record.value)
        if offset is None:
            self._found.pop(place, None)
        else:
            self._found[place], self._reported[place] = offset, (record.key or b"", index)


def _place(key: bytes | None, connector: str, alias: str) -> Partition | None:
    """The source partition in a record's key. None: the record belongs to another connector or alias."""
    decoded = _json(key)
    if not isinstance(decoded, list) or len(decoded) != 2 or decoded[0] != connector:
        return None
    place = decoded[1] if isinstance(decoded[1], dict) else {}
    topic, index = place.get("topic"), place.get("partition")
    if place.get("cluster") != alias or not isinstance(topic, str) or not isinstance(index, int):
        return None
    return Partition(topic, index)


def _offset(value: bytes | None) -> int | None:
    decoded = _json(value)
    offset = decoded.get("offset") if isinstance(decoded, dict) else None
    return offset if isinstance(offset, int) else None


def _json(raw: bytes | None) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None

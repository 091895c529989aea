# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the last data records of both clusters: the tails that flows replicate, and heartbeats.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from ..._core.ages import age_of
from ..._core.offsets.fingerprints import may_be_copy
from ..._core.offsets.internal_records import decode_heartbeat
from ..._core.partition import Partition, PartitionOffset, Range, Ranges
from ..._kafka.client import Kafka
from ..._kafka.records import Record, last_data_records
from ..._kafka.topics import describe, log_ranges
from .pair import ISOLATION

__all__ = ["LastRecords", "heartbeat_age", "newest_heartbeat", "same_content"]


class LastRecords:
    """Reads the last data record of ranges, each range once."""

    def __init__(self, kafka: Mapping[str, Kafka]) -> None:
        self._kafka = kafka
        self._found: dict[tuple[str, Partition, Range], Record | None] = {}

    def of(self, alias: str, spans: Ranges) -> dict[Partition, Record | None]:
        """Return the record by partition; None: the range has no data record. Raises if a range cannot be read."""
        unread = {key: span for key, span in spans.items() if (alias, key, span) not in self._found}
        records = last_data_records(self._kafka[alias], unread, ISOLATION) if unread else {}
        self._found.update({(alias, key, unread[key]): record for key, record in records.items()})
        return {key: self._found[alias, key, span] for key, span in spans.items()}

    def data_after(
        self, alias: str, spans: Ranges, places: Iterable[PartitionOffset]
    ) -> dict[PartitionOffset, bool | None]:
        """Return for each (partition, offset) in a range that was read whether a data record lies at or after it."""
        answers: dict[PartitionOffset, bool | None] = {}
        for key, offset in places:
            read = (alias, key, spans[key])
            if read in self._found:
                record = self._found[read]
                answers[key, offset] = record is not None and record.offset >= offset
        return answers


def same_content(source: Record | None, replica: Record | None) -> bool | None:
    """Are the fields that a flow carries equal, so that one may be the copy of the other? None: a record is unknown."""
    if source is None or replica is None:
        return None
    return may_be_copy(source, replica)


def newest_heartbeat(kafka: Kafka, topic: str) -> Record | None:
    """Return the newest heartbeat that a flow replicated into ``topic``; None: there is none."""
    if describe(kafka, [topic])[topic] is None:
        return None
    place = Partition(topic, 0)
    return last_data_records(kafka, log_ranges(kafka, {place}, ISOLATION), ISOLATION).get(place)


def heartbeat_age(record: Record | None) -> float | None:
    """Return the seconds since a heartbeat, by the clock of the worker that wrote it; None: unknown.

    Raises if it cannot be read: another version of MirrorMaker 2 wrote it, or a worker's converter changed it.
    """
    if record is None or record.key is None or record.value is None:
        return None
    return age_of(decode_heartbeat(record.key, record.value).timestamp / 1000.0, time.time())

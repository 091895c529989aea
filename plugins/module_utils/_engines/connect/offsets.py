# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the stored offsets of a source connector over Kafka Connect's REST interface (KIP-875).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..._connect.connector_client import ConnectorClient
from ..._connect.offsets import change_offsets, read_back, replicated_offsets, require_gone, set_offsets
from ..._core.errors import DrError
from ..._core.partition import Partition

__all__ = ["ConnectStoredOffsets"]


@dataclass(frozen=True)
class ConnectStoredOffsets:
    """The :class:`..base.StoredOffsets` of a MirrorMaker 2 source connector."""

    rest: ConnectorClient
    #: Name of the connector.
    name: str
    #: Alias of the source cluster, which is part of the key of each stored offset.
    source: str

    def read(self) -> dict[Partition, int]:
        """Return the offsets that the worker reports."""
        return replicated_offsets(self.rest, self.name, self.source)

    def require_stopped(self, hint: str) -> None:
        """Raise ``not_stopped`` unless the connector is STOPPED: the worker accepts new offsets only then."""
        connector = self.rest.connectors().get(self.name)
        if connector is None or not connector.stopped:
            state = "missing" if connector is None else f"{connector.state} with {len(connector.tasks)} tasks"
            raise DrError(
                "not_stopped",
                f'The connector "{self.name}" is {state}, wanted STOPPED with 0 tasks.',
                hint,
                self.rest.url,
            )

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        """Remove the old offsets, then set ``wanted``. Offsets survive the deletion of a connector (R22)."""
        set_offsets(self.rest, self.name, self.source, wanted)

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        """Set the offsets of all partitions in one request, and read them back. Values below 0 remove an offset."""
        change_offsets(self.rest, self.name, self.source, wanted)
        stored = read_back(
            self.rest, self.name, self.source, lambda shown: all(shown.get(key, -1) == at for key, at in wanted.items())
        )
        wrong = sorted(key for key, at in wanted.items() if stored.get(key, -1) != at)
        if wrong:
            topic, index = wrong[0]
            raise DrError(
                "offsets_not_set",
                f'The connector "{self.name}" has wrong stored offsets on {len(wrong)} partitions:'
                f" {topic}-{index}: wanted {wanted[wrong[0]]}, found {stored.get(wrong[0])}.",
                hint,
                self.rest.url,
            )

    def forget(self, topics: Collection[str]) -> None:
        """Remove the offsets of ``topics``: Kafka Connect removes an offset that is set to null."""
        stored = [key for key in self.read() if key[0] in topics]
        change_offsets(self.rest, self.name, self.source, dict.fromkeys(stored, -1))
        require_gone(self.rest, self.name, self.source, topics)

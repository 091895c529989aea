# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored offsets of a source connector, read and written over Kafka Connect's REST interface (KIP-875).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..._connect.offsets import change_offsets, read_back, replicated_offsets, require_gone, set_offsets
from ..._connect.rest import ConnectClient
from ..._core.errors import DrError
from ..base import Partition

__all__ = ["ConnectStoredOffsets"]


@dataclass(frozen=True)
class ConnectStoredOffsets:
    """See :class:`..base.StoredOffsets`. ``source``: alias that the connector stores its partitions under."""

    rest: ConnectClient
    name: str
    source: str

    def read(self) -> dict[Partition, int]:
        """As the worker returns them."""
        return replicated_offsets(self.rest, self.name, self.source)

    def require_stopped(self, hint: str) -> None:
        """The worker accepts changed offsets in the state STOPPED only."""
        connector = self.rest.connectors().get(self.name)
        if connector is None or not connector.stopped:
            state = "missing" if connector is None else f"{connector.state} with {len(connector.tasks)} tasks"
            raise DrError(
                "not_stopped",
                f'The connector "{self.name}" is {state}, wanted STOPPED with none.',
                hint,
                self.rest.url,
            )

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        """Offsets survive the deletion of a connector, so the old ones are removed first (R22)."""
        set_offsets(self.rest, self.name, self.source, wanted)

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        """One request for all partitions; below 0 removes an offset."""
        change_offsets(self.rest, self.name, self.source, wanted)
        found = read_back(
            self.rest, self.name, self.source, lambda shown: all(shown.get(key, -1) == at for key, at in wanted.items())
        )
        differ = sorted(key for key, at in wanted.items() if found.get(key, -1) != at)
        if differ:
            topic, index = differ[0]
            raise DrError(
                "offsets_not_set",
                f'The connector "{self.name}" has other offsets than it was given for {len(differ)} partitions;'
                f" {topic}-{index}: wanted {wanted[differ[0]]}, found {found.get(differ[0])}.",
                hint,
                self.rest.url,
            )

    def forget(self, topics: Collection[str]) -> None:
        """Kafka Connect removes an offset that is set to null."""
        have = [key for key in self.read() if key[0] in topics]
        change_offsets(self.rest, self.name, self.source, dict.fromkeys(have, -1))
        require_gone(self.rest, self.name, self.source, topics)

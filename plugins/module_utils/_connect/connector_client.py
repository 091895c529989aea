# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the code that plans, reconciles and proves connectors needs from the system that runs them.

:class:`.rest.ConnectClient` calls Kafka Connect itself. The engine ``strimzi`` writes KafkaConnector resources, which
an operator carries out.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .rest import Connector

__all__ = ["ConnectorClient"]


class ConnectorClient(Protocol):
    """The connectors of one worker group. Every method raises :class:`.._core.errors.DrError`."""

    @property
    def url(self) -> str:
        """Address for messages."""

    #: Whether requests may be sent from several threads at the same time.
    concurrent: bool
    #: Seconds that a change may need before a worker gets it.
    patience: float

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""

    def about(self) -> tuple[str, str]:
        """Return the id of the Kafka cluster that the workers write to, and their version."""

    def plugins(self) -> set[str]:
        """Class names of the connectors that the workers can run."""

    def connectors(self) -> dict[str, Connector]:
        """Return all connectors by name. A STOPPED connector without tasks was observed in that state."""

    def find(self, name: str) -> Connector | None:
        """Return one connector, even if it has no status yet. None: it does not exist."""

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Return the configuration of each task. Empty: unknown."""

    def validate(self, connector_class: str, config: Mapping[str, str]) -> dict[str, Any]:
        """Return Kafka Connect's validation of a configuration. Without ``configs``: it cannot be validated."""

    def create(self, name: str, config: Mapping[str, str], initial_state: str) -> None:
        """Create a connector in the state RUNNING or STOPPED. A STOPPED one never replicates a record."""

    def configure(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the whole configuration. The state does not change."""

    def taken(self, name: str) -> list[str]:
        """Why a stop of a connector that :meth:`connectors` listed last would be refused, one sentence each."""

    def stop(self, name: str, awaited: bool = True) -> None:
        """Request the state STOPPED, which the connector reaches later. ``awaited``: the caller waits for it."""

    def resume(self, name: str) -> None:
        """Request the state RUNNING, which the connector reaches later."""

    def restart_failed(self, name: str) -> None:
        """Restart the connector and its tasks if they failed."""

    def restart_connector(self, name: str) -> None:
        """Restart the connector in its state, so that it reports this state again. Its tasks are not interrupted."""

    def delete(self, name: str) -> None:
        """Delete a connector. Its stored offsets survive."""

    def offsets(self, name: str) -> dict[str, Any]:
        """Return the stored offsets of a connector in Kafka Connect's format."""

    def reset_offsets(self, name: str) -> None:
        """Remove all stored offsets of a STOPPED connector."""

    def alter_offsets(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Set stored offsets of a STOPPED connector. Other partitions keep theirs."""

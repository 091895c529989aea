# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open everything that a pair is operated through: its Kafka clusters and the engine of its flows.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._core.names import Naming
from ..._engines.base import Engine
from ..._engines.opening import open_engine
from ..._kafka.client import Kafka
from .clusters import connect_pair

__all__ = ["Opened", "open_pair"]


@dataclass(frozen=True)
class Opened:
    """Connections to clusters, and to the engine of their flows."""

    #: By alias.
    kafka: Mapping[str, Kafka]
    engine: Engine

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return [request for kafka in self.kafka.values() for request in kafka.requests] + self.engine.requests


def open_pair(clusters: Mapping[str, Any], naming: Naming, timeout: float) -> Opened:
    """Connect to ``clusters`` (both, or the surviving one) and to the engine of their flows."""
    kafka = connect_pair(clusters, timeout)
    return Opened(kafka, open_engine(clusters, naming, kafka, timeout))

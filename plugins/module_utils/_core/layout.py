# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs where, and what a client is told, in each state of the pair.

The connector table is the one in docs/architecture.md: MirrorMaker 2's own group sync must not write on the side
where applications live (SOUNDNESS 10), so the checkpoint connector toward the active side is stopped.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import Naming

__all__ = ["connector_states", "endpoint"]


def connector_states(pair: Mapping[str, Any], active: str) -> dict[str, dict[str, str]]:
    """Per flow, the wanted state of its three connectors while applications live on ``active``."""
    return {
        name: {
            "source": "running",
            "checkpoint": "stopped" if flow["target"] == active else "running",
            "heartbeat": "running",
        }
        for name, flow in pair["flows"].items()
    }


def endpoint(pair: Mapping[str, Any], client: Mapping[str, Any], alias: str) -> dict[str, Any]:
    """What ``client`` needs to work on ``alias``: the values that an endpoint template may use.

    ``topics``: originals, which producers write. ``subscribe``: originals and replicas, which consumers read.
    """
    naming = Naming(pair["policy"], pair["separator"])
    cluster = pair["clusters"][alias]
    other = next(name for name in pair["clusters"] if name != alias)
    originals = list(client["topics"])
    replicas = [naming.replica(other, topic) for topic in originals]
    return {
        "alias": alias,
        "bootstrap_servers": cluster["bootstrap_servers"],
        "client": dict(cluster["client"]),
        "topics": originals,
        "replicas": [topic for topic in replicas if topic not in originals],
        "subscribe": originals + [topic for topic in replicas if topic not in originals],
        "group": client.get("group"),
    }

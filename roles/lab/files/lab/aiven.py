# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``aiven``: configuration of the emulator of Aiven's API. See roles/lab/AIVEN_EMULATOR.md."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .configs import Cluster, Settings
from .files import to_json

PROGRAM = Path(__file__).resolve().parent.parent / "aiven_api"
# Not secret, but the product requires a token.
PROJECT, TOKEN, READER_TOKEN = "lab", "lab-writer", "lab-reader"
# For one broker. The defaults of MirrorMaker 2 are 2 and 3.
ONE_BROKER = (
    "replication.factor",
    *(f"{kind}.topic.replication.factor" for kind in ("offset-syncs", "checkpoints", "heartbeats")),
)


def access(cluster: Cluster) -> dict[str, Any]:
    """Entry of this site in ``kafka_dr_aiven``."""
    return {"url": f"{cluster.cm_url}/v1", "token": TOKEN, "project": PROJECT, "service": service(cluster)}


def service(cluster: Cluster) -> str:
    """Name of the service that runs the flow to this cluster."""
    return f"mirrormaker-{cluster.alias.lower()}"


def document(cluster: Cluster, clusters: Mapping[str, Cluster], settings: Settings) -> str:
    """Initial state of a service: integrations without a flow. Has short intervals only if the settings ask."""
    seconds = settings.srm_refresh_seconds
    intervals = ("refresh_topics", "refresh_groups", "emit_checkpoints")
    return to_json(
        {
            "alias": cluster.alias,
            "project": PROJECT,
            "service": service(cluster),
            "tokens": {TOKEN: "writer", READER_TOKEN: "reader"},
            "bootstrap_servers": {alias: item.bootstrap_servers for alias, item in clusters.items()},
            "connect_url": cluster.connect_url,
            "dir": str(cluster.folder / "aiven"),
            "port": cluster.cm_port,
            "settings": {f"{name}_interval_seconds": seconds for name in intervals} if seconds else {},
            "more": {**dict.fromkeys(ONE_BROKER, "1"), "emit.heartbeats.interval.seconds": "1"},
        }
    )


def command(config: Path) -> list[str]:
    return [sys.executable, str(PROGRAM), "--config", str(config)]

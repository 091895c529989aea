# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``aiven``: configuration of the emulator of Aiven's API. See roles/lab/AIVEN_EMULATOR.md."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import secure
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
    """Entry of this site in ``kafka_dr_aiven``. Without an authorizer, an open lab has no ACLs."""
    acls = {"kafka_service": kafka_service(cluster)} if cluster.secure else {}
    return {"url": f"{cluster.cm_url}/v1", "token": TOKEN, "project": PROJECT, "service": service(cluster), **acls}


def service(cluster: Cluster) -> str:
    """Name of the service that runs the flow to this cluster."""
    return f"mirrormaker-{cluster.alias.lower()}"


def kafka_service(cluster: Cluster) -> str:
    """Name of the service of the cluster itself."""
    return f"kafka-{cluster.alias.lower()}"


def document(cluster: Cluster, clusters: Mapping[str, Cluster], settings: Settings) -> str:
    """Initial state of a service: integrations without a flow. Has short intervals only if the settings ask."""
    seconds, root = settings.srm_refresh_seconds, cluster.folder.parent
    login = secure.flow_client(secure.security(root)) if settings.secure else {}
    logins = {f"{side}.cluster.{key}": str(value) for side in ("source", "target") for key, value in login.items()}
    intervals = ("refresh_topics", "refresh_groups", "emit_checkpoints")
    return to_json(
        {
            "alias": cluster.alias,
            "project": PROJECT,
            "service": service(cluster),
            "kafka_service": kafka_service(cluster),
            **({"lab": str(root)} if settings.secure else {}),
            "tokens": {TOKEN: "writer", READER_TOKEN: "reader"},
            "bootstrap_servers": {alias: item.bootstrap_servers for alias, item in clusters.items()},
            "connect_url": cluster.connect_url,
            "dir": str(cluster.folder / "aiven"),
            "port": cluster.cm_port,
            "settings": {f"{name}_interval_seconds": seconds for name in intervals} if seconds else {},
            "more": {**dict.fromkeys(ONE_BROKER, "1"), "emit.heartbeats.interval.seconds": "1", **logins},
        }
    )


def command(config: Path) -> list[str]:
    return [sys.executable, str(PROGRAM), "--config", str(config)]

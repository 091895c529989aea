# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``srm``: configuration of a site's emulator and of srm-control. See roles/lab/EMULATORS.md."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .configs import Cluster, Settings
from .files import to_json, write_atomically

PROGRAM = Path(__file__).resolve().parent.parent / "cm"
# Not secret, but the product requires a login.
USER, PASSWORD = "admin", "admin"
SECRET_ENV, SECRET = "SECURESTOREPASS", "lab-secure-store"
CLUSTER, SERVICE = "Cluster 1", "streams_replication_manager"
# For one broker. The SRM defaults are 2 and 3.
ONE_BROKER = (
    "replication.factor",
    *(f"{kind}.topic.replication.factor" for kind in ("offset-syncs", "checkpoints", "heartbeats")),
)
REFRESH = ("refresh.topics", "refresh.groups", "sync.topic.configs")


def home(cluster: Cluster) -> Path:
    return cluster.folder / "srm"


def control(cluster: Cluster) -> Path:
    return home(cluster) / "bin" / "srm-control"


def access(cluster: Cluster) -> dict[str, Any]:
    """Entry of this site in ``kafka_dr_srm``."""
    return {
        "url": cluster.cm_url,
        "client": {"url_username": USER, "url_password": PASSWORD},
        "cluster": CLUSTER,
        "service": SERVICE,
        "host": "localhost",
        "command": [str(control(cluster))],
        "secret_env": SECRET_ENV,
        "secret": SECRET,
    }


def document(cluster: Cluster, clusters: Mapping[str, Cluster], settings: Settings) -> str:
    """Initial state of a site: aliases and addresses without a flow. Has short intervals only if the settings ask."""
    config = {
        "streams.replication.manager.config": "|".join(f"{key}=1" for key in ONE_BROKER),
        "metrics.topic.replication.factor": "1",
        "control.topic.replication.factor": "1",
    }
    if settings.srm_refresh_seconds:
        config |= {f"{name}.interval.seconds": str(settings.srm_refresh_seconds) for name in REFRESH}
    site = {
        "alias": cluster.alias,
        "cluster": CLUSTER,
        "connect_url": cluster.connect_url,
        "home": str(home(cluster)),
        "bootstrap_servers": {alias: item.bootstrap_servers for alias, item in clusters.items()},
        "config": config,
        "gateway": {"securestorage.password": SECRET},
    }
    own = {"dir": str(cluster.folder / "cm"), "port": cluster.cm_port, "password": PASSWORD}
    return to_json({"sites": [site], **own})


def command(config: Path) -> list[str]:
    return [sys.executable, str(PROGRAM), "serve", "--config", str(config)]


def write_launcher(cluster: Cluster) -> None:
    """Write the srm-control executable, so that an inventory can name a single command."""
    words = (sys.executable, str(PROGRAM), "control", str(home(cluster)))
    path = control(cluster)
    write_atomically(path, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)

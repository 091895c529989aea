# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ZooKeeper of a cluster whose Kafka version has no KRaft for production (KIP-833)."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .errors import LabError

#: The first version whose KRaft is ready for production.
FIRST_KRAFT = (3, 3)
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
SHELL = "org.apache.zookeeper.ZooKeeperMain"
_SECONDS = 60.0


def is_used(version: str) -> bool:
    """Whether the brokers of this Kafka version store their metadata in ZooKeeper."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:2]) < FIRST_KRAFT


def server(data: Path, port: int) -> dict[str, object]:
    """Properties of the ZooKeeper server."""
    return {
        "dataDir": data,
        "clientPort": port,
        "clientPortAddress": "127.0.0.1",
        "admin.enableServer": "false",
        "tickTime": 500,
    }


def broker(values: dict[str, object], listener: str, zookeeper: str) -> dict[str, object]:
    """Properties of a broker that uses ZooKeeper, from those of a broker that is its own controller."""
    quorum = ("process.roles", "node.id", "controller.", "listener.security.protocol.map", "broker.heartbeat")
    common = {key: value for key, value in values.items() if not key.startswith((*quorum, "broker.session"))}
    return {
        **common,
        "broker.id": 1,
        "listeners": f"PLAINTEXT://{listener}",
        "zookeeper.connect": zookeeper,
        # After a SIGKILL the broker can return only when its old session has expired.
        "zookeeper.session.timeout.ms": 2000,
    }


def is_ready(port: int) -> bool:
    """Whether the server serves clients (four-letter word ``srvr``)."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"srvr")
            answer = b""
            while received := connection.recv(4096):
                answer += received
    except OSError:
        return False
    return b"\nMode: " in answer


def set_cluster_id(shell: Sequence[str], cluster_id: str) -> None:
    """Store the id of the cluster before the first start of its broker, which would otherwise choose its own.

    ``shell``: the command of ZooKeeper's shell (``SHELL``), connected to the server.
    """
    znode = json.dumps({"version": "1", "id": cluster_id}, separators=(",", ":"))
    commands = f"create /cluster\ncreate /cluster/id {znode}\nget /cluster/id\nquit\n"
    try:
        done = subprocess.run(shell, input=commands, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"The cluster id could not be stored in ZooKeeper within {_SECONDS:.0f} s.") from error
    if znode not in done.stdout.splitlines():
        raise LabError(f"The cluster id could not be stored in ZooKeeper:\n{(done.stdout + done.stderr)[-2000:]}")

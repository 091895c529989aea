# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client configuration that deployClientConfig writes for srm-control. It is a file, so that it can be stale."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any

from lab.files import read_json, to_json, write_atomically

from . import replication
from .properties import GATEWAY, REPLICATION, SECRET, SECRET_VARIABLE, knows_reverse

NAME = "conf/srm-client.json"


def client_config(deployed: dict[str, Any], own: dict[str, str]) -> dict[str, Any]:
    """The content of the file. It has only a salted digest of the secure store's password."""
    values, gateway = deployed["service"], deployed.get(GATEWAY, {})
    lines, _notes = replication.parse(values.get(REPLICATION, ""))
    known = replication.aliases(values.get("clusters", ""))
    salt = secrets.token_hex(8)
    password = gateway.get(SECRET)
    return {
        "clusters": known,
        "bootstrap_servers": replication.servers(values, lines, known, deployed.get("accounts", {}), own),
        "knows_reverse": knows_reverse(deployed["runtime"]),
        "secret_variable": gateway.get(SECRET_VARIABLE, "SECURESTOREPASS"),
        "secret": None if not password else {"salt": salt, "digest": digest(password, salt)},
        "control_factor": int(values.get("control.topic.replication.factor", 3)),
    }


def digest(password: str, salt: str) -> str:
    return hashlib.scrypt(password.encode(), salt=salt.encode(), n=2**12, r=8, p=1).hex()


def write_client_config(home: Path, deployed: dict[str, Any], own: dict[str, str]) -> None:
    write_atomically(home / NAME, to_json(client_config(deployed, own)))


def read_client_config(path: Path) -> dict[str, Any]:
    return read_json(path)

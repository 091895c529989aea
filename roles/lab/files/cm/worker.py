# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST client of the Connect worker that acts as the Driver."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

SECONDS = 10.0
#: Status of a write while the workers rebalance.
BUSY = 409


class WorkerError(Exception):
    """The worker did not respond, or gave an unexpected response."""


class Worker:
    """``login``: the option ``connect_client`` of a secured lab."""

    def __init__(self, url: str, login: Mapping[str, str] | None = None) -> None:
        self._address = urlsplit(url).netloc
        self._headers = {"Content-Type": "application/json"}
        self._trust: ssl.SSLContext | None = None
        if login:
            word = base64.b64encode(f"{login['url_username']}:{login['url_password']}".encode()).decode()
            self._headers["Authorization"] = f"Basic {word}"
            self._trust = ssl.create_default_context(cafile=login["ca_path"])

    def answers(self) -> bool:
        try:
            return self._call("GET", "/health")[0] == 200
        except WorkerError:
            return False

    def configure(self, name: str, config: dict[str, str]) -> bool:
        """Write a configuration if it differs. Returns whether it did."""
        status, found = self._call("GET", f"/connectors/{name}/config")
        if status == 200 and found == config:
            return False
        self._write("PUT", f"/connectors/{name}/config", config)
        return True

    def resume(self, name: str) -> None:
        if self.state(name)[0] not in ("RUNNING", "UNASSIGNED"):
            self._write("PUT", f"/connectors/{name}/resume")

    def stop(self, name: str) -> None:
        if self.state(name)[0] is not None:
            self._write("PUT", f"/connectors/{name}/stop")

    def state(self, name: str) -> tuple[str | None, int]:
        """State and number of tasks. The state is None if the connector does not exist."""
        status, found = self._call("GET", f"/connectors/{name}/status")
        if status == 404:
            return None, 0
        if status != 200:
            raise WorkerError(f"status of {name}: {status} {found}")
        return found["connector"]["state"], len(found["tasks"])

    def _write(self, method: str, path: str, body: Any = None) -> None:
        end = time.monotonic() + SECONDS
        status, found = self._call(method, path, body)
        while status == BUSY and time.monotonic() < end:
            time.sleep(0.1)
            status, found = self._call(method, path, body)
        if status >= 300:
            raise WorkerError(f"{method} {path}: {status} {found}")

    def _call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self._address, timeout=SECONDS)
        if self._trust:
            connection = http.client.HTTPSConnection(self._address, timeout=SECONDS, context=self._trust)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, self._headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise WorkerError(f"{method} {self._address}{path}: {error}") from error
        finally:
            connection.close()

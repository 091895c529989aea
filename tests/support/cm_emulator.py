# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulated Cloudera Manager for tests: started as its own process, with plain requests."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

PROGRAM = Path(__file__).resolve().parents[2] / "roles" / "lab" / "files" / "cm"
CLUSTER, SERVICE = "Cluster 1", "streams_replication_manager"
C = f"/clusters/{quote(CLUSTER)}"
S = f"{C}/services/{SERVICE}"


class RawResponse:
    """The status, headers and body of one raw response."""

    def __init__(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.status, self.headers, self.data = status, headers, data

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def message(self) -> str:
        return str(self.json["message"])


class Cm:
    """Raw requests without redirects and retries. Paths are below /api/v54, or complete with ``raw``."""

    def __init__(self, url: str, user: str = "admin", base: str = "/api/v54") -> None:
        """An empty ``user`` sends no credentials."""
        self.url, self.base = url, base
        word = base64.b64encode(f"{user}:admin".encode()).decode()
        self._headers = {"Authorization": f"Basic {word}"} if user else {}

    def call(self, method: str, path: str, body: Any = None, raw: bool = False, **headers: str) -> RawResponse:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            data = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
            connection.request(method, path if raw else self.base + path, data, {**self._headers, **headers})
            answer = connection.getresponse()
            return RawResponse(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        answer = self.call("GET", path, None, False, **headers)
        assert answer.status == 200, answer.data
        return answer.json

    def put_config(self, values: dict[str, Any], path: str = S) -> None:
        items = [{"name": name, "value": value} for name, value in values.items()]
        answer = self.call("PUT", f"{path}/config", {"items": items})
        assert answer.status == 200, answer.data

    def run(self, verb: str, path: str = S) -> dict[str, Any]:
        """POST a command and wait for its end."""
        answer = self.call("POST", f"{path}/commands/{verb}")
        assert answer.status == 200, answer.data
        return self.finished(answer.json["id"])

    def finished(self, number: int) -> dict[str, Any]:
        return dict(until(lambda: None if (found := self.get(f"/commands/{number}"))["active"] else found))

    def switch(self, **values: Any) -> None:
        answer = self.call("PUT", "/emulator/switches", values, raw=True)
        assert answer.status == 200, answer.data

    def reset(self) -> None:
        assert self.call("DELETE", "/emulator/switches", raw=True).status == 200
        assert self.call("DELETE", "/emulator/log", raw=True).status == 200

    def log(self) -> list[dict[str, Any]]:
        return list(self.call("GET", "/emulator/log", raw=True).json["items"])

    def engine(self) -> dict[str, Any]:
        return dict(self.call("GET", "/emulator/engine", raw=True).json[CLUSTER])


def until(observe: Callable[[], Any], bound: float = 60.0) -> Any:
    """Return the first true result of ``observe``."""
    end = time.monotonic() + bound
    while not (found := observe()):
        assert time.monotonic() < end, f"still {found!r} after {bound:.0f} s"
        time.sleep(0.05)
    return found


class EmulatorProcess:
    """One emulator without Kafka."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, str(PROGRAM), "serve", "--dir", str(folder), *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, env={**os.environ, **environment}
        )
        assert self._process.stdout is not None
        self.url = str(json.loads(self._process.stdout.readline())["url"])

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.communicate(timeout=10)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulated Cloudera Manager as a process of its own, without Kafka: commands only take their time."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["CmServer", "cm_server"]

ROOT = Path(__file__).resolve().parents[2]
SERVICE = "streams_replication_manager"


class CmServer:
    """A running server. ``params`` are the options with which a module connects to it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def params(self, user: str = "admin", **more: Any) -> dict[str, Any]:
        client = {"url_username": user, "url_password": "admin"}
        own = {"cm_url": self.url, "cm_client": client, "cluster": "Cluster 1", "request_timeout": 10.0}
        return {**own, **more}

    def switch(self, **values: Any) -> None:
        """Change its behaviour; roles/lab/EMULATORS.md lists the switches."""
        self._own("PUT", "switches", values)

    def fault(self, kind: str, **values: Any) -> None:
        self.switch(faults=[{"kind": kind, **values}])

    def log(self, method: str = "") -> list[tuple[str, str]]:
        """The requests that it received, without the API version, and only those of ``method`` if one is given."""
        items = self._own("GET", "log")["items"]
        calls = [(item["method"], item["path"].removeprefix("/api/v54")) for item in items]
        return [call for call in calls if method in ("", call[0])]

    def forget(self) -> None:
        self._own("DELETE", "log")

    def audits(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._own("GET", "audits")["items"]
        return found

    def post(self, path: str, body: Any = None) -> Any:
        """Send a POST as another user does."""
        return self._send("POST", f"/api/v54/clusters/Cluster%201{path}", body)

    def put(self, path: str, **values: Any) -> Any:
        """Set properties as another user does."""
        items = [{"name": name, "value": value} for name, value in values.items()]
        return self._send("PUT", f"/api/v54/clusters/Cluster%201/services/{SERVICE}{path}", {"items": items})

    def get(self, path: str) -> Any:
        return self._send("GET", f"/api/v54/clusters/Cluster%201/services/{SERVICE}{path}")

    def _own(self, method: str, name: str, body: Any = None) -> Any:
        return self._send(method, f"/emulator/{name}", body)

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Basic YWRtaW46YWRtaW4="}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")


@contextmanager
def cm_server(folder: Path, *options: str) -> Iterator[CmServer]:
    """Start a server for the site P in ``folder``, and stop it at the end."""
    command = [sys.executable, str(ROOT / "roles/lab/files/cm"), "serve", "--site", "P", "--dir", str(folder)]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("no output to read its address from")
            yield CmServer(json.loads(process.stdout.readline())["url"])
        finally:
            process.terminate()

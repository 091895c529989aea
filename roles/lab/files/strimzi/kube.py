# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Client for a Kubernetes API server, with the standard library alone."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

SECONDS = 10.0
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


class KubeError(Exception):
    """The API server refused a request. Status 0: it did not answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Kube:
    def __init__(self, url: str, token: str, ca: str | None, manager: str) -> None:
        self._address = urlsplit(url)
        self._context = ssl.create_default_context(cafile=ca) if self._address.scheme == "https" else None
        self._token, self._manager = token, manager

    def get(self, path: str) -> dict[str, Any] | None:
        try:
            return self.call("GET", path)
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.call("GET", path, query=query)["items"]
        return listed

    def patch(self, path: str, body: Any) -> dict[str, Any]:
        return self.call("PATCH", path, body, {"fieldManager": self._manager})

    def apply(self, path: str, body: Any) -> dict[str, Any]:
        """Server-side apply, which makes this client's manager the owner of the fields."""
        return self.call("PATCH", path, body, {"fieldManager": self._manager, "force": "true"}, APPLY)

    def write(self, folder: str, body: dict[str, Any]) -> None:
        """Create a resource, or replace its content."""
        path = f"{folder}/{body['metadata']['name']}"
        if self.get(path) is None:
            self.call("POST", folder, body, {"fieldManager": self._manager})
        else:
            self.call("PUT", path, body, {"fieldManager": self._manager})

    def watch(self, path: str, version: str) -> Iterator[dict[str, Any]]:
        """Yield an event for each change after the resource version ``version``, for a second or so."""
        connection = self._connection(SECONDS)
        try:
            query = urlencode({"watch": "true", "timeoutSeconds": 1, "resourceVersion": version})
            connection.request("GET", f"{path}?{query}", headers=self._headers("GET"))
            answer = connection.getresponse()
            if answer.status != 200:
                raise KubeError(answer.status, answer.read().decode("utf-8", "replace"))
            for line in answer:
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise KubeError(0, str(error)) from error
        finally:
            connection.close()

    def call(
        self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None, content: str = ""
    ) -> dict[str, Any]:
        connection = self._connection(SECONDS)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(
                method, path + (f"?{urlencode(query)}" if query else ""), data, self._headers(method, content)
            )
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise KubeError(0, str(error)) from error
        finally:
            connection.close()
        if answer.status >= 300:
            raise KubeError(answer.status, text)
        parsed: dict[str, Any] = json.loads(text)
        return parsed

    def _headers(self, method: str, content: str = "") -> dict[str, str]:
        content = content or (MERGE if method == "PATCH" else "application/json")
        return {"Authorization": f"Bearer {self._token}", "Content-Type": content, "Accept": "application/json"}

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._context is not None:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=timeout)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST client of the Connect workers that one KafkaConnect stands for."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

SECONDS = 10.0


class WorkerError(Exception):
    """The worker did not respond (status 0), or refused a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Workers(Protocol):
    """What the operator asks of Kafka Connect. Paths are those of its REST interface."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of the response; raise WorkerError for any other status than 2xx."""


class RestWorkers:
    """``client``: url_username, url_password and ca_path of workers that need them."""

    def __init__(self, url: str, client: Mapping[str, str]) -> None:
        self._address, self._headers = urlsplit(url).netloc, {"Content-Type": "application/json"}
        self._context = ssl.create_default_context(cafile=client["ca_path"]) if "ca_path" in client else None
        if "url_username" in client:
            login = f"{client['url_username']}:{client['url_password']}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(login).decode()}"

    def _connection(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._address, timeout=SECONDS)
        return http.client.HTTPSConnection(self._address, timeout=SECONDS, context=self._context)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        connection = self._connection()
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, self._headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise WorkerError(0, f"{method} {self._address}{path}: {error}") from error
        finally:
            connection.close()
        if answer.status >= 300:
            raise WorkerError(answer.status, f"{method} {path}: {answer.status} {text}")
        return json.loads(text) if text else None


def connector_path(name: str, *rest: str) -> str:
    return "/".join(("/connectors", quote(name, safe=""), *rest))

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST client of the Connect workers that one KafkaConnect stands for."""

from __future__ import annotations

import http.client
import json
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
    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc

    def call(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self._address, timeout=SECONDS)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to a Kafka Connect worker: only what Kafka Connect means as "later" is repeated.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._core.errors import DrError, Unreachable
from .._core.retriable import is_retriable_status
from .._http import Answer, HttpClient, NoAnswer, Peer, one_line, quoted

__all__ = ["RefusedError", "Reply", "Transport", "quoted", "retry_reason"]

PEER = Peer("Kafka Connect", "connect", "a worker", "http://host:8083 or https://host/prefix")
# A new connector has no status for 0.1 to 0.2 s. Much later, the same response means that the connector is unknown.
NO_STATUS_SECONDS = 5.0


class RefusedError(DrError):
    """Kafka Connect refused a request. ``status``: HTTP status. ``text``: its own message."""

    def __init__(self, status: int, text: str, doing: str, endpoint: str) -> None:
        code = {400: "connect_invalid", 404: "connect_not_found", 409: "connect_conflict"}.get(status, "connect_error")
        hint = (
            "Correct what the message names (a setting in kafka_dr_flow), then start the same playbook again. The log"
            " of the worker has more details."
        )
        super().__init__(
            code, f'Kafka Connect at "{endpoint}" refused {doing} ({status}): {text.rstrip(".")}.', hint, endpoint
        )
        self.status = status
        self.text = text


@dataclass(frozen=True)
class Reply:
    """A response of a worker."""

    status: int
    #: True: Kafka Connect wrote the response. Its errors are JSON with ``error_code``. False: its web server wrote it,
    #: in HTML or in other JSON, because Kafka Connect is not ready yet.
    own: bool
    body: Any
    message: str


def retry_reason(reply: Reply) -> str:
    """Return why the same request may succeed later, or "" (Kafka Connect 4.3.1).

    not written by Kafka Connect                   starting   the web server returns 404 before Kafka Connect is ready
    409, except "already exists"                   rebalance  or another change is being applied
    500 "... a rebalance is expected"              rebalance  request for tasks between a change and its rebalance
    404 "No status found"                          status     new connector, whose status is not written yet
    500 "Error writing root configuration ..."     storage    the Kafka cluster of the workers did not answer
    500 "Failed to retrieve offsets ..."           offsets    a task replicated its first record of a partition
    """
    if not reply.own:
        return "starting"
    if reply.status == 409 and "already exists" not in reply.message:
        return "rebalance"
    if reply.status == 500 and "rebalance is expected" in reply.message:
        return "rebalance"
    if reply.status == 404 and "No status found" in reply.message:
        return "status"
    if reply.status == 500 and "Error writing root configuration" in reply.message:
        return "storage"
    # ConcurrentModificationException in ConnectorOffsetBackingStore.connectorPartitions, seen with 6,000 partitions.
    if reply.status == 500 and "Failed to retrieve offsets" in reply.message:
        return "offsets"
    return ""


class Transport(HttpClient):
    """Send requests to one worker group. ``requests`` lists them with method and path only."""

    def __init__(
        self,
        url: str,
        client: Mapping[str, Any],
        timeout: float,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
    ) -> None:
        super().__init__(PEER, url, client, timeout, clock)

    def call(self, method: str, path: str, body: Any = None, query: str = "", timeout: float = 0.0) -> Any:
        """Send a request and return the parsed JSON response. None: the response is empty.

        Any request is repeated while :func:`retry_reason` gives a reason. ``timeout``: seconds for all attempts
        together, 0 for the default. Raises a :class:`DrError` after that, or at once if a repetition cannot help.
        """
        outcome = self.exchange(method, path + query, body, self._again, timeout)
        if isinstance(outcome, NoAnswer):
            raise outcome
        reply = _reply(outcome)
        if outcome.ok and reply.own:
            return reply.body
        raise self._failure(reply, f"{method} {path}")

    def _again(self, outcome: Answer | NoAnswer) -> float:
        """Seconds, counted from the first attempt, during which this outcome is a reason to repeat the request."""
        if isinstance(outcome, NoAnswer):
            # The worker is starting or stopping. The next attempt may succeed.
            return self.timeout if outcome.kind in ("refused", "dropped") else 0.0
        reply = _reply(outcome)
        if outcome.status in (401, 403, 407) or (outcome.ok and reply.own):
            return 0.0
        reason = retry_reason(reply)
        return NO_STATUS_SECONDS if reason == "status" else self.timeout if reason else 0.0

    def _failure(self, reply: Reply, doing: str) -> DrError:
        if reply.status in (401, 403, 407):
            return self._unauthorized(reply)
        if retry_reason(reply) in ("rebalance", "storage", "offsets"):
            text = f'Kafka Connect at "{self.url}" could not do {doing} within {self.timeout:g} s: {reply.message}'
            hint = "It may still do it later. Check that the workers' Kafka cluster answers, and that all workers run."
            return Unreachable("connect_busy", text, hint, self.url, retriable=True)
        if reply.own:
            return RefusedError(reply.status, reply.message, doing, self.url)
        body = reply.message or "an empty body"
        return Unreachable(
            "connect_not_json",
            f'"{self.url}" returned {reply.status} to {doing} for {self.timeout:g} s, wanted JSON of Kafka Connect: '
            f"{body}",
            "Check that connect_url is the REST address of a Kafka Connect worker, with its path prefix if it has one. "
            "If a worker does not finish its start, its log names the cause.",
            self.url,
            # The web server of a worker that starts or ends answers 404, 409 and 500 without Kafka Connect.
            retriable=reply.status in (404, 409, 500) or is_retriable_status(reply.status),
        )

    def _unauthorized(self, reply: Reply) -> DrError:
        return DrError(
            "connect_not_authorized",
            f'Kafka Connect at "{self.url}" refused these credentials ({reply.status}): {reply.message}',
            "Correct url_username and url_password, or client_cert and client_key, in connect_client of this cluster in"
            " kafka_dr_clusters.",
            self.url,
        )


def _reply(answer: Answer) -> Reply:
    if not answer.text:
        return Reply(answer.status, answer.ok, None, "")
    try:
        body = json.loads(answer.text)
    except ValueError:
        return Reply(answer.status, False, None, one_line(answer.text))
    message = body.get("message") if isinstance(body, dict) else None
    own = answer.status < 400 or (isinstance(body, dict) and "error_code" in body)
    text = message if own and message is not None else answer.text
    return Reply(answer.status, own, body, one_line(str(text)))

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to a Kafka Connect worker: every call is bounded, and only what Kafka Connect means as "later" is repeated.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import http.client
import itertools
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit

from ansible.module_utils.urls import ConnectionError as TlsSetupError
from ansible.module_utils.urls import Request

from .._core.errors import DrError, Unreachable
from .._core.schema import Key, check_mapping

__all__ = ["RefusedError", "Reply", "Transport", "quoted", "retry_reason"]

CLIENT_KEYS = {
    "url_username": Key(),
    "url_password": Key(),
    "ca_path": Key(),
    "client_cert": Key(),
    "client_key": Key(),
    "validate_certs": Key("bool", default=True),
    "use_proxy": Key("bool"),
}
# A connector that was just created has no status for 0.1 to 0.2 s; much later the same answer means that it is unknown.
NO_STATUS_SECONDS = 5.0
PAUSE = 0.25
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class RefusedError(DrError):
    """Kafka Connect understood the call and said no. ``status`` is the HTTP status, ``text`` its own words."""

    def __init__(self, status: int, text: str, doing: str, endpoint: str) -> None:
        code = {400: "connect_invalid", 404: "connect_not_found", 409: "connect_conflict"}.get(status, "connect_error")
        super().__init__(code, f'Kafka Connect at "{endpoint}" refused {doing} ({status}): {text}', "", endpoint)
        self.status = status
        self.text = text


@dataclass(frozen=True)
class Reply:
    """An answer. ``own``: in Kafka Connect's own words, which for an error are JSON with ``error_code``.

    The web server below it answers before Kafka Connect is ready: in HTML or, as we accept JSON, in JSON of its own.
    """

    status: int
    own: bool
    body: Any
    message: str


def retry_reason(reply: Reply) -> str:
    """Why the same call may succeed later, or "" (Kafka Connect 4.3.1).

    not in its own words                           starting   the web server answers 404 before Kafka Connect is ready
    409, except "already exists"                   rebalance  or another change is being applied
    404 "No status found"                          status     just created, nothing written yet
    500 "Error writing root configuration ..."     storage    Connect's own cluster did not answer
    """
    if not reply.own:
        return "starting"
    if reply.status == 409 and "already exists" not in reply.message:
        return "rebalance"
    if reply.status == 404 and "No status found" in reply.message:
        return "status"
    if reply.status == 500 and "Error writing root configuration" in reply.message:
        return "storage"
    return ""


def quoted(*segments: str) -> str:
    """A path of names; ``P->B.x`` becomes ``P-%3EB.x``."""
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


class Transport:
    """Sends calls to one base URL. ``requests`` lists them, method and path only."""

    def __init__(
        self,
        url: str,
        client: Mapping[str, Any],
        timeout: float,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
    ) -> None:
        self.url = _checked_url(url)
        self.timeout = timeout
        self.requests: list[dict[str, Any]] = []
        self._now, self._sleep = clock
        self._request = _request(self.url, client)

    def call(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        """The JSON answer (None for an empty one). All attempts together end within ``timeout``, or it raises."""
        note: dict[str, Any] = {"method": method, "path": path + query}
        self.requests.append(note)
        start = self._now()
        for attempt in itertools.count(1):
            if attempt > 1:
                note["attempts"] = attempt
            left = self.timeout - (self._now() - start)
            reply, failure = self._attempt(method, path + query, body, max(left, 0.5))
            if reply is not None and 200 <= reply.status < 300 and reply.own:
                return reply.body
            reason = "refused" if reply is None else retry_reason(reply)
            waited = self._now() - start + PAUSE
            if not reason or waited >= (NO_STATUS_SECONDS if reason == "status" else self.timeout):
                raise failure or self._failure(reply, f"{method} {path}")
            self._sleep(PAUSE)
        return None

    def _attempt(self, method: str, path: str, body: Any, timeout: float) -> tuple[Reply | None, DrError | None]:
        """One attempt: an answer, or a failure that may be repeated. What may not be repeated is raised."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json"} | ({} if data is None else {"Content-Type": "application/json"})
        try:
            with self._request.open(method, self.url + path, data=data, headers=headers, timeout=timeout) as answer:
                return _reply(answer.status, answer.read()), None
        except HTTPError as error:
            with error:
                reply = _reply(error.code, error.read())
            if error.code in (401, 403, 407):
                raise self._unauthorized(reply) from error
            return reply, None
        except (URLError, OSError, http.client.HTTPException, TlsSetupError) as error:
            cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, OSError) else error
            failure = self._unreachable(cause, f"{method} {path}", timeout)
            # Nobody listens yet, or the worker is going down: the next attempt may find it up.
            if isinstance(cause, (ConnectionError, http.client.RemoteDisconnected)):
                return None, failure
            raise failure from error

    def _failure(self, reply: Reply | None, doing: str) -> DrError:
        if reply is not None and retry_reason(reply) in ("rebalance", "storage"):
            text = f'Kafka Connect at "{self.url}" did not get to {doing} within {self.timeout:g} s: {reply.message}'
            hint = "It may still do it. Check that Kafka Connect's own cluster answers and its workers are all there."
            return Unreachable("connect_busy", text, hint, self.url)
        if reply is not None and reply.own:
            return RefusedError(reply.status, reply.message, doing, self.url)
        status, found = (0, "nothing") if reply is None else (reply.status, reply.message or "an empty body")
        return Unreachable(
            "connect_not_json",
            f'"{self.url}" answered {doing} with {status} and nothing of Kafka Connect for {self.timeout:g} s: {found}',
            "Is this the REST address of a Kafka Connect worker, with its path prefix if it has one? "
            "A worker that does not get past its start says why in its log.",
            self.url,
        )

    def _unauthorized(self, reply: Reply) -> DrError:
        return DrError(
            "connect_not_authorized",
            f'Kafka Connect at "{self.url}" refused these credentials ({reply.status}): {reply.message}',
            "Correct url_username and url_password, or client_cert and client_key, in connect_client.",
            self.url,
        )

    def _unreachable(self, cause: BaseException, doing: str, timeout: float) -> DrError:
        if isinstance(cause, (ssl.SSLError, TlsSetupError)):
            hint = "Correct ca_path, client_cert and client_key in connect_client, or the address."
            return DrError("connect_tls", f'No TLS connection to "{self.url}": {cause}.', hint, self.url)
        what = f"no answer within {timeout:.3g} s" if isinstance(cause, TimeoutError) else str(cause)
        hint = "Check that the worker runs and that this host may reach it."
        return Unreachable("connect_unreachable", f'Kafka Connect at "{self.url}": {doing}: {what}.', hint, self.url)


def _reply(status: int, raw: bytes) -> Reply:
    text = raw.decode("utf-8", "replace").strip()
    if not text:
        return Reply(status, 200 <= status < 300, None, "")
    try:
        body = json.loads(text)
    except ValueError:
        return Reply(status, False, None, _one_line(text))
    message = body.get("message") if isinstance(body, dict) else None
    own = status < 400 or (isinstance(body, dict) and "error_code" in body)
    return Reply(status, own, body, _one_line(str(message if own and message is not None else text)))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 500 else line[:497] + "..."


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        hint = "Give it as http://host:8083 or https://host/prefix."
        raise DrError("connect_url_invalid", f'connect_url is no address of a worker: "{parts.hostname or url}".', hint)
    if parts.username or parts.password:
        hint = "Give them as url_username and url_password in connect_client: an address is shown in messages."
        raise DrError("connect_url_invalid", "connect_url contains a user name or a password.", hint)
    return url.rstrip("/")


def _request(url: str, client: Mapping[str, Any]) -> Request:
    given, problems = check_mapping("connect_client", client, CLIENT_KEYS)
    if problems:
        raise DrError("connect_client_invalid", " ".join(problems), f"Known keys: {', '.join(CLIENT_KEYS)}.")
    proxy = given.pop("use_proxy")
    return Request(
        **given,
        use_proxy=urlsplit(url).hostname not in _LOOPBACK if proxy is None else proxy,
        force_basic_auth=given["url_username"] is not None,
        # Credentials come from the task only: a .netrc of whoever runs it would be a surprise.
        use_netrc=False,
    )

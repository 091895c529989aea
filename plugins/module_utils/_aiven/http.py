# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP client for Aiven's API: it adds the token, repeats requests where that is safe, and explains refusals.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from .._core.errors import DrError, LockedOut, Unreachable
from .._core.redaction import without_secrets
from .._http import Answer, HttpClient, NoAnswer, Peer, one_line

__all__ = ["TOKEN_VARIABLE", "AivenTransport", "ConflictError", "UnsureError", "open_transport"]

PEER = Peer("Aiven's API", "aiven", "Aiven's API", "https://api.aiven.io/v1")
#: The environment variable that Aiven's own client reads, too.
TOKEN_VARIABLE = "AIVEN_TOKEN"
_SITE = "kafka_dr_aiven.<alias>"
_CONFLICT, _TOO_MANY = 409, 429
# Seconds before a request is repeated. 429 has its own, because the API counts requests for a minute or so.
_PAUSE, _PAUSE_LIMITED, _PAUSE_MOST = 0.5, 1.0, 10.0


class ConflictError(DrError):
    """The API returned 409 until the time-out: another change is in progress, or the object exists."""


class UnsureError(Unreachable):
    """A POST got no usable response. It may have been processed, so read the state before you send it again."""


class AivenTransport(HttpClient):
    """Requests to Aiven's API with one token. ``requests`` lists them with method and path, never with the token.

    Redirects are not followed, because the token must not reach another server.
    """

    def __init__(
        self,
        url: str,
        token: str,
        client: Mapping[str, Any],
        timeout: float,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
    ) -> None:
        if not token:
            raise DrError(
                "aiven_no_token",
                f'There is no token for Aiven\'s API at "{url}".',
                f"Set token of {_SITE} to a vaulted variable, or set the environment variable {TOKEN_VARIABLE} where"
                " the playbook runs.",
                url,
            )
        if token != token.strip() or not token.isascii() or not token.isprintable():
            raise DrError(
                "aiven_no_token",
                f'The token for Aiven\'s API at "{url}" contains a blank, a line end or another character that no token'
                " has.",
                f"Correct token of {_SITE}, or the environment variable {TOKEN_VARIABLE}.",
                url,
            )
        super().__init__(PEER, url, client, timeout, clock, follow_redirects="none")
        self._token = token
        self._request.headers = {**self._request.headers, "Authorization": f"aivenv1 {token}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the parsed JSON response. None: the response is empty.

        GET, PUT and DELETE are repeated within the time-out while the server does not accept connections, or returns
        409 (not to GET), 429 or 5xx. POST is repeated only if it certainly had no effect: no connection,
        or 429. Raises :class:`UnsureError` if it is unknown whether a POST was processed, and :class:`ConflictError`
        for 409.
        """
        doing = f"{method} {path}"
        outcome = self.exchange(method, path, body, lambda seen: self.timeout if _later(seen, method) else 0.0)
        if isinstance(outcome, NoAnswer):
            if method == "POST" and outcome.kind in ("dropped", "silent"):
                raise UnsureError(
                    "aiven_unsure",
                    f'It is unknown whether {doing} at "{self.url}" took effect: {outcome.message}',
                    "Start the playbook again, which reads the flows first.",
                    self.url,
                    retriable=True,
                )
            raise outcome
        if outcome.ok:
            return self._body(outcome, doing)
        raise self._failure(outcome, method, doing)

    def read(self, path: str, key: str, kind: type) -> Any:
        """Return the value of ``key`` in the response to a GET. Raises ``aiven_unexpected`` if it is no ``kind``."""
        body = self.call("GET", path)
        value = body.get(key) if isinstance(body, Mapping) else None
        if not isinstance(value, kind):
            raise self.unexpected(path, f'"{key}"')
        return value

    def unexpected(self, path: str, wanted: str) -> DrError:
        """The error for a response to a GET that is not what Aiven's API would return."""
        return DrError(
            "aiven_unexpected",
            f'The response of "{self.url}" to GET {path} has no {wanted}, as Aiven\'s API would return it.',
            f"Correct url of {_SITE}.",
            self.url,
        )

    def _pause(self, outcome: Answer | NoAnswer) -> float:
        """Follow ``Retry-After`` in seconds, within bounds."""
        if isinstance(outcome, NoAnswer) or outcome.status != _TOO_MANY:
            return _PAUSE
        asked = outcome.headers.get("retry-after", "")
        return min(max(float(asked), _PAUSE_LIMITED), _PAUSE_MOST) if asked.isdecimal() else _PAUSE_LIMITED

    def _body(self, answer: Answer, doing: str) -> Any:
        if not answer.text:
            return None
        try:
            return json.loads(answer.text)
        except ValueError:
            raise self._not_json(answer, doing) from None

    def _failure(self, answer: Answer, method: str, doing: str) -> DrError:
        status, url = answer.status, self.url
        if 300 <= status < 400:
            text = f'"{url}" redirects {doing} ({status}), which Aiven\'s API does not do.'
            return DrError("aiven_redirect", text, f"Correct url of {_SITE}: it ends in /v1.", url)
        text = self._message(answer)
        said = f'Aiven\'s API at "{url}" refused {doing} ({status}): {text}'
        if status == 401:
            return LockedOut(
                "aiven_not_authorized",
                said,
                f"Use a valid token: token of {_SITE}, or the environment variable {TOKEN_VARIABLE}.",
                url,
            )
        if status == 403:
            return DrError(
                "aiven_forbidden",
                said,
                "Flows and ACLs need the permission service:data:write, even to read them. Give it to the token's user"
                " in this project.",
                url,
            )
        if status == 404:
            return DrError(
                "aiven_not_found",
                said,
                f"Correct project and service of {_SITE}, or those of its Kafka. They are case-sensitive.",
                url,
            )
        if status == _CONFLICT:
            return ConflictError(
                "aiven_conflict",
                said,
                "Another change of the service is in progress. Start again when it has ended.",
                url,
                retriable=True,
            )
        if status == _TOO_MANY or status >= 500:
            kind = UnsureError if method == "POST" and status != _TOO_MANY else Unreachable
            return kind(
                "aiven_busy",
                f'Aiven\'s API at "{url}" did not process {doing} within {self.timeout:g} s ({status}): {text}',
                "Start the playbook again later.",
                url,
                retriable=True,
            )
        return DrError(
            "aiven_invalid",
            said,
            "Correct the named value in kafka_dr_flow or kafka_dr_aiven, then start again.",
            url,
        )

    def _message(self, answer: Answer) -> str:
        """The messages of an error response. Sources: ``errors`` and ``message`` in Aiven's client."""
        try:
            body = json.loads(answer.text)
        except ValueError:
            kind = answer.content_type or "no content type"
            return f"{kind} instead of JSON: {self._masked(answer.text)[:120]}"
        listed = body.get("errors") if isinstance(body, dict) else None
        texts = [str(item.get("message")) for item in listed or () if isinstance(item, dict) and item.get("message")]
        single = body.get("message") if isinstance(body, dict) else None
        return self._masked("; ".join(texts) or str(single or answer.text))

    def _masked(self, text: str) -> str:
        return one_line(without_secrets(text, [self._token]))

    def _not_json(self, answer: Answer, doing: str) -> DrError:
        kind = answer.content_type or "no content type"
        return DrError(
            "aiven_not_json",
            f'"{self.url}" returned {answer.status} and {kind} to {doing}, wanted JSON of Aiven\'s API: '
            f"{self._masked(answer.text)[:120]}",
            f"Correct url of {_SITE}. An HTML page often comes from a proxy.",
            self.url,
        )


def open_transport(site: Mapping[str, Any], timeout: float) -> AivenTransport:
    """Open the API for a site of ``kafka_dr_aiven``. Sends no request. Raises ``aiven_no_token``.

    The token is that of the site, else that of the environment.
    """
    token = site.get("token") or os.environ.get(TOKEN_VARIABLE, "")
    return AivenTransport(site["url"], token, site.get("client") or {}, timeout)


def _later(outcome: Answer | NoAnswer, method: str) -> bool:
    """Whether to repeat a request."""
    if isinstance(outcome, NoAnswer):
        return outcome.kind == "refused" or (outcome.kind == "dropped" and method != "POST")
    if outcome.status == _TOO_MANY:
        return True
    if method == "POST":
        return False
    return outcome.status >= 500 or (outcome.status == _CONFLICT and method != "GET")

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP client for Cloudera Manager: find the API version, keep the session, and repeat requests where that is safe.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from .._core.errors import DrError, Unreachable
from .._core.retriable import is_retriable_status
from .._http import Answer, HttpClient, NoAnswer, Peer, checked_url, one_line

__all__ = ["CmTransport", "RefusedError", "UnsureError"]

PEER = Peer(
    "Cloudera Manager",
    "cm",
    "a Cloudera Manager",
    "https://host:7183, host:7180, or https://host:8443/gateway/cdp-proxy-api/cm-api/v54",
)
_VERSION = re.compile(r"v\d+")
_FULL_PATH = re.compile(r".*api/v\d+")
_DISCOVERY = "/version"
_REDIRECTS = (301, 302, 303, 307, 308)
_HOPS = 3
_CODES = {400: "cm_invalid", 403: "cm_forbidden", 404: "cm_not_found"}
_URL = "url of kafka_dr_srm.<alias> (option cm_url)"
_HINTS = {
    400: "Correct the value that the message names in kafka_dr_srm, then start the same playbook again.",
    403: "Use an account whose role allows this: Configurator for properties, Operator for commands.",
    404: "Check the names, which are case-sensitive, and that this Cloudera Manager supports the API version.",
}


class RefusedError(DrError):
    """Cloudera Manager refused a request and did nothing. ``status``: HTTP status. ``text``: its own message."""

    def __init__(self, status: int, text: str, doing: str, endpoint: str) -> None:
        message = f'Cloudera Manager at "{endpoint}" refused {doing} ({status}): {text or "no message"}'
        hint = _HINTS.get(status, "Read the log of Cloudera Manager for the cause.")
        super().__init__(_CODES.get(status, "cm_error"), message, hint, endpoint)
        self.status = status
        self.text = text


class UnsureError(Unreachable):
    """A command got no response. It may be running, so check the active commands before sending it again."""


class CmTransport(HttpClient):
    """Requests to one Cloudera Manager. After the first request, ``url`` is the base address of its API.

    Each request carries the credentials and the session cookie, which saves Cloudera Manager a directory look-up.
    Redirects are followed only for the request for the API version, because following one would repeat a POST.
    """

    def __init__(
        self,
        url: str,
        client: Mapping[str, Any],
        timeout: float,
        version: str | None = None,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
    ) -> None:
        root = checked_url(PEER, _with_scheme(url))
        path = urlsplit(root).path
        self._ready = bool(_FULL_PATH.fullmatch(path))
        if not self._ready and not path.endswith("api"):
            root += "/api"
        super().__init__(PEER, root, client, timeout, clock, follow_redirects="none")
        self._given = _checked_version(version)

    def call(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        """Send a request and return the parsed JSON response. None: the response is empty.

        ``path`` starts after the API version. GET and PUT are repeated within the time-out while the server does not
        accept connections or returns 429, 502, 503 or 504. POST is repeated only if nothing was sent. Raises
        :class:`UnsureError` if it is unknown whether a POST was processed.
        """
        self._make_ready()
        doing = f"{method} {path}"
        outcome = self._with_session(method, path + query, body)
        if isinstance(outcome, NoAnswer):
            if method == "POST" and outcome.kind != "refused":
                raise UnsureError("cm_unsure", outcome.message, outcome.hint, self.url)
            raise outcome
        if method == "POST" and is_retriable_status(outcome.status):
            text = f'Cloudera Manager at "{self.url}" returned {outcome.status} to {doing}.'
            raise UnsureError("cm_unsure", text, "The command may be running nevertheless.", self.url)
        return self._body(outcome, doing)

    def _with_session(self, method: str, path: str, body: Any) -> Answer | NoAnswer:
        """Send a request. If an expired session is refused with 401, which has no effect, retry without the session."""
        cookies = self._request.cookies
        had_session = len(cookies) > 0

        def again(outcome: Answer | NoAnswer) -> float:
            return self.timeout if _later(outcome, method) else 0.0

        outcome = self.exchange(method, path, body, again)
        if had_session and isinstance(outcome, Answer) and outcome.status == 401:
            cookies.clear()
            outcome = self.exchange(method, path, body, again)
        return outcome

    # ---- the version of the API

    def _make_ready(self) -> None:
        if not self._ready:
            version = self._given or self._discover()
            self.url = f"{self.url}/{version}"
            self._ready = True

    def _discover(self) -> str:
        """Return the highest API version of this Cloudera Manager, as ``v54``. A redirect changes ``url``."""
        for _hop in range(_HOPS):
            outcome = self.exchange("GET", _DISCOVERY, None, lambda seen: self.timeout if _later(seen, "GET") else 0.0)
            if isinstance(outcome, NoAnswer):
                raise outcome
            if outcome.status not in _REDIRECTS:
                return self._version(outcome)
            self.url = self._moved(outcome)
        raise DrError(
            "cm_redirect", f'"{self.url}" still redirects after {_HOPS} redirects.', f"Correct {_URL}.", self.url
        )

    def _version(self, answer: Answer) -> str:
        if answer.ok and _VERSION.fullmatch(answer.text):
            return answer.text
        if not answer.ok:
            raise self._failure(answer, f"GET {_DISCOVERY}")
        raise self._not_cm(answer, f"GET {_DISCOVERY}")

    def _moved(self, answer: Answer) -> str:
        """Return the base address that a redirect leads to. It must be on the same host, and not leave TLS."""
        old = urlsplit(self.url)
        location = answer.headers.get("location", "")
        new = urlsplit(urljoin(self.url + _DISCOVERY, location))
        downgrade = (old.scheme, new.scheme) == ("https", "http")
        if not location or new.hostname != old.hostname or downgrade or not new.path.endswith("api" + _DISCOVERY):
            raise self._redirected(answer)
        return checked_url(PEER, urlunsplit((new.scheme, new.netloc, new.path.removesuffix(_DISCOVERY), "", "")))

    # ---- answers

    def _body(self, answer: Answer, doing: str) -> Any:
        if not answer.ok:
            raise self._failure(answer, doing)
        if not answer.text:
            return None
        try:
            return json.loads(answer.text)
        except ValueError:
            raise self._not_cm(answer, doing) from None

    def _failure(self, answer: Answer, doing: str) -> DrError:
        if answer.status in _REDIRECTS:
            return self._redirected(answer)
        text = _message(answer)
        if answer.status in (401, 407):
            return DrError(
                "cm_not_authorized",
                f'Cloudera Manager at "{self.url}" refused these credentials ({answer.status}): {text}',
                "Correct url_username and url_password in client of kafka_dr_srm.<alias> (option cm_client).",
                self.url,
            )
        if is_retriable_status(answer.status):
            message = f'Cloudera Manager at "{self.url}" was not ready for {doing} within {self.timeout:g} s'
            hint = "It may be starting. Start the same playbook again, or read its log."
            busy = f"{message} ({answer.status}): {text}"
            return Unreachable("cm_busy", busy, hint, self.url, retriable=True)
        return RefusedError(answer.status, text, doing, self.url)

    def _redirected(self, answer: Answer) -> DrError:
        where = one_line(answer.headers.get("location", "nowhere").partition("?")[0])
        text = f'"{self.url}" redirects to "{where}", which may be a login page or another Cloudera Manager.'
        return DrError("cm_redirect", text, f"Set {_URL} to the final address.", self.url)

    def _not_cm(self, answer: Answer, doing: str) -> DrError:
        kind = answer.content_type or "no content type"
        return DrError(
            "cm_not_json",
            f'"{self.url}" returned {answer.status} and {kind} to {doing}, wanted JSON of Cloudera Manager: '
            f"{one_line(answer.text)[:120]}",
            f"Check {_URL} and the credentials. An HTML page is often the login of Knox or another proxy.",
            self.url,
        )


def _later(outcome: Answer | NoAnswer, method: str) -> bool:
    """Whether to repeat a request: nothing was sent, or a GET or PUT reached a server that is starting."""
    if isinstance(outcome, NoAnswer):
        return outcome.kind == "refused" or (outcome.kind == "dropped" and method != "POST")
    return is_retriable_status(outcome.status) and method != "POST"


def _message(answer: Answer) -> str:
    """The message of an error response: the field ``message`` of its JSON, else its text."""
    try:
        body = json.loads(answer.text)
    except ValueError:
        return one_line(answer.text)
    said = body.get("message") if isinstance(body, dict) else None
    return one_line(str(said if said is not None else answer.text))


def _with_scheme(url: str) -> str:
    """Add a scheme to an address without one: http for the port 7180, https for any other port and for none."""
    if "://" in url:
        return url
    host, _slash, path = url.partition("/")
    scheme = "http" if host.endswith(":7180") else "https"
    port = "" if ":" in host or path else ":7183"
    return f"{scheme}://{host}{port}" + (f"/{path}" if path else "")


def _checked_version(version: str | None) -> str:
    if not version:
        return ""
    found = version if version.startswith("v") else f"v{version}"
    if not _VERSION.fullmatch(found):
        raise DrError(
            "cm_version_invalid",
            f'api_version of kafka_dr_srm.<alias> (option cm_api_version) is "{version}", wanted a version like v54.',
            "Correct it, or leave it out to use the highest version that Cloudera Manager offers.",
        )
    return found

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to Cloudera Manager: which version of its API, the session, and which calls may be repeated.

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
    400: "Its own words say what it does not take: correct that in kafka_dr_srm, then start again.",
    403: "Use an account whose role allows this: Configurator for properties, Operator for commands.",
    404: "Names are case-sensitive. An API version above the one of this Cloudera Manager is not found either.",
}


class RefusedError(DrError):
    """Cloudera Manager said no, and did nothing. ``status`` is the HTTP status, ``text`` its own words."""

    def __init__(self, status: int, text: str, doing: str, endpoint: str) -> None:
        message = f'Cloudera Manager at "{endpoint}" refused {doing} ({status}): {text or "without a word"}'
        super().__init__(_CODES.get(status, "cm_error"), message, _HINTS.get(status, "Its log says more."), endpoint)
        self.status = status
        self.text = text


class UnsureError(Unreachable):
    """A command was sent and no answer came: it may be under way, so it must not be sent again unseen."""


class CmTransport(HttpClient):
    """Calls to one Cloudera Manager. ``url`` is the base of its API once the first call was made.

    Credentials go with each call, and so does whatever cookie came back: with it Cloudera Manager need not ask its
    directory again. Redirects are followed while the version is asked for, and nowhere else: they would repeat a POST.
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
        """The JSON answer, None for an empty one; ``path`` begins behind the API version.

        GET and PUT are repeated while nobody listens or an answer says "later", all attempts within the time-out. A
        POST is repeated only if nothing was sent; when it is not known what became of it, that is ``UnsureError``.
        """
        self._make_ready()
        doing = f"{method} {path}"
        outcome = self._with_session(method, path + query, body)
        if isinstance(outcome, NoAnswer):
            if method == "POST" and outcome.kind != "refused":
                raise UnsureError("cm_unsure", outcome.message, outcome.hint, self.url)
            raise outcome
        if method == "POST" and outcome.status in (502, 503, 504):
            text = f'Cloudera Manager at "{self.url}": {doing} ended with {outcome.status}.'
            raise UnsureError("cm_unsure", text, "It may be under way nevertheless.", self.url)
        return self._body(outcome, doing)

    def _with_session(self, method: str, path: str, body: Any) -> Answer | NoAnswer:
        """One exchange. A session that ran out is refused with 401, before anything is done: once more without it."""
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
        """The highest version that this Cloudera Manager speaks, as ``v54``; ``url`` moves with a redirect."""
        for _hop in range(_HOPS):
            outcome = self.exchange("GET", _DISCOVERY, None, lambda seen: self.timeout if _later(seen, "GET") else 0.0)
            if isinstance(outcome, NoAnswer):
                raise outcome
            if outcome.status not in _REDIRECTS:
                return self._version(outcome)
            self.url = self._moved(outcome)
        raise DrError("cm_redirect", f'"{self.url}" redirects without an end.', f"Correct {_URL}.", self.url)

    def _version(self, answer: Answer) -> str:
        if answer.ok and _VERSION.fullmatch(answer.text):
            return answer.text
        if not answer.ok:
            raise self._failure(answer, f"GET {_DISCOVERY}")
        raise self._not_cm(answer, f"GET {_DISCOVERY}")

    def _moved(self, answer: Answer) -> str:
        """The base that a redirect leads to: the same host, and never from TLS to plain text."""
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
        if answer.status in (502, 503, 504):
            found = f"was not ready for {doing} within {self.timeout:g} s ({answer.status}): {text}"
            hint = "It may be starting. Try again, or look at its log."
            return Unreachable("cm_busy", f'Cloudera Manager at "{self.url}" {found}', hint, self.url)
        return RefusedError(answer.status, text, doing, self.url)

    def _redirected(self, answer: Answer) -> DrError:
        where = one_line(answer.headers.get("location", "nowhere").partition("?")[0])
        text = f'"{self.url}" redirects to "{where}", which may be a login page or another Cloudera Manager.'
        return DrError("cm_redirect", text, f"Give the address that answers itself: {_URL}.", self.url)

    def _not_cm(self, answer: Answer, doing: str) -> DrError:
        kind = answer.content_type or "no content type"
        return DrError(
            "cm_not_json",
            f'"{self.url}" answered {doing} with {answer.status} and {kind}, not as Cloudera Manager does: '
            f"{one_line(answer.text)[:120]}",
            f"An HTML page is often the login of Knox or of another proxy: check {_URL} and the credentials.",
            self.url,
        )


def _later(outcome: Answer | NoAnswer, method: str) -> bool:
    """Whether the same call may be sent again: nothing was sent, or a GET or PUT met a server that is starting."""
    if isinstance(outcome, NoAnswer):
        return outcome.kind == "refused" or (outcome.kind == "dropped" and method != "POST")
    return outcome.status in (502, 503, 504) and method != "POST"


def _message(answer: Answer) -> str:
    """What an error says: the field ``message`` of Cloudera Manager's JSON, else its text."""
    try:
        body = json.loads(answer.text)
    except ValueError:
        return one_line(answer.text)
    said = body.get("message") if isinstance(body, dict) else None
    return one_line(str(said if said is not None else answer.text))


def _with_scheme(url: str) -> str:
    """``host:7180`` is plain HTTP; every other port, and none, is TLS."""
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
            f'api_version of kafka_dr_srm.<alias> (option cm_api_version) is "{version}".',
            "Give it as v54.",
        )
    return found

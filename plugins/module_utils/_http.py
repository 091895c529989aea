# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP client for all layers. It checks addresses, credentials and TLS, and limits and records every request.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit

from ansible.module_utils.urls import ConnectionError as TlsSetupError
from ansible.module_utils.urls import Request, make_context

from ._core.errors import DrError, Unreachable
from ._core.redaction import without_login, without_secrets
from ._core.schema import Key, check_mapping
from ._files import require_file
from ._guard import require_ownership

__all__ = ["Answer", "HttpClient", "NoAnswer", "Peer", "checked_url", "one_line", "quoted", "tls_context"]

CLIENT_KEYS = {
    "url_username": Key(),
    "url_password": Key(),
    "ca_path": Key(),
    "client_cert": Key(),
    "client_key": Key(),
    "validate_certs": Key("bool", default=True),
    "use_proxy": Key("bool"),
}
PAUSE = 0.25
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Peer:
    """The kind of server, for options and error messages."""

    #: Product name.
    name: str
    #: Prefix of its options and error codes.
    prefix: str
    #: The server with an article, such as "a worker".
    what: str
    #: Examples of valid addresses.
    example: str


@dataclass(frozen=True)
class Answer:
    """A response with any status. The names in ``headers`` are lower-case."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """True for any 2xx status."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The content type in lower case, without its parameters. "": the response has none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class NoAnswer(Unreachable):
    """The server did not answer. It may be restarting, so the error is retriable unless its name is unknown.

    ``kind``: ``refused`` or ``unknown_host`` (nothing was sent), ``dropped`` (the connection broke) or ``silent`` (no
    response in time). In the last two cases the server may have received the request.
    """

    def __init__(self, kind: str, code: str, message: str, hint: str, endpoint: str) -> None:
        super().__init__(code, message, hint, endpoint, retriable=kind != "unknown_host")
        self.kind = kind


class HttpClient:
    """Send requests to one base URL. ``requests`` lists them with method and path only.

    ``url``: one address, or several with commas between them. ``timeout``: seconds for all attempts of a request.
    """

    #: Content type of a request's body, by method. Absent: JSON.
    content_types: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        peer: Peer,
        url: str,
        client: Mapping[str, Any],
        timeout: float,
        clock: tuple[Callable[[], float], Callable[[float], None]] = (time.monotonic, time.sleep),
        follow_redirects: str = "urllib2",
    ) -> None:
        self.peer = peer
        # Several workers serve one group. Requests go to the current worker until it does not answer.
        self._urls = [checked_url(peer, one.strip()) for one in url.split(",")]
        self.url = self._urls[0]
        self.timeout = timeout
        self.requests: list[dict[str, Any]] = []
        self._now, self._sleep = clock
        self._request = _request(peer, self.url, client, follow_redirects)

    def exchange(
        self, method: str, path: str, body: Any, again: Callable[[Answer | NoAnswer], float], timeout: float = 0.0
    ) -> Answer | NoAnswer:
        """Send a request, repeat it if needed, and return the last response or :class:`NoAnswer`.

        ``again``: returns for how many seconds, counted from the first attempt, such an outcome is a reason to repeat
        the request; 0: do not repeat. ``timeout``: seconds for all attempts together; 0: the client's. A ``silent``
        server has used up the time.
        """
        note: dict[str, Any] = {"method": method, "path": path}
        self.requests.append(note)
        start = self._now()
        attempt, bound, tried = 1, timeout or self.timeout, 1
        while True:
            left = bound - (self._now() - start)
            url = self.url
            # A worker may have received a write that got no response, so only a read is tried on every worker.
            shares = 1 + len(self._urls) - tried if method == "GET" else 1
            outcome = self._attempt(method, url, path, body, max(left / shares, 0.5))
            if isinstance(outcome, NoAnswer) and self._next_worker(url, outcome, method, tried):
                tried += 1
                continue
            tried = 1
            pause = self._pause(outcome)
            if self._now() - start + pause >= min(again(outcome), bound):
                return outcome
            self._sleep(pause)
            attempt += 1
            note["attempts"] = attempt

    def _pause(self, outcome: Answer | NoAnswer) -> float:
        """Return the seconds to wait before the request is repeated after this outcome."""
        del outcome
        return PAUSE

    def credentials(self) -> Mapping[str, str]:
        """Headers that authenticate each attempt of a request, besides those of the client options."""
        return {}

    def _next_worker(self, url: str, outcome: NoAnswer, method: str, tried: int) -> bool:
        """Switch from the worker at ``url`` to the next one. Return whether the request may be sent there at once."""
        if len(self._urls) == 1:
            return False
        # A request in another thread may have switched already.
        if self.url == url:
            self.url = self._urls[(self._urls.index(url) + 1) % len(self._urls)]
        return tried < len(self._urls) and (outcome.kind in ("refused", "unknown_host") or method == "GET")

    def _attempt(self, method: str, url: str, path: str, body: Any, timeout: float) -> Answer | NoAnswer:
        """Make one attempt. Raises an error that a repetition cannot help, such as an untrusted certificate."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", **self.credentials()}
        if data is not None:
            headers["Content-Type"] = self.content_types.get(method, "application/json")
        if method != "GET":
            require_ownership()
        try:
            trust = self._request
            context = tls_context(trust.ca_path, trust.validate_certs, trust.client_cert, trust.client_key)
            more = {"headers": headers, "timeout": timeout, "context": context}
            with self._request.open(method, url + path, data=data, **more) as answer:
                return _answer(answer.status, answer)
        except HTTPError as error:
            with error:
                return _answer(error.code, error)
        except (URLError, OSError, http.client.HTTPException, TlsSetupError) as error:
            cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, OSError) else error
            return self._no_answer(cause, f"{method} {path}", timeout)

    def _no_answer(self, cause: BaseException, doing: str, timeout: float) -> NoAnswer:
        prefix, name = self.peer.prefix, self.peer.name
        if isinstance(cause, (ssl.SSLError, TlsSetupError)):
            hint = f"Correct ca_path, client_cert and client_key in {prefix}_client, or the address."
            if "expired" in str(cause):
                hint = "Renew the certificate of the server. No client setting can work around this."
            text = f'The TLS connection to {name} at "{self.url}" failed: {cause}.'
            raise DrError(f"{prefix}_tls", text, hint, self.url) from cause
        what = f"no answer within {timeout:.3g} s" if isinstance(cause, TimeoutError) else str(cause)
        hint = f"Check that {name} runs and that this host can reach it."
        text = f'The request to {name} at "{self.url}" failed: {doing}: {what}.'
        if isinstance(cause, socket.gaierror):
            hint = f"Correct the host name in {prefix}_url, or the name service of this host."
            return NoAnswer("unknown_host", f"{prefix}_unreachable", text, hint, self.url)
        if isinstance(cause, ConnectionRefusedError):
            return NoAnswer("refused", f"{prefix}_unreachable", text, hint, self.url)
        # This includes RemoteDisconnected: the server stopped during the request, or a proxy lost its connection.
        if isinstance(cause, ConnectionError):
            return NoAnswer("dropped", f"{prefix}_unreachable", text, hint, self.url)
        return NoAnswer("silent", f"{prefix}_unreachable", text, hint, self.url)


@lru_cache(maxsize=16)
def tls_context(
    ca_path: str | None, validate_certs: bool, client_cert: str | None, client_key: str | None
) -> ssl.SSLContext:
    """Return the TLS context for these files. Cached: the trusted certificates take 25 ms to load, even for http."""
    made: ssl.SSLContext = make_context(
        cafile=ca_path, validate_certs=validate_certs, client_cert=client_cert, client_key=client_key
    )
    return made


def quoted(*segments: str) -> str:
    """Build a URL path of names: ``P->B.x`` becomes ``P-%3EB.x``, a blank becomes ``%20``."""
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


def one_line(text: str) -> str:
    """Shorten ``text`` for a message: one line of at most 500 characters, without secrets."""
    line = " ".join(without_secrets(text).split())
    return line if len(line) <= 500 else line[:497] + "..."


def checked_url(peer: Peer, url: str) -> str:
    """Return a base URL without a trailing slash. Raises an error if it has more than scheme, host, port and path."""
    option, code = f"{peer.prefix}_url", f"{peer.prefix}_url_invalid"
    try:
        parts = urlsplit(url)
        wrong = parts.port == 0 or parts.scheme not in ("http", "https") or not parts.hostname
    except ValueError:  # the port is not a number
        raise DrError(code, f"The port in {option} is not a number.", f"Use an address like {peer.example}.") from None
    if wrong or parts.query or parts.fragment:
        shown = parts.hostname or without_login(url)
        text = f'{option} is not an address of {peer.what}: "{shown}".'
        raise DrError(code, text, f"Use an address like {peer.example}.")
    if parts.username or parts.password:
        hint = f"Set url_username and url_password in {peer.prefix}_client instead: addresses are shown in messages."
        raise DrError(code, f"{option} contains a user name or a password.", hint)
    return url.rstrip("/")


def _answer(status: int, source: Any) -> Answer:
    raw: bytes = source.read()
    headers = {str(name).lower(): str(value) for name, value in source.headers.items()}
    return Answer(status, raw.decode("utf-8", "replace").strip(), headers)


def _request(peer: Peer, url: str, client: Mapping[str, Any], follow_redirects: str) -> Request:
    given, problems = check_mapping(f"{peer.prefix}_client", client, CLIENT_KEYS)
    if problems:
        raise DrError(f"{peer.prefix}_client_invalid", " ".join(problems), f"Known keys: {', '.join(CLIENT_KEYS)}.")
    for key in ("ca_path", "client_cert", "client_key"):
        if given[key]:
            require_file(f"{peer.prefix}_client.{key}", given[key], f'the client of {peer.name} at "{url}"')
    proxy = given.pop("use_proxy")
    return Request(
        **given,
        use_proxy=urlsplit(url).hostname not in _LOOPBACK if proxy is None else proxy,
        force_basic_auth=given["url_username"] is not None,
        follow_redirects=follow_redirects,
        # Credentials come only from the task, never from the .netrc of the user that runs it.
        use_netrc=False,
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP server: authentication, faults and responses. api.py has the resources."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import secrets
import socket
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from . import own
from .api import Api
from .errors import ApiError
from .requests import Request, parse
from .site import Manager
from .switches import Fault, Switches

COOKIE = "SESSION"
LOGIN = b"<html><head><title>Login</title></head><body>Please log in.</body></html>"
GATEWAY_DOWN = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
JSON, TEXT, HTML = "application/json;charset=utf-8", "text/plain;charset=utf-8", "text/html"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # A restart can reuse the port at once.
    allow_reuse_address = True

    def __init__(self, port: int, manager: Manager, certificate: Path | None = None, key: Path | None = None) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.manager = manager
        self.api = Api(manager)
        self.log: list[dict[str, Any]] = []
        # User and start time of each session, by cookie.
        self.sessions: dict[str, tuple[str, float]] = {}
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            # The handshake runs in the thread of the connection: a silent client must not block others.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect early."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        # Header and body are two writes. Without this the second waits for the acknowledgement of the first.
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *args: Any) -> None:
        """Write no log. GET /emulator/log returns the requests."""

    def handle_any(self) -> None:
        path, _mark, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path.startswith("/emulator/"):
            self._own(path, body)
            return
        entry: dict[str, Any] = {
            "time": time.time(),
            "method": self.command,
            "path": path,
            "query": query,
            "user": None,
            "status": None,
        }
        self.server.log.append(entry)
        try:
            user = self._user()
            entry["user"] = user
            switches = self._switches()
            fault = self._take_fault(path)
            if fault and not fault.after:
                self._go_wrong(fault, entry)
                return
            status, answer = self._answer(path, query, body, user, switches)
            if fault:
                self._go_wrong(fault, entry)
                return
        except ApiError as error:
            status, answer = error.status, {"message": str(error), "causes": None}
            user = entry["user"]
        entry["status"] = status
        self._send(status, answer, user)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    # ---- the API

    def _answer(self, path: str, query: str, body: bytes, user: str | None, switches: Switches) -> tuple[int, Any]:
        base = switches.prefix or "/api"
        if not path.startswith(base + "/"):
            raise ApiError(404, "HTTP 404 Not Found")
        version, slash, rest = path[len(base) + 1 :].partition("/")
        public = rest.endswith("/clientConfig") and self.command == "GET"
        if user is None and not public:
            raise ApiError(401, "Authentication required")
        if version == "version" and not slash and self.command == "GET":
            return 200, f"v{switches.maximum_version}"
        if (
            not version.startswith("v")
            or not version[1:].isdigit()
            or not 1 <= int(version[1:]) <= switches.maximum_version
        ):
            raise ApiError(404, f"API version '{version}' is not supported.")
        weak = user is None or user.startswith("read")
        if weak and self.command != "GET":
            raise ApiError(403, "User does not have the required privileges.")
        found = self._route("/" + rest, dict(parse_qsl(query, keep_blank_values=True)), body, user or "", weak)
        if self.command == "POST" and ("/commands/" in rest or "/roleCommands/" in rest):
            # The command already runs while its caller waits.
            time.sleep(switches.answer_seconds)
            return switches.post_status, found
        if self.command == "PUT" and switches.put_status == 204:
            return 204, None
        return switches.put_status if self.command == "PUT" else 200, found

    def _route(self, path: str, query: dict[str, str], body: bytes, user: str, weak: bool) -> Any:
        wrong_method = False
        for method, pattern, handler in self.server.api.routes:
            if match := pattern.match(path):
                if method == self.command:
                    parts = tuple(unquote(part) for part in match.groups())
                    return handler(Request(parts, query, parse(body), user, weak))
                wrong_method = True
        raise ApiError(
            405 if wrong_method else 404, "HTTP 405 Method Not Allowed" if wrong_method else "HTTP 404 Not Found"
        )

    def _switches(self) -> Switches:
        with self.server.manager.store.lock:
            return self.server.manager.store.state.switches

    # ---- authentication

    def _user(self) -> str | None:
        for pair in (self.headers.get("Cookie") or "").split(";"):
            name, _equals, value = pair.strip().partition("=")
            found = self.server.sessions.get(value) if name == COOKIE else None
            if found and self._valid(found[1]):
                return found[0]
        kind, _blank, word = (self.headers.get("Authorization") or "").partition(" ")
        if kind.lower() != "basic":
            return None
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            name, _colon, password = base64.b64decode(word, validate=True).decode().partition(":")
            if secrets.compare_digest(self.server.manager.users.get(name, "").encode(), password.encode()) and password:
                return name
        return None

    def _valid(self, began: float) -> bool:
        limit = self._switches().session_seconds
        return limit is None or time.time() < began + limit

    # ---- faults

    def _take_fault(self, path: str) -> Fault | None:
        with self.server.manager.store.lock:
            faults = self.server.manager.store.state.switches.faults
            fault = next((item for item in faults if item.meets(self.command, path)), None)
            if fault and fault.times is not None:
                fault.times -= 1
            return fault

    def _go_wrong(self, fault: Fault, entry: dict[str, Any]) -> None:
        """Apply a fault. The request is logged before its response is sent."""
        if fault.kind == "dropped":
            entry["status"] = 0
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        headers = {}
        if fault.kind == "redirect":
            headers["Location"] = fault.to.rstrip("/") + self.path
        if fault.kind == "unavailable" and fault.retry_after is not None:
            headers["Retry-After"] = str(fault.retry_after)
        status, kind, body = {
            "error": (500, JSON, b'{"message": "Internal error", "causes": ["emulated"]}'),
            "bad_gateway": (502, HTML, GATEWAY_DOWN),
            "unavailable": (503, JSON, b'{"message": "Try again later", "causes": null}'),
            "login_page": (200, HTML, LOGIN),
            "redirect": (302, HTML, b""),
        }[fault.kind]
        entry["status"] = status
        self._write(status, kind, body, headers)

    def _own(self, path: str, body: bytes) -> None:
        """Handle /emulator/ requests, without a password and without the log."""
        try:
            answer = own.answer(
                self.server.manager, self.server.log, self.command, path.removeprefix("/emulator/"), body
            )
            status = 200
        except ApiError as error:
            status, answer = error.status, {"message": str(error), "causes": None}
        self._write(status, JSON, json.dumps(answer).encode(), {})

    # ---- responses

    def _send(self, status: int, answer: Any, user: str | None) -> None:
        headers = {}
        if status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="Cloudera Manager"'
        if user is not None and COOKIE + "=" not in (self.headers.get("Cookie") or ""):
            word = secrets.token_hex(16)
            self.server.sessions[word] = (user, time.time())
            headers["Set-Cookie"] = f"{COOKIE}={word}; Path=/; HttpOnly"
        if isinstance(answer, bytes):
            self._write(status, "application/zip", answer, headers)
        elif isinstance(answer, str):
            self._write(status, TEXT, answer.encode(), headers)
        else:
            self._write(status, JSON, b"" if answer is None else json.dumps(answer).encode(), headers)

    def _write(self, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

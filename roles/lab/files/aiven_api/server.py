# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP server: tokens, routes, faults and responses."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from .errors import ApiError
from .kafka_acls import KafkaService
from .service import MirrorMaker
from .switches import Fault, Switches

JSON, HTML = "application/json", "text/html"
#: The role of each token. A reader lacks the permission service:data:write.
WRITER, READER = "writer", "reader"
_SERVICE = re.compile(r"/v1/project/([^/]+)/service/([^/]+)(/.*)?")
_INTEGRATION = re.compile(r"/v1/project/([^/]+)/integration/([^/]+)")
_FLOWS = "/mirrormaker/replication-flows"
_ACLS = "/kafka/acl"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # A restart can reuse the port at once.
    allow_reuse_address = True

    def __init__(self, port: int, mirror_maker: MirrorMaker, tokens: dict[str, str], kafka: KafkaService) -> None:
        """``tokens``: the role of each token."""
        super().__init__(("127.0.0.1", port), Handler)
        self.mirror_maker, self.tokens, self.kafka = mirror_maker, tokens, kafka
        self.log: list[dict[str, Any]] = []

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
        path = self.path.partition("?")[0]
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path.startswith("/emulator/"):
            self._own(path.removeprefix("/emulator/"), raw)
            return
        entry: dict[str, Any] = {"time": time.time(), "method": self.command, "path": path, "status": None}
        self.server.log.append(entry)
        fault = self._take_fault(path)
        if fault and not fault.after:
            self._go_wrong(fault, entry)
            return
        try:
            status, answer = 200, self._answer(path, raw)
        except ApiError as error:
            status, answer = error.status, _refusal(error)
        if fault:
            self._go_wrong(fault, entry)
            return
        entry["status"] = status
        self._write(status, JSON, json.dumps(answer).encode())

    do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    # ---- the API

    def _answer(self, path: str, raw: bytes) -> Any:
        role = self._role()
        body = _parsed(raw)
        if match := _INTEGRATION.fullmatch(path):
            self._require_project(match[1])
            return {"service_integration": self._integration(unquote(match[2]), body)}
        match = _SERVICE.fullmatch(path)
        if match is None:
            raise ApiError(404, "Not found")
        self._require_project(match[1])
        mirror_maker, rest = self.server.mirror_maker, match[3] or ""
        if unquote(match[2]) == self.server.kafka.name and rest.startswith(_ACLS):
            if role != WRITER:
                raise ApiError(403, "Not authorized: permission service:data:write is required")
            return self._acls(unquote(rest.removeprefix(_ACLS).removeprefix("/")), body)
        if unquote(match[2]) != mirror_maker.place.service:
            raise ApiError(404, "Service does not exist")
        if rest.startswith(_FLOWS):
            if role != WRITER:
                raise ApiError(403, "Not authorized: permission service:data:write is required")
            return self._flows([unquote(part) for part in rest.removeprefix(_FLOWS).split("/")[1:]], body)
        if rest == "/integration" and self.command == "GET":
            return {"service_integrations": mirror_maker.listed()}
        if rest:
            raise ApiError(404, "Not found")
        if self.command == "GET":
            return {"service": mirror_maker.view()}
        if self.command != "PUT":
            raise ApiError(405, "Method not allowed")
        if role != WRITER:
            raise ApiError(403, "Not authorized")
        return {"service": mirror_maker.change(body)}

    def _acls(self, key: str, body: Any) -> Any:
        kafka = self.server.kafka
        if not self.server.mirror_maker.switches.native_acls:
            raise ApiError(404, "Kafka-native ACLs are not available for this service")
        if not key and self.command == "GET":
            return {"acl": [], "kafka_acl": kafka.rows()}
        if not key and self.command == "POST":
            return {"kafka_acl": kafka.add(body), "message": "added"}
        if key and self.command == "DELETE":
            kafka.delete(key)
            return {"message": "deleted"}
        raise ApiError(405, "Method not allowed")

    def _flows(self, ends: list[str], body: Any) -> Any:
        mirror_maker = self.server.mirror_maker
        if not ends and self.command == "GET":
            return {"replication_flows": mirror_maker.all_flows()}
        if not ends and self.command == "POST":
            mirror_maker.create(body)
            return {}
        if len(ends) == 2:
            place = (ends[0], ends[1])
            if self.command == "GET":
                return {"replication_flow": mirror_maker.flow(place)}
            if self.command == "PUT":
                return {"replication_flow": mirror_maker.patch(place, body)}
            if self.command == "DELETE":
                mirror_maker.delete(place)
                return {}
        raise ApiError(405, "Method not allowed")

    def _integration(self, key: str, body: Any) -> Any:
        mirror_maker = self.server.mirror_maker
        return mirror_maker.change_integration(key, body) if self.command == "PUT" else mirror_maker.integration(key)

    def _require_project(self, name: str) -> None:
        if unquote(name) != self.server.mirror_maker.place.project:
            raise ApiError(404, "Project does not exist")

    def _role(self) -> str:
        kind, _blank, token = (self.headers.get("Authorization") or "").partition(" ")
        role = self.server.tokens.get(token) if kind == "aivenv1" else None
        if role is None:
            raise ApiError(401, "Invalid token")
        return role

    # ---- faults

    def _take_fault(self, path: str) -> Fault | None:
        mirror_maker = self.server.mirror_maker
        with mirror_maker.lock:
            fault = next((item for item in mirror_maker.switches.faults if item.meets(self.command, path)), None)
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
        page = b"<html><body><h1>Maintenance</h1></body></html>"
        status, kind, body = {
            "conflict": (409, JSON, _text("Service is being modified")),
            "limited": (429, JSON, _text("Too many requests")),
            "error": (500, JSON, _text("Internal server error")),
            "unavailable": (503, JSON, _text("Service unavailable")),
            "html": (200, HTML, page),
            "html_error": (502, HTML, page),
            "not_json": (200, JSON, b"not json"),
            "redirect": (302, HTML, b""),
        }[fault.kind]
        entry["status"] = status
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        if fault.kind == "redirect":
            headers["Location"] = "/elsewhere"
        self._write(status, kind, body, headers)

    # ---- the emulator's own endpoints

    def _own(self, name: str, raw: bytes) -> None:
        try:
            status, answer = 200, self._own_answer(name, raw)
        except ApiError as error:
            status, answer = error.status, _refusal(error)
        self._write(status, JSON, json.dumps(answer).encode())

    def _own_answer(self, name: str, raw: bytes) -> Any:
        mirror_maker = self.server.mirror_maker
        if name == "switches":
            with mirror_maker.lock:
                if self.command in ("PUT", "DELETE"):
                    before = mirror_maker.switches if self.command == "PUT" else Switches()
                    mirror_maker.switches = before.changed(_parsed(raw) or {})
                return mirror_maker.switches.to_json()
        if name == "log":
            items = list(self.server.log)
            if self.command == "DELETE":
                self.server.log.clear()
            return {"items": items}
        if name == "engine":
            return mirror_maker.report()
        raise ApiError(404, "Known: switches, log, engine.")

    def _write(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        raise ApiError(400, "The body is not JSON.") from None


def _refusal(error: ApiError) -> dict[str, Any]:
    return {"errors": [{"message": str(error), "status": error.status}], "message": str(error)}


def _text(message: str) -> bytes:
    return json.dumps({"errors": [{"message": message}], "message": message}).encode()

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real HTTP server that answers from a script."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["ScriptedServer", "playing"]

UNEXPECTED = (500, {"message": "unexpected call"})


class ScriptedServer:
    """Returns scripted responses to calls, then ``endless``. The calls and the remaining responses can be inspected.

    A response is a status, a content (None: empty; text unchanged; other values as JSON) and optional headers.
    Status 0: no response.
    """

    def __init__(self) -> None:
        self.answers: list[tuple[Any, ...]] = []
        self.endless: tuple[Any, ...] | None = None
        self.asked: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                script.asked.append((self.command, self.path, body))
                script.headers.append(dict(self.headers))
                answer = script.answers.pop(0) if script.answers else (script.endless or UNEXPECTED)
                status, content = script.sent(*answer[:2])
                if status == 0:
                    return
                raw = (
                    b"" if content is None else (content if isinstance(content, str) else json.dumps(content)).encode()
                )
                self.send_response(status)
                for name, value in (answer[2] if len(answer) > 2 else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815 - names of http.server

            def log_message(self, *_values: Any) -> None:
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        """Return a response as it is sent. Subclasses may change it."""
        return status, content

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _body in self.asked]


Server = TypeVar("Server", bound=ScriptedServer)


@contextmanager
def playing(script: Server) -> Iterator[Server]:
    """Serve. An unused response fails the test."""
    thread = threading.Thread(target=script.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        script.server.shutdown()
        script.server.server_close()
        thread.join()
    assert script.answers == [], "unused responses"

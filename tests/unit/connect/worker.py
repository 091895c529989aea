# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real HTTP server that plays a Kafka Connect worker."""

from __future__ import annotations

import http.server
import json
from typing import Any

UNEXPECTED = (500, {"message": "unexpected call"})


class Worker:
    """Answers calls from a list, then with ``endless``; what was asked and what is left over can be looked at."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.endless: tuple[int, Any] | None = None
        self.asked: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        worker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                worker.asked.append((self.command, self.path, body))
                worker.headers.append(dict(self.headers))
                status, content = worker.answers.pop(0) if worker.answers else (worker.endless or UNEXPECTED)
                if status >= 400 and isinstance(content, dict) and "servlet" not in content:
                    content = {"error_code": status, **content}
                raw = (
                    b"" if content is None else (content if isinstance(content, str) else json.dumps(content)).encode()
                )
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer  # noqa: N815 - names of http.server

            def log_message(self, *_values: Any) -> None:
                """Quiet."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _body in self.asked]

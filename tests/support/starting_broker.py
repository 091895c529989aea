# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A broker that answers requests for metadata, after a delay, with itself or with no broker at all.

A real broker knows of no broker while it starts, or after it was frozen until the controller took it for dead. Only
then no client can ask it when. It says that it coordinates each group, and refuses as a former coordinator does.
Source: Kafka's requests Metadata, ApiVersions, FindCoordinator and OffsetFetch, versions without tags.
"""

from __future__ import annotations

import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["StartingBroker", "starting_broker"]

_METADATA, _OFFSET_FETCH, _FIND_COORDINATOR, _API_VERSIONS = 3, 9, 10, 18
_UNSUPPORTED_VERSION, _NOT_COORDINATOR = 35, 16
#: The latest version of each request.
_SERVED = {_METADATA: 4, _OFFSET_FETCH: 5, _FIND_COORDINATOR: 0, _API_VERSIONS: 0}
_ID = 1


class StartingBroker(socketserver.ThreadingTCPServer):
    """Listens on a free port."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        #: Whether it knows of itself.
        self.knows_itself = True
        #: The same for the next answers, one by one.
        self.next_answers: list[bool] = []
        #: Seconds before each answer.
        self.delay = 0.0
        #: Requests for metadata that were answered with no broker, and those that were answered with a delay.
        self.empty, self.late = 0, 0

    @property
    def address(self) -> str:
        """The bootstrap server."""
        return f"127.0.0.1:{self.server_address[1]}"

    def metadata(self) -> bytes:
        """An answer without topics."""
        port = int(self.server_address[1])
        itself = [struct.pack(">i", _ID) + _text("127.0.0.1") + struct.pack(">ih", port, -1)]
        knows_itself = self.next_answers.pop(0) if self.next_answers else self.knows_itself
        self.empty += not knows_itself
        known = itself if knows_itself else []
        controller = _ID if known else -1
        brokers = struct.pack(">ii", 0, len(known)) + b"".join(known)
        return brokers + _text("starting") + struct.pack(">ii", controller, 0)


class _Connection(socketserver.BaseRequestHandler):
    server: StartingBroker

    def handle(self) -> None:
        while len(size := self._read(4)) == 4:
            request = self._read(struct.unpack(">i", size)[0])
            key, version, number = struct.unpack(">hhi", request[:8])
            answer = struct.pack(">i", number) + self._answer(key, version)
            self.request.sendall(struct.pack(">i", len(answer)) + answer)

    def _answer(self, key: int, version: int) -> bytes:
        if key == _API_VERSIONS:
            served = b"".join(struct.pack(">hhh", served, 0, latest) for served, latest in sorted(_SERVED.items()))
            return struct.pack(">hi", _UNSUPPORTED_VERSION if version else 0, len(_SERVED)) + served
        if key == _FIND_COORDINATOR:
            return struct.pack(">hi", 0, _ID) + _text("127.0.0.1") + struct.pack(">i", self.server.server_address[1])
        if key == _OFFSET_FETCH:
            return struct.pack(">iih", 0, 0, _NOT_COORDINATOR)
        delay = self.server.delay
        time.sleep(delay)
        self.server.late += delay > 0
        return self.server.metadata()

    def _read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            try:
                part = self.request.recv(count - len(found))
            except OSError:
                part = b""
            if not part:
                break
            found += part
        return found


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


@contextmanager
def starting_broker() -> Iterator[StartingBroker]:
    """Serve in the background."""
    with StartingBroker() as broker:
        threading.Thread(target=broker.serve_forever, args=(0.05,), daemon=True).start()
        yield broker
        broker.shutdown()

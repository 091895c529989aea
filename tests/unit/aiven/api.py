# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aiven's API in this process: the emulator of the lab without Kafka. It records what its workers would be given."""

from __future__ import annotations

import json
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "roles" / "lab" / "files"))

from aiven_api.kafka_acls import KafkaService, NoBroker
from aiven_api.server import READER, WRITER, Server
from aiven_api.service import MirrorMaker, NoWorkers, Place
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven.engine import (
    AivenEngine,
    open_engine,
)
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import derived

TOKEN = "writer-token"
PROJECT, SERVICE, KAFKA = "lab", "mirrormaker", "kafka"


class Api:
    """The emulator, and the engine's options for it."""

    def __init__(self, server: Server, workers: NoWorkers, broker: NoBroker) -> None:
        self.server, self.workers, self.broker = server, workers, broker
        self.mirror_maker = server.mirror_maker
        self.url = f"http://127.0.0.1:{server.port}"
        self.site: dict[str, Any] = {
            "url": f"{self.url}/v1",
            "token": TOKEN,
            "project": PROJECT,
            "service": SERVICE,
            "client": {},
        }

    def switch(self, **values: Any) -> None:
        """Set switches of the emulator."""
        request = urllib.request.Request(
            f"{self.url}/emulator/switches",
            json.dumps(values).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200

    def fail(self, kind: str, times: int | None = None, **more: Any) -> None:
        """Let matching requests fail."""
        self.switch(faults=[{"kind": kind, "times": times, **more}])

    @property
    def writes(self) -> list[tuple[str, int]]:
        """Method and status of each request that is not a GET."""
        return [(row["method"], row["status"]) for row in self.server.log if row["method"] != "GET"]

    def pair(self, **given: Any) -> dict[str, Any]:
        return derived("aiven", **{"aiven": {"P": self.site, "B": self.site}, **given})

    def engine(self, **site: Any) -> AivenEngine:
        """An engine with other values of the site, without Kafka."""
        clusters = {alias: {"alias": alias, "aiven": {**self.site, **site}} for alias in ("P", "B")}
        kafka: Any = dict.fromkeys(clusters)
        return open_engine(clusters, naming_of("default"), kafka, 0.5)


@contextmanager
def serving(folder: Path) -> Iterator[Api]:
    workers, broker = NoWorkers(), NoBroker()
    mirror_maker = MirrorMaker(Place(PROJECT, SERVICE, ("P", "B")), folder / "state.json", workers)
    kafka = KafkaService(KAFKA, broker, lambda: mirror_maker.switches.acl_effect_seconds)
    server = Server(0, mirror_maker, {TOKEN: WRITER, "reader-token": READER}, kafka)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Api(server, workers, broker)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

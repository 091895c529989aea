# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python roles/lab/files/aiven_api``: serve one emulated MirrorMaker 2 service and one Kafka service."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from lab import secure
from lab.files import read_json

from .kafka_acls import Broker, KafkaService, NoBroker
from .server import READER, WRITER, Server
from .service import MirrorMaker, NoWorkers, Place, Workers


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="aiven_api", description="Serve Aiven's API for one MirrorMaker 2 service on 127.0.0.1."
    )
    result.add_argument("--config", type=Path, help="configuration that the lab writes")
    result.add_argument("--dir", type=Path, help="folder of the state, for a run without Kafka")
    result.add_argument("--port", type=int, default=0, help="0: any free port")
    return result


def configuration(options: argparse.Namespace) -> dict[str, Any]:
    """The configuration from the file of the lab or from the options."""
    if options.config:
        return read_json(options.config)
    if not options.dir:
        raise SystemExit("aiven_api: give --config or --dir.")
    return {"project": "lab", "service": "mirrormaker", "dir": str(options.dir), "port": options.port}


def main() -> int:
    """Serve until a signal ends the process. Print one JSON line when ready."""
    document = configuration(parser().parse_args())
    servers = document.get("bootstrap_servers") or {"P": "", "B": ""}
    place = Place(document["project"], document["service"], tuple(servers))
    mirror_maker = MirrorMaker(
        place, Path(document["dir"]) / "state.json", _workers(document), document.get("settings")
    )
    tokens = document.get("tokens") or {"writer-token": WRITER, "reader-token": READER}
    kafka = KafkaService(
        document.get("kafka_service", "kafka"), _broker(document), lambda: mirror_maker.switches.acl_effect_seconds
    )
    server = Server(document["port"], mirror_maker, tokens, kafka)
    mirror_maker.begin()
    signal.signal(signal.SIGTERM, _stop)
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{server.port}", "pid": os.getpid()}) + "\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever(0.1)
    return 0


def _workers(document: dict[str, Any]) -> Workers:
    """The Driver of the Connect worker. Without a worker, which needs only the standard library, flows do not run."""
    if "connect_url" not in document:
        return NoWorkers()
    from cm.driver import Driver
    from cm.worker import Worker

    from .workers import LabWorkers

    security = _security(document)
    login = security.rest_client() if security else {}
    driver = Driver(document["alias"], Worker(document["connect_url"], login))
    return LabWorkers(document["alias"], driver, document["bootstrap_servers"], document.get("more") or {})


def _broker(document: dict[str, Any]) -> Broker:
    """The brokers of the alias. An open lab has no authorizer, so ACLs exist in the API only."""
    security = _security(document)
    if security is None:
        return NoBroker()
    from .broker import LabBroker

    return LabBroker(document["bootstrap_servers"][document["alias"]], security.client("admin"))


def _security(document: dict[str, Any]) -> secure.Security | None:
    """The passwords of a secured lab, which no other file contains."""
    return secure.security(Path(document["lab"])) if "lab" in document else None


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python roles/lab/files/cm COMMAND``: serve one emulated Cloudera Manager, or run srm-control."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from lab.files import read_json

from .contract import NoEngine
from .control_file import write_control
from .server import Server
from .site import Manager, Site


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="cm", description="Emulators of Cloudera Manager and srm-control.")
    commands = result.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve Cloudera Manager on 127.0.0.1; prints one JSON line when ready")
    serve.add_argument(
        "--config", type=Path, help="configuration that the lab writes; the other options are for a run without Kafka"
    )
    serve.add_argument("--site", action="append", help="alias of the managed cluster; give it twice for both clusters")
    serve.add_argument("--dir", type=Path, help="folder of the state")
    serve.add_argument("--port", type=int, default=0, help="0: any free port")
    serve.add_argument("--cluster", action="append", help="name of the cluster, one for each --site")
    serve.add_argument("--certificate", type=Path, help="PEM certificate, to use TLS")
    serve.add_argument("--key", type=Path)
    serve.add_argument("--switches", help="JSON, as for PUT /emulator/switches")
    return result


def configuration(options: argparse.Namespace) -> dict[str, Any]:
    """The configuration from the file of the lab or from the options."""
    if options.config:
        return read_json(options.config)
    if not options.site or not options.dir:
        raise SystemExit("cm: give --config, or --site and --dir.")
    names = options.cluster or [f"Cluster {number}" for number in range(1, len(options.site) + 1)]
    sites = [{"alias": alias, "cluster": name} for alias, name in zip(options.site, names, strict=True)]
    return {"sites": sites, "dir": str(options.dir), "port": options.port}


def serve(options: argparse.Namespace) -> int:
    document = configuration(options)
    sites = [Site(**item) for item in document["sites"]]
    password = document.get("password") or os.environ.get("CM_EMULATOR_PASSWORD") or "admin"
    users = dict.fromkeys(("admin", "reader"), password)
    manager = Manager(Path(document["dir"]), sites, _engine(sites), users)
    if options.switches:
        with manager.store.change() as state:
            state.switches = state.switches.changed(json.loads(options.switches))
            manager.refresh(state)
    write_control(manager)
    server = Server(document["port"], manager, options.certificate, options.key)
    manager.engine.begin(manager.store)
    manager.commands.resume()
    signal.signal(signal.SIGTERM, _stop)
    sys.stdout.write(json.dumps({"url": f"{server.scheme}://127.0.0.1:{server.port}", "pid": os.getpid()}) + "\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever(0.1)
    return 0


def _engine(sites: list[Site]) -> Any:
    """The engine, or NoEngine without a worker, which needs only the standard library."""
    if not all(site.connect_url for site in sites):
        return NoEngine()
    from .engine import LabEngine

    return LabEngine(sites)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def main() -> int:
    # The launcher of srm-control calls `control HOME` with the arguments of its user.
    if sys.argv[1:2] == ["control"]:
        from .control import main as control

        return control(Path(sys.argv[2]), sys.argv[3:])
    return serve(parser().parse_args())

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python roles/lab/files/cm <command>`: serve one emulated Cloudera Manager, or act as srm-control."""

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
    result = argparse.ArgumentParser(prog="cm", description="Stand-ins for Cloudera Manager and srm-control.")
    commands = result.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="a Cloudera Manager on 127.0.0.1; writes one JSON line when it answers")
    serve.add_argument("--config", type=Path, help="what the lab writes; the options below are for a run without Kafka")
    serve.add_argument("--site", action="append", help="alias whose cluster it manages; twice: one for both")
    serve.add_argument("--dir", type=Path, help="folder of its state")
    serve.add_argument("--port", type=int, default=0, help="0: any free one")
    serve.add_argument("--cluster", action="append", help="name of the cluster, one for each --site")
    serve.add_argument("--certificate", type=Path, help="PEM: speak TLS")
    serve.add_argument("--key", type=Path)
    serve.add_argument("--switches", help="JSON, as for PUT /emulator/switches")
    return result


def configuration(options: argparse.Namespace) -> dict[str, Any]:
    """The document that the lab writes, or the same from options."""
    if options.config:
        return read_json(options.config)
    if not options.site or not options.dir:
        raise SystemExit("cm: --config, or --site and --dir, are wanted.")
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
    """Without a worker there is none, and then nothing but the standard library is needed."""
    if not all(site.connect_url for site in sites):
        return NoEngine()
    from .engine import LabEngine

    return LabEngine(sites)


def _stop(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def main() -> int:
    # The launcher of srm-control: control HOME, then whatever its user wrote.
    if sys.argv[1:2] == ["control"]:
        from .control import main as control

        return control(Path(sys.argv[2]), sys.argv[3:])
    return serve(parser().parse_args())

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python roles/lab/files/lab COMMAND`` prints one JSON line on standard output and progress on standard error."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from . import archives, jars, java
from .configs import ALIASES, ENGINES, EVERY_PART, Settings, kind
from .errors import LabError
from .ivy import KAFKA_VERSION
from .lab import Lab
from .progress import Progress

ON_A_PART = ("start", "stop", "restart", "kill", "pause", "resume")


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="lab", description="Two Kafka clusters, P and B, with a Connect worker each.")
    commands = result.add_subparsers(dest="command", required=True)
    up = _command(commands, "up", "start the processes that do not run, and wait until they are ready")
    up.add_argument("--cache", type=Path, help="cache folder of the jars, default KAFKA_DR_CACHE or ~/.cache/...")
    up.add_argument("--heap-mb", type=int, help="heap of each of the four processes, default 384")
    up.add_argument("--exactly-once", choices=["disabled", "preparing", "enabled"], help="exactly.once.source.support")
    up.add_argument("--engine", choices=ENGINES, help="srm, aiven: with emulators of their interfaces")
    up.add_argument("--srm-refresh-seconds", type=int, help="refresh intervals of emulated engines, default 600")
    up.add_argument(
        "--secure", action=argparse.BooleanOptionalAction, default=None, help="TLS, users with passwords, and ACLs"
    )
    up.add_argument("--brokers", type=int, help="brokers of each cluster, 1 to 3, default 1")
    up.add_argument("--workers", type=int, help="Connect workers of each cluster, 1 or 2, default 1")
    for name, what in (("kafka", "brokers"), ("connect", "Connect workers")):
        text = f"version of the {what} of a cluster, such as P=3.9.1"
        up.add_argument(f"--{name}-version", action="append", metavar="ALIAS=VERSION", type=_version, help=text)
    up.add_argument("--fresh", action="store_true", help="stop, remove all data, then start")
    up.add_argument("--check", action="store_true", help="only report what would be started")
    down = _command(commands, "down", "stop all processes")
    down.add_argument("--wipe", action="store_true", help="also remove data, logs and lab.json")
    down.add_argument("--check", action="store_true", help="only report what would be stopped")
    _command(commands, "status", "print the state as JSON")
    fetch = commands.add_parser("jars", help="only download and verify the jars")
    fetch.add_argument("--cache", type=Path)
    fetch.add_argument("--kafka-version", default=KAFKA_VERSION)
    fetch.add_argument("--write-checksums", action="store_true", help=argparse.SUPPRESS)
    for name in ON_A_PART:
        part = _command(commands, name, f"{name} one process")
        part.add_argument("cluster", choices=ALIASES)
        part.add_argument("part", choices=EVERY_PART)
        part.add_argument("--cache", type=Path)
    for name, what in (
        ("roll", "restart the brokers of a cluster one by one, each after the previous one is in sync"),
        ("elect", "elect the preferred leader of every partition of a cluster"),
        ("lead", "make one broker the preferred leader of all its partitions, and elect it"),
        ("set", "set a topic's settings; an empty value removes the topic's own value"),
    ):
        whole = _command(commands, name, what)
        whole.add_argument("cluster", choices=ALIASES)
        whole.add_argument("--cache", type=Path)
        if name == "lead":
            whole.add_argument("part", choices=[part for part in EVERY_PART if kind(part) == "broker"])
        if name == "set":
            whole.add_argument("topic")
            whole.add_argument("settings", nargs="+", metavar="NAME=VALUE", type=_setting)
    return result


def _command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text)
    command.add_argument("--dir", type=Path, required=True, help="folder of the lab")
    return command


def _version(text: str) -> tuple[str, str]:
    alias, sign, version = text.partition("=")
    if alias not in ALIASES or not sign or not version:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted ALIAS=VERSION such as P=3.9.1")
    return alias, version


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted NAME=VALUE such as min.insync.replicas=1")
    return name, value


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run the command. Returns the result for standard output."""
    if options.command == "jars":
        return _jars(options)
    lab = Lab(
        options.dir,
        cache=getattr(options, "cache", None),
        heap_mb=getattr(options, "heap_mb", None),
        exactly_once=getattr(options, "exactly_once", None),
        engine=getattr(options, "engine", None),
        srm_refresh_seconds=getattr(options, "srm_refresh_seconds", None),
        secure=getattr(options, "secure", None),
        brokers=getattr(options, "brokers", None),
        workers=getattr(options, "workers", None),
        kafka_versions=_versions(options, "kafka_version"),
        connect_versions=_versions(options, "connect_version"),
    )
    if options.command == "status":
        return lab.status()
    if options.command == "roll":
        return {"changed": True, "restarted": lab.roll(options.cluster)}
    if options.command in ("elect", "lead"):
        moved = lab.elect(options.cluster) if options.command == "elect" else lab.lead(options.cluster, options.part)
        return {"changed": bool(moved), "partitions": moved}
    if options.command == "set":
        lab.configure(options.cluster, options.topic, dict(options.settings))
        return {"changed": True}
    if options.command in ON_A_PART:
        return {"changed": getattr(lab, options.command)(options.cluster, options.part)}
    return _whole(lab, options)


def _versions(options: argparse.Namespace, name: str) -> dict[str, str] | None:
    given = getattr(options, name, None)
    return dict(given) if given else None


def _whole(lab: Lab, options: argparse.Namespace) -> dict[str, Any]:
    up = options.command == "up"
    if options.check:
        missing = lab.missing()
        names = [f"{alias} {part}" for alias, part in lab.wanted() if ((alias, part) in missing) == up]
    else:
        names = lab.up(fresh=options.fresh) if up else lab.down(wipe=options.wipe)
    found = lab.status()
    return {
        "changed": bool(names),
        "started" if up else "stopped": names,
        "dir": str(lab.paths.root),
        "clusters": found["clusters"],
        "security": found.get("security"),
    }


def _jars(options: argparse.Namespace) -> dict[str, Any]:
    cache = options.cache.expanduser().absolute() if options.cache else jars.default_cache()
    program, progress = java.find_java(), Progress()
    if options.write_checksums:
        jars.write_checksums(cache, program, progress, options.kafka_version)
    folder, downloaded = jars.ensure_jars(cache, program, progress, options.kafka_version)
    archives.ensure(folder, program, Settings(), progress, options.kafka_version)
    progress.say(f"jars: {len(list(folder.glob('*.jar')))} verified in {folder}")
    return {"changed": downloaded, "jars": str(folder)}


def _interrupted(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def main() -> int:
    # Handle SIGTERM like Ctrl-C, so that half-started processes are stopped.
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        result = run(parser().parse_args())
    except (LabError, OSError) as error:
        sys.stderr.write(f"lab: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("lab: interrupted; half-started processes were stopped\n")
        return 130
    sys.stdout.write(json.dumps(result) + "\n")
    return 0

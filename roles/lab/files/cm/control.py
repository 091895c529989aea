# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""srm-control: the lists of a flow, and exported offsets. Its output except --list is a guess, see EMULATORS.md."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from lab.files import read_json

from . import lists
from .client_config import NAME, digest, read_client_config
from .lists import ALLOW, DENY, KNOWN, Reader, View
from .records import read_checkpoint
from .replication import FLOW
from .switches import Control

TOPICS, GROUPS, REVERSE = lists.KINDS
OFFSETS = "offsets"
CHANGES = ("add", "remove", "add_blacklist", "remove_blacklist")
NOISE = "26/01/01 00:00:00 INFO admin.AdminClientConfig: AdminClientConfig values:"
WARNING = "log4j:WARN No appenders could be found for logger (org.apache.kafka.clients)."


class UsageError(Exception):
    """A wrong call. The message is shown with the usage; the exit code is 1."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(message)


def parser() -> Parser:
    result = Parser(prog="srm-control", add_help=False, allow_abbrev=False)
    for name in ("source", "target", "config", "producer-props", "consumer-props", "props", "group", "to"):
        result.add_argument(f"--{name}")
    # Public scripts use both spellings.
    result.add_argument("--bootstrap-servers", "--bootstrap-server")
    for name in ("add", "remove", "add-blacklist", "remove-blacklist"):
        result.add_argument(f"--{name}", type=_entries)
    result.add_argument("--list", action="store_true")
    result.add_argument("--export", action="store_true")
    result.add_argument("-h", "--help", action="store_true")
    result.add_argument("subcommand", nargs="?")
    return result


def _entries(text: str) -> list[str]:
    return [item for item in text.split(",") if item]


def main(home: Path, arguments: list[str]) -> int:
    switches = Control(**(read_json(home / "switches.json") or {}))
    if switches.noise:
        sys.stdout.write(NOISE + "\n")
        sys.stderr.write(WARNING + "\n")
    try:
        # Options may come before the subcommand.
        options = parser().parse_intermixed_args(arguments)
        config = read_client_config(Path(options.config) if options.config else home / NAME)
        return _run(options, config, switches)
    except UsageError as error:
        sys.stderr.write(f"srm-control: {error}\n{parser().format_usage()}")
        return 1
    except (KafkaException, OSError) as error:
        sys.stderr.write(f"srm-control: {error}\n")
        return 1


def _run(options: argparse.Namespace, config: dict[str, Any], switches: Control) -> int:
    known = [TOPICS, GROUPS, OFFSETS, *([REVERSE] if config.get("knows_reverse") else [])]
    if options.help:
        sys.stdout.write(parser().format_help())
        return 0
    if options.subcommand not in known:
        raise UsageError(f"unknown command {options.subcommand!r}, wanted one of {', '.join(known)}")
    if not config:
        raise UsageError("no client configuration: it was never deployed to this host")
    _check_secret(config)
    for alias in (options.source, options.target):
        if alias not in config["clusters"]:
            raise UsageError(f"unknown cluster alias {alias!r}, known: {', '.join(config['clusters'])}")
    if not FLOW.match(f"{options.source}->{options.target}") or options.source == options.target:
        raise UsageError("--source and --target must name two clusters")
    servers = options.bootstrap_servers or config["bootstrap_servers"].get(options.target)
    if not servers:
        raise UsageError(f"no address of cluster {options.target}")
    if options.subcommand == OFFSETS:
        return _export(options, servers)
    return _lists(options, config, switches, servers)


def _check_secret(config: dict[str, Any]) -> None:
    """Check the password, which must be in an environment variable."""
    if config["secret"] is None:
        return
    variable = config["secret_variable"]
    given = os.environ.get(variable)
    if not given:
        raise UsageError(f"the secure storage is protected: set the environment variable {variable}")
    if digest(given, config["secret"]["salt"]) != config["secret"]["digest"]:
        raise UsageError("keystore password was incorrect")


def _lists(options: argparse.Namespace, config: dict[str, Any], switches: Control, servers: str) -> int:
    wanted = {name: getattr(options, name) for name in CHANGES if getattr(options, name)}
    if not wanted and not options.list:
        raise UsageError("nothing to do: --add, --remove, --add-blacklist, --remove-blacklist or --list")
    if wanted:
        lists.create(servers, config["control_factor"])
    if wanted and switches.apply:
        for kind, add, remove in ((ALLOW, "add", "remove"), (DENY, "add_blacklist", "remove_blacklist")):
            key = (options.subcommand, options.source, options.target, kind)
            lists.write(servers, key, wanted.get(add, ()), wanted.get(remove, ()))
    if options.list:
        if switches.list_rc:
            sys.stderr.write("srm-control: --list failed\n")
            return switches.list_rc
        _print(options, switches, servers)
    sys.stdout.write("Done.\n")
    return 0


def _print(options: argparse.Namespace, switches: Control, servers: str) -> None:
    view = View(servers)
    view.refresh()
    key = (options.subcommand, options.source, options.target)
    words = {"whitelist": ("whitelist", "blacklist"), "allowlist": ("allowlist", "denylist")}[switches.wording]
    for word, kind in zip(words, (ALLOW, DENY), strict=True):
        sys.stdout.write(f"Current {word}:\n")
        for entry in view.entries((*key, kind)):
            if not switches.discovery or options.subcommand == GROUPS or _is_known(view, entry, key):
                sys.stdout.write(entry + "\n")
    view.close()


def _is_known(view: View, entry: str, key: tuple[str, str, str]) -> bool:
    """Whether an entry is listed. A pattern always is, a name only after its discovery."""
    return any(letter in entry for letter in "*+?[](){}^$\\|") or entry in view.entries((TOPICS, *key[1:], KNOWN))


def _export(options: argparse.Namespace, servers: str) -> int:
    """Write the newest checkpoints of one group as CSV: topic on the target, partition, offset."""
    if not options.group or not options.export:
        raise UsageError("offsets wants --group and --export")
    reader = Reader(servers, f"{options.source}.checkpoints.internal")
    found = {}
    for message in reader.poll():
        if message.key() is not None and message.value() is not None:
            item = read_checkpoint(message.key(), message.value())
            if item.group == options.group:
                found[item.topic, item.partition] = item.downstream
    reader.close()
    text = "".join(f"{topic},{number},{offset}\n" for (topic, number), offset in sorted(found.items()))
    if options.to:
        Path(options.to).write_text(text)
    else:
        sys.stdout.write(text)
    return 0

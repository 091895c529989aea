# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command line of the ledger."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ledger.definition import Definition, define, read_definition
from ledger.errors import EXIT_BROKEN, LedgerError

NUMBERS = ("rate", "abort_share", "process_ms", "limit_rate", "flush_seconds")
WHOLE = ("size", "keys", "limit", "max_in_flight", "transaction_size", "session_ms", "commit_ms")
WORDS = ("group", "reset", "assignment")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return int(options.action(options))
    except LedgerError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ledger", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command, role in (("produce", "producer"), ("consume", "consumer"), ("process", "processor")):
        client = commands.add_parser(command, help=f"run a {role} in the foreground")
        client.set_defaults(action=_run_given, role=role)
        _add_client_options(client)
    run = commands.add_parser("run", help="run a client of DIR/clients.json in the foreground")
    run.set_defaults(action=_run_defined)
    _add_name(run)
    run.add_argument("--member", type=int, default=0)
    start = commands.add_parser("start", help="start a client of DIR/clients.json in the background")
    start.set_defaults(action=_start)
    _add_name(start)
    start.add_argument("--wait", type=float, default=15.0, help="seconds within which it must work; 0: do not wait")
    stop = commands.add_parser("stop", help="stop a client and wait until it exits")
    stop.set_defaults(action=_stop)
    _add_name(stop)
    stop.add_argument("--timeout", type=float, default=30.0, help="seconds after which it is killed")
    stop.add_argument("--read", type=float, default=0.0, help="seconds to read to the end before the stop")
    stop.add_argument("--kill", action="store_true", help="kill it at once")
    status = commands.add_parser("status", help="print the state of the clients as JSON")
    status.set_defaults(action=_status)
    status.add_argument("name", nargs="?")
    status.add_argument("--dir", type=Path, required=True)
    check = commands.add_parser("check", help="compare the ledgers")
    check.set_defaults(action=_check)
    check.add_argument("--dir", type=Path, required=True)
    check.add_argument("--json", type=Path, help="file for the whole result")
    check.add_argument("--from", dest="start", type=int, help="start of the window for gaps (microseconds since 1970)")
    check.add_argument("--to", dest="end", type=int, help="end of the window for gaps")
    return parser


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--dir", type=Path, required=True, help="folder of the ledgers and of clients.json")


def _add_client_options(parser: argparse.ArgumentParser) -> None:
    _add_name(parser)
    parser.add_argument("--endpoint-file", required=True)
    parser.add_argument("--member", type=int, default=0)
    parser.add_argument("--transactional", action="store_true", help="produce in transactions")
    parser.add_argument("--output-topics", type=lambda value: tuple(value.split(",")))
    parser.add_argument("--config", type=json.loads, help="JSON of librdkafka properties")
    for names, kind in ((NUMBERS, float), (WHOLE, int), (WORDS, str)):
        for name in names:
            parser.add_argument("--" + name.replace("_", "-"), dest=name, type=kind)


def _run_given(options: argparse.Namespace) -> int:
    keys = ("endpoint_file", "output_topics", "config", *NUMBERS, *WHOLE, *WORDS)
    given = {key: getattr(options, key) for key in keys if getattr(options, key) is not None}
    role = "transactional" if options.transactional else options.role
    return run_client(define(options.name, {"role": role, **given}), options.dir, options.member)


def _run_defined(options: argparse.Namespace) -> int:
    return run_client(read_definition(options.dir, options.name), options.dir, options.member)


def run_client(client: Definition, folder: Path, member: int) -> int:
    """Run a client of one role. Imported here, because `start`, `stop` and `status` work without the Kafka library."""
    from ledger.endpoint import read_endpoint
    from ledger.state import Life, state_path

    life = Life(state_path(folder, client.name, member))
    try:
        endpoint = read_endpoint(Path(client.endpoint_file))
        if client.role == "consumer":
            from ledger.consumer import GroupConsumer

            return GroupConsumer(client, endpoint, folder, life, member).run()
        if client.role == "processor":
            from ledger.processor import Processor

            return Processor(client, endpoint, folder, life).run()
        from ledger.producer import Outbox, PlainProducer
        from ledger.transactional import TransactionalProducer

        kind = TransactionalProducer if client.role == "transactional" else PlainProducer
        return kind(client, endpoint, Outbox(client, folder), life).run()
    except LedgerError as error:
        life.end(error.exit_code, str(error), {})
        raise
    except Exception as error:
        life.end(EXIT_BROKEN, f"{type(error).__name__}: {error}", {})
        raise


def _start(options: argparse.Namespace) -> int:
    from ledger.control import start

    return _report(start(options.dir, options.name, options.wait))


def _stop(options: argparse.Namespace) -> int:
    from ledger.control import stop

    return _report(stop(options.dir, options.name, 0.0 if options.kill else options.timeout, options.read))


def _status(options: argparse.Namespace) -> int:
    from ledger.control import status

    sys.stdout.write(json.dumps(status(options.dir, options.name)) + "\n")
    return 0


def _report(outcome: tuple[int, dict[str, object]]) -> int:
    exit_code, facts = outcome
    sys.stdout.write(f"{facts['message']}\n{json.dumps(facts)}\n")
    return exit_code


def _check(options: argparse.Namespace) -> int:
    from ledger.check import check

    return check(options.dir, options.json, (options.start, options.end))

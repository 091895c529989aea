# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an audit: ``python -m kafka_dr_audit PLAN --output DIR``, or pass this file to ``spark-submit``.

The exit code is 0 for PROVEN, 1 for REFUTED and 2 for UNKNOWN. Run ``python -m kafka_dr_audit --prepare`` once to make
later audits start faster.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

# If spark-submit runs this file, Python does not know its package yet.
if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from kafka_dr_audit import plan
from kafka_dr_audit.caller import end_with_caller
from kafka_dr_audit.errors import AuditError
from kafka_dr_audit.masking import masked, remember
from kafka_dr_audit.progress import ProgressReporter
from kafka_dr_audit.session import Resources, check_python

EXIT_CODES = {"PROVEN": 0, "REFUTED": 1, "UNKNOWN": 2}
FREE_BYTES = 64 << 20


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.with_caller:
        end_with_caller()
    progress = ProgressReporter(options.quiet)
    try:
        resources = Resources(options.master, options.driver_memory, options.jars, _conf(options.conf), options.records)
        if options.prepare:
            check_python()
            from kafka_dr_audit import classes

            progress.say("loading the classes of an audit into a class archive; this takes half a minute")
            sys.stdout.write(f"{classes.prepare(resources)}\n")
            return 0
        output = _output(options.output)
        check_python()
        from kafka_dr_audit import audit

        found = plan.load(options.plan)
        settings = audit.Options(
            output, resources, options.settle, options.detail_records, options.sample, options.seed
        )
        document = audit.run(found, settings, progress)
    except AuditError as error:
        sys.stderr.write(f"UNKNOWN: {error.message}\n")
        return EXIT_CODES["UNKNOWN"]
    except Exception as error:
        # Python would exit with 1, which means REFUTED.
        sys.stderr.write(f"UNKNOWN: the audit failed: {type(error).__name__}: {masked(str(error))}\n")
        return EXIT_CODES["UNKNOWN"]
    sys.stdout.write("\n".join(document["text"]) + "\n")
    return EXIT_CODES[document["verdict"]]


def _output(path: Path) -> Path:
    path = path.absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise AuditError("output_unusable", f"The output folder {path} cannot be used: {error.strerror}.") from error
    free = shutil.disk_usage(path).free
    if free < FREE_BYTES:
        raise AuditError(
            "disk_full", f"{path} has {free >> 20} MiB free, wanted {FREE_BYTES >> 20}. Free space, or use --output."
        )
    for name in ("audit.json", "audit.html"):
        (path / name).unlink(missing_ok=True)  # an old result must not be taken for the new one
    return path


def _conf(items: list[str]) -> dict[str, str]:
    wrong = [item for item in items if "=" not in item]
    if wrong:
        # The text may be a secret.
        raise AuditError("conf_invalid", f"--conf takes name=value, found {len(wrong)} without an equals sign.")
    conf = dict(item.split("=", 1) for item in items)
    remember(conf)
    return conf


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kafka_dr_audit", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("plan", type=Path, nargs="?", help="the plan, as the role verify writes it")
    what.add_argument(
        "--prepare",
        action="store_true",
        help="fetch the Kafka connector, write a class archive into this Python environment, and exit",
    )
    parser.add_argument("--output", type=Path, default=Path("audit"), help="folder for audit.json and audit.html")
    parser.add_argument(
        "--master", default=os.environ.get("KAFKA_DR_SPARK_MASTER"), help="Spark master, local[*] by default"
    )
    parser.add_argument("--driver-memory", default="1g")
    parser.add_argument("--jars", type=Path, help="folder with the Kafka connector, for machines without Maven Central")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a Spark setting")
    parser.add_argument(
        "--settle",
        type=float,
        default=30.0,
        help="seconds to wait until the last records of an online snapshot are replicated",
    )
    parser.add_argument(
        "--detail-records",
        type=int,
        default=400_000,
        help="number of differing records to read one by one; further ones are only counted",
    )
    parser.add_argument("--sample", type=int, default=20, help="number of differences of each class to list")
    parser.add_argument("--seed", type=int, help="seed of the fingerprints, random by default")
    parser.add_argument("--records", type=int, help="approximate number of records, to start faster if there are few")
    parser.add_argument(
        "--with-caller",
        action="store_true",
        help="end when standard input is closed, with the whole session; for a program that starts the audit",
    )
    parser.add_argument("--quiet", action="store_true", help="write no progress to standard error")
    return parser


if __name__ == "__main__":
    sys.exit(main())

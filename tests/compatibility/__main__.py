# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make compatibility: a round trip, readiness and the audit with each supported pair of Kafka versions.

Results are in build/compatibility/report.json. A row that passed or was refused as expected replaces the one in
results.json beside this file, from which docs/compatibility.md is generated. ``--only=<version>``: the rows with that
version. ``--page``: only generate the page.

``--libraries``: instead, the newest Kafka with each set of libraries of the controller, in environments of their own
below build/libraries. Before, the ansible-core of each reads what AWX sends. The results are in libraries.json beside
this file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "roles/lab/files", "build/collections")]

from awx_answers import check_answers, check_secrets  # noqa: E402 - the path above
from compatibility import FAILED, LIBRARIES, NEWEST, ROWS, Libraries, Versions, run_row  # noqa: E402 - the path above
from compatibility_page import LIBRARY_RESULTS, PAGE, RESULTS, merged, page, read  # noqa: E402
from interrupted import end_all_on_signals  # noqa: E402
from scenario import Scenario  # noqa: E402

FOLDER = ROOT / "build" / "compatibility"
REPORT = FOLDER / "report.json"
#: Random secrets in the credentials of AWX, for each set of libraries.
SECRETS = 1000


def main() -> int:
    """Run the rows. Return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="tests/compatibility", description=__doc__)
    parser.add_argument("--only", default="", help="the rows with this version, or with this name")
    parser.add_argument("--page", action="store_true", help="only generate the page")
    parser.add_argument("--libraries", action="store_true", help="the newest Kafka with each set of libraries")
    parser.add_argument("--into", type=Path, help="write the outcome of the newest Kafka there, and keep no result")
    options = parser.parse_args()
    if options.into:
        # What AWX sends depends on how ansible-core reads YAML.
        with tempfile.TemporaryDirectory() as folder:
            check_answers(Path(folder) / "answers")
            check_secrets(Path(folder) / "secrets", SECRETS, random.SystemRandom().randrange(10**6))
        outcome = run_row(Versions(NEWEST, NEWEST), options.into.with_suffix(""))
        options.into.write_text(json.dumps(asdict(outcome)))
        return 0
    if options.libraries:
        chosen = [row for row in LIBRARIES if options.only in row.name]
        if not chosen:
            parser.error(f"no row is {options.only}; the rows are {', '.join(row.name for row in LIBRARIES)}")
        return _finish([text for row in chosen if (text := _with_libraries(row))])
    rows = [row for row in ROWS if not options.only or options.only in (*row.all, row.name)]
    if not rows:
        parser.error(f"no row has the version {options.only}; the rows are {', '.join(row.name for row in ROWS)}")
    return _finish([] if options.page else _run(rows))


def _finish(failed: list[str]) -> int:
    PAGE.write_text(page(read(RESULTS), read(LIBRARY_RESULTS)), encoding="utf-8")
    for text in failed:
        sys.stdout.write(f"FAILED {text}\n")
    return 1 if failed else 0


def _run(rows: list[Versions]) -> list[str]:
    """Run the rows one after the other, and write the reports after each. Return a line for each failed row."""
    from schemas import require_valid  # needs a package that the environments of --libraries lack

    Scenario.inspect = staticmethod(require_valid)
    FOLDER.mkdir(parents=True, exist_ok=True)
    entries, failed = [], []
    for row in rows:
        sys.stdout.write(f"==> {row.name}\n")
        sys.stdout.flush()
        outcome = run_row(row, FOLDER / row.name)
        entries.append(asdict(outcome))
        REPORT.write_text(json.dumps(entries, indent=2) + "\n")
        sys.stdout.write(f"    {outcome.result} after {outcome.seconds:.0f} s {outcome.text}\n")
        sys.stdout.flush()
        if outcome.result == FAILED:
            failed.append(f"{row.name}: {outcome.text}")
        else:
            RESULTS.write_text(json.dumps(merged(read(RESULTS), asdict(outcome)), indent=2) + "\n")
    return failed


def _with_libraries(row: Libraries) -> str:
    """Run the newest Kafka in an environment with these libraries. Return why that failed, or ""."""
    sys.stdout.write(f"==> {row.name}\n")
    sys.stdout.flush()
    python = shutil.which(f"python{row.python}") or _of_pyenv(row.python)
    if python is None:
        return f"{row.name}: there is no python{row.python} here"
    folder = ROOT / "build" / "libraries" / row.name
    if not (folder / "bin" / "ansible-playbook").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        wanted = row.packages((ROOT / "requirements-run.in").read_text().splitlines())
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted], check=True)
    into = FOLDER / f"{row.name}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(folder)}
    command = [str(folder / "bin" / "python"), str(ROOT / "tests" / "compatibility"), f"--into={into}"]
    if subprocess.run(command, check=False, env=environment).returncode:
        return f"{row.name}: the run ended without an outcome"
    outcome = {**json.loads(into.read_text()), "versions": asdict(row)}
    sys.stdout.write(f"    {outcome['result']} after {outcome['seconds']:.0f} s {outcome['text']}\n")
    if outcome["result"] == FAILED:
        return f"{row.name}: {outcome['text']}"
    LIBRARY_RESULTS.write_text(json.dumps(merged(read(LIBRARY_RESULTS), outcome), indent=2) + "\n")
    return ""


def _of_pyenv(version: str) -> str | None:
    """The interpreter of this version that pyenv has installed, although it is not on the path."""
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else None


if __name__ == "__main__":
    end_all_on_signals()
    sys.exit(main())

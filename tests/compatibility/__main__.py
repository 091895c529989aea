# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make compatibility: a round trip, readiness and the audit with each supported pair of Kafka versions.

Results are in build/compatibility/report.json. A row that passed or was refused as expected replaces the one in
results.json beside this file, from which docs/compatibility.md is generated. ``--only=<version>``: the rows with that
version. ``--page``: only generate the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "roles/lab/files", "build/collections")]

from compatibility import FAILED, ROWS, Versions, run_row  # noqa: E402 - beside the path above
from compatibility_page import PAGE, RESULTS, merged, page  # noqa: E402
from scenario import Scenario  # noqa: E402
from schemas import require_valid  # noqa: E402

FOLDER = ROOT / "build" / "compatibility"
REPORT = FOLDER / "report.json"


def main() -> int:
    """Run the rows. Return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="tests/compatibility", description=__doc__)
    parser.add_argument("--only", default="", help="the rows with this version, or with this name")
    parser.add_argument("--page", action="store_true", help="only generate the page")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.only or options.only in (*row.all, row.name)]
    if not rows:
        parser.error(f"no row has the version {options.only}; the rows are {', '.join(row.name for row in ROWS)}")
    failed = [] if options.page else _run(rows)
    PAGE.write_text(page(json.loads(RESULTS.read_text())), encoding="utf-8")
    for text in failed:
        sys.stdout.write(f"FAILED {text}\n")
    return 1 if failed else 0


def _run(rows: list[Versions]) -> list[str]:
    """Run the rows one after the other, and write the reports after each. Return a line for each failed row."""
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
            kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
            RESULTS.write_text(json.dumps(merged(kept, asdict(outcome)), indent=2) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())

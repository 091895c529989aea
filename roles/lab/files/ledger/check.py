# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a folder of ledgers: read, compare, report."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from ledger.compare import compare
from ledger.errors import EXIT_CLEAN, EXIT_DAMAGED, EXIT_USAGE, LedgerError
from ledger.gaps import Window
from ledger.reading import Ledger
from ledger.store import VERSION, read_blocks, read_header

EXIT_CODES = {"clean": EXIT_CLEAN, "damaged": EXIT_DAMAGED, "unknown": EXIT_USAGE}


def check(folder: Path, report: Path | None, window: tuple[int | None, int | None]) -> int:
    """Return 0 if no record is lost and none is a phantom, 1 if one is, 2 if there was nothing to compare."""
    begun = time.monotonic()
    result: dict[str, Any] = compare(find_ledgers(folder), Window(*window))
    result["seconds"] = round(time.monotonic() - begun, 3)
    if report:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(json.dumps(result, indent=2) + "\n")
    sys.stdout.write(describe(result))
    return EXIT_CODES[result["verdict"]]


def find_ledgers(folder: Path) -> list[Ledger]:
    """All ledgers of the folder. Raises LedgerError for an unreadable one, whose records would be missing."""
    found = []
    for path in sorted(folder.glob("ledger-*.log")):
        if path.stat().st_size == 0:
            continue
        header = read_header(path)
        if header is None or header[1] != VERSION:
            raise LedgerError(f"{path} is not a ledger: it does not start with a header of version {VERSION}.")
        found.append(Ledger(path.name, header, partial(read_blocks, path)))
    kinds = {ledger.is_producer for ledger in found}
    if kinds != {True, False}:
        missing = "no ledger" if not kinds else "no consumer's ledger" if True in kinds else "no producer's ledger"
        raise LedgerError(f"{folder} has {missing}: there is nothing to compare.")
    return found


def describe(result: dict[str, Any]) -> str:
    totals = result["totals"]
    acknowledgement = result["gaps"]["acknowledged"]
    lines = [
        f"acknowledged {totals['acknowledged']}, failed {totals['failed']}, aborted {totals['aborted']}, "
        f"unknown {totals['unknown']}; longest time without an acknowledgement: {_seconds(acknowledgement)}"
    ]
    for group, item in result["groups"].items():
        gap = _seconds(result["gaps"]["groups"][group])
        lines.append(
            f"{group}: processed {item['processed']} of {item['acknowledged']}, lost {item['lost']}, "
            f"processed twice {item['processed_twice']}, phantom {item['phantom']}, "
            f"out of order {item['out_of_order']}; longest time without a record: {gap}"
        )
    if result["verdict"] == "unknown":
        lines.append("At least one group has no acknowledged records, so this proves nothing.")
    lines.append(f"verdict: {result['verdict']} ({result['seconds']:g} s)")
    return "\n".join(lines) + "\n"


def _seconds(gap: dict[str, Any] | None) -> str:
    return "unknown" if gap is None else f"{gap['seconds']:.3f} s{' or more' if gap['open'] else ''}"

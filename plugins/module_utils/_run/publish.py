# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run in the folder of the run, and the list of all runs beside it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .._core.reports.index import index, index_page, latest, run_row
from .._core.reports.page import page
from .._files import write_whole
from .._record import FILE_MODE, FOLDER_MODE, PAGE, RUNS

__all__ = ["publish"]

_REPORT, _INDEX = "report.json", "index"
_READ_ONLY = 0o440


def publish(reports: Path, made: Mapping[str, Any]) -> dict[str, list[str]]:
    """Write the report of a run and return its ``paths``, its ``pages`` and ``warnings``. Raises OSError.

    ``made``: as ``dr_run`` returns it, with the report, and with ``last``, whether no event of the run follows. Then
    all files of the run are made read-only, and the report gets the SHA-256 of each, by its path from the report.
    """
    folder, report = reports / RUNS / made["folder"], dict(made["report"])
    if not made["newest"]:
        # Another controller has taken the run over, and its report stays.
        own = folder / made["start"]
        _write(own / "overtaken.json", _text(report))
        _write(own / "overtaken.html", page(report) or "")
        return {"paths": [str(own / "overtaken.json")], "pages": [str(own / "overtaken.html")], "warnings": []}
    # The JSON first: it holds everything that the page shows.
    _write(folder / _REPORT, _text(report))
    _write(folder / PAGE, page(report) or "")
    if made["last"]:
        _write(folder / _REPORT, _text({**report, "files": _sealed(folder)}), _READ_ONLY)
    row = run_row(made["folder"], report, rehearsal=made["rehearsal"])
    return {"paths": [str(folder / _REPORT)], "pages": [str(folder / PAGE)], "warnings": _list(reports, row)}


def _text(report: Mapping[str, Any]) -> str:
    return json.dumps(report, indent=4, sort_keys=True) + "\n"


def _write(path: Path, text: str, mode: int = FILE_MODE) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    write_whole(path, text, mode)


def _sealed(folder: Path) -> dict[str, str]:
    """Make the files read-only, and return the SHA-256 of each but the report's, by its path in the folder."""
    sums = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / _REPORT:
            # The file of an earlier start may be another user's.
            with suppress(PermissionError):
                path.chmod(_READ_ONLY)
            with path.open("rb") as file:
                sums[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


# ---- the list of all runs


def _list(reports: Path, row: Mapping[str, Any]) -> list[str]:
    """Put the run into the list, and point the links at the latest ones. Returns warnings: the report is written."""
    try:
        with _locked(reports):
            there = [path.name for path in (reports / RUNS).iterdir()]
            document = index(_known(reports / f"{_INDEX}.json"), row, there)
            _write(reports / f"{_INDEX}.json", _text(document))
            _write(reports / f"{_INDEX}.html", index_page(document))
            for name, folder in latest(document).items():
                _point(reports / name, f"{RUNS}/{folder}")
    except OSError as error:
        return [f"The list of runs in {reports} could not be written: {error}. The report of this run is complete."]
    return []


def _known(path: Path) -> Mapping[str, Any]:
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, Mapping) else {}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait for the run of another pair that has the same folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _point(link: Path, target: str) -> None:
    """Let a symbolic link point elsewhere. There is no moment without it."""
    new = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    new.symlink_to(target)
    try:
        new.replace(link)
    except OSError:
        new.unlink()
        raise

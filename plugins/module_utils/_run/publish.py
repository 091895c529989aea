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
from .._core.reports.markup import rows
from .._core.reports.page import page
from .._core.waiting import Bounds, wait_until
from .._files import write_whole
from .._record import FILE_MODE, FOLDER_MODE, PAGE, RUNS

__all__ = ["point", "publish"]

_REPORT, _INDEX = "report.json", "index"
_READ_ONLY = 0o440
# How long another run that has the same folder may write. It may be frozen, and the report must be written.
_OTHERS = Bounds(10.0, 0.05)


def publish(reports: Path, made: Mapping[str, Any]) -> dict[str, list[str]]:
    """Write the report of a run and return its ``paths``, its ``pages`` and ``warnings``. Raises OSError.

    ``made``: as ``dr_run`` returns it, with the report, and with ``last``, whether no event of the run follows. Then
    the files of its record are made read-only, and the report gets the SHA-256 of each, by its path from the report.
    """
    folder, report = reports / RUNS / made["folder"], dict(made["report"])
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with _alone(reports) as alone:
        if not made["newest"] or _overtaken(folder / _REPORT, report):
            # Another controller has taken the run over, and its report stays.
            own = folder / made["start"]
            own.mkdir(mode=FOLDER_MODE, exist_ok=True)
            _write(own / "overtaken.json", _text(report))
            _write(own / "overtaken.html", page(report) or "")
            return {"paths": [str(own / "overtaken.json")], "pages": [str(own / "overtaken.html")], "warnings": []}
        # The JSON first: it holds everything that the page shows.
        _write(folder / _REPORT, _text(report))
        _write(folder / PAGE, page(report) or "")
        written = {"paths": [str(folder / _REPORT)], "pages": [str(folder / PAGE)]}
        try:
            if made["last"]:
                files = _sealed(folder / made["start"], folder)
                _write(folder / _REPORT, _text({**report, "files": files}), _READ_ONLY)
            if not alone:
                raise TimeoutError(f"another run has kept {reports} locked for {_OTHERS.timeout:.0f} s")
            _list(reports, run_row(made["folder"], report))
        except OSError as error:
            text = f"The report is written, but not the list of runs in {reports}, or not its checksums: {error}."
            return {**written, "warnings": [text]}
    return {**written, "warnings": []}


def _overtaken(path: Path, report: Mapping[str, Any]) -> bool:
    """Whether a report that is there comes from a later holder of the same run (R25)."""
    found = _read(path).get("holder_generation")
    return isinstance(found, int) and found > (report.get("holder_generation") or 0)


def _text(report: Mapping[str, Any]) -> str:
    return json.dumps(report, indent=4, sort_keys=True) + "\n"


def _read(path: Path) -> Mapping[str, Any]:
    """A document; empty: there is none, or it cannot be read."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _write(path: Path, text: str, mode: int = FILE_MODE) -> None:
    # Several users may share the folder.
    write_whole(path, text, mode, keep_owner=False)


def _sealed(record: Path, folder: Path) -> dict[str, str]:
    """Make the files of a start's record read-only, and return the SHA-256 of each, by its path in the run's folder.

    A controller that was overtaken may still append to the record of an earlier start.
    """
    sums = {}
    for path in sorted(record.glob("[!.]*.json")):
        if path.name not in (_REPORT, "overtaken.json"):
            path.chmod(_READ_ONLY)
            with path.open("rb") as file:
                sums[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


# ---- the list of all runs


def _list(reports: Path, row: Mapping[str, Any]) -> None:
    """Put the run into the list, and point the links at the latest ones."""
    known = {one.get("folder"): one for one in rows(_read(reports / f"{_INDEX}.json").get("runs"))}
    listed = []
    # Users delete old folders. A row is missing if another run could not write the list.
    for path in (reports / RUNS).iterdir():
        if path.name == row["folder"]:
            listed.append(row)
        elif path.name in known:
            listed.append(known[path.name])
        elif report := _read(path / _REPORT):
            listed.append(run_row(path.name, report))
    document = index(listed)
    _write(reports / f"{_INDEX}.json", _text(document))
    _write(reports / f"{_INDEX}.html", index_page(document))
    for name, folder in latest(document).items():
        point(reports / name, folder)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Wait for other runs that have the same folder. Yields whether they let go in time."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    def locked() -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    return wait_until(locked, bool, _OTHERS).done


def point(link: Path, folder: str) -> None:
    """Let a symbolic link point to the folder of a run. There is no moment without it."""
    new = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    new.symlink_to(f"{RUNS}/{folder}")
    try:
        new.replace(link)
    except OSError:
        new.unlink()
        raise

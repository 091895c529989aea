# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run on the controller: a folder with ``run.json``, its events, and large results beside it.

Later starts of the same run have the folders ``start-2``, ``start-3`` and so on within it.

Every module of a run reads the record and appends its result, so that no rows travel through Ansible. It holds no
secret. A run that is resumed elsewhere does not need it: what decides is in the journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._core.errors import DrError
from ._core.run.events import RunEvent
from ._core.run.run import Run
from ._files import write_whole

__all__ = ["FILE_MODE", "FOLDER_MODE", "PAGE", "RUNS", "RunRecord", "required_run", "run_of", "unwritable"]

#: The folder of all runs, in that of the reports; the page of a run, in its folder.
RUNS, PAGE = "runs", "page.html"
FILE_MODE, FOLDER_MODE = 0o640, 0o750
_VERSION = 1
_NAME, _START = "run.json", "start-"
# Characters of a result that stand in run.json itself, and of one of its values if the whole result has more.
_SHORT, _SHORT_VALUE = 4_000, 1_000
# Where an event names the file with the large values of its result.
_BESIDE = "beside"


class RunRecord:
    """The folder of one run."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def create(cls, reports: Path, run_id: str, began: Mapping[str, Any]) -> RunRecord:
        """Make the folder of a run below ``reports``, with its first event. Raises ``no_report`` if that fails."""
        record = cls(reports / RUNS / run_id)
        try:
            record.folder.mkdir(mode=FOLDER_MODE, parents=True)
        except OSError as error:
            raise unwritable("record of the run", error) from error
        record._write([RunEvent("began", time.time(), began)])
        return record

    @classmethod
    def of(cls, reports: Path, run_id: str) -> RunRecord | None:
        """The record of the newest start of a run; None: it was not started here."""
        found = cls(reports / RUNS / run_id)
        if not found.folder.exists():
            return None
        while not found.newest:
            found = cls(found.whole / f"{_START}{found._number + 1}")
        return found

    @property
    def reports(self) -> Path:
        """The folder of the reports that it is in."""
        return next(parent.parent for parent in self.folder.parents if parent.name == RUNS)

    @property
    def whole(self) -> Path:
        """The folder of all starts of the run."""
        return self.folder if self.folder.parent.name == RUNS else self.folder.parent

    @property
    def newest(self) -> bool:
        """Whether no later start has taken the run over."""
        return not (self.whole / f"{_START}{self._number + 1}").exists()

    @property
    def _number(self) -> int:
        """1 for the first start."""
        return int(self.folder.name.removeprefix(_START)) if self.folder != self.whole else 1

    def read(self, *more: RunEvent) -> Run:
        """Return the run after all events, and ``more``. Raises ``no_record`` if there is no complete record."""
        return Run.of([*map(self._whole, self._events()), *more], filter(None, map(_readable, self._earlier())))

    def append(self, event: RunEvent) -> None:
        """Append an event. Raises ``no_report`` if it cannot be written."""
        with self._locked():
            events = self._events()
            self._write([*events, self._beside(event, len(events))])

    def named(self, run_id: str) -> RunRecord:
        """Return the record under the id that the run has in the journal.

        Each start has a folder of its own: a controller that was frozen may wake up and append to its own events only.
        If the folder of the run is not writable, because it is another user's, the record keeps its own.
        """
        if self.folder.name == run_id:
            return self
        first = self.folder.with_name(run_id)
        wanted = first if not first.exists() else first / f"{_START}{2 + sum(1 for _one in first.glob(f'{_START}*'))}"
        try:
            self.folder.rename(wanted)
        except OSError:
            return self
        return RunRecord(wanted)

    def show(self, page: str) -> None:
        """Write the page of the run, unless it has been taken over. Raises ``no_report``."""
        if not self.newest:
            return
        try:
            # Applications may be stopped, and it need not survive a loss of power.
            write_whole(self.whole / PAGE, page, FILE_MODE, keep_owner=False, durable=False)
        except OSError as error:
            raise unwritable("record of the run", error) from error

    # ---- files

    def _earlier(self) -> list[RunRecord]:
        """Records of the earlier starts of the run."""
        if self._number == 1:
            return []
        return [RunRecord(self.whole / name) for name in ("", *(f"{_START}{one}" for one in range(2, self._number)))]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Wait for another writer: a module of a controller that was killed may still end."""
        try:
            handle = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise _missing(self.folder, str(error)) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _events(self) -> list[RunEvent]:
        try:
            kept = json.loads((self.folder / _NAME).read_text())
            if kept["version"] != _VERSION:
                raise ValueError(f"its version is {kept['version']}, wanted {_VERSION}")
            return [RunEvent.of(row) for row in kept["events"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _missing(self.folder, str(error)) from error

    def _beside(self, event: RunEvent, number: int) -> RunEvent:
        """Write the large values of a large result into a file of their own, and return the event that names it."""
        result = event.data.get("result") or {}
        texts = {key: json.dumps(value, default=str) for key, value in result.items()}
        large = [key for key, text in texts.items() if len(text) > _SHORT_VALUE]
        if not large or sum(map(len, texts.values())) <= _SHORT:
            return event
        name = f"{number:03}-{event.data['step']}.json"
        _put(self.folder / name, f"{{{', '.join(f'{json.dumps(key)}: {texts[key]}' for key in large)}}}")
        short = {key: value for key, value in result.items() if key not in large}
        beside = {"file": name, "keys": large}
        return RunEvent(event.kind, event.at, {**event.data, "result": short, _BESIDE: beside})

    def _whole(self, event: RunEvent) -> RunEvent:
        beside = event.data.get(_BESIDE)
        if beside is None:
            return event
        result = _Beside(self.folder / Path(beside["file"]).name, event.data["result"], beside["keys"])
        return RunEvent(event.kind, event.at, {**event.data, "result": result})

    def _write(self, events: list[RunEvent]) -> None:
        kept = {"version": _VERSION, "events": [event.as_dict() for event in events]}
        _put(self.folder / _NAME, json.dumps(kept, indent=1, default=str) + "\n")


def _readable(record: RunRecord) -> list[RunEvent] | None:
    """The events of an earlier start; None: they cannot be read. Only the report needs them, so the run goes on."""
    try:
        return [record._whole(event) for event in record._events()]
    except DrError:
        return None


def run_of(params: Mapping[str, Any]) -> Run | None:
    """Return the run in the option ``record`` of a module; None without the option."""
    return RunRecord(params["record"]).read() if params.get("record") else None


def required_run(params: Mapping[str, Any]) -> Run:
    """Return the run in the option ``record`` of a module that is a step of runs only. Raises ``bad_option``."""
    found = run_of(params)
    if found is None:
        raise DrError("bad_option", "The option record is missing.", "Pass the folder that dr_run returned.")
    return found


class _Beside(Mapping[str, Any]):
    """A large result. Its large values are read when one is needed: most steps need few of them."""

    def __init__(self, path: Path, short: Mapping[str, Any], large: Collection[str]) -> None:
        self._path, self._short, self._large = path, short, large
        self._read: dict[str, Any] | None = None

    @property
    def _rows(self) -> dict[str, Any]:
        if self._read is None:
            try:
                self._read = json.loads(self._path.read_text())
            except (OSError, ValueError) as error:
                raise _missing(self._path.parent, f"{self._path.name}: {error}") from error
        return self._read

    def __getitem__(self, key: str) -> Any:
        return self._rows[key] if key in self._large else self._short[key]

    def __contains__(self, key: object) -> bool:
        return key in self._large or key in self._short

    def __iter__(self) -> Iterator[str]:
        return iter((*self._short, *self._large))

    def __len__(self) -> int:
        return len(self._short) + len(self._large)


def _put(path: Path, text: str) -> None:
    try:
        write_whole(path, text, FILE_MODE)
    except OSError as error:
        raise unwritable("record of the run", error) from error


def unwritable(what: str, error: OSError) -> DrError:
    """``what``: record of the run, or report."""
    hint = "Check that kafka_dr_report_dir on the controller has space and is writable. Then start again."
    return DrError("no_report", f"The {what} could not be written: {error}.", hint)


def _missing(folder: Path, why: str) -> DrError:
    return DrError(
        "no_record",
        f"The record of the run in {folder} cannot be read: {why}.",
        "Start the same playbook again: it makes a new one, and continues as the journal says.",
    )

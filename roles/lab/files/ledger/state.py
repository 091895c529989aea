# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""State file of a running client for `control`: DIR/run/NAME.MEMBER.json."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from ledger.process import Process, this_process

WRITE_SECONDS = 1.0


@dataclass
class State:
    """phase: starting -> connected -> working -> ended. exit_code is null until the client exits by itself."""

    pid: int
    started: int
    phase: str = "starting"
    exit_code: int | None = None
    message: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def process(self) -> Process:
        return Process(self.pid, self.started)


def state_path(folder: Path, client: str, member: int) -> Path:
    return folder / "run" / f"{client}.{member}.json"


def read_state(path: Path) -> State | None:
    """The state, or None if the client was never started."""
    try:
        return State(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None


def write_state(path: Path, state: State) -> None:
    """Write the state atomically: a reader gets the old state or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(asdict(state)))
    draft.replace(path)


class Life:
    """The state file of one client process, and whether it has been asked to stop."""

    def __init__(self, path: Path) -> None:
        self.stopping = False
        self._path = path
        process = this_process()
        self._state = State(process.pid, process.started)
        self._written = 0.0
        self._write()
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)

    def reach(self, phase: str) -> None:
        """Write a new phase at once, because `control start` waits for it. A repeated phase is not written."""
        if self._state.phase != phase and self._state.phase != "working":
            self._state.phase = phase
            self._write()

    def count(self, counts: Mapping[str, int]) -> None:
        """Write the counts of this run at intervals."""
        if time.monotonic() - self._written >= WRITE_SECONDS:
            self._state.counts = dict(counts)
            self._write()

    def end(self, exit_code: int, message: str, counts: Mapping[str, int]) -> int:
        self._state.phase, self._state.exit_code, self._state.message = "ended", exit_code, message
        self._state.counts = dict(counts)
        self._write()
        return exit_code

    def _write(self) -> None:
        write_state(self._path, self._state)
        self._written = time.monotonic()

    def _on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self.stopping = True

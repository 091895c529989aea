# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, stop and status of background clients. Idempotent; never signals a process of another program."""

from __future__ import annotations

import contextlib
import fcntl
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ledger.definition import Definition, read_definition, read_definitions
from ledger.errors import EXIT_CLEAN, EXIT_DAMAGED, EXIT_UNCLEAN, LedgerError
from ledger.process import Process, find_process, started_at_us
from ledger.state import State, read_state, state_path, write_state

OBSERVATION_SECONDS = 0.01
READ_SECONDS = 0.1
CONNECTED_SECONDS = 2.0
Outcome = tuple[int, dict[str, object]]


def start(folder: Path, name: str, wait: float) -> Outcome:
    """Start a client. Exit code 0 if every member works, 1 if one exits or does not work within ``wait`` seconds."""
    client = read_definition(folder, name)
    with _locked(folder, name):
        members = range(client.member_count)
        idle = [member for member in members if not _running(folder, name, member)]
        for member in idle:
            _spawn(folder, name, member)
    if not idle:
        return EXIT_CLEAN, {"changed": False, "message": f"{name}: already running."}
    phases = [_await_work(folder, name, member, wait) for member in members] if wait else ["started"]
    facts: dict[str, object] = {"changed": True, "phase": min(phases, key=("started", "connected", "working").index)}
    return EXIT_CLEAN, {**facts, "message": f"{name}: {facts['phase']}."}


def stop(folder: Path, name: str, timeout: float, read: float = 0.0) -> Outcome:
    """Stop a client. Exit code 0 if every member exited cleanly, 3 if one was killed and left unknown records.

    ``read``: seconds for its members to read to the log end before the stop. Their record counts cannot show that they
    have: they may have started with existing records, and some records come twice.
    """
    client = read_definition(folder, name)
    with _locked(folder, name):
        found = {member: _running(folder, name, member) for member in _known_members(folder, name)}
        running = {member: process for member, process in found.items() if process}
        is_read = _await_read(folder, client, list(running), read) if read and running else None
        for process in running.values():
            process.send(signal.SIGTERM if timeout else signal.SIGKILL)
        deadline = time.monotonic() + timeout
        for member, process in running.items():
            _await_end(folder, name, member, process, deadline)
        ends = [_state(folder, name, member) for member in found]
    unclean = [end for end in ends if end and end.exit_code != 0]
    facts: dict[str, object] = {"changed": bool(running), "exit_codes": [end.exit_code for end in ends if end]}
    facts |= {} if is_read is None else {"read_all": is_read}
    if unclean:
        text = f"{name}: stopped, but not cleanly (exit code {unclean[0].exit_code}). {unclean[0].message}"
        return EXIT_UNCLEAN, {**facts, "message": text.strip()}
    return EXIT_CLEAN, {**facts, "message": f"{name}: {'stopped' if running else 'not running'}."}


def status(folder: Path, name: str | None = None) -> dict[str, object]:
    """The state of one client, or ``{"clients": {...}}`` for all clients of clients.json."""
    if name is not None:
        read_definition(folder, name)
        return _status_of(folder, name)
    return {"clients": {name: _status_of(folder, name) for name in read_definitions(folder)}}


def _status_of(folder: Path, name: str) -> dict[str, object]:
    members = [_member_status(folder, name, member) for member in _known_members(folder, name)]
    running = [member for member in members if member["running"]]
    counts: dict[str, int] = {}
    for member in members:
        for key, value in member["counts"].items():  # type: ignore[attr-defined]
            counts[key] = counts.get(key, 0) + value
    unclean = [member for member in members if member["exit_code"] != 0]
    first: dict[str, object] = (running or unclean or members or [{}])[0]
    return {
        "name": name,
        "running": bool(running),
        "pid": first.get("pid") if running else None,
        "since": first.get("since") if running else None,
        "exit_code": None if running else first.get("exit_code"),
        "message": first.get("message", ""),
        "counts": counts if members else None,
        "members": members,
    }


def _member_status(folder: Path, name: str, member: int) -> dict[str, object]:
    state = _state(folder, name, member)
    running = _running(folder, name, member)
    return {
        "member": member,
        "running": running is not None,
        "pid": running.pid if running else None,
        "since": started_at_us(running) if running else None,
        "phase": state.phase if state else "starting",
        "exit_code": state.exit_code if state else None,
        "message": state.message if state else "",
        "counts": state.counts if state else {},
    }


def _known_members(folder: Path, name: str) -> list[int]:
    """Members that were ever started. clients.json may have fewer after an edit."""
    paths = [path for kind in ("pid", "json") for path in (folder / "run").glob(f"{name}.*.{kind}")]
    return sorted({int(number) for path in paths if (number := path.name.split(".")[1]).isdigit()})


def _state(folder: Path, name: str, member: int) -> State | None:
    """The state that the client has written, or the one of the pid file before that."""
    path = state_path(folder, name, member)
    if (state := read_state(path)) is not None:
        return state
    with contextlib.suppress(FileNotFoundError, ValueError):
        pid, started = path.with_suffix(".pid").read_text().split()
        return State(int(pid), int(started))
    return None


def _running(folder: Path, name: str, member: int) -> Process | None:
    state = _state(folder, name, member)
    return state.process if state and state.process.is_running() else None


def _spawn(folder: Path, name: str, member: int) -> None:
    """Start a member in its own session. First deletes the state of its last run, which would be read for this one."""
    path = state_path(folder, name, member)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    program = [sys.executable, str(Path(__file__).resolve().parent), "run", name]
    with path.with_suffix(".out").open("ab") as output:
        child = subprocess.Popen(
            [*program, "--member", str(member), "--dir", str(folder.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    # The child is not reaped yet, so its start time can be read even if it has already exited.
    path.with_suffix(".pid").write_text(f"{child.pid} {find_process(child.pid).started}\n")


def _await_work(folder: Path, name: str, member: int, wait: float) -> str:
    """Wait for the phase `working`, or `connected` for a producer with nothing to send yet. Returns the phase."""
    path = state_path(folder, name, member)
    begun = time.monotonic()
    while True:
        state = _state(folder, name, member)
        if state is None or not state.process.is_running() or state.phase == "ended":
            return _judge_early_end(path, name, state)
        waited = time.monotonic() - begun
        if state.phase == "working" or (state.phase == "connected" and waited > min(CONNECTED_SECONDS, wait)):
            return state.phase
        if waited > wait:
            raise LedgerError(
                f"{name}: started, but does not work after {wait:g} s (phase {state.phase}). It keeps running. "
                f"See {path.with_suffix('.out')}, or stop it.",
                EXIT_DAMAGED,
            )
        time.sleep(OBSERVATION_SECONDS)


def _judge_early_end(path: Path, name: str, state: State | None) -> str:
    """Raise LedgerError unless the client has exited cleanly, as one with a limit may."""
    if state and state.exit_code == 0:
        return "working"
    reason = state.message if state and state.message else f"see {path.with_suffix('.out')}"
    raise LedgerError(f"{name}: exited right after the start: {reason}", EXIT_DAMAGED)


def _await_read(folder: Path, client: Definition, members: list[int], seconds: float) -> bool:
    """Wait until all members have read to the end. Returns False on a timeout or if a member exits meanwhile."""
    from ledger.ends import Ends  # imported here, because everything else works without the Kafka library

    ends, deadline = Ends(client), time.monotonic() + seconds
    try:
        while all(_running(folder, client.name, member) for member in members):
            states = [_state(folder, client.name, member) for member in members]
            # The members' offsets are older than the ends and never past them, so equal sums mean equal offsets.
            if sum(state.counts.get("read_to", 0) for state in states if state) == ends.total():
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(READ_SECONDS)
        return False
    finally:
        ends.close()


def _await_end(folder: Path, name: str, member: int, process: Process, deadline: float) -> None:
    if process.wait(deadline - time.monotonic()):
        _note_kill(folder, name, member, "It was killed. The outcome of records in flight is unknown.")
        return
    process.send(signal.SIGKILL)
    process.wait(5.0)
    _note_kill(
        folder, name, member, "It did not exit in time and was killed. The outcome of records in flight is unknown."
    )


def _note_kill(folder: Path, name: str, member: int, message: str) -> None:
    """Record a kill in the state file, unless the client has already written its exit code."""
    state = _state(folder, name, member)
    if state and state.exit_code is None:
        write_state(
            state_path(folder, name, member),
            replace(state, phase="ended", exit_code=-int(signal.SIGKILL), message=message),
        )


@contextlib.contextmanager
def _locked(folder: Path, name: str) -> Iterator[None]:
    """Lock a client, so that one start or stop runs at a time."""
    path = folder / "run" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals reach only the processes of this lab. The processes here are real but harmless."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import processes
from lab.processes import Part

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
IDLE = "import time; print('idle', flush=True); time.sleep(60)"


@pytest.fixture
def part(tmp_path: Path) -> Iterator[Part]:
    found = Part("P broker", "kafka.Kafka", tmp_path / "P" / "broker.properties", tmp_path / "pid", tmp_path / "log")
    yield found
    processes.kill([found])


@pytest.fixture
def run(part: Part) -> Callable[[str], int]:
    """Start a process as the lab does, with a command line of the lab."""

    def spawn(program: str) -> int:
        pid = processes.spawn(part, [sys.executable, "-c", program, part.main, str(part.config)])
        assert processes.wait_until(lambda: part.log.stat().st_size > 0, 10)
        return pid

    return spawn


@pytest.fixture
def unrelated_process(part: Part) -> Iterator[subprocess.Popen[bytes]]:
    """Another program's process with the pid in our file, and a longer path that starts like ours."""
    command = [sys.executable, "-c", IDLE, part.main, f"{part.config}2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        part.pid_file.write_text(f"{process.pid}\n")
        yield process
        process.kill()


@pytest.mark.parametrize(
    ("arguments", "ours"),
    [
        (["java", "kafka.Kafka", "/lab/P/broker.properties"], True),
        (["java", "kafka.Kafka", "/lab/P/broker.properties2"], False),
        (["java", "kafka.Kafka", "/other/lab/P/broker.properties"], False),
        (["java", "org.apache.kafka.connect.cli.ConnectDistributed", "/lab/P/broker.properties"], False),
        (["vi", "/lab/P/broker.properties"], False),
        ([], False),
    ],
)
def test_a_command_line_is_ours_only_if_all_of_it_matches(arguments: list[str], ours: bool) -> None:
    lab = Part("P broker", "kafka.Kafka", Path("/lab/P/broker.properties"), Path("/lab/pid"), Path("/lab/log"))
    assert lab.is_run_by(arguments) is ours


def test_a_recycled_pid_gets_no_signal(part: Part, unrelated_process: subprocess.Popen[bytes]) -> None:
    assert processes.pid_of(part) is None
    assert not processes.send(part, signal.SIGKILL)
    assert processes.stop([part], 0.1) == []
    assert unrelated_process.poll() is None


@pytest.mark.parametrize("content", ["", "no number", "999999999"])
def test_a_pid_file_without_a_process_means_not_running(part: Part, content: str) -> None:
    part.pid_file.write_text(content)
    assert processes.pid_of(part) is None
    assert processes.state_of(part) == "stopped"


def test_a_process_ends_after_a_signal(part: Part, run: Callable[[str], int]) -> None:
    run(IDLE)
    assert processes.stop([part], 10) == []
    assert processes.pid_of(part) is None
    assert not part.pid_file.exists()


def test_a_process_that_ignores_the_signal_is_killed_after_the_bound_and_reported(
    part: Part, run: Callable[[str], int]
) -> None:
    run(DEAF)
    assert processes.stop([part], 0.3) == [part]
    assert processes.pid_of(part) is None


def test_a_paused_process_can_be_stopped(part: Part, run: Callable[[str], int]) -> None:
    run(IDLE)
    processes.send(part, signal.SIGSTOP)
    assert processes.wait_until(lambda: processes.state_of(part) == "paused", 5)
    assert processes.stop([part], 10) == []


def test_a_process_without_a_pid_file_is_found_again(part: Part, run: Callable[[str], int]) -> None:
    pid = run(IDLE)
    part.pid_file.unlink()
    assert processes.pid_of(part) is None
    processes.adopt_strays(part)
    assert processes.pid_of(part) == pid


def test_a_zombie_child_counts_as_ended(part: Part) -> None:
    processes.spawn(part, [sys.executable, "-c", "pass", part.main, str(part.config)])
    assert processes.wait_until(lambda: processes.gone(part), 10)


def test_a_process_that_has_just_started_is_not_taken_for_an_ended_one(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel shows an empty command line for a moment: observed in 11 of 300 starts on a busy machine."""
    real, observations = processes.arguments_of, iter([[], [], []])
    monkeypatch.setattr(
        processes, "arguments_of", lambda pid, proc=processes.PROC: next(observations, None) or real(pid, proc)
    )
    processes.spawn(part, [sys.executable, "-c", IDLE, part.main, str(part.config)])
    assert not processes.gone(part)


def test_the_memory_of_an_ended_process_is_unknown_and_not_zero() -> None:
    assert processes.resident_mib(999_999_999) is None

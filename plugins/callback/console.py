# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a run in few lines: phases with elapsed time, long waits, changes, the report, and one block for a failure."""

from __future__ import annotations

DOCUMENTATION = r"""
name: console
type: stdout
short_description: Show a run of this collection in few lines
version_added: 1.0.0
description:
  - Shows one line for each phase of a cutover, with the time since the start and what the phase does first.
  - Shows each other task that changed something or took longer than O(slow) seconds, and the report.
  - A task that takes long has a line after O(still) seconds.
  - A run that fails ends with one block, with the task, what was found and wanted, the next step, and where to read
    more. Only the recap of Ansible follows.
  - The last lines of a run that was interrupted, such as with Ctrl-C, say since when applications are stopped, and how
    to resume and to undo the run.
  - With C(-v) or more, use C(ansible.builtin.default), which shows every task.
options:
  slow:
    description: Seconds after which a task that changed nothing is worth a line.
    type: float
    default: 10.0
    ini:
      - section: callback_kafka_dr_console
        key: slow
    env:
      - name: KAFKA_DR_CONSOLE_SLOW
  still:
    description: Seconds after which a line shows that a task still runs. The next line comes after twice the time.
    type: float
    default: 30.0
    ini:
      - section: callback_kafka_dr_console
        key: still
    env:
      - name: KAFKA_DR_CONSOLE_STILL
author:
  - switchback.kafka_dr contributors (@switchback)
requirements:
  - Set it as stdout, with C(stdout_callback = switchback.kafka_dr.console) in C(ansible.cfg) or with the environment
    variable C(ANSIBLE_STDOUT_CALLBACK).
"""

import atexit
import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.compressed import expand
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import sentences

# Around the phases of a cutover, in its role.
_MARK = re.compile(r"Begin the phase (\w+)|End the last phase")
# Task files of the steps, in the role rehearsal.
_STEP = re.compile(r"/tasks/step_(\w+)\.yml:\d+$")
# Tasks that neither change nor observe anything, and include others.
_NO_ACTION = (
    *("include_tasks", "include_role", "import_tasks", "import_role", "set_fact", "assert", "meta", "debug"),
    *("validate_argument_spec", "dr_guard_info", "dr_probe_info", "dr_run"),
)
# Why a cutover stopped, as the role writes it: the task, the error code, and the message.
_STOPPED = re.compile(r"Stopped in '(?P<task>.*?)'(?: \(\w+\))?: (?P<message>.*)", re.DOTALL)
# What Ansible writes before the message of a filter.
_WRAPPED = re.compile(r"^Task failed: (?:The filter plugin '[^']*' failed: )?")
_WANTED = re.compile(r"(?P<found>.*?), (?:wanted|expected) (?P<wanted>.*)")
# A further finding, about what the name before the colon stands for, such as a flow.
_SUBJECT = re.compile(r"[\w>.-]+: ")
# The first sentence of a next step.
_UNCHANGED = "Nothing was changed."
_WIDTH = 15
# Outcomes of a run after which nothing is left to resume.
_OVER = ("completed", "undone", "checked", "already_there")


class CallbackModule(CallbackBase):  # type: ignore[misc]  # Ansible has no types
    """The callback plugin."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "switchback.kafka_dr.console"

    def __init__(self) -> None:
        super().__init__()
        self._began = self._task_began = time.monotonic()
        self._phase = ""
        #: The phase or step whose line was shown.
        self._shown = ""
        # The first failure has the error of the module, the last one ended the run.
        self._failures: list[tuple[str, str, Mapping[str, Any]]] = []
        self._timer: threading.Timer | None = None
        # The newest answer of dr_run about a run that has not ended.
        self._run: Mapping[str, Any] = {}
        # Ansible calls no callback after Ctrl-C.
        atexit.register(self._interrupted, os.getpid())

    # ---- events

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Show the name of the play."""
        mode = " (check mode: nothing is changed)" if play.check_mode else ""
        self._line(f"{play.get_name().strip()}{mode}")

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """Show the beginning of a phase, with its first task that acts."""
        del is_conditional
        self._task_began = time.monotonic()
        name = task.get_name().rpartition(" : ")[2]
        self._watch(name, self.get_option("still"), self._task_began)
        mark, step = _MARK.fullmatch(name), _STEP.search(task.get_path() or "")
        if mark:
            self._phase, self._shown = mark[1] or "", ""
        phase = self._phase or (step[1] if step else "")
        if phase and phase != self._shown and _short(task.action) not in _NO_ACTION:
            self._shown = phase
            self._line(f"{self._elapsed()}  {phase:<{_WIDTH}} {name}")

    def v2_runner_on_ok(self, result: Any) -> None:
        """Show what a task changed, a task that took long, and the lines of a report."""
        self._handle_warnings(result.result)
        if _short(result.task.action) == "dr_run":
            run = result.result.get("run") or {}
            self._run = {} if run.get("ended") or run.get("outcome") in _OVER else run
        if _short(result.task.action) == "debug":
            for line in _lines(result.result.get("msg")):
                self._line(f"  {line}")
            return
        seconds = time.monotonic() - self._task_began
        changed = bool(result.result.get("changed"))
        if _short(result.task.action) in _NO_ACTION:
            return
        inside = self._phase or _STEP.search(result.task.get_path() or "")
        changed = changed and not inside
        slow = seconds >= self.get_option("slow") and not inside
        if changed or slow:
            names = _changes(result.result) if changed else ""
            took = f" ({seconds:.1f} s)" if slow else ""
            color = constants.COLOR_CHANGED if changed else None
            self._line(f"{self._elapsed()}  {_name(result)}{names}{took}", color)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Remember a failure. The block at the end shows it, unless a rescue repaired it."""
        self._handle_warnings(result.result)
        if not ignore_errors:
            # What undoes the run is no part of the phase.
            self._phase = ""
            # The result of a loop only counts its items.
            items = (item for item in result.result.get("results") or () if isinstance(item, Mapping))
            failed = next((item for item in items if item.get("failed")), result.result)
            self._failures.append((result.host.get_name(), _name(result), failed))

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Remember a host that Ansible cannot reach."""
        self._failures.append((result.host.get_name(), _name(result), result.result))

    def v2_on_file_diff(self, result: Any) -> None:
        """Show the diff of a task, with the option C(--diff)."""
        for diff in _as_list(result.result.get("diff")):
            if diff:
                self._display.display(self._get_diff(diff).rstrip("\n"))

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Show the block of a failed run, and the recap."""
        self._stop_watching()
        self._run = {}
        hosts = sorted(stats.processed)
        totals = {host: stats.summarize(host) for host in hosts}
        failed = any(total["failures"] or total["unreachable"] for total in totals.values())
        if failed and self._failures:
            self._failure()
        for host, total in totals.items():
            counts = ", ".join(f"{name} {total[name]}" for name in ("ok", "changed", "failures", "unreachable"))
            color = constants.COLOR_ERROR if total["failures"] or total["unreachable"] else constants.COLOR_OK
            self._line(f"{host}: {counts} ({time.monotonic() - self._began:.1f} s)", color)

    # ---- lines

    def _failure(self) -> None:
        host, task, result = self._failures[-1]
        errors = (failed.get("error") for _host, _task, failed in self._failures)
        error: Mapping[str, Any] = next((given for given in errors if isinstance(given, Mapping) and given), {})
        block = _block(str(result.get("msg") or ""), error)
        where = block.pop("task", task) + ("" if host == "localhost" else f" on {host}")
        self._line(f"FAILED: {where}", constants.COLOR_ERROR)
        for name, text in block.items():
            self._line(f"  {name:<11}{text}", constants.COLOR_ERROR)

    def _interrupted(self, process: int) -> None:
        """Show what an interrupted run has stopped, and how to go on. Not in a fork, which is a task."""
        run = self._run
        if not run.get("id") or os.getpid() != process:
            return
        self._line(f"INTERRUPTED: the run {run['id']} has not ended", constants.COLOR_ERROR)
        since = {who: time.strftime("%H:%M:%S", time.localtime(at)) for who, at in run["stopped"].items()}
        lines = [("stopped", ", ".join(f"{who} since {at}" for who, at in since.items()) or "nothing yet")]
        lines += [(name, run[name]) for name in ("resume", "undo") if run[name]]
        for name, text in lines:
            self._line(f"  {name:<11}{text}", constants.COLOR_ERROR)

    def _watch(self, name: str, after: float, since: float) -> None:
        """Show that a task is still running, each time that its duration has doubled."""
        self._stop_watching()
        self._timer = threading.Timer(after, self._still, (name, since))
        self._timer.daemon = True
        self._timer.start()

    def _still(self, name: str, since: float) -> None:
        seconds = time.monotonic() - since
        self._line(f"{self._elapsed()}  still {name} ({seconds:.0f} s)")
        self._watch(name, seconds, since)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _line(self, text: str, color: str | None = None) -> None:
        self._display.display(text, color=color)

    def _elapsed(self) -> str:
        return f"{time.strftime('%H:%M:%S')} {time.monotonic() - self._began:>+7.1f} s"


def _block(text: str, error: Mapping[str, Any]) -> dict[str, str]:
    """The lines about a failure by name. ``error``: of a module of this collection, or empty.

    Messages say what was found, then what was wanted, then the next step; their first sentence is what was found.
    """
    message = _WRAPPED.sub("", " ".join(text.split()))
    block = {}
    stopped = _STOPPED.match(message)
    if stopped:
        block["task"], message = stopped["task"], stopped["message"]
    hint = " ".join(str(error.get("hint") or "").split())
    if not hint and _UNCHANGED in message:
        hint = _UNCHANGED  # the error of a filter is only text
    said, mark, more = message.partition(hint) if hint else (message, "", "")
    first, *rest = sentences(said.strip()) if not mark else [said.strip()]
    while rest and _SUBJECT.match(rest[0]):
        first += f" {rest.pop(0)}"
    wanted = _WANTED.fullmatch(first)
    block["found"] = wanted["found"] if wanted else first
    if wanted:
        block["wanted"] = wanted["wanted"]
    following = " ".join(part.strip() for part in (*rest, hint, more) if part.strip())
    if following:
        block["next step"] = following
    code = error.get("code")
    block["read more"] = f"docs/error-codes.md, {code}" if code else "docs/troubleshooting.md"
    return block


def _short(action: str) -> str:
    return action.rpartition(".")[2]


def _name(result: Any) -> str:
    return str(result.task.get_name()).rpartition(" : ")[2]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _lines(message: Any) -> list[str]:
    return [str(line) for line in _as_list(message)]


def _changes(result: Mapping[str, Any]) -> str:
    """The number of changes of a module of this collection, and the first three."""
    changes = expand(result.get("changes"))
    rows = [row for row in changes if isinstance(row, Mapping)] if isinstance(changes, list) else []
    if not rows:
        return ": changed"
    first = ", ".join(str(row.get("name")) for row in rows[:3])
    return f": {len(rows)} changed: {first}{', ...' if len(rows) > 3 else ''}"

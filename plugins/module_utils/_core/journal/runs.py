# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of the next step after a run: how to resume it, undo it, or go on, as commands and sentences.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = [
    "if_interrupted",
    "passed",
    "playbook_command",
    "resume_command",
    "take_back_command",
    "unfinished_run",
]


#: Options that decide which offsets a run accepts, with their defaults. A run that is started again needs the same.
_OPTIONS = {"lower": "auto", "group_lag": "refuse"}


def playbook_command(playbook: str, run: Mapping[str, Any], run_on: str = "", **values: object) -> str:
    """The command that starts a playbook for the pair of ``run``.

    ``run_on``: inventory host of the plays. ``values``: variables without the prefix ``kafka_dr_``.
    """
    given = "".join(f" -e kafka_dr_{name}={value}" for name, value in values.items())
    return f"ansible-playbook switchback.kafka_dr.{playbook} -i INVENTORY{given}" + _of_this_pair(run, run_on)


def resume_command(run: Mapping[str, Any], run_on: str = "") -> str:
    """The command that resumes an interrupted run. ``run_on``: inventory host of the plays."""
    given = run.get("options") or {}
    options = {name: given[name] for name, default in _OPTIONS.items() if given.get(name, default) != default}
    command = playbook_command(f"failover_{run['type']}", run, run_on, to=run["to"], confirm=run["to"], **options)
    return command + _drop(run)


def take_back_command(run: Mapping[str, Any], run_on: str = "") -> str:
    """The command that undoes the run."""
    return playbook_command("abandon", run, run_on, confirm=run["from"]) + _drop(run)


def _of_this_pair(run: Mapping[str, Any], run_on: str) -> str:
    """Options that select the run's pair. Its name ends in the application (``B-P.payments``)."""
    application = str(run.get("pair") or "").partition(".")[2]
    more = f" -e kafka_dr_application={application}" if application else ""
    return more + (f" -e kafka_dr_run_on={run_on}" if run_on not in ("", "localhost") else "")


def _drop(run: Mapping[str, Any]) -> str:
    """The option that lets members of the pair leave it, as the run was started (R42)."""
    drop = list(run.get("drop") or ())
    return f" -e '{json.dumps({'kafka_dr_drop': drop}, ensure_ascii=False)}'" if drop else ""


def passed(run: Mapping[str, Any]) -> bool:
    """Whether the run, or the run that it replaces, is past the point of no return."""
    return run.get("pnr") is not None or bool(run.get("replaces_passed_run"))


def if_interrupted(run: Mapping[str, Any], stops: str, run_on: str = "") -> str:
    """What a run stops, and how to go on if it is interrupted. ``stops``: its applications in order, or empty."""
    text = f"The run {run['id']} stops {stops} on {run['from']}. " if stops else ""
    text += (
        f"If it is interrupted, {playbook_command('status', run, run_on)} shows what is stopped, and"
        f" {resume_command(run, run_on)} resumes it."
    )
    back = f" Before the point of no return, {take_back_command(run, run_on)} undoes it."
    return text if passed(run) else text + back


def unfinished_run(run: Mapping[str, Any], run_on: str = "") -> str:
    """A text that explains how to end this run first; empty without a run."""
    if not run:
        return ""
    text = (
        f"The {run['type']} run {run['id']} to {run['to']} is unfinished. Start it again, and it continues where it"
        f" stopped: {resume_command(run, run_on)}."
    )
    back = "" if passed(run) else f" Or undo it: {take_back_command(run, run_on)}."
    return text + back

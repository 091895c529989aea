# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How to resume or undo an interrupted run in the journal, as commands and sentences.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["passed", "resume_command", "take_back_command", "unfinished_run"]

_COMMAND = "ansible-playbook switchback.kafka_dr.{} -i INVENTORY"


def resume_command(run: Mapping[str, Any], run_on: str = "") -> str:
    """The command that resumes an interrupted run. ``run_on``: inventory host of the plays."""
    to = run["to"]
    command = f"{_COMMAND.format('failover_' + run['type'])} -e kafka_dr_to={to} -e kafka_dr_confirm={to}"
    return command + _of_this_pair(run, run_on)


def take_back_command(run: Mapping[str, Any], run_on: str = "") -> str:
    """The command that undoes the run."""
    return f"{_COMMAND.format('abandon')} -e kafka_dr_confirm={run['from']}" + _of_this_pair(run, run_on)


def _of_this_pair(run: Mapping[str, Any], run_on: str) -> str:
    """Options that select the run's pair. Its name ends in the application (``B-P.payments``)."""
    application = str(run.get("pair") or "").partition(".")[2]
    more = f" -e kafka_dr_application={application}" if application else ""
    return more + (f" -e kafka_dr_run_on={run_on}" if run_on not in ("", "localhost") else "")


def passed(run: Mapping[str, Any]) -> bool:
    """Whether the run, or the run that it replaces, is past the point of no return."""
    return run.get("pnr") is not None or bool(run.get("replaces_passed_run"))


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

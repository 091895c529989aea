# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do after a report: next steps with their commands, and the text for a pager that ends with the first.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..journal.runs import playbook_command
from ..verdict import PROVEN, REFUTED, UNKNOWN
from .rows import Step

__all__ = ["audit_steps", "command", "next_step", "pager_text"]


def command(playbook: str, report: Mapping[str, Any], **values: object) -> str:
    """The command that starts a playbook for the pair of a report. ``values``: as of `playbook_command`."""
    return playbook_command(playbook, report, str(report.get("run_on") or ""), **values)


def next_step(text: str, playbook: str, report: Mapping[str, Any], **values: object) -> Step:
    """A step, and the command that does it."""
    return {"text": text, "command": command(playbook, report, **values)}


def pager_text(lines: Iterable[str], steps: Sequence[Step]) -> str:
    """A text for a pager or a chat: ``lines``, then the first step."""
    last = f"Next: {steps[0]['command']}" if steps else "Next: nothing"
    return "\n".join(" ".join(line.split()) for line in (*lines, last))


def audit_steps(pair: str, passive: str, run_on: str) -> dict[str, list[Step]]:
    """The next steps after an audit, by its verdict. ``passive``: the cluster without the applications."""
    report = {"pair": pair, "run_on": run_on}
    again = "then compare again"
    return {
        PROVEN: [next_step(f"Check whether {passive} could take over", "readiness", report, to=passive)],
        REFUTED: [
            next_step(f"Do not move the applications. Find the cause with docs/audit.md, {again}", "verify", report)
        ],
        UNKNOWN: [next_step(f"Remove the reasons that are listed here, {again}", "verify", report)],
    }

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who carries out a run, and whether another process may take it over (R25).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import DrError
from ..verdict import PROVEN, REFUTED, UNKNOWN
from .state import Run

__all__ = ["Holder", "require_over"]


@dataclass(frozen=True)
class Holder:
    """One Ansible process."""

    #: Machine, boot and process namespace.
    host: str
    #: None: the controller is on another machine than the process that writes the journal.
    pid: int | None = None
    #: Start time of the process; distinguishes it from a later one with the same pid.
    born: int | None = None
    #: Fingerprint of command line and folder.
    command: str = ""

    @classmethod
    def of(cls, written: Mapping[str, Any] | None) -> Holder | None:
        """From the journal; None if it names no process."""
        return Holder(**written) if written else None

    def as_dict(self) -> dict[str, Any]:
        """The form in the journal."""
        return asdict(self)


def require_over(run: Run, here: Holder, alive: bool, take_over: str | None) -> None:
    """Raise unless the interrupted ``run`` may be taken over.

    ``here``: the process that asks. ``alive``: the process in the journal exists on this machine. ``take_over``: id of
    a run whose controller has ended, as an operator confirms. The age of its last event does not decide: that would
    compare the clocks of two machines, and a suspended controller writes as little as one that has ended (R31).
    """
    holder = Holder.of(run.holder)
    verdict = _over(holder, here, alive)
    if verdict == PROVEN or (verdict == UNKNOWN and take_over == run.id):
        return
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(run.started))
    who = f'The {run.type} run "{run.id}" to {run.target}, started {began},'
    if verdict == REFUTED and holder is not None:
        raise DrError(
            "run_at_work",
            f"{who} is still in progress: process {holder.pid} on this machine.",
            "Wait until it ends, or end that process; then start the same playbook again.",
        )
    place = "an unknown machine" if holder is None else holder.host.split("/", maxsplit=1)[0]
    raise DrError(
        "run_undecided",
        f"{who} has not ended. It is unknown whether it is still in progress: its process is on {place}.",
        f"Make sure that its process has ended, then start again with -e kafka_dr_take_over={run.id}.",
    )


def _over(holder: Holder | None, here: Holder, alive: bool) -> str:
    """PROVEN: the holder has ended or is this process. Two holders would undo each other's steps."""
    if holder is not None and holder.pid is not None:
        if holder == here:
            return PROVEN
        if holder.host == here.host:
            return REFUTED if alive else PROVEN
    return UNKNOWN

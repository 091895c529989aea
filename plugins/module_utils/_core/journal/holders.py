# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who carries out a run, and whether somebody else may take it over (R25).

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
    """One Ansible process in one life.

    ``host``: machine, boot and process namespace. ``pid`` None: the controller is on another machine than the one that
    writes the journal. ``born``: tells a pid from its next owner. ``command``: fingerprint of command line and folder.
    """

    host: str
    pid: int | None = None
    born: int | None = None
    command: str = ""

    @classmethod
    def of(cls, written: Mapping[str, Any] | None) -> Holder | None:
        """From the journal; None where it names nobody."""
        return Holder(**written) if written else None

    def as_dict(self) -> dict[str, Any]:
        """As it is journaled."""
        return asdict(self)


def require_over(run: Run, here: Holder, alive: bool, take_over: str | None) -> None:
    """Raise unless the interrupted ``run`` may be taken over.

    ``here``: who asks. ``making_progress``: the process that the journal names exists on this machine. ``take_over``:
    the id of a
    run whose controller has ended, as a person has made sure. How old its last event is decides nothing: that would
    compare the clocks of two machines, and a controller that was frozen is as silent as one that has ended (R31).
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
            f"{who} is still at work: process {holder.pid} on this machine.",
            "Let it end, or end that process; then start the same playbook again.",
        )
    place = "an unknown machine" if holder is None else holder.host.split("/", maxsplit=1)[0]
    raise DrError(
        "run_undecided",
        f"{who} has not ended, and whether it is still at work cannot be seen from here: it runs on {place}.",
        f"Make sure that its process there has ended, then start again with -e kafka_dr_take_over={run.id}.",
    )


def _over(holder: Holder | None, here: Holder, alive: bool) -> str:
    """Has the holder ended? Two at a time would undo each other's steps."""
    if holder is not None and holder.pid is not None:
        if holder == here:
            return PROVEN  # nobody else
        if holder.host == here.host:
            return REFUTED if alive else PROVEN
    return UNKNOWN

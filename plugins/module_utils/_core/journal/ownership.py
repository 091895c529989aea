# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a controller still hold the run or the lease that it works with (R31)?

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import DrError
from .leases import Lease
from .run_rules import require_holder
from .state import JournalState

__all__ = ["Claim", "Token", "refuse_older"]


@dataclass(frozen=True)
class Claim:
    """What a controller claims to hold: a run in its ``holder_generation``-th resumption, or a lease by its id."""

    run: str | None = None
    holder_generation: int | None = None
    lease: str | None = None
    #: The run may have ended if no other one has begun: for hooks after a run.
    after_end: bool = False

    @classmethod
    def of(cls, guard: Mapping[str, Any]) -> Claim | None:
        """From a module's option ``guard``; None if it names neither a run nor a lease."""
        if not guard.get("run") and not guard.get("lease"):
            return None
        return cls(guard.get("run"), guard.get("holder_generation"), guard.get("lease"), bool(guard.get("after_end")))

    def require(self, state: JournalState, leases: Iterable[Lease]) -> None:
        """Raise ``run_superseded`` or ``run_ended`` unless the journal and the leases confirm the claim."""
        if self.run:
            if self.holder_generation is None:
                raise DrError(
                    "bad_option",
                    f'The option guard names the run "{self.run}", but not its holder_generation.',
                    "Set the option guard to the value owner that dr_journal returned.",
                )
            require_holder(state, self.run, self.holder_generation, self.after_end)
        if self.lease:
            self._require_lease(leases)

    def _require_lease(self, leases: Iterable[Lease]) -> None:
        mine = next((lease for lease in leases if lease.run == self.lease), None)
        if mine is not None and mine.ended is None:
            return
        found = "another controller holds it" if mine is None else f"it ended with the outcome {mine.outcome}"
        raise DrError(
            "run_superseded",
            f'This process does not hold the lease "{self.lease}" any more: {found}.',
            "This process makes no more changes. Check what the other controller did, then start this playbook again.",
        )


@dataclass(frozen=True, order=True)
class Token:
    """A number that grows with each run of a pair and with each of its holders: an older controller has a lower one."""

    epoch: int
    holder_generation: int


def refuse_older(mine: Token, journal: float, stored: Mapping[str, Any] | None, where: str) -> bool:
    """Whether ``mine`` is newer than the token that a host has ``stored``; raises ``run_superseded`` if it is older.

    ``journal``: when the pair's journal began. The tokens of a lost journal do not count for its successor.
    """
    if stored is None or stored["journal"] != journal:
        return True
    seen = Token(stored["epoch"], stored["holder_generation"])
    if mine < seen:
        raise DrError(
            "run_superseded",
            f"A newer controller has worked on this application: {where} has epoch {seen.epoch}, holder"
            f" {seen.holder_generation}; this process has epoch {mine.epoch}, holder {mine.holder_generation}.",
            "This process makes no more changes. The newer run continues.",
        )
    return mine > seen

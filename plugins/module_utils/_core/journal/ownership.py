# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a controller still hold the run or the lease that it works under (R31)?

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
    """What a controller believes to hold: a run in its ``holder_generation``-th resumption, or a lease by its id."""

    run: str | None = None
    holder_generation: int | None = None
    lease: str | None = None
    #: The run may have ended, as long as no other one has begun: hooks after a run.
    after_end: bool = False

    @classmethod
    def of(cls, guard: Mapping[str, Any]) -> Claim | None:
        """From a module's option ``guard``; None where it names neither a run nor a lease."""
        if not guard.get("run") and not guard.get("lease"):
            return None
        return cls(guard.get("run"), guard.get("holder_generation"), guard.get("lease"), bool(guard.get("after_end")))

    def require(self, state: JournalState, leases: Iterable[Lease]) -> None:
        """Raise ``run_superseded`` or ``run_ended`` unless journal and leases still show it."""
        if self.run:
            if self.holder_generation is None:
                raise DrError("bad_option", f'guard names the run "{self.run}" without a turn.')
            require_holder(state, self.run, self.holder_generation, self.after_end)
        if self.lease:
            self._require_lease(leases)

    def _require_lease(self, leases: Iterable[Lease]) -> None:
        mine = next((lease for lease in leases if lease.run == self.lease), None)
        if mine is not None and mine.ended is None:
            return
        found = "another controller holds it now" if mine is None else f"it ended as {mine.outcome}"
        raise DrError(
            "run_superseded",
            f'The lease "{self.lease}" is not held by this process any more: {found}.',
            "This process changes nothing any more. See what the other controller did, then start this playbook again.",
        )


@dataclass(frozen=True, order=True)
class Token:
    """A number that only grows over the runs of a pair and their holders: an older controller has a lower one."""

    epoch: int
    holder_generation: int


def refuse_older(mine: Token, journal: float, kept: Mapping[str, Any] | None, where: str) -> bool:
    """Whether ``mine`` is newer than what a host has ``kept``; raises ``run_superseded`` where it is older.

    ``journal``: when the pair's journal began. A journal that was lost and made again counts from the beginning.
    """
    if kept is None or kept["journal"] != journal:
        return True
    seen = Token(kept["epoch"], kept["holder_generation"])
    if mine < seen:
        raise DrError(
            "run_superseded",
            f"A newer controller has worked on this application: {where} holds epoch {seen.epoch}, holder"
            f" {seen.holder_generation}; this one has epoch {mine.epoch}, holder {mine.holder_generation}.",
            "This process changes nothing any more. The newer run goes on.",
        )
    return mine > seen

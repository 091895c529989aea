# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Append a phase of a run to the journal, with the facts that cannot be read again later.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..._core.changes import Outcome
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.ownership import Claim
from .events import note
from .request import JournalRequest

__all__ = ["note_phase"]


def note_phase(
    pair: PairSpec,
    claim: Claim,
    phase: str,
    facts: Mapping[str, Any],
    timeout: float,
    clusters: Collection[str] = (),
) -> list[Outcome]:
    """Append the finished phase with its facts.

    ``clusters`` are the aliases of the copies to write; empty: all. Raises ``run_superseded`` if another controller has
    taken over the run.
    """
    data = {"phase": phase, "facts": facts}
    request = JournalRequest(pair, "phase", data, claim.run, claim.holder_generation, tuple(clusters), timeout=timeout)
    return note(request, False).outcomes

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of a cutover, and everything that differs between them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CUTOVER_TYPES", "CutoverType", "as_variables", "needs_source", "watches_left"]

_PRODUCERS, _CONSUMERS = ("producer",), ("consumer",)
_READERS, _WRITERS = ("processor", "consumer"), ("producer", "processor")
_CONSUMERS_FIRST = (("stop", _READERS), ("start", _CONSUMERS), ("stop", _PRODUCERS), ("start", _WRITERS))
_STANDSTILL = {"writes": ("move_producers", "move_producers"), "reads": ("stop_consumers", "start_consumers")}


@dataclass(frozen=True)
class CutoverType:
    """One way to move the applications."""

    name: str
    #: In order. Each is the task file ``phase_<name>.yml`` of the role ``cutover``.
    phases: tuple[str, ...]
    #: Actions and roles of the applications, in the order of the phases.
    steps: tuple[tuple[str, tuple[str, ...]], ...]
    #: For writes and reads: the phase that starts to stop them, and the phase at whose end they have started again.
    standstill: Mapping[str, tuple[str, str]]
    #: The cluster being left must respond. If False, it is not contacted.
    needs_source: bool = True
    #: Readers start on the cluster being entered before the point of no return; an undo stops them there.
    readers_start_first: bool = True
    #: ``reread`` accepts offsets that are not exact; None: ``kafka_dr_group_lag`` decides.
    group_lag: str | None = "reread"
    #: What happens to a higher committed offset on the cluster being entered: ``fail`` or ``lower`` (R6).
    higher: str = "fail"
    #: The flow and the producers write at the same time, so they must not write into the same topics.
    writes_beside_flow: bool = False
    #: Writes on the cluster being left after the barrier are observed.
    watches_left: bool = False
    #: State of the flows after the run, and after its undo (``_core.flows.goals``).
    flows_after: str = "live"
    flows_undone: str = "live"
    #: It replaces an interrupted run of another type, which may need the lost cluster.
    replaces_interrupted: bool = False


CUTOVER_TYPES: Mapping[str, CutoverType] = {
    one.name: one
    for one in (
        CutoverType(
            "cutoff",
            phases=(
                "stop_producers",
                "drain",
                "stop_consumers",
                "barrier",
                "commit_offsets",
                "start",
                "arrival",
                "flows",
                "settled",
            ),
            steps=(("stop", _PRODUCERS), ("stop", _READERS), ("start", _PRODUCERS), ("start", _READERS)),
            standstill={"writes": ("stop_producers", "start"), "reads": ("stop_consumers", "start")},
            readers_start_first=False,
            group_lag=None,
            watches_left=True,
        ),
        CutoverType(
            "continuous",
            phases=(
                "stop_consumers",
                "follow",
                "commit_offsets",
                "start_consumers",
                "move_producers",
                "arrival",
                "flows",
                "settled",
            ),
            steps=_CONSUMERS_FIRST,
            standstill=_STANDSTILL,
            writes_beside_flow=True,
        ),
        # Nothing can be drained. Consumers move first: the records that they read are on the surviving cluster.
        CutoverType(
            "disaster",
            phases=(
                "stop_consumers",
                "rescue",
                "survey",
                "commit_offsets",
                "start_consumers",
                "move_producers",
                "arrival",
                "flows",
            ),
            steps=_CONSUMERS_FIRST,
            standstill=_STANDSTILL,
            needs_source=False,
            higher="lower",
            flows_after="survive",
            flows_undone="live_elsewhere",
            replaces_interrupted=True,
        ),
    )
}


def needs_source(name: Any) -> bool:
    """Whether a cutover of the type ``name`` needs the cluster being left; an unknown type does."""
    kind = CUTOVER_TYPES.get(name) if isinstance(name, str) else None
    return kind is None or kind.needs_source


def watches_left(name: str) -> bool:
    """Whether a cutover of the type ``name`` allows no write on the cluster being left after its barrier."""
    return CUTOVER_TYPES[name].watches_left


def as_variables() -> dict[str, dict[str, Any]]:
    """The types by name, for the roles. JSON has no tuples, so they become lists."""
    found: dict[str, dict[str, Any]] = json.loads(
        json.dumps({name: asdict(one) for name, one in CUTOVER_TYPES.items()})
    )
    return found

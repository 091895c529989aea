# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run may start, and which events a run may append (R25).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..cutover_types import CUTOVER_TYPES
from ..errors import DrError
from .state import JournalState, Run

__all__ = ["begin", "is_same", "require_holder", "require_holder_generation"]


def require_holder(state: JournalState, run_id: str, generation: int | None, after_end: bool) -> Run:
    """The current run, if it is ``run_id``, its holder is the given one and, unless ``after_end``, it has not ended.

    ``generation`` None: the caller is not one of its holders. Raises ``run_superseded`` or ``run_ended``.
    """
    now = state.run
    if now is None or now.id != run_id:
        found = "none" if now is None else now.id
        raise DrError(
            "run_superseded",
            f'The run "{run_id}" is not the current one in the journal, found "{found}".',
            "Another run has taken over this pair. This process makes no more changes.",
        )
    if generation is not None and generation != now.holder_generation:
        times = now.holder_generation - generation
        raise DrError(
            "run_superseded",
            f'The run "{run_id}" was taken over {times} times since this Ansible process started or resumed it.',
            "The process that took it over continues the run. This process makes no more changes.",
        )
    if now.ended is not None and not after_end:
        raise DrError(
            "run_ended",
            f'The run "{run_id}" has ended ({now.result}).',
            "Start the same playbook again: it checks the current state.",
        )
    return now


def require_holder_generation(
    state: JournalState, run_id: str, kind: str, data: Mapping[str, Any], generation: int | None
) -> Run:
    """The current run, if ``run_id`` may append an event of ``kind``; raises if it was replaced or has ended.

    ``generation``: how often the run had been taken over when the caller took it; None: the caller is not one of its
    holders. Also raises ``run_passed``.
    """
    # A flow is seeded when the pair is enabled again, long after a disaster has ended.
    late = kind == "phase" and data.get("phase") == "seeded"
    now = require_holder(state, run_id, generation, late)
    passed_before = now.replaces_passed_run or now.passed_generation != now.holder_generation
    if kind == "undoing" and now.passed is not None and passed_before:
        raise DrError(
            "run_passed",
            f'The run "{run_id}" has passed the point of no return: producers may have written on {now.target}.',
            "Start its own playbook again, which continues the run. The way back is a failback.",
        )
    return now


def is_same(run: Run, wanted: Mapping[str, Any]) -> bool:
    """Whether ``run`` has the wanted {type, from, to}."""
    return (run.type, run.source, run.target) == (wanted["type"], wanted["from"], wanted["to"])


def begin(state: JournalState, wanted: Mapping[str, Any], new_id: str) -> tuple[str, int, bool]:
    """(run id, epoch, resumed) for a run of ``wanted`` = {type, from, to}.

    An interrupted run of the same kind continues. Raises ``run_interrupted`` if another kind of run is unfinished: two
    unfinished runs cannot both be right. Only a disaster replaces it, because the other run may need a cluster that is
    lost.
    """
    if not state.interrupted or state.run is None:
        return new_id, state.epoch + 1, False
    now = state.run
    if is_same(now, wanted):
        return now.id, now.epoch, True
    if CUTOVER_TYPES[wanted["type"]].replaces_interrupted:
        return new_id, state.epoch + 1, False
    raise DrError(
        "run_interrupted",
        f'The {now.type} run "{now.id}" from {now.source} to {now.target} is unfinished;'
        f" wanted {wanted['type']} from {wanted['from']} to {wanted['to']}.",
        "Start the unfinished run again with its own playbook first: it continues where it stopped.",
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a run, as its folder on the controller keeps them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KINDS", "RunEvent"]

#: The kinds of an event, with the keys of their data. A step's ``result`` is what its module returned.
KINDS: Mapping[str, frozenset[str]] = {
    # The playbook was started: the first event, and no other one.
    "began": frozenset({"move", "options", "check"}),
    "returned": frozenset({"step", "result"}),
    # The phase before it ends at the same time. Without a name, it only ends.
    "phase": frozenset({"phase"}),
    # The moment is such as "before drain".
    "hook_began": frozenset({"name", "moment"}),
    # The hook that began last. Without a failure it succeeded.
    "hook_ended": frozenset({"failure"}),
    "not_stopped": frozenset({"reason", "clients"}),
    "failed": frozenset({"task", "message", "error"}),
    # The undo has started the applications where they were.
    "restarted": frozenset(),
    "undone": frozenset(),
    "undo_failed": frozenset({"message", "error"}),
    "audited": frozenset({"audit"}),
    "ended": frozenset(),
    # Hooks after the run see the verdict of its report.
    "reported": frozenset({"verdict"}),
}


@dataclass(frozen=True)
class RunEvent:
    """Something that happened in a run."""

    kind: str
    #: Epoch seconds, by the clock of the controller.
    at: float
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> RunEvent:
        """Parse what :meth:`as_dict` returned. Raises ValueError for an event that this release does not know."""
        kind, data = row["kind"], row.get("data") or {}
        if kind not in KINDS or KINDS[kind] - set(data):
            raise ValueError(f"no event of a run: {kind} with {sorted(data)}")
        return cls(kind, float(row["at"]), data)

    def as_dict(self) -> dict[str, Any]:
        """Return the event as plain data."""
        return {"kind": self.kind, "at": self.at, "data": dict(self.data)}

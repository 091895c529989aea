# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences and changes: one object decides ``changed``, the diff and the list of actions.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Change", "Differences", "Outcome", "diff_of"]


@dataclass(frozen=True)
class Change:
    """One step to the desired state. ``before`` and ``after`` have the same keys, or one of them is None."""

    kind: str
    name: str
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True)
class Outcome:
    """A change and its outcome: ``planned`` (check mode), ``done``, or ``failed`` with the error."""

    change: Change
    status: str
    error: str | None = None
    #: The code of the error if callers can act on it.
    code: str = ""

    def as_dict(self) -> dict[str, Any]:
        """An item of the value that modules return as ``changes``."""
        change = self.change
        return {
            "kind": change.kind,
            "name": change.name,
            "action": change.action,
            "before": None if change.before is None else dict(change.before),
            "after": None if change.after is None else dict(change.after),
            "status": self.status,
            "error": self.error,
        }


@dataclass
class Differences:
    """Collects the differing values of one object. Equal values are dropped, so callers need not compare."""

    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, before: Any, after: Any) -> None:
        """Record ``name`` if the two (already normalised) values differ."""
        if before != after:
            self.before[name] = before
            self.after[name] = after

    def __bool__(self) -> bool:
        return bool(self.before or self.after)

    def change(self, kind: str, name: str, action: str) -> Change:
        """The change from ``before`` to ``after``."""
        return Change(kind, name, action, dict(self.before), dict(self.after))


def diff_of(changes: Iterable[Change]) -> dict[str, dict[str, Any]]:
    """Ansible's diff of a list of changes: before and after, by kind and name."""
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for change in changes:
        key = f"{change.kind} {change.name}"
        before[key] = None if change.before is None else {**(before.get(key) or {}), **change.before}
        after[key] = None if change.after is None else {**(after.get(key) or {}), **change.after}
    return {"before": before, "after": after}

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases: who is at work on a pair, until when, and what the last one did.

A run writes to the journal and then reads leases; a scheduled job writes its lease and then reads the journal.
Whichever comes second sees the other, so never both go on.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Lease", "at_work", "newest"]


@dataclass(frozen=True)
class Lease:
    """``since``/``until``/``ended``: epoch seconds. Behind ``until`` its holder changes nothing any more.

    ``holder``: the Ansible process, where the lease outlives the module that took it (see ``holders``).
    """

    pair: str
    kind: str
    to: str
    run: str
    since: float
    until: float
    ended: float | None = None
    outcome: str | None = None
    counts: dict[str, Any] = field(default_factory=dict)
    holder: dict[str, Any] | None = None

    @property
    def key(self) -> str:
        """One latest value for each pair, kind and side."""
        return f"{self.pair}/{self.kind}/{self.to}"

    def over(self, moment: float, outcome: str, counts: Mapping[str, Any]) -> Lease:
        """The same, given back."""
        return replace(self, ended=moment, outcome=outcome, counts=dict(counts))

    def as_dict(self) -> dict[str, Any]:
        """As it is written."""
        return {"schema": 1, **asdict(self)}


def newest(copies: Iterable[Mapping[str, Mapping[str, Any]]], pair: str) -> list[Lease]:
    """The latest leases of ``pair`` from the copies on its clusters."""
    latest: dict[str, Lease] = {}
    for copy in copies:
        for key, value in copy.items():
            # Prepared positions lie in the same topic.
            if value.get("pair") != pair or "until" not in value:
                continue
            lease = Lease(**{name: value[name] for name in Lease.__dataclass_fields__ if name in value})
            if key not in latest or (lease.since, lease.ended or 0.0) > (latest[key].since, latest[key].ended or 0.0):
                latest[key] = lease
    return sorted(latest.values(), key=lambda lease: lease.key)


def at_work(leases: Iterable[Lease], now: float, but: str = "") -> Lease | None:
    """One that is neither given back nor over, and not of the run ``but``."""
    return next((lease for lease in leases if lease.ended is None and now < lease.until and lease.run != but), None)

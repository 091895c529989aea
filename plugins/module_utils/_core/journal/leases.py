# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases: who is at work on a pair, until when, and what the last one did.

A run writes to the journal and then reads leases; a scheduled job writes its lease and then reads the journal.
Whichever comes second sees the other, so never both go on.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Lease", "Watch", "newest", "open_leases"]


@dataclass(frozen=True)
class Lease:
    """``since``/``until``/``ended``: epoch seconds of the machine that wrote them, for people and for their distance.

    A lease that another process may have outlived is ended by that process before it goes on (see ``Watch``), so the
    record alone shows whether its holder may still change something: no clock of another machine is compared.
    ``number`` grows with each lease of the same key. ``holder``: the Ansible process, where the lease outlives the
    module that took it (see ``holders``).
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
    number: int = 0

    @property
    def seconds(self) -> float:
        """How long it must be watched unchanged before it counts as abandoned."""
        return self.until - self.since

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
            # PresyncedOffset positions lie in the same topic.
            if value.get("pair") != pair or "until" not in value:
                continue
            lease = Lease(**{name: value[name] for name in Lease.__dataclass_fields__ if name in value})
            if key not in latest or _age(lease) > _age(latest[key]):
                latest[key] = lease
    return sorted(latest.values(), key=lambda lease: lease.key)


def _age(lease: Lease) -> tuple[int, bool]:
    return lease.number, lease.ended is not None


def open_leases(leases: Iterable[Lease], but: str = "") -> list[Lease]:
    """Those that nobody has ended, the run ``but`` left aside."""
    return [lease for lease in leases if lease.ended is None and lease.run != but]


class Watch:
    """Tells abandoned leases from live ones by this machine's clock alone: how long each was seen unchanged (R31)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: dict[tuple[str, str, int], float] = {}

    def live(self, leases: Iterable[Lease]) -> list[Lease]:
        """Those that have not been seen unchanged for their whole length yet."""
        now, found = self._clock(), list(leases)
        keys = [(lease.key, lease.run, lease.number) for lease in found]
        self._first = {key: self._first.get(key, now) for key in keys}
        return [lease for lease, key in zip(found, keys, strict=True) if now - self._first[key] < lease.seconds]

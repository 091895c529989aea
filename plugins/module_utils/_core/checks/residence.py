# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On which cluster the applications live, according to the journal and to evidence (R18, R34).

A lost journal is not an empty one. Without it, evidence shows the active cluster, or the operator must name it. Group
members on the other cluster always contradict the journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DrError
from ..journal.events import Event
from ..listing import first_few
from ..resources.topics import TopicState

__all__ = ["Residence", "SideEvidence", "find_residence", "missing_epochs", "unsafe_journal"]

_SHOWN = 3
_ASK = "Start again with -e kafka_dr_applications_on=ALIAS, the cluster on which they live."
_JOURNAL_SETTINGS = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


@dataclass(frozen=True)
class SideEvidence:
    """What was observed on one cluster, as texts that name a group or topic."""

    #: Members of the pair's groups, with client id and host.
    members: Sequence[str] = ()
    #: Originals that grew between two observations although no flow writes to them, so a producer does.
    writes: Sequence[str] = ()
    #: Signs that the applications have lived on this cluster at some time.
    traces: Sequence[str] = ()

    @property
    def at_work(self) -> list[str]:
        """Signs that applications are at work now."""
        return [*self.members, *self.writes]


@dataclass(frozen=True)
class Residence:
    """The active cluster."""

    #: Alias of the cluster on which the applications live.
    active: str
    #: How that is known.
    reason: str


def find_residence(sides: Mapping[str, SideEvidence], home: str, journaled: str | None, asked: str = "") -> Residence:
    """The active cluster. Raises if journal, evidence and the operator's answer contradict each other.

    ``journaled``: the active cluster in the journal; None if there is no journal, or an empty one. ``asked``:
    kafka_dr_applications_on.
    """
    busy = [alias for alias, side in sides.items() if side.members]
    if len(busy) > 1:
        found = " and ".join(f"{alias} ({first_few(sides[alias].members, _SHOWN)})" for alias in busy)
        raise DrError(
            "active_side_contradicted",
            f"Groups have members on both clusters: {found}.",
            "Stop the members on the cluster where the applications do not live. After its outage, they stay for their"
            " session.timeout.ms. If a group works on both clusters, set mode: local for it.",
        )
    if asked or journaled:
        return _known(sides, asked, journaled)
    return _by_evidence(sides, home)


def _known(sides: Mapping[str, SideEvidence], asked: str, journaled: str | None) -> Residence:
    active = asked or str(journaled)
    # Producers may write to an original on both clusters. Without a journal they count like members.
    against = {
        alias: list(side.members) if journaled else side.at_work for alias, side in sides.items() if alias != active
    }
    for alias, evidence in against.items():
        if evidence:
            source = f'kafka_dr_applications_on is "{active}"' if asked else f"The journal names {active}"
            raise DrError(
                "active_side_contradicted",
                f"{source}, but applications are at work on {alias}: {first_few(evidence, _SHOWN)}.",
                f"Stop the applications on {alias}. After its outage, members stay for their session.timeout.ms. If the"
                " applications live there, start again with"
                f" -e kafka_dr_applications_on={alias}.",
            )
    return Residence(active, "named by kafka_dr_applications_on" if asked else "named by the journal")


def _by_evidence(sides: Mapping[str, SideEvidence], home: str) -> Residence:
    at_work = {alias: side.at_work for alias, side in sides.items() if side.at_work}
    if len(at_work) > 1:
        found = " and ".join(f"{alias} ({first_few(evidence, _SHOWN)})" for alias, evidence in at_work.items())
        raise DrError(
            "active_side_unknown",
            f"The journal is missing or empty, and applications are at work on both clusters: {found}.",
            f"Stop the applications on the cluster where they do not live. {_ASK}",
        )
    for alias, evidence in at_work.items():
        return Residence(alias, f"the journal is missing or empty, and applications are at work there: {evidence[0]}")
    traces = [f"{alias}: {text}" for alias, side in sides.items() for text in side.traces]
    if traces:
        raise DrError(
            "active_side_unknown",
            "The journal is missing or empty, no application is at work, and this pair is not new:"
            f" {first_few(traces, _SHOWN)}. Where the applications live is unknown.",
            _ASK,
        )
    return Residence(home, "a new pair: the home cluster")


def missing_epochs(events: Iterable[Event]) -> list[int]:
    """Epochs that the journal must have had and no copy has any more."""
    known = {event.epoch for event in events}
    return sorted(set(range(1, max(known, default=0))) - known)


def unsafe_journal(alias: str, state: TopicState, brokers: int | None) -> list[str]:
    """Settings that make the journal topic on ``alias`` lose events, in words with the wanted value.

    A setting that the broker does not return does not count here; readiness reports it as unknown.
    """
    found = []
    for name, wanted in _JOURNAL_SETTINGS.items():
        value = _value(state, name)
        if value is not None and value != wanted:
            found.append(f'"{state.name}" on {alias} has {name}={value}, wanted {wanted}')
    if state.replication_factor == 1 and brokers is not None and brokers > 1:
        found.append(f'"{state.name}" on {alias} has replication factor 1 on {brokers} brokers, wanted at least 2')
    return found


def _value(state: TopicState, name: str) -> str | None:
    entry: Any = state.config.get(name)
    return None if entry is None or entry.value is None else str(entry.value)

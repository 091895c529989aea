# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Could the applications move now? A table of checks over facts, and one verdict for each way of moving.

Each check asks one question, names what it was answered from, and what to do. One that rests on another is SKIPPED
where that one is not YES, so that a broken thing is named once and not by everything that hangs on it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..names import Naming, flow_name
from ..offsets.unreplicated import Unreplicated
from ..resources.topics import TopicState
from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding

__all__ = [
    "CONTROLLED",
    "DISASTER",
    "WAYS",
    "Check",
    "Expiring",
    "Facts",
    "Limits",
    "OpenTransaction",
    "judge_readiness",
    "readiness_lines",
]

YES, NO, SKIPPED, ACCEPTED = "YES", "NO", "SKIPPED", "ACCEPTED"
_GOOD = (YES, ACCEPTED)
_WORDS = {PROVEN: YES, REFUTED: NO, UNKNOWN: UNKNOWN}
# Source and target answer / only the target does.
CONTROLLED, DISASTER = "controlled", "disaster"
WAYS = (CONTROLLED, DISASTER)


@dataclass(frozen=True)
class Limits:
    """``lag``: seconds that a flow may be behind. ``expiry``: seconds that the oldest record which is not copied must
    still be kept. ``age``: seconds that the evidence for a disaster's positions may be old. ``undecided``: seconds that
    a transaction may be open.
    """

    lag: float = 60.0
    expiry: float = 3600.0
    age: float = 900.0
    undecided: float = 60.0


@dataclass(frozen=True)
class Expiring:
    """The first record of a partition that is not copied yet. ``waited``: seconds since it was written, None: unknown.

    ``left``: seconds until the source may delete it, infinite where it does not; None: unknown.
    """

    topic: str
    partition: int
    waited: float | None
    left: float | None

    @property
    def place(self) -> str:
        """As people write it."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True)
class OpenTransaction:
    """The first record of one that is not decided. ``age``: seconds since it was written, None: unknown."""

    topic: str
    partition: int
    offset: int
    age: float | None


@dataclass(frozen=True)
class Facts:
    """What was seen of a pair whose applications live on ``x`` and would move to ``y``. None: not known.

    ``away``: why a cluster, or the workers of the flow toward it (``workers``), did not answer; None: they did.
    ``topics``: by alias, every original and replica; ``own``: journal, prepared positions, checkpoints, offset-syncs.
    ``flows``: forward, and with the policy default the one back, as ``dr_status_info`` tells them;
    ``unsafe_settings``: texts
    by flow; ``left_out``: by flow, what of the inventory it does not carry, and that of which nobody knows. ``names``:
    the groups that move, ``groups``: where they stand. ``unreplicated``: of the forward flow, partitions that lack
    something, and ``expiring`` since when and for how long. ``foreign_writes``: texts by flow. ``rows``: where groups
    would
    start on ``y``. ``survey``: what ``dr_disaster`` sees. ``rights``: missing on ``y``; ``undeclared``: clients of
    whose rights nothing can be said, where an authorizer runs. ``undeclared_groups``: by alias, groups with positions
    on the
    pair's topics that the inventory does not have. ``clients``: why one cannot be controlled. ``unknown``: why a part
    is None, by its name.
    """

    x: str
    y: str
    naming: Naming
    originals: Sequence[str]
    away: Mapping[str, str | None]
    workers: Mapping[str, str | None] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)
    journal: Mapping[str, Any] | None = None
    journal_missing: Sequence[str] = ()
    #: Epochs that the journal must have held and no copy holds any more (R34).
    journal_gaps: Sequence[int] = ()
    journal_topic: str = ""
    topics: Mapping[str, Mapping[str, TopicState | None] | None] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, TopicState | None] | None] = field(default_factory=dict)
    brokers: Mapping[str, int | None] = field(default_factory=dict)
    flows: Mapping[str, Mapping[str, Any]] | None = None
    #: By flow, as are ``misfits``, ``rivals`` and ``foreign_writes``; None or absent: this flow could not be observed.
    unsafe_settings: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    left_out: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)
    #: Partitions whose stored offset does not fit the replica.
    misfits: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: Other connectors that fill the replicas.
    rivals: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    foreign_writes: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    unreplicated: Sequence[Unreplicated] | None = None
    expiring: Sequence[Expiring] | None = None
    open_transactions: Sequence[OpenTransaction] | None = None
    names: Sequence[str] = ()
    groups: Sequence[Mapping[str, Any]] | None = None
    undeclared_topics: Sequence[Mapping[str, Any]] | None = None
    #: What groups use on either side outside their scope, as ``scopes.out_of_scope`` returns it; None: not known.
    out_of_scope: Sequence[Mapping[str, Any]] | None = None
    rows: Sequence[Mapping[str, Any]] | None = None
    #: Committed offsets that a cutoff would refuse whatever the applications do, in words; None: not known.
    refused: Sequence[str] | None = None
    survey: Mapping[str, Any] | None = None
    #: What keeps the workers' versions equal, where no worker reports one.
    versions_retained_by: str = ""
    rights: Sequence[str] | None = None
    undeclared: Sequence[str] = ()
    undeclared_groups: Mapping[str, Sequence[str]] | None = None
    clients: Sequence[str] | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    @property
    def flow_names(self) -> list[str]:
        """The flows of the pair; with the policy identity there is none back while the applications live on ``x``."""
        names = [flow_name(self.x, self.y), flow_name(self.y, self.x)]
        return names[:1] if self.naming.policy == "identity" else names

    @property
    def forward(self) -> Mapping[str, Any] | None:
        """The flow ``x`` -> ``y``."""
        return None if self.flows is None else self.flows.get(flow_name(self.x, self.y))

    @property
    def back(self) -> Mapping[str, Any] | None:
        """The flow ``y`` -> ``x``."""
        return None if self.flows is None else self.flows.get(flow_name(self.y, self.x))


Judge = Callable[[Facts], Finding]


@dataclass(frozen=True)
class Check:
    """``counts``: the verdicts that it is part of. ``needs``: checks without which it says nothing."""

    name: str
    asks: str
    judge: Judge
    remedy: str
    needs: tuple[str, ...] = ()
    counts: tuple[str, ...] = WAYS


def judge_readiness(facts: Facts, checks: Sequence[Check], accepted: Collection[str] = ()) -> dict[str, Any]:
    """``{controlled, disaster, checks}``: YES, NO or UNKNOWN for each way, and every check with its answer.

    A verdict is NO if one of its checks is, and YES only if all are: a SKIPPED one is not known. ``accepted``: names of
    checks whose NO somebody has looked at and can live with.
    """
    answers: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for check in checks:
        waits = [need for need in check.needs if answers[need] not in _GOOD]
        if waits:
            answer, found = SKIPPED, f"rests on {', '.join(waits)}"
        else:
            finding = check.judge(facts)
            answer, found = _WORDS.get(finding.verdict, UNKNOWN), finding.reason
            if answer == NO and check.name in accepted:
                answer = ACCEPTED
        answers[check.name] = answer
        rows.append(
            {
                "name": check.name,
                "asks": check.asks.format(x=facts.x, y=facts.y),
                "answer": answer,
                "found": found,
                "remedy": "" if answer not in (NO, UNKNOWN) else check.remedy.format(x=facts.x, y=facts.y),
                "counts": list(check.counts),
            }
        )
    verdicts = {way: _verdict(row["answer"] for row in rows if way in row["counts"]) for way in WAYS}
    return {**verdicts, "from": facts.x, "to": facts.y, "checks": rows}


def _verdict(answers: Iterable[str]) -> str:
    found = list(answers)
    if NO in found:
        return NO
    return YES if found and all(answer in _GOOD for answer in found) else UNKNOWN


def readiness_lines(found: Mapping[str, Any]) -> list[str]:
    """One screen for a person at three in the morning: verdicts, what is not YES, what to do, what it would cost."""
    lines = [
        f"{found['from']} -> {found['to']}: ready for a controlled cutover: {found[CONTROLLED]},"
        f" for a disaster: {found[DISASTER]}"
    ]
    checks = found["checks"]
    for row in checks:
        if row["answer"] in (NO, UNKNOWN):
            lines.append(f"  {row['answer']:<7} {row['name']}: {row['found']}")
            lines.append(f"          {row['remedy']}")
    words = (YES, ACCEPTED, NO, UNKNOWN, SKIPPED)
    counts = {answer: sum(row["answer"] == answer for row in checks) for answer in words}
    lines.append("  " + ", ".join(f"{count} {answer}" for answer, count in counts.items() if count))
    return [*lines, *(f"  {text}" for name in ("cost", "trend") for text in found.get(name, []))]

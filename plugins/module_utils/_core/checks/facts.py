# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Could the applications move now? Runs a table of checks over facts, and returns a verdict for each type of move.

Each check asks one question and returns an answer, the evidence and a remedy. A check is SKIPPED if a check that it
needs is not YES, so that the report names each fault once.
Private to this collection: may change in any release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..names import Naming, flow_name
from ..offsets.open_transactions import OpenTransaction
from ..offsets.unreplicated import Unreplicated
from ..resources.topics import TopicState
from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding
from .other_applications import OtherApplications
from .undeclared_groups import UndeclaredGroup

__all__ = [
    "CONTROLLED",
    "DISASTER",
    "WAYS",
    "Check",
    "Expiring",
    "Facts",
    "Limits",
    "judge_readiness",
    "readiness_lines",
    "refusals_before_stop",
    "seconds_until_full",
]

YES, NO, SKIPPED, ACCEPTED = "YES", "NO", "SKIPPED", "ACCEPTED"
_GOOD = (YES, ACCEPTED)
_WORDS = {PROVEN: YES, REFUTED: NO, UNKNOWN: UNKNOWN}
# CONTROLLED needs both clusters; DISASTER needs only the target.
CONTROLLED, DISASTER = "controlled", "disaster"
WAYS = (CONTROLLED, DISASTER)


@dataclass(frozen=True)
class Limits:
    """Limits of the checks, in seconds."""

    #: How long the oldest unreplicated record may have waited.
    lag: float = 60.0
    #: How long the oldest unreplicated record must still be retained.
    expiry: float = 3600.0
    #: How old the offsets that a disaster would start from may be.
    age: float = 900.0


@dataclass(frozen=True)
class Expiring:
    """The first unreplicated record of a partition."""

    topic: str
    partition: int
    #: Seconds since it was committed, at most, or at least if they exceed the limit; None: unknown.
    waited: float | None
    #: Seconds until the source may delete it because of its age, infinite if it never does; None: unknown.
    left: float | None
    #: The same because of ``retention.bytes``: an estimate, see :func:`seconds_until_full`.
    left_by_size: float | None

    @property
    def place(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"


def seconds_until_full(bound: int, records: int, size: int | None, rate: float | None) -> float | None:
    """Estimate the seconds until ``bound`` bytes were written after the first of ``records``; None: unknown.

    ``size``: bytes of a record. ``rate``: records per second that are written now.
    """
    if size is None or rate is None:
        return None
    left = max(0.0, float(bound - records * size))
    return left / (rate * size) if rate * size else (math.inf if left else 0.0)


@dataclass(frozen=True)
class Facts:
    """What was observed of a pair whose applications live on ``x`` and would move to ``y``. None: unknown."""

    x: str
    y: str
    naming: Naming
    originals: Sequence[str]
    #: By alias, why the cluster does not respond; None: it does.
    away: Mapping[str, str | None]
    #: By alias, why the workers of the flow to that cluster do not respond; None: they do.
    workers: Mapping[str, str | None] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)
    journal: Mapping[str, Any] | None = None
    journal_missing: Sequence[str] = ()
    #: Epochs that the journal must have held and that no copy holds any more (R34).
    journal_gaps: Sequence[int] = ()
    journal_topic: str = ""
    #: By alias, every original and replica.
    topics: Mapping[str, Mapping[str, TopicState | None] | None] = field(default_factory=dict)
    #: By alias, the topics with the journal, presynced offsets, checkpoints and offset-syncs.
    internal_topics: Mapping[str, Mapping[str, TopicState | None] | None] = field(default_factory=dict)
    brokers: Mapping[str, int | None] = field(default_factory=dict)
    #: By alias and broker id, the limits that the check ``broker_limits`` compares.
    broker_settings: Mapping[str, Mapping[int, Mapping[str, str]] | None] = field(default_factory=dict)
    #: By name, the forward flow, and with the policy default the flow back, as ``dr_status_info`` returns them.
    flows: Mapping[str, Mapping[str, Any]] | None = None
    #: By flow, as are ``misfits``, ``rivals`` and ``foreign_writes``; None or absent: this flow could not be observed.
    unsafe_settings: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: By flow, what of the inventory it does not replicate, and for what that is unknown.
    left_out: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)
    #: Partitions whose stored offset does not match the replica.
    misfits: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: Other connectors that write into the replicas.
    rivals: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    foreign_writes: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: Topics whose replicas are not compared, because the inventory accepts another writer there.
    accepted_foreign_writers: Sequence[str] = ()
    #: Partitions whose replica could not be compared with its source, so it may hold a record of another writer.
    not_compared: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: Partitions of the forward flow with unreplicated records.
    unreplicated: Sequence[Unreplicated] | None = None
    #: The same partitions, with the age and the remaining retention of the first unreplicated record.
    expiring: Sequence[Expiring] | None = None
    #: Transactions that stay open on the sources of the flows.
    open_transactions: Sequence[OpenTransaction] | None = None
    #: Names of the groups that move.
    groups: Sequence[str] = ()
    #: Where these groups are now: a row for each group and partition.
    committed_offsets: Sequence[Mapping[str, Any]] | None = None
    undeclared_topics: Sequence[Mapping[str, Any]] | None = None
    #: What the journal has and the inventory omits, in words (R42); None: unknown.
    leaving: Sequence[str] | None = None
    #: What patterns take on ``x`` and is not in the pair, as ``dr_status_info`` returns it; None: unknown.
    unjoined: Sequence[Mapping[str, Any]] | None = None
    #: What groups use on either cluster outside their scope, as ``scopes.out_of_scope`` returns it; None: unknown.
    out_of_scope: Sequence[Mapping[str, Any]] | None = None
    #: Offsets from which groups would start on ``y``: a row for each group and partition.
    offsets: Sequence[Mapping[str, Any]] | None = None
    #: Committed offsets that a cutoff would refuse even after the applications stop, in words; None: unknown.
    refused: Sequence[str] | None = None
    #: What ``dr_disaster`` observes.
    survey: Mapping[str, Any] | None = None
    #: Why the workers have the same version, where no worker reports one.
    versions_retained_by: str = ""
    #: What the evidence about settings is, where no connector can be read.
    settings_known_by: str = ""
    #: Rights that are missing on ``y``.
    rights: Sequence[str] | None = None
    #: Applications without a declared principal, where an authorizer runs: their rights are unknown.
    undeclared: Sequence[str] = ()
    #: Groups on ``x`` that do not move and use topics of the pair, or may use them.
    undeclared_groups: Sequence[UndeclaredGroup] | None = None
    #: What applications that the inventory does not control write and read.
    other_applications: OtherApplications = field(default_factory=OtherApplications)
    #: Seconds for which a run waits for them; 0: they must have stopped.
    wait_for_applications: float = 0.0
    #: What of them is at work on ``x``, in words; None: unknown.
    running: Sequence[str] | None = None
    #: Why an application cannot be controlled.
    clients: Sequence[str] | None = None
    #: By the name of a part, why it is None.
    unknown: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    @property
    def flow_names(self) -> list[str]:
        """The flows of the pair; the policy identity has no flow back while the applications live on ``x``."""
        names = [flow_name(self.x, self.y), flow_name(self.y, self.x)]
        return names[:1] if self.naming.one_flow_at_a_time else names

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
    """A question of the readiness report."""

    name: str
    #: The question.
    asks: str
    judge: Judge
    remedy: str
    #: Checks that must be YES or ACCEPTED; otherwise this check is SKIPPED.
    needs: tuple[str, ...] = ()
    #: The verdicts that it is part of.
    counts: tuple[str, ...] = WAYS
    #: Which other part of preflight asks the same of a planned move; "": none does.
    asked_by: str = ""
    #: Why preflight does not refuse a planned move because of this check; "": it does.
    left_out: str = ""
    #: Whether preflight refuses also if the answer is UNKNOWN.
    refuses_unknown: bool = True

    @property
    def before_stop(self) -> bool:
        """Does preflight of a planned move ask it, before the first application stops?"""
        return CONTROLLED in self.counts and not self.asked_by and not self.left_out


def judge_readiness(facts: Facts, checks: Sequence[Check], accepted: Collection[str] = ()) -> dict[str, Any]:
    """``{controlled, disaster, checks}``: YES, NO or UNKNOWN for each verdict, and every check with its answer.

    A verdict is NO if one of its checks is NO, and YES only if all of them are YES or ACCEPTED. A SKIPPED check makes
    it UNKNOWN. ``accepted``: names of checks whose NO the operator accepts.
    """
    answers: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    for check in checks:
        waits = [need for need in check.needs if answers[need] not in _GOOD]
        if waits:
            answer, found = SKIPPED, f"depends on {', '.join(waits)}"
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


def refusals_before_stop(facts: Facts, checks: Sequence[Check], accepted: Collection[str] = ()) -> list[str]:
    """Why a planned move must not stop the first application, in words, from the checks that preflight asks.

    The checks that another part of preflight has asked before count as YES. ``accepted``: as in
    :func:`judge_readiness`.
    """
    asked = {check.name: check for check in checks if check.before_stop}
    alone = [replace(check, needs=tuple(need for need in check.needs if need in asked)) for check in asked.values()]
    return [
        f"{row['asks']} {row['answer']} ({row['name']}): {row['found'].rstrip('.')}. {row['remedy']}"
        for row in judge_readiness(facts, alone, accepted)["checks"]
        if row["answer"] == NO or (row["answer"] == UNKNOWN and asked[row["name"]].refuses_unknown)
    ]


def _verdict(answers: Iterable[str]) -> str:
    found = list(answers)
    if NO in found:
        return NO
    return YES if found and all(answer in _GOOD for answer in found) else UNKNOWN


def readiness_lines(found: Mapping[str, Any]) -> list[str]:
    """One screen: the verdicts, each check that is NO or UNKNOWN with its remedy, and what a move would cost."""

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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe the preconditions of a move, judge them, and store the result with the earlier ones. Changes nothing else.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..._core.checks.broker_limits import LIMITS
from ..._core.checks.cost import (
    cost_lines,
    duration_lines,
    lag_seconds,
    records_lost,
    rereads,
    survey_rows,
    unreplicated,
)
from ..._core.checks.facts import WAYS, Facts, judge_readiness, readiness_lines, refusals_before_stop
from ..._core.checks.history import rehearsal_line, trend_lines
from ..._core.checks.idle_groups import idle_notes
from ..._core.checks.objectives import objective_lines, objectives
from ..._core.checks.readiness import CHECKS
from ..._core.checks.residence import missing_epochs
from ..._core.errors import DrError
from ..._core.journal.durations import durations
from ..._core.journal.events import Event
from ..._core.journal.facts import JournalFacts
from ..._core.journal.state import JournalState
from ..._core.listing import first_few
from ..._core.waiting import Bounds, wait_until
from ..._kafka.brokers import broker_settings
from ..._module import Result
from ..journal.members import members
from ..journal.readiness_history import keep_observation
from ..observation.patterns import unjoined
from .clusters import Clusters
from .flows import Move, predicted_disaster
from .parts import Parts
from .request import ReadinessRequest

__all__ = ["before_stop", "readiness"]

# Observes what needs both clusters.
Observe = Callable[[Move, Parts, Mapping[str, "str | None"]], dict[str, Any]]
# Limits of the wait for a flow whose tasks are being assigned, or for a cluster that responds slowly. Every application
# runs meanwhile.
_SETTLING = Bounds(10.0, 1.0)


def before_stop(request: ReadinessRequest) -> Result:
    """Ask the checks that preflight asks. Fails if one of them refuses the move, and has done so for some seconds."""
    requests: list[dict[str, Any]] = []

    def observe() -> list[str]:
        clusters, parts = Clusters(request), Parts()
        journal, events, missing = parts.one("journal", clusters.journal) or (None, [], [])
        facts = _facts(request, clusters, parts, journal, events, missing, Move.observe_at_once)
        requests.extend(clusters.opened.requests)
        return refusals_before_stop(facts, CHECKS, request.accept)

    refusals = wait_until(observe, lambda texts: not texts, _SETTLING).state
    result = Result(extra={"refusals": refusals}, requests=requests)
    if refusals:
        result.failure = DrError(
            "not_ready",
            f"The applications cannot move now: {first_few(refusals, 3, ' ')}",
            "No application was stopped. The playbook switchback.kafka_dr.readiness shows all checks. To accept a NO,"
            " name its check in kafka_dr_ready_accept.",
        )
    return result


def readiness(request: ReadinessRequest, check: bool) -> Result:
    """Observe, judge, estimate the cost of a move now, and store the result (not in check mode)."""
    pair = request.pair
    if request.to not in ("", *pair.clusters):
        known = ", ".join(pair.clusters)
        raise DrError("bad_option", f'to is "{request.to}", expected one of the clusters {known}.', "Correct it.")
    clusters, parts = Clusters(request), Parts()
    journal, events, missing = parts.one("journal", clusters.journal) or (None, [], [])
    facts = _facts(request, clusters, parts, journal, events, missing)
    report = judge_readiness(facts, CHECKS, request.accept)
    took, lacking = durations(events), unreplicated(facts)
    report["unreplicated"] = lacking
    report["other_applications"] = facts.other_applications.as_dict()
    report["loss"] = None if facts.survey is None else {**facts.survey["loss"], **records_lost(lacking)}
    report["rereads"] = {"controlled": rereads(facts.offsets), "disaster": rereads(survey_rows(facts))}
    report["lag_s"] = lag_seconds(facts)
    report["durations"] = took
    there = facts.x in clusters.kafka
    report["not_carried"] = (
        parts.one("not_carried", partial(clusters.not_carried, facts.x, facts.undeclared_groups or ()))
        if there
        else None
    )
    history = keep_observation(clusters.kafka, pair, report, request.keep and not check)
    report.update(
        at=history.at,
        observations=history.observations,
        trend=trend_lines(history.observations),
        rehearsal=history.rehearsal,
    )
    report["objectives"] = objectives(report)
    report["cost"] = [
        *objective_lines(report["objectives"]),
        *cost_lines(facts, lacking),
        *duration_lines(took),
    ]
    if facts.journal and facts.journal["held"]:
        report["cost"].append("retention is held: the topics keep all records until enable restores their retention")
    report["cost"] += [
        *rehearsal_line(history.rehearsal),
        *(f"not carried: {text}" for text in report["not_carried"] or ()),
        *(f"not checked: {text}" for text in idle_notes(facts.committed_offsets or (), facts.x)),
    ]
    verdicts = {way: report[way] for way in WAYS}
    extra = {**verdicts, "readiness": report, "lines": readiness_lines(report)}
    return Result(extra=extra, requests=clusters.opened.requests, warnings=history.warnings)


def _facts(
    request: ReadinessRequest,
    clusters: Clusters,
    parts: Parts,
    journal: JournalState | None,
    events: list[Event],
    missing: list[str],
    observe: Observe = Move.observe,
) -> Facts:
    """Observe everything that can be observed. Facts that need both clusters are observed only if both respond."""
    pair, kafka = request.pair, clusters.kafka
    y = request.to or clusters.other((None if journal is None else journal.active) or pair.home)
    x = clusters.other(y)
    workers, versions = clusters.workers((x, y))
    there = y in kafka
    rights = parts.one("rights", partial(clusters.rights, y)) if there else None
    seen: dict[str, Any] = {}
    if journal is not None and not any(clusters.unreachable.values()):
        seen = observe(Move(request, (x, y), journal, clusters.opened), parts, workers)
    elif journal is not None and there:
        known = JournalFacts.toward(journal, y)
        found = parts.one("survey", lambda: predicted_disaster(request, (x, y), known, clusters.opened, None))
        seen = {"survey": found}
    return Facts(
        x=x,
        y=y,
        naming=pair.naming,
        originals=list(pair.topics),
        groups=list(pair.groups),
        away=clusters.unreachable,
        workers=workers,
        versions=versions,
        versions_retained_by=clusters.opened.engine.capabilities.versions_retained_by,
        settings_known_by=clusters.opened.engine.capabilities.settings_known_by,
        journal=None if journal is None else journal.as_dict(),
        journal_missing=missing,
        journal_gaps=missing_epochs(events),
        journal_topic=pair.journal_topic,
        topics={
            alias: parts.one("topics", partial(clusters.topics, alias, clusters.replicated(alias))) for alias in kafka
        },
        internal_topics={
            alias: parts.one("internal_topics", partial(clusters.topics, alias, clusters.internal(alias)))
            for alias in kafka
        },
        brokers={alias: one.brokers for alias, one in kafka.items()},
        broker_settings={
            alias: parts.one("broker_settings", partial(broker_settings, one, LIMITS)) for alias, one in kafka.items()
        },
        rights=None if rights is None else rights[0],
        leaving=None if journal is None else parts.one("members", lambda: members(pair, journal, kafka).texts()),
        unjoined=parts.one("pattern_matches", lambda: unjoined(kafka[x], pair, x)) if x in kafka else None,
        undeclared=() if rights is None else rights[1],
        other_applications=request.other_applications,
        wait_for_applications=request.wait_for_applications,
        accepted_foreign_writers=sorted(pair.accepted_foreign_writers),
        clients=request.unreachable,
        unknown=parts.unknown,
        limits=request.limits,
        **seen,
    )

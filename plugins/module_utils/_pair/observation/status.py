# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the status of a pair, and wait for flows and groups: on evidence, within a bound, with a stall report.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..._core.checks.preflight import initial_offsets, unfit, written_after_barrier
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.names import CONNECTORS
from ..._core.offsets.open_transactions import OpenTransaction, hold_back
from ..._core.offsets.replication_gates import PartitionFacts, drained, healthy, lag, making_progress, open_transaction
from ..._core.partition import Partition
from ..._core.resources.groups import IDLE_STATES, REBALANCING_STATES
from ..._core.resources.task_failures import failed_text
from ..._core.verdict import PROVEN, REFUTED, UNKNOWN, Finding, combine
from ..._core.waiting import Bounds, Patience, Waited, wait_until
from ..._kafka.groups import known_committed_offsets
from ..._module import Result
from ..connections.clusters import both, on_each
from .commits_seen import IdleGroups
from .flows import FlowObservation, observe_again, observe_flows
from .foreign_writers import foreign_records, replication_loop
from .groups import GroupStatus, observe_groups, observe_readers
from .open_transactions import open_transactions
from .pair import Pair
from .patterns import unjoined
from .progress import print_progress
from .undeclared_groups import UndeclaredGroups

__all__ = ["StatusRequest", "flow_row", "group_rows", "judged_flows", "status"]

# Seconds within which a flow must show progress between two observations. A slow network may need all of them.
_MOVING_LIMIT = 3.0
_STEP = 0.25
# The same, for flows whose heartbeats are stored once a minute.
_SLOW_LIMIT, _SLOW_STEP = 10.0, 2.0
_NO_HEARTBEAT = (
    "no record waits to be replicated and no heartbeat arrived between two observations: the flow may be dead or idle"
)
# Seconds for which one observation waits for groups that rebalance, because what their members read is unknown (R40).
# A classic group waits 3 s for its first members (group.initial.rebalance.delay.ms), and no application is stopped yet.
_REBALANCE_SECONDS = 15.0
# Seconds. A rebalance, or a restart by another controller, briefly reports FAILED.
_FAILED_SECONDS = 10.0


@dataclass(frozen=True)
class StatusRequest:
    """What to observe, and what to wait for; the options of ``dr_status_info``."""

    pair: PairSpec
    flows: Sequence[tuple[str, str]]
    #: "none", "flowing" or "replicated".
    wait_for: str
    bounds: Bounds
    #: Replaces the stall limit of ``bounds`` if the engine restarts a service to change a flow. None: it stays.
    restart_timeout: float | None
    #: Alias on which "replicated" also waits for groups with members; "": none.
    groups_on: str
    groups_timeout: float
    groups_stall: float
    #: If an engine does not respond, report its flow as UNKNOWN instead of raising.
    partial: bool
    request_timeout: float
    #: Log ends at the barrier by topic and partition, to find records that were written after it.
    barrier_ends: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Alias on which groups outside the inventory are observed twice; "": they are not observed.
    undeclared_on: str = ""
    #: Seconds that "replicated" also waits until the flows have stored the offsets of the last records.
    stored_timeout: float = 0.0
    #: Alias on which the committed offsets of groups without members are remembered; "": they are not.
    idle_on: str = ""


def status(request: StatusRequest, pair: Pair | None = None) -> Result:
    """Observe the pair, wait if asked to, and report. ``pair``: use its connections instead of new ones."""
    pair = pair or Pair(request.pair, request.flows, request.request_timeout, request.partial)
    if request.restart_timeout is not None:
        stall = pair.engine.capabilities.bound(request.bounds.stall, request.restart_timeout)
        request = replace(request, bounds=replace(request.bounds, stall=stall))
    try:
        waited = _WAITS[request.wait_for](pair, request)
    except DrError as error:
        raise _with_cause(pair, error) from error
    view = waited.state
    extra = {
        "status": view,
        "verdict": view["verdict"],
        "waited_s": round(waited.seconds, 3),
        "unfit": unfit(view),
        "initial_offsets": {alias: initial_offsets(view, alias) for alias in request.pair.clusters},
        "written_after": written_after_barrier(view, request.barrier_ends),
        "idle_groups": view.pop("idle_groups", None),
    }
    result = Result(extra=extra, requests=pair.requests)
    # Groups that have not read to the end are listed, but only the flows decide whether "replicated" was reached.
    if not waited.done and not view.get("replicated"):
        result.failure = _stuck(pair, request, waited)
    elif view.get("hopeless"):
        result.failure = _hopeless(request, waited)
    return result


def _sources(pair: Pair) -> list[str]:
    return list(dict.fromkeys(source for source, _target in pair.flows))


def _with_cause(pair: Pair, error: DrError) -> DrError:
    """Add the topics that refuse writes: then a worker of Kafka Connect does not respond either."""
    refused = _refusing_writes_now(pair)
    if not refused:
        return error
    found = "; ".join(refused[:3])
    more = f" and {len(refused) - 3} more topics" if len(refused) > 3 else ""
    return DrError(
        "writes_refused",
        f"Brokers refuse writes with acks=all: {found}{more}. {error.message}",
        "Kafka Connect cannot work without these writes either. When the brokers run, start the same playbook again.",
        error.endpoint,
    )


def _stuck(pair: Pair, request: StatusRequest, waited: Waited[dict[str, Any]]) -> DrError:
    how = f"no progress for {request.bounds.stall:g} s" if waited.ended == "stalled" else "the time-out was reached"
    found = list(dict.fromkeys([*_refusing_writes_now(pair), *waited.state["missing"]]))
    missing = "; ".join(found[:5]) or "no observation succeeded"
    more = len(found) - 5
    tail = f" and {more} more" if more > 0 else ""
    return DrError(
        f"not_{request.wait_for}",
        f'The pair is not "{request.wait_for}" after {waited.seconds:.0f} s ({how}): {missing}{tail}.',
        "Check the named connectors, partitions and groups, then start the same playbook again.",
    )


def _hopeless(request: StatusRequest, waited: Waited[dict[str, Any]]) -> DrError:
    return DrError(
        f"not_{request.wait_for}",
        f'The wait for "{request.wait_for}" ended after {waited.seconds:.0f} s:'
        f" {waited.state['hopeless'].rstrip('.')}.",
        f"Kafka Connect does not restart a failed task, and it did not recover within {_FAILED_SECONDS:g} s. Remove the"
        " cause, then run the playbook enable, which restarts it.",
    )


class _FailedSince:
    """Measures how long connectors of these parts have been FAILED without a break."""

    def __init__(self, parts: Collection[str]) -> None:
        self._parts = parts
        self._since: float | None = None
        self._fingerprint: Any = None

    def hopeless(self, observations: Sequence[FlowObservation], fingerprint: Any, now: float) -> str:
        """Describe a connector that has failed for so long that waiting is useless; "": none.

        A change of ``fingerprint`` shows progress and restarts the measurement.
        """
        parts = [
            observation.connectors[part] for observation in observations if not observation.away for part in self._parts
        ]
        failed = [part for part in parts if part.failed]
        if not failed:
            self._since = None
            return ""
        if self._since is None or fingerprint != self._fingerprint:
            self._since, self._fingerprint = now, fingerprint
        return failed_text(failed[0].name, failed[0].failures) if now - self._since >= _FAILED_SECONDS else ""


def _once(pair: Pair, request: StatusRequest) -> Waited[dict[str, Any]]:
    others = UndeclaredGroups(pair, request.undeclared_on) if request.undeclared_on else None
    on_each(pair.kafka, pair.partitions)
    # At the same time, because a busy worker takes seconds to return the stored offsets.
    view, (groups, transactions) = both(
        lambda: _flowing_view(pair, moving_limit=_MOVING_LIMIT),
        lambda: both(lambda: _assigned_groups(pair), lambda: open_transactions(pair, _sources(pair))),
    )
    view.update(_group_parts(groups))
    _hold_back(view, transactions)
    # Not in waits: they run while applications are stopped.
    view["unjoined"] = [row for source in _sources(pair) for row in unjoined(pair.kafka[source], pair.spec, source)]
    view["undeclared_groups"] = None if others is None else [row.as_dict() for row in others.again()]
    if request.idle_on:
        view["idle_groups"] = _idle_groups(pair, request.idle_on, groups.get(request.idle_on, {})).as_dict()
    return Waited("done", view, 0.0, 1)


def _idle_groups(pair: Pair, alias: str, statuses: Mapping[str, GroupStatus]) -> IdleGroups:
    idle = [group for group, status in statuses.items() if status.state in IDLE_STATES]
    kafka = pair.kafka[alias]
    return IdleGroups.of(kafka.patiently(known_committed_offsets, kafka, idle) if idle else {})


def _wait_flowing(pair: Pair, request: StatusRequest) -> Waited[dict[str, Any]]:
    failed = _FailedSince(CONNECTORS)

    def observe() -> dict[str, Any]:
        pair.refresh()
        return _flowing_view(pair, moving_limit=0.5, failed=failed)

    def done(view: dict[str, Any]) -> bool:
        return view["verdict"] == PROVEN or bool(view["hopeless"])

    waited = wait_until(observe, done, request.bounds, _LeastLeft())
    # They do not decide, and there may be hundreds of them.
    waited.state.update(_group_parts(_groups_at_last(pair, request.bounds)))
    return waited


def _assigned_groups(pair: Pair) -> dict[str, dict[str, GroupStatus]]:
    """Observe the groups on each cluster, after their members were assigned what they read, or within a bound."""
    return wait_until(
        lambda: _groups_everywhere(pair),
        lambda groups: (
            not any(status.state in REBALANCING_STATES for statuses in groups.values() for status in statuses.values())
        ),
        Bounds(_REBALANCE_SECONDS, _STEP),
    ).state


def _groups_at_last(pair: Pair, bounds: Bounds) -> dict[str, dict[str, GroupStatus]]:
    """Observe the groups on each cluster, as soon as their coordinators respond."""
    return wait_until(lambda: _groups_everywhere(pair), lambda _groups: True, bounds).state


class _LeastLeft:
    """Progress of a wait for flows: fewer partitions without a replicated offset, or fewer problems, than ever before.

    The records that a live flow replicates are no progress: they would hide a partition that never starts.
    """

    def __init__(self) -> None:
        self._least = sys.maxsize

    def __call__(self, view: Mapping[str, Any]) -> int:
        partitions = [part for flow in view["flows"] for part in flow["partitions"]]
        unseen = sum(part["last_replicated_offset"] is None for part in partitions)
        self._least = min(self._least, unseen + len(view["missing"]))
        return self._least


def _wait_replicated(pair: Pair, request: StatusRequest) -> Waited[dict[str, Any]]:
    """Wait until the flows have replicated everything.

    The evidence is the offset, or the last record. The last record is only a hint, and the barrier proves it later.
    """
    side = request.groups_on
    patience = Patience(request.groups_timeout, request.groups_stall)
    flush = Patience(request.stored_timeout, 0.0)
    # Tasks that did not fail may still replicate the rest.
    failed = _FailedSince(("source",))

    def observe() -> dict[str, Any]:
        observations = observe_flows(pair)
        missing = [f"{observation.name}: {problem}" for observation in observations for problem in observation.problems]
        missing += [text for observation in observations for text in _unreplicated(observation)]
        # After the flows: these may have replicated the last records that a group must read.
        groups = {side: observe_readers(pair, side)} if side else {}
        unread = {
            name: text
            for name, observation in groups.get(side, {}).items()
            if (text := _unread(name, side, observation))
        }
        view = _view(
            [(observation, _flow_finding(observation, observation, set())) for observation in observations],
            groups,
            [*missing, *unread.values()],
        )
        view["replicated"] = not missing
        view["hopeless"] = failed.hopeless(observations, _progress(view)[0], time.monotonic()) if missing else ""
        waits = bool(missing) or (bool(unread) and not _given_up(patience, groups[side], unread))
        waits = waits or (_unstored(view) and not flush.over(None, time.monotonic()))
        view["waits"] = waits and not view["hopeless"]
        return view

    return wait_until(observe, lambda view: not view["waits"], request.bounds, _progress)


def _unstored(view: Mapping[str, Any]) -> bool:
    """Is there a partition whose last records are not known from the stored offsets to be replicated?"""
    return any(row["drained"] != PROVEN for flow in view["flows"] for row in flow["partitions"])


def _given_up(patience: Patience, observations: Mapping[str, GroupStatus], unread: Mapping[str, str]) -> bool:
    """Has the wait for groups that have not read to the end lasted long enough? Prints what it waits for, and its end.

    The barrier translates the offsets of such a group (R13), so the wait only avoids that translation.
    """
    if not patience.begun:
        print_progress(f"waits for {'; '.join(list(unread.values())[:3])}")
    reason = patience.over({name: observations[name].commits for name in unread}, time.monotonic())
    if reason:
        print_progress(
            f"continues, {reason}: {'; '.join(list(unread.values())[:3])}. The barrier decides about these groups."
        )
    return bool(reason)


_WAITS = {"none": _once, "flowing": _wait_flowing, "replicated": _wait_replicated}


def _progress(view: dict[str, Any]) -> Any:
    flows = [
        (part["last_replicated_offset"], part["replica_end"]) for flow in view["flows"] for part in flow["partitions"]
    ]
    return flows, [row["commit"] for row in view["groups"]]


def judged_flows(
    pair: Pair, before: list[FlowObservation], moving_limit: float = _MOVING_LIMIT
) -> list[tuple[FlowObservation, Finding]]:
    """Return each flow with a finding whether it is alive.

    If only progress can prove it, or workers are rebalancing, observes again for up to ``moving_limit`` seconds. A
    partition that made progress, or had nothing to replicate, is not observed again. The next heartbeat of an idle flow
    is awaited for its ``heartbeat_limit``.
    """
    began, limit = time.monotonic(), max([moving_limit, *(observation.heartbeat_limit for observation in before)])
    after, done = list(before), [_alive(observation, observation) for observation in before]
    pending: list[int] = []
    idle: list[int] = []

    def observe() -> list[tuple[FlowObservation, Finding]]:
        for number in pending:
            after[number] = observe_again(pair, after[number], set(after[number].facts) - done[number])
            done[number] |= _alive(before[number], after[number])
        judged = [(new, _flow_finding(old, new, known)) for old, new, known in zip(before, after, done, strict=True)]
        # Another observation helps only where progress is the missing evidence, or a state that will not last.
        idle[:] = [number for number, (_observation, finding) in enumerate(judged) if finding.reason == _NO_HEARTBEAT]
        pending[:] = [
            number
            for number, (observation, finding) in enumerate(judged)
            if not observation.away
            and (
                number in idle
                or any(part.rebalancing for part in observation.connectors.values())
                or (
                    finding.verdict != PROVEN
                    and _unreplicated(observation)
                    and len(done[number]) < len(observation.facts)
                )
            )
        ]
        return judged

    def over(_judged: list[tuple[FlowObservation, Finding]]) -> bool:
        return not pending or (not idle and time.monotonic() - began >= moving_limit)

    # Where a heartbeat takes a minute, each observation need not be a quarter of a second after the last one.
    step = _STEP if limit <= _SLOW_LIMIT else _SLOW_STEP
    return wait_until(observe, over, Bounds(limit, step)).state


def _alive(before: FlowObservation, after: FlowObservation) -> set[Partition]:
    return {
        key
        for key, facts in after.facts.items()
        if making_progress(before.facts.get(key, facts), facts).verdict == PROVEN
    }


def _flowing_view(pair: Pair, moving_limit: float, failed: _FailedSince | None = None) -> dict[str, Any]:
    judged = judged_flows(pair, observe_flows(pair), moving_limit)
    missing = [f"{observation.name}: {finding.reason}" for observation, finding in judged if finding.verdict != PROVEN]
    missing += [
        f"{observation.name}: {problem}" for observation, _finding in judged for problem in observation.problems
    ]
    missing += _missing_replicas(pair)
    missing += _refusing_writes(pair)
    missing += [
        f"{observation.name}: {text}" for observation, _finding in judged for text in observation.unsafe_settings
    ]
    foreign = [finding for observation, _finding in judged for finding in _foreign_writes(pair, observation)]
    missing += [finding.reason for finding in foreign]
    view = _view(judged, {}, list(dict.fromkeys(missing)))
    view["not_observed"] = [finding.reason for finding in foreign if finding.verdict == UNKNOWN]
    # Not in waits: they run while applications are stopped.
    if failed is None:
        view["competing_flows"] = _competing_flows(pair, [observation for observation, _finding in judged])
    view["hopeless"] = (
        failed.hopeless([observation for observation, _finding in judged], None, time.monotonic()) if failed else ""
    )
    return view


def _foreign_writes(pair: Pair, observation: FlowObservation) -> list[Finding]:
    """Return what writes to the replicas besides the flow (REFUTED), or what could not be observed (UNKNOWN)."""
    if observation.away:
        return []
    texts = foreign_records(pair, observation, pair.spec.accepted_foreign_writers)
    reverse: list[Finding] = []
    if pair.naming.one_flow_at_a_time:
        reverse = _reverse_flows(pair, observation)
        texts += replication_loop(pair, observation.source, observation.target)
    findings = [*(Finding(REFUTED, text) for text in texts), *reverse]
    return [Finding(finding.verdict, f"{observation.name}: {finding.reason}") for finding in findings]


def _reverse_flows(pair: Pair, observation: FlowObservation) -> list[Finding]:
    """Name the connectors that are running and replicate in the opposite direction, with any connector name."""
    try:
        running = pair.engine.reverse_flows(observation.source, observation.target, pair.topics)
    except DrError as error:
        if not pair.partial:
            raise
        return [Finding(UNKNOWN, f"whether a connector replicates back is unknown: {error.message}")]
    return [
        Finding(REFUTED, f"{name} replicates the same topics in the opposite direction; stop it") for name in running
    ]


def _competing_flows(pair: Pair, observations: Sequence[FlowObservation]) -> list[str] | None:
    """Name the other running flows for the same topics. None: unknown, because workers do not respond."""
    if any(observation.away for observation in observations):
        return None
    try:
        return [
            f"{flow.name}: {name}"
            for flow in observations
            for name in pair.engine.competing_flows(flow.source, flow.target, pair.topics, running=True)
        ]
    except DrError:
        if not pair.partial:
            raise
        return None


def _missing_replicas(pair: Pair) -> list[str]:
    absent = []
    for source, target in pair.flows:
        counts, originals = pair.partitions(target), pair.partitions(source)
        for topic in pair.topics:
            replica = pair.naming.replica(source, topic)
            if originals.get(topic) is None:
                continue  # the flow reports the missing original, and without it no replica is missing
            if counts.get(replica) is None:
                absent.append(f'{source}->{target}: the replica topic "{replica}" does not exist yet')
            elif counts[replica] != originals[topic]:
                sizes = f'"{topic}" has {originals[topic]} partitions, "{replica}" has {counts[replica]}'
                absent.append(f"{source}->{target}: {sizes}")
            elif counts.get(topic) not in (None, originals.get(topic)):
                sizes = f'"{topic}" has {originals.get(topic)} partitions on {source}, {counts[topic]} on {target}'
                absent.append(f"{source}->{target}: {sizes}: keys would be in different partitions")
    return absent


def _refusing_writes(pair: Pair) -> list[str]:
    """Topics that accept no record now: the flow and the producers would wait, and nothing could be journaled."""
    return [
        f"on {alias}, {text}: start the missing brokers"
        for alias in sorted(pair.kafka)
        for text in pair.refusing_writes(alias)
    ]


def _refusing_writes_now(pair: Pair) -> list[str]:
    """The same from a new observation, as the cause of an error. Empty if it is unknown."""
    pair.refresh()
    with suppress(DrError):
        return _refusing_writes(pair)
    return []


def _group_statuses(pair: Pair, alias: str) -> dict[str, GroupStatus]:
    return observe_groups(pair, alias, pair.present(alias))


def _unreplicated(observation: FlowObservation) -> list[str]:
    texts = []
    for (topic, partition), facts in sorted(observation.facts.items()):
        finding = drained(facts)
        if finding.verdict != PROVEN and not facts.tail_replicated:
            texts.append(f"{observation.name} {topic}-{partition}: {finding.reason}")
        if open_transaction(facts):
            texts.append(
                f"{observation.name} {topic}-{partition}: an open transaction holds back"
                f" {open_transaction(facts)} offsets"
            )
    return texts


def _unread(group: str, alias: str, observation: GroupStatus) -> str:
    """Describe what a group with members has not read; "": nothing."""
    unread = [key for key, done in sorted(observation.read_to_end.items()) if done is not True]
    if not unread:
        return ""
    named = [f"{key}: {_distance(observation.left.get(key))}" for key in unread[:3]]
    more = f", and {len(unread) - 3} more" if len(unread) > 3 else ""
    return f'group "{group}" on {alias} has not read {len(unread)} partitions to the end ({", ".join(named)}{more})'


def _distance(offsets: int | None) -> str:
    return "no committed offset" if offsets is None else f"{offsets} offsets before the end"


def _flow_finding(before: FlowObservation, after: FlowObservation, moved: Collection[Partition]) -> Finding:
    """Return one verdict for a flow, from its connectors, partitions and heartbeat. RUNNING alone proves nothing.

    ``moved``: partitions that made progress, or had nothing to replicate, in an observation between the two.
    """
    if after.away:
        return Finding(UNKNOWN, after.away)
    source = after.connectors["source"]
    if source.state is None:
        return Finding(REFUTED, f'the connector "{source.name}" does not exist')
    failed = [observation for observation in after.connectors.values() if observation.failed]
    if failed:
        return Finding(REFUTED, failed_text(failed[0].name, failed[0].failures))
    if source.state != "RUNNING":
        return Finding(REFUTED, f'the connector "{source.name}" is in state {source.state}')
    if after.problems:
        return Finding(UNKNOWN, after.problems[0])
    findings = {
        key: making_progress(before.facts.get(key, facts), facts) if key not in moved else _still(facts)
        for key, facts in sorted(after.facts.items())
    }
    worst = combine(finding.verdict for finding in findings.values())
    if worst != PROVEN:
        named = (
            Finding(worst, f"{topic}-{partition}: {finding.reason}")
            for (topic, partition), finding in findings.items()
            if finding.verdict == worst
        )
        return next(named, Finding(UNKNOWN, "no partition"))
    arrived = any(
        after.facts[key].replica_end != before.facts[key].replica_end for key in after.facts if key in before.facts
    )
    if arrived:
        return Finding(PROVEN, "records arrive on the target")
    if _heartbeat_arrived(before, after):
        return Finding(PROVEN, "the flow has passed the last record and heartbeats arrive")
    if after.heartbeat_offset is None:
        return Finding(
            UNKNOWN, "no record waits to be replicated and no heartbeat has arrived: the flow may be dead or idle"
        )
    return Finding(UNKNOWN, _NO_HEARTBEAT)


def _heartbeat_arrived(before: FlowObservation, after: FlowObservation) -> bool:
    """Was a heartbeat replicated between the two? Its timestamp is of another machine's clock and proves nothing."""
    new = after.heartbeat_offset
    return new is not None and (before.heartbeat_offset is None or new > before.heartbeat_offset)


def _still(facts: PartitionFacts) -> Finding:
    """A partition that made progress before is still alive, unless the flow's offset no longer fits the source log."""
    fits = healthy(facts)
    return fits if fits.verdict == REFUTED else Finding(PROVEN, "it made progress, or had nothing to replicate")


def _view(
    judged: list[tuple[FlowObservation, Finding]], groups: Mapping[str, Mapping[str, GroupStatus]], missing: list[str]
) -> dict[str, Any]:
    """Return the status as plain data, for playbooks and reports."""
    verdicts = [finding.verdict for _observation, finding in judged]
    if missing and all(verdict == PROVEN for verdict in verdicts):
        verdicts.append(UNKNOWN)
    return {
        "verdict": combine(verdicts),
        "missing": missing,
        "not_observed": [],
        "unjoined": None,
        "undeclared_groups": None,
        "competing_flows": None,
        "open_transactions": None,
        "flows": [flow_row(observation, finding) for observation, finding in judged],
        **_group_parts(groups),
    }


def _hold_back(view: dict[str, Any], transactions: Sequence[OpenTransaction]) -> None:
    """Add the transactions that stay open. What they hold back is not replicated, so nothing is PROVEN with them."""
    for flow in view["flows"]:
        hold_back(flow, transactions)
    view["open_transactions"] = [transaction.as_dict() for transaction in transactions]
    view["verdict"] = combine([view["verdict"], *(UNKNOWN for _transaction in transactions)])


def _groups_everywhere(pair: Pair) -> dict[str, dict[str, GroupStatus]]:
    """Observe the groups on each cluster."""
    return on_each(pair.kafka, lambda alias: _group_statuses(pair, alias)) if pair.groups else {}


def _group_parts(groups: Mapping[str, Mapping[str, GroupStatus]]) -> dict[str, Any]:
    """Return the parts of the status that are about groups."""
    return {
        "undeclared_topics": [
            {"group": name, "alias": alias, "topics": list(observation.undeclared_topics)}
            for alias, observations in groups.items()
            for name, observation in observations.items()
            if observation.undeclared_topics
        ],
        "out_of_scope": [
            row
            for observations in groups.values()
            for observation in observations.values()
            for row in observation.out_of_scope
        ],
        "unassigned": [
            {"group": name, "alias": alias, "topics": list(observation.unassigned)}
            for alias, observations in groups.items()
            for name, observation in observations.items()
            if observation.unassigned
        ],
        "groups": [
            row
            for alias, observations in groups.items()
            for name, observation in observations.items()
            for row in group_rows(alias, name, observation)
        ],
    }


def flow_row(observation: FlowObservation, finding: Finding) -> dict[str, Any]:
    """Return a flow as plain data."""
    filters = {topic_filter.kind: topic_filter for topic_filter in observation.connectors["source"].filters}
    partitions = []
    for (topic, partition), facts in sorted(observation.facts.items()):
        state, fits = drained(facts), Finding(UNKNOWN, observation.away) if observation.away else healthy(facts)
        partitions.append(
            {
                "topic": topic,
                "partition": partition,
                "taken": filters["topics"].takes(topic) if filters else None,
                "start": facts.start,
                "end": facts.end,
                "last_replicated_offset": facts.last_replicated_offset,
                "lag": lag(facts),
                "replica_end": facts.replica_end,
                "drained": state.verdict,
                "reason": state.reason,
                "fits": fits.verdict,
                "fits_reason": fits.reason,
            }
        )
    lags = [row["lag"] for row in partitions]
    return {
        "name": observation.name,
        "source": observation.source,
        "target": observation.target,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "final": observation.connectors["source"].final,
        "lag": None if observation.away or not lags or None in lags else sum(lags),
        "heartbeat_age_s": None if observation.heartbeat_age is None else round(observation.heartbeat_age, 1),
        "connectors": [
            {
                "name": part.name,
                "part": part.part,
                "state": part.state,
                "tasks": list(part.tasks),
                "failures": list(part.failures),
                "largest_record": part.largest_record if part.part == "source" else None,
            }
            for part in observation.connectors.values()
        ],
        "partitions": partitions,
    }


def group_rows(alias: str, group: str, observation: GroupStatus) -> list[dict[str, Any]]:
    """Return a group's committed offsets on one cluster as plain data."""
    return [
        {
            "group": group,
            "alias": alias,
            "state": observation.state,
            "members": observation.members,
            "topic": key[0],
            "partition": key[1],
            "commit": observation.commits.get(key),
            "read_to_end": done,
        }
        for key, done in sorted(observation.read_to_end.items())
    ]

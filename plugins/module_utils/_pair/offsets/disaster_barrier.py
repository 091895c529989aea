# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The barrier of a disaster: stop the flow, find the groups' offsets on the surviving cluster, journal them there.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..._core.ages import age_of
from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.journal.ownership import Claim
from ..._core.journal.state import JournalState
from ..._core.offsets.disaster import (
    Checkpointed,
    PresyncedOffset,
    Tail,
    compacted,
    guarded,
    loss_lines,
    overtaken,
    predicted_loss,
    survived,
    surviving_metadata,
)
from ..._core.offsets.skipped_records import skip_lines, skip_rows, total
from ..._core.offsets.target_offsets import TargetOffset
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition, by_topic
from ..._core.resources.groups import GroupState, members_named, with_members
from ..._core.resources.scopes import out_of_scope
from ..._core.waiting import Bounds, wait_until
from ..._engines.base import unsafe_settings
from ..._kafka.records import Record
from ..._module import Result
from ..connections.clusters import both
from ..connections.engines import Opened, open_pair
from ..journal.copies import read_state
from ..journal.phases import note_phase
from ..observation.internal_topics import InternalTopics
from ..observation.leaving import wait_for_members_to_leave
from ..observation.probe import probe
from ..observation.resends import Resends
from ..observation.snapshot import PairSnapshot
from ..observation.surviving_cluster import Survivor
from .bindings import witness_of
from .carried_metadata import metadata_warnings
from .evidence import by_group, preexisting_higher_offsets
from .presynced import Presynced, presynced_offsets
from .requests import DisasterRequest
from .stored_offsets import StoredOffsets

__all__ = ["disaster", "survey"]

# A worker abandons a task that hangs on a dead source, but the task continues to sync groups. It queries group by
# group, each for source.admin.default.api.timeout.ms. Observed: 6 s for two groups, with no task listed any more.
_LATE_PER_GROUP = 6.0
_LATE_AT_MOST = 60.0
# Seconds between two observations, because the applications are stopped meanwhile.
_STEP = 0.05
# Seconds before a cluster that responds is probed again: it may just be starting or stopping.
_AGAIN = 1.0


def disaster(request: DisasterRequest, check: bool) -> Result:
    """Stop the flow, find the offsets, journal them, in this order.

    Check mode stops and journals nothing, and probes X. Otherwise this needs nothing from X. It reads only Y's copy of
    the journal. With the policy identity the flow must not replicate any more (R15). With the default policy the source
    connector may still be stopping; then the last replicated offset is a lower bound.
    """
    pair, y = request.pair, request.enter
    for alias in (request.leave, y):
        pair.require_alias(alias)
    opened = open_pair({y: pair.connections[y]}, pair.naming, request.request_timeout)
    state = read_state(opened.kafka, pair)
    journal = JournalFacts.toward(state, y)
    survivor = Survivor(pair, (request.leave, y), journal, opened)
    survivor.states  # noqa: B018 - raises before anything is stopped
    search = _Search(survivor, request, journal, check, _known_higher(state, request.claim))
    # A stop takes seconds while the source is dead. What was read before stays true during that time.
    stopped, _nothing = both(lambda: _stop(survivor, request, check), search.read_ahead)
    if stopped.failure is not None:
        return stopped
    result, probes = both(search.run, lambda: _probes(request) if check else [])
    result.outcomes, result.warnings = stopped.outcomes, [*stopped.warnings, *result.warnings]
    if check:
        result.extra["probes"] = probes
    elif result.failure is None and request.claim is not None:
        facts = result.extra["barrier"]
        noted = note_phase(pair, request.claim, "barrier", facts, request.request_timeout, clusters=[y])
        result.outcomes = result.outcomes + noted
    return result


def survey(
    request: DisasterRequest, journal: JournalFacts, opened: Opened, snapshot: PairSnapshot | None
) -> dict[str, Any]:
    """Return what a disaster now would find: ``details``, ``ages``, ``loss``, ``active_groups``. Writes nothing.

    ``snapshot`` is a recent snapshot of the surviving cluster; None: observe it.
    """
    survivor = Survivor(request.pair, (request.leave, request.enter), journal, opened, snapshot)
    search = _Search(survivor, request, journal, True)
    search.read_ahead()
    return search.run().extra


def _known_higher(state: JournalState, claim: Claim | None) -> list[str] | None:
    """Return the higher offsets that this run journaled at its first barrier; None: this is its first barrier."""
    run = state.run
    if claim is None or run is None or run.id != claim.run:
        return None
    known: list[str] | None = run.phases.get("barrier", {}).get("preexisting_higher_offsets")
    return known


def _probes(request: DisasterRequest) -> list[dict[str, Any]]:
    """Is X really lost? Probe it, and probe it again if it responds."""
    cluster, topics = request.pair.connections[request.leave], request.pair.topics
    probes = [probe(cluster, topics, request.probe_timeout)]
    if probes[0].answers:
        time.sleep(_AGAIN)
        probes.append(probe(cluster, topics, request.probe_timeout))
    return [result.as_dict() for result in probes]


def _bounds(survivor: Survivor, request: DisasterRequest) -> Bounds:
    return Bounds(survivor.engine.capabilities.bound(request.stop_timeout, request.restart_timeout), _STEP)


def _stop(survivor: Survivor, request: DisasterRequest, check: bool) -> Result:
    # No producer starts before the flow has no tasks (R15).
    must_end = survivor.naming.flows_write_originals
    # Streams Replication Manager cannot stop one flow. Its group sync stops; a dead source sends nothing to replicate.
    final = must_end or not survivor.engine.capabilities.offset_syncs_on_source
    # Records that still arrive are after every offset that is found here, and the source connector has no source.
    awaited = ("source", "checkpoint") if must_end else ("checkpoint",)
    stopped = survivor.engine.stop(survivor.x, survivor.y, final, _bounds(survivor, request), check, awaited)
    if stopped.failure is None or must_end or check or not survivor.engine.capabilities.stop_provable:
        return stopped
    # Replication may still be stopping, but MirrorMaker 2's own group sync must not write here any more (R10).
    checkpoints = survivor.observe().connectors["checkpoint"]
    if checkpoints.state is None or checkpoints.final:
        stopped.warnings.append(
            f"The flow has not stopped yet, so its progress is a lower bound: {stopped.failure.message}"
        )
        stopped.failure = None
    return stopped


class _Search:
    """Finds the offsets of all groups, and the records that may be lost."""

    def __init__(
        self,
        survivor: Survivor,
        request: DisasterRequest,
        journal: JournalFacts,
        check: bool,
        known_higher: list[str] | None = None,
    ) -> None:
        self._survivor, self._request, self._journal, self._check = survivor, request, journal, check
        self._known_higher, self._topics = known_higher, InternalTopics(survivor, journal)

    def read_ahead(self) -> None:
        """Read what stopping the flow does not invalidate. A value may become outdated: then it is lower, not wrong."""
        self._topics.read_ahead()
        self._presynced  # noqa: B018 - read now

    @cached_property
    def _presynced(self) -> Presynced:
        survivor, pair = self._survivor, self._request.pair
        ids = {name: state.topic_id for name, state in survivor.states.items()}
        place = (survivor.kafka, pair.state_topic, pair.name, survivor.y)
        return presynced_offsets(*place, self._journal.tenure, ids, survivor.checkpoints_id)

    def run(self) -> Result:
        """Return the offsets, the predicted loss and the facts for the journal, as of now."""
        survivor, pair = self._survivor, self._request.pair
        if not self._check:
            wait_for_members_to_leave({survivor.y: survivor.kafka}, survivor.groups, self._request.members)
        observation = survivor.observe()
        if survivor.naming.starts_at_cut and not self._check:
            _require_decided(survivor, _bounds(survivor, self._request))
        tails = survivor.tails(observation)
        replicas = {survivor.replica(key) for key in _originals(survivor)}
        ranges = {key: (tail.start, tail.end) for key, tail in tails.items()}
        last = survivor.last_records(replicas, ranges)
        states, commits = survivor.commits()
        active = sorted(group for group, state in states.items() if state.state not in ("EMPTY", "DEAD"))
        members = {group: members_named(states[group]) for group in active}
        if active and not self._check:
            raise DrError(
                "group_active",
                f"These groups have members on {survivor.y}: {with_members(members)}.",
                "Stop their consumers first. Nothing was committed.",
            )
        resends = Resends(self._topics, last, ranges)
        stored = StoredOffsets(survivor, self._presynced, self._journal, ranges)
        offsets = _GroupOffsets(self._topics, survivor, stored, resends)
        rows = offsets.rows(tails, commits, survivor.metadata())
        loss = _loss(survivor, self._topics, tails, last)
        extra = {
            "committed_offsets": by_group(rows),
            "details": rows,
            "rereads": sum(row["rereads"] for row in rows),
            "skips": total(rows).as_dict(),
            "settle": _settle(rows),
            "ages": _ages(rows),
            "loss": loss,
            "loss_lines": [
                *loss_lines(loss, self._journal.unreplicated_below.get(survivor.x, {}), any(pair.patterns.values())),
                *skip_lines(rows),
            ],
            "unsafe_settings": unsafe_settings(observation.connectors),
            "active_groups": active,
            "out_of_scope": _out_of_scope(survivor, self._topics.checkpoints, states, commits),
            "active_members": members,
            "barrier": {
                **_facts(survivor, tails, by_group(rows, metadata=False), loss, last),
                "precautions": _precautions(survivor, offsets.used),
                "preexisting_higher_offsets": (
                    preexisting_higher_offsets(rows) if self._known_higher is None else self._known_higher
                ),
                "skips": skip_rows(rows),
            },
        }
        return Result(extra=extra, requests=survivor.requests, warnings=metadata_warnings(rows))


class _GroupOffsets:
    """Decides where each group starts on Y, by what Y holds about the group and the flow."""

    def __init__(self, topics: InternalTopics, survivor: Survivor, stored: StoredOffsets, resends: Resends) -> None:
        self._topics, self._survivor, self._stored, self._resends = topics, survivor, stored, resends
        #: Topics by group for which there is evidence that the group reads them.
        self.used: dict[str, set[str]] = {}

    def rows(
        self,
        tails: Mapping[Partition, Tail],
        commits: Mapping[str, Mapping[Partition, int]],
        metadata: Mapping[str, Mapping[Partition, str]],
    ) -> list[dict[str, Any]]:
        """Return a report row for each group and partition. ``commits`` and ``metadata`` are those on Y."""
        survivor, stored = self._survivor, self._stored
        rows = []
        index = by_topic(tails)
        for group in survivor.groups:
            topics = set(survivor.topics_of(group))
            replicas = {survivor.replica_name(name) for name in topics}
            for key in (key for name in sorted(topics | replicas) for key in index.get(name, ())):
                original, replica = key.topic in topics, key.topic in replicas
                tail = replace(tails[key], replaced=key in stored.replaced)
                claims = stored.of(group, key, original)
                place = self._topics.place(group, key)
                newest = self._topics.newest(group, key)
                if place.other is not None and newest is not None and not tail.replaced:
                    claims += [] if overtaken(newest, claims) else [PresyncedOffset(place.other, 0.0)]
                checkpointed = self._topics.checkpointed(group, key) if replica else None
                if claims or checkpointed is not None or key in commits[group]:
                    self.used.setdefault(group, set()).add(key.topic)
                newest = newest if replica else None
                committed_offset = self._committed_offset(key, tail, (checkpointed, newest), claims, replica)
                existing = commits[group].get(key)
                there = existing, metadata.get(group, {}).get(key, "")
                carried, dropped = surviving_metadata(committed_offset, claims, there, not replica)
                row = {
                    "group": group,
                    "topic": key.topic,
                    "partition": key.partition,
                    "offset": committed_offset.offset,
                    "method": committed_offset.method,
                    "quality": committed_offset.quality,
                    "rereads": committed_offset.rereads,
                    "skips": committed_offset.skips.as_dict(),
                    "reason": committed_offset.reason,
                    "hazards": list(committed_offset.hazards),
                    "existing": existing,
                    "metadata": carried,
                    "metadata_dropped": dropped,
                    "left": None if checkpointed is None else checkpointed.upstream,
                    "checkpoint": None if checkpointed is None else checkpointed.downstream,
                    "as_of": _as_of(committed_offset, checkpointed, claims),
                }
                rows.append(row)
        return rows

    def _committed_offset(
        self,
        key: Partition,
        tail: Tail,
        checkpoints: tuple[Checkpointed | None, Checkpointed | None],
        claims: list[PresyncedOffset],
        is_replica: bool,
    ) -> TargetOffset:
        checkpointed, newest = checkpoints
        committed_offset = survived(tail, checkpointed, claims, newest)
        if not is_replica or committed_offset.method == "empty":
            return committed_offset
        if "compact" in (self._survivor.setting(key.topic, "cleanup.policy") or "compact"):
            return compacted(committed_offset, tail)
        if committed_offset.method == "start":
            return committed_offset
        copies = self._resends.of(key, committed_offset.offset or 0)
        committed_offset = guarded(committed_offset, tail, copies)
        if copies.last is None and not copies.proven:
            hazard = "brokers set the timestamps (LogAppendTime), so duplicates are detected only near the log end"
            quality = "skips" if committed_offset.skips.possible else "unproven"
            return replace(committed_offset, quality=quality, hazards=(*committed_offset.hazards, hazard))
        return committed_offset


def _originals(survivor: Survivor) -> list[Partition]:
    """Source partitions that have a replica partition. Newer partitions have not been replicated yet."""
    counts = {name: survivor.states[survivor.replica_name(name)].partitions for name in survivor.topics}
    return [
        Partition(name, index)
        for name in survivor.topics
        for index in range(min(counts[name], survivor.states[name].partitions))
    ]


def _out_of_scope(
    survivor: Survivor,
    checkpoints: Mapping[tuple[str, Partition], Checkpointed],
    states: Mapping[str, GroupState],
    commits: Mapping[str, Mapping[Partition, int]],
) -> list[dict[str, Any]]:
    """Find topics that groups use outside their scope, on Y, and on X according to MirrorMaker 2's checkpoints."""
    rows, known = [], survivor.states
    upstream: dict[str, dict[Partition, int]] = {}
    for (name, key), checkpoint in checkpoints.items():
        upstream.setdefault(name, {})[key] = checkpoint.upstream
    for group in survivor.groups:
        topics = survivor.topics_of(group)
        scope = {*topics, *(survivor.replica_name(name) for name in topics)}
        on_y = out_of_scope((group, survivor.y), scope, known, commits[group], states[group].members)
        what = f"checkpoint of {survivor.x}'s committed offset"
        listed = {row["topic"] for row in on_y}
        on_x = out_of_scope((group, survivor.y), scope, known, upstream.get(group, {}), committed=what)
        rows += on_y + [row for row in on_x if row["topic"] not in listed]
    return rows


def _require_decided(survivor: Survivor, bounds: Bounds) -> None:
    """Wait until no transaction is open on Y. Y's log end becomes the cut, and an open one would move it later."""
    waited = wait_until(
        survivor.ranges,
        lambda ends: ends == survivor.ranges("read_uncommitted"),
        bounds,
    )
    if not waited.done:
        raise DrError(
            "not_decided",
            f"Transactions are still open on {survivor.y} after {waited.seconds:.0f} s, or a producer still writes"
            " there, so no cut can be recorded.",
            "The broker aborts a dead producer's transaction after its time-out. Stop any producer that writes. Then"
            " start the same playbook again.",
        )


def _ages(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the age in seconds of each group's oldest offset; None: the age of one of its offsets is unknown.

    A checkpoint has the time of a worker, and a presynced offset that of the controller which wrote it.
    """
    ages: dict[str, float | None] = {}
    for row in rows:
        if row["method"] == "empty" or not row["rereads"]:
            continue
        age, before = age_of(row["as_of"], time.time()), ages.get(row["group"], 0.0)
        ages[row["group"]] = None if age is None or before is None else round(max(age, before), 1)
    return ages


def _loss(
    survivor: Survivor, topics: InternalTopics, tails: Mapping[Partition, Tail], last: Mapping[Partition, Any]
) -> dict[str, Any]:
    committed: dict[Partition, int] = {}
    event_times: dict[Partition, float | None] = {}
    by_source, exact = {}, {}
    checkpointed: dict[Partition, int] = {}
    for (_group, place), checkpoint in topics.checkpoints.items():
        checkpointed[place] = max(checkpoint.upstream, checkpointed.get(place, 0))
    for key in _originals(survivor):
        replica = survivor.replica(key)
        by_source[key] = tails[replica]
        record = last.get(replica)
        exact[key] = topics.last_source(key, record)
        event_times[key] = None if record is None or record.timestamp is None else record.timestamp / 1000.0
        committed[key] = checkpointed.get(replica, 0)
    return predicted_loss(by_source, committed, exact, event_times, survivor.heartbeat_age())


def _facts(
    survivor: Survivor,
    tails: Mapping[Partition, Tail],
    committed_offsets: list[dict[str, Any]],
    loss: Any,
    last: Mapping[Partition, Record],
) -> dict[str, Any]:
    """Return the facts that cannot be read again later. X's own log ends and committed offsets are unknown."""
    last_replicated_offset = {key: tails[survivor.replica(key)].last_replicated_offset for key in _originals(survivor)}
    return {
        "disaster": True,
        "last_replicated_offset": nested(last_replicated_offset),
        "starts": {},
        # The end of the replicated part of X. The records after it are the tail.
        "ends": nested({key: offset + 1 for key, offset in last_replicated_offset.items() if offset is not None}),
        "cut_bound": nested(
            {key: [witness_of(record)] for key, record in last.items() if key.topic in survivor.topics}
        ),
        "cut": nested({key: tail.end for key, tail in tails.items() if key.topic in survivor.topics}),
        "committed_offsets": {},
        "entered": committed_offsets,
        "loss": loss,
    }


def _precautions(survivor: Survivor, used: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Return by group the topics that got an offset although nothing shows that the group reads them (R40).

    A group without declared topics may read any topic of the pair, and the cluster that knows is lost. ``used``: topics
    by group for which there is evidence.
    """
    precautions: dict[str, list[str]] = {}
    for group in survivor.groups:
        names = [{topic, survivor.replica_name(topic)} for topic in survivor.topics]
        unused = set().union(*(each for each in names if each.isdisjoint(used.get(group, ()))))
        if unused and not survivor.declares_topics(group):
            precautions[group] = sorted(unused)
    return precautions


def _settle(rows: list[dict[str, Any]]) -> float:
    """Return for how many seconds MirrorMaker 2 might still raise an offset: only one that is below its checkpoint."""
    below = [row for row in rows if row["checkpoint"] is not None and (row["offset"] or 0) < row["checkpoint"]]
    return min(_LATE_AT_MOST, _LATE_PER_GROUP * len({row["group"] for row in rows})) if below else 0.0


def _as_of(committed_offset: TargetOffset, checkpointed: Any, claims: list[PresyncedOffset]) -> float | None:
    """Return when the evidence for an offset was true (epoch seconds); None: unknown, or there is no evidence."""
    times = (
        [checkpointed.time]
        if checkpointed is not None and committed_offset.method in ("checkpoint", "first_copy", "tenure")
        else []
    )
    times += [claim.time for claim in claims if claim.offset == committed_offset.offset and claim.time]
    return max(times) if times and max(times) > 0 else None

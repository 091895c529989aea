# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace a permanently lost cluster with an empty one: delete the state about the lost cluster, and nothing else.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.cutover_types import needs_source
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.state import JournalState
from ..._core.names import Naming
from ..._core.offsets.disaster import loss_lines
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._core.resources.acl import Acl, failure_of, plan
from ..._kafka import acls as kafka_acls
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..._kafka.topics import describe, log_ranges
from ..._module import Result
from ..connections.engines import open_pair
from ..journal.copies import read_copy, read_state
from ..journal.events import note
from ..journal.leases import open_leases_of, unfinished_replays
from ..journal.members import members
from ..journal.request import JournalRequest

__all__ = ["RebuildRequest", "rebuild"]


@dataclass(frozen=True)
class RebuildRequest:
    """The options of ``dr_rebuild``."""

    pair: PairSpec
    #: Alias of the lost cluster, which an empty cluster has now.
    replaced: str
    #: Principals that get the same ACLs as on the surviving cluster.
    principals: Sequence[str]
    #: A lease whose process has ended, as the operator has verified; "": none.
    take_over: str
    #: The lease that the caller holds; "": none.
    lease: str
    request_timeout: float


@dataclass(frozen=True)
class _Clusters:
    """The two clusters of a rebuild."""

    #: Alias of the lost cluster, and of the new one.
    lost: str
    #: Alias of the surviving cluster.
    here: str
    new: Kafka
    surviving: Kafka
    #: State of the journal on the surviving cluster.
    state: JournalState


def rebuild(request: RebuildRequest, check: bool) -> Result:
    """Refuse a cluster that is not empty. Then reset flows, presynced offsets and journal.

    The flows are stopped, in the state ``rebuild`` of :mod:`._core.flows.goals`. The journal is written last: until
    then a second call repeats everything. After that it changes nothing, and the next step is to enable the pair.
    """
    here = _other_alias(request)
    opened = open_pair(request.pair.connections, request.pair.naming, request.request_timeout)
    surviving = opened.kafka[here]
    state = read_state({here: surviving}, request.pair)
    clusters = _Clusters(request.replaced, here, opened.kafka[request.replaced], surviving, state)
    _require_possible(request, clusters)
    _require_members(request, clusters, opened.kafka)
    result = Result(extra={"replaced": False, "lost": [], "unreplicated_below": {}, "rights": 0})
    # Otherwise this is a second call before the pair is enabled, and everything is done.
    if clusters.lost in state.topic_ids:
        _require_empty(request.pair, clusters)
        result.warnings = _unfinished_replays(request.pair, clusters)
        loss = (state.left.get(clusters.lost) or {}).get("loss")
        result.extra["lost"] = loss_lines(loss, final=True) if loss else []
        result.outcomes = _copy_rights(request, clusters, check)
        result.failure = failure_of(result.outcomes, clusters.new.bootstrap_servers)
        result.extra["rights"] = len(result.outcomes)
        if result.failure is None:
            result.outcomes += opened.engine.forget(clusters.lost, here, check)
            below = _unreplicated_below(request.pair, clusters)
            result.extra.update(replaced=True, unreplicated_below=below)
            result.outcomes += _delete_stale_state(request, clusters, check)
            result.outcomes += _journal_replaced(request, clusters, below, check)
    result.requests = opened.requests
    return result


def _other_alias(request: RebuildRequest) -> str:
    others = [alias for alias in request.pair.clusters if alias != request.replaced]
    if len(others) != 1 or request.replaced not in request.pair.clusters:
        known = ", ".join(request.pair.clusters)
        raise DrError("bad_option", f'replaced is "{request.replaced}", expected one of two clusters, found {known}.')
    return others[0]


# ---- requirements


def _require_possible(request: RebuildRequest, clusters: _Clusters) -> None:
    """Raise unless the pair is enabled, no run or job is active, and the applications live on the surviving cluster."""
    state, here = clusters.state, clusters.here
    if not state.enabled:
        raise DrError(
            "not_enabled",
            f"The journal on {here} holds no enabled pair {request.pair.name}.",
            f"rebuild takes the alias of the new, empty cluster. If {here} is the new cluster, start again with"
            f" -e kafka_dr_confirm={here}. If the pair was never enabled, run the playbook enable.",
        )
    if state.run is not None and state.interrupted:
        run = state.run
        raise DrError(
            "run_interrupted",
            f"The {run.type} run {run.id} from {run.source} to {run.target} has not ended.",
            "Resume it with its own playbook first, or abandon it.",
        )
    if state.active != here:
        raise DrError(
            "applications_there",
            f"According to the journal on {here}, the applications live on {state.active}.",
            f"rebuild fills a new cluster from the one where the applications live. If {clusters.lost} is lost, run"
            " failover_disaster first.",
        )
    kafkas = {here: clusters.surviving}
    for lease in open_leases_of(kafkas, request.pair.state_topic, request.pair.name, request.lease):
        if lease.run != request.take_over:
            raise DrError(
                "lease_held",
                f"The {lease.kind} {lease.run} holds a lease of this pair.",
                "Start again when it has ended. If you have verified that its process has ended, start again with"
                f" -e kafka_dr_take_over={lease.run}.",
            )


def _require_members(request: RebuildRequest, clusters: _Clusters, kafkas: Mapping[str, Kafka]) -> None:
    """Raise if the inventory omits members of the pair (R42). The new cluster has another id than the journal's."""
    ids = {alias: cluster_id for alias, cluster_id in clusters.state.cluster_ids.items() if alias != clusters.lost}
    membership = members(request.pair, replace(clusters.state, cluster_ids=ids), kafkas)
    if membership.texts():
        raise DrError("inventory_smaller", membership.problem(), membership.next_step())


def _require_empty(pair: PairSpec, clusters: _Clusters) -> None:
    """Raise unless the new cluster is another one, or has lost its former topics, and holds no records of the pair."""
    kafka, lost, here = clusters.new, clusters.lost, clusters.here
    names = list(dict.fromkeys([*pair.topics, *(pair.naming.replica(here, topic) for topic in pair.topics)]))
    states = {name: state for name, state in describe(kafka, names).items() if state is not None}
    known = clusters.state.topic_ids.get(lost, {})
    same = [name for name, state in states.items() if known.get(name) == state.topic_id]
    if same:
        run = clusters.state.run
        disaster = run is not None and not needs_source(run.type) and run.source == lost
        who = "the lost cluster itself" if disaster else "the cluster with which the pair was enabled last"
        raise DrError(
            "not_replaced",
            f'"{same[0]}" on {lost} is the topic of the journal (id {known[same[0]]}), so this is {who}, cluster id'
            f" {kafka.cluster_id}.",
            "It needs no rebuild. Run the playbook salvage to replay its tail, then enable."
            if disaster
            else f"The pair is complete, by an earlier rebuild or because {lost} was not lost since: nothing is left to"
            " rebuild. Run the playbook readiness.",
            kafka.bootstrap_servers,
        )
    keys = {Partition(name, index) for name, state in states.items() for index in range(state.partitions)}
    written = {key: end for key, (_start, end) in log_ranges(kafka, keys, "read_uncommitted").items() if end}
    if written:
        first = min(written)
        raise DrError(
            "not_empty",
            f"{len(written)} partitions on {lost} hold or held records: {first} ends at {written[first]}.",
            f"It is unknown whether {here} has these records. Delete these topics if you do not need them, or use an"
            " empty cluster.",
            kafka.bootstrap_servers,
        )
    if read_copy(kafka, pair.journal_topic, pair.name):
        raise DrError(
            "not_empty",
            f"{lost} holds a journal of the pair {pair.name}, expected none.",
            f'If the topic "{pair.journal_topic}" came from a backup, delete it on {lost}.',
            kafka.bootstrap_servers,
        )


def _unfinished_replays(pair: PairSpec, clusters: _Clusters) -> list[str]:
    """Return warnings about replays of the lost cluster's tail that can no longer be finished."""
    begun = unfinished_replays({clusters.here: clusters.surviving}, pair.state_topic, pair.name)
    text = f"The replay of the tail of {', '.join(begun[:5])} had not ended: the rest is lost with {clusters.lost}."
    return [text] if begun else []


# ---- changes


def _copy_rights(request: RebuildRequest, clusters: _Clusters, check: bool) -> list[Outcome]:
    """Create the principals' ACLs of the surviving cluster on the new one, with the new names of replicas."""
    principals = list(request.principals)
    try:
        surviving_acls = kafka_acls.describe(clusters.surviving, principals) if principals else set()
    except DrError as error:
        if error.code != "no_authorizer":
            raise
        return []
    wanted = {_renamed(acl, request.pair.naming, clusters) for acl in surviving_acls}
    if not wanted:
        return []
    kafka = clusters.new
    return kafka_acls.apply(kafka, plan(wanted, kafka_acls.describe(kafka, principals), "present"), check)


def _renamed(acl: Acl, naming: Naming, clusters: _Clusters) -> Acl:
    before, now = (f"{alias}{naming.separator}" for alias in (clusters.lost, clusters.here))
    if naming.keeps_names or acl.resource_type != "topic" or not acl.name.startswith(before):
        return acl
    return replace(acl, name=now + acl.name.removeprefix(before))


def _unreplicated_below(pair: PairSpec, clusters: _Clusters) -> dict[str, dict[str, dict[str, int]]]:
    """Return the log ends of the replicas. Records before them came from the lost cluster; no flow replicates them."""
    if pair.naming.keeps_names:
        return {}
    kafka = clusters.surviving
    replicas = [pair.naming.replica(clusters.lost, topic) for topic in pair.topics]
    states = {name: state for name, state in describe(kafka, replicas).items() if state is not None}
    keys = {Partition(name, index) for name, state in states.items() for index in range(state.partitions)}
    ends = {key: end for key, (start, end) in log_ranges(kafka, keys, "read_uncommitted").items() if end > start}
    return {clusters.here: nested(ends)} if ends else {}


def _delete_stale_state(request: RebuildRequest, clusters: _Clusters, check: bool) -> list[Outcome]:
    """Delete presynced offsets, leases and the progress of replays, because they name the lost cluster."""
    pair = request.pair
    values = read_latest(clusters.surviving, pair.state_topic) or {}
    ours = {key: value for key, value in values.items() if value.get("pair") == pair.name}
    # The caller's own lease stays until the playbook ends it.
    stale = sorted(key for key, value in ours.items() if "run" not in value or value["run"] != request.lease)
    if not stale:
        return []
    if not check:
        write_latest(clusters.surviving, pair.state_topic, dict.fromkeys(stale))
    change = Change("state", pair.name, "delete", {"keys": stale}, None)
    return [Outcome(change, "planned" if check else "done")]


def _journal_replaced(
    request: RebuildRequest, clusters: _Clusters, below: Mapping[str, Any], check: bool
) -> list[Outcome]:
    """Journal the replacement on the surviving cluster. The new cluster gets its copy when the pair is enabled."""
    data = {"alias": clusters.lost, "unreplicated_below": below}
    noted = JournalRequest(request.pair, "replaced", data, copies=(clusters.here,), timeout=request.request_timeout)
    return note(noted, check).outcomes

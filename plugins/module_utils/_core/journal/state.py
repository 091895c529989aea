# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a pair's journal: the result of all its events.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..cutover_types import needs_source
from ..names import naming_of
from .events import Event
from .reads import Reads, joined

__all__ = ["JournalState", "Run", "fold"]


@dataclass(frozen=True)
class Run:
    """One run of a cutover playbook, as the journal records it."""

    id: str
    epoch: int
    #: cutoff, continuous or disaster.
    type: str
    #: Alias of the cluster being left.
    source: str
    #: Alias of the cluster being entered.
    target: str
    policy: str
    #: The Ansible process that began the run or took it over last, as ``Holder.as_dict``; None: no process is known.
    holder: Mapping[str, Any] | None
    #: Unix time of the start.
    started: float
    #: A disaster that replaces a run after its point of no return: that run's cut and offsets still hold.
    replaces_passed_run: bool
    #: Facts of each finished phase by its name, with the ``time`` when it finished.
    phases: Mapping[str, Mapping[str, Any]]
    #: What the groups read on ``source`` before they stopped.
    reads: Reads = field(default_factory=dict)
    #: Topics and groups that the operator let leave the pair when the run started (R42).
    drop: Sequence[str] = ()
    #: Options of the playbook that started or resumed it last, by name without ``kafka_dr_`` (see ``runs``).
    options: Mapping[str, str] = field(default_factory=dict)
    #: How often another process has taken the run over: the number of its current holder.
    holder_generation: int = 0
    #: Unix time of the point of no return; None: not reached.
    passed: float | None = None
    #: Number of the holder that passed it.
    passed_generation: int | None = None
    #: When the applications left ``source``: before ``passed`` if a replaced run had moved them.
    left_at: float | None = None
    #: Unix time of the end; None: the run has not ended.
    ended: float | None = None
    result: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for playbooks and reports."""
        return {
            "id": self.id,
            "epoch": self.epoch,
            "type": self.type,
            "from": self.source,
            "to": self.target,
            "policy": self.policy,
            "holder": self.holder,
            "resumed": self.holder_generation,
            "started": self.started,
            "replaces_passed_run": self.replaces_passed_run,
            "phases": self.phases,
            "drop": list(self.drop),
            "options": dict(self.options),
            "pnr": self.passed,
            "pnr_holder_generation": self.passed_generation,
            "left_at": self.left_at,
            "ended": self.ended,
            "result": self.result,
        }


@dataclass
class JournalState:
    """What the journal shows after all of its events."""

    #: Alias of the cluster where the applications live; None: the pair was never enabled.
    active: str | None = None
    enabled: bool = False
    #: Replication policy that the replicas were created with; kept while the pair is disabled.
    policy: str | None = None
    epoch: int = 0
    #: The newest run.
    run: Run | None = None
    #: Partition counts of the topics that joined the pair when it was enabled, by name; None: an older release did not
    #: record them.
    topics: dict[str, int] | None = None
    #: The groups that joined then.
    groups: list[str] = field(default_factory=list)
    #: Cluster ids from when the pair was enabled, by alias.
    cluster_ids: dict[str, str] = field(default_factory=dict)
    #: Topic ids from when the pair was enabled: alias -> topic -> id.
    topic_ids: dict[str, dict[str, str]] = field(default_factory=dict)
    #: Facts of the barrier when the applications last left a cluster, by its alias.
    left: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Policy identity: the cuts between tenures, oldest first (see ``tenures``).
    cuts: list[dict[str, Any]] = field(default_factory=list)
    #: Offset of the first offset-sync that refers to the current topic: flow -> topic -> offset.
    offset_syncs_start: dict[str, dict[str, int]] = field(default_factory=dict)
    #: Where the checkpoints ended when the current topic joined: flow -> topic -> log end and topic id.
    checkpoints_start: dict[str, dict[str, Sequence[Any]]] = field(default_factory=dict)
    #: Records below these offsets came from a cluster that is gone, so no other cluster has them:
    #: alias -> replica -> partition -> offset.
    unreplicated_below: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    #: Retention settings of topics before they were set to keep everything: alias -> topic -> setting (see
    #: ``retention``).
    held: dict[str, dict[str, dict[str, str | None]]] = field(default_factory=dict)
    #: By flow: the connectors, or the dedicated MirrorMaker 2, whose stored offsets it took over, and those offsets.
    adopted: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Which tenure the applications are in: the epoch of the run or event that moved them last; 0: none did.
    tenure: int = 0
    #: Partitions whose tail ``salvage`` has replayed, with the source's topic id: flow -> topic -> partition -> id.
    #: Only the state topic has the ranges, so without it they are unknown, not absent (R37).
    replays: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    #: Unix time of the first event: a journal that was lost and created again has another one.
    created: float | None = None
    #: Values of fields that the point of no return of the current run has replaced, by field.
    replaced_at_pnr: dict[str, Any] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """Whether a run has started and not ended."""
        return self.run is not None and self.run.ended is None

    @property
    def unseeded_cut(self) -> Mapping[str, Any] | None:
        """Facts of the barrier of a disaster failover that could not seed the flow back; None: no flow waits for it.

        The records after the last replicated one were unknown then.
        """
        run = self.run
        if run is None or needs_source(run.type) or run.passed is None:
            return None
        return self.left.get(run.source) if "barrier" in run.phases and "seeded" not in run.phases else None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for playbooks and reports."""
        return {
            "active": self.active,
            "enabled": self.enabled,
            "policy": self.policy,
            "epoch": self.epoch,
            "born": self.created,
            "interrupted": self.interrupted,
            "run": None if self.run is None else self.run.as_dict(),
            "topics": self.topics,
            "groups": self.groups,
            "cluster_ids": self.cluster_ids,
            "topic_ids": self.topic_ids,
            "left": self.left,
            "cuts": self.cuts,
            "offset_syncs_start": self.offset_syncs_start,
            "checkpoints_start": self.checkpoints_start,
            "unreplicated_below": self.unreplicated_below,
            "held": self.held,
            "adopted": self.adopted,
        }


def fold(events: Iterable[Event]) -> JournalState:
    """The state after all events."""
    state = JournalState()
    for event in events:
        state.epoch = max(state.epoch, event.epoch)
        state.created = event.time if state.created is None else state.created
        _APPLY[event.kind](state, event)
    return state


def _enabled(state: JournalState, event: Event) -> None:
    """An ``adopted`` pair was moved by hand: the event has the cluster and the cut, which was found by content."""
    adopted = event.data.get("adopted", False)
    ids = event.data.get("topic_ids", {})
    state.enabled = True
    state.policy = event.data.get("policy", state.policy)
    state.active = event.data["active"] if adopted else state.active or event.data["active"]
    state.tenure = event.epoch if adopted else state.tenure
    state.left = {alias: _of_same_topics(facts, alias, state.topic_ids, ids) for alias, facts in state.left.items()}
    for alias, floors in state.unreplicated_below.items():
        other = _other(alias, state.topic_ids, ids)
        same = {replica: below for replica, below in floors.items() if replica not in other}
        state.unreplicated_below = {**state.unreplicated_below, alias: same}
    for alias, end in event.data.get("checkpoints", {}).items():
        left = state.left.get(alias)
        # Read before the flows ran again. The barrier of a disaster could not read it.
        if left is not None and left.get("checkpoints") is None:
            state.left[alias] = {**left, "checkpoints": end}
    state.topics, state.groups = event.data.get("topics", state.topics), event.data.get("groups", state.groups)
    state.cluster_ids = event.data.get("cluster_ids", state.cluster_ids)
    state.topic_ids = ids
    state.offset_syncs_start = event.data.get("offset_syncs_start", {})
    state.checkpoints_start = event.data.get("checkpoints_start", {})
    cut_record = event.data.get("cut_record")
    if cut_record:
        # The journal's records about a topic of that name refer to another topic, or to a time without this collection.
        state.cuts = [_without(one, set(cut_record.get("joined", ()))) for one in state.cuts]
        state.cuts.append({**cut_record, "known": False})


def _of_same_topics(
    facts: Mapping[str, Any], alias: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """``facts`` of a cluster that was left, without committed offsets on topics that were recreated since."""
    other = _other(alias, before, now)
    if not other or "committed_offsets" not in facts:
        return dict(facts)
    same = {
        group: {topic: at for topic, at in topics.items() if topic not in other}
        for group, topics in facts["committed_offsets"].items()
    }
    return {**facts, "committed_offsets": same}


def _other(alias: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    """The topics on ``alias`` that were deleted and created again since."""
    old, new = before.get(alias, {}), now.get(alias, {})
    return {topic for topic in old if topic in new and new[topic] != old[topic]}


def _without(cut_record: Mapping[str, Any], topics: set[str]) -> dict[str, Any]:
    """A cut record without entries for ``topics``."""
    rest = {
        name: {topic: at for topic, at in (cut_record.get(name) or {}).items() if topic not in topics} or None
        for name in ("ends", "cut", "resumed", "found")
        if name in cut_record
    }
    return {**cut_record, **rest, "ends": rest["ends"] or {}, "cut": rest["cut"] or {}}


def _disabled(state: JournalState, event: Event) -> None:
    state.enabled = False


def _replaced(state: JournalState, event: Event) -> None:
    """Facts about the replaced cluster are void. Offsets that were recorded on the other cluster still hold."""
    alias = event.data["alias"]
    state.cluster_ids = {name: known for name, known in state.cluster_ids.items() if name != alias}
    state.topic_ids = {name: ids for name, ids in state.topic_ids.items() if name != alias}
    state.left = {
        name: {key: facts[key] for key in ("committed_offsets", "bound", "time", "checkpoints") if key in facts}
        for name, facts in state.left.items()
        if name != alias
    }
    state.cuts, state.offset_syncs_start, state.checkpoints_start, state.run = [], {}, {}, None
    state.replays = {flow: topics for flow, topics in state.replays.items() if alias not in flow.split("->")}
    state.unreplicated_below = event.data.get("unreplicated_below", {})


def _held(state: JournalState, event: Event) -> None:
    state.held = event.data["held"]


def _adopted(state: JournalState, event: Event) -> None:
    state.adopted = {**state.adopted, event.data["flow"]: event.data}


def _replayed(state: JournalState, event: Event) -> None:
    topics = {topic: dict(partitions) for topic, partitions in state.replays.get(event.data["flow"], {}).items()}
    for topic, partitions in event.data["partitions"].items():
        topics.setdefault(topic, {}).update(partitions)
    state.replays = {**state.replays, event.data["flow"]: topics}


def _started(state: JournalState, event: Event) -> None:
    replaces_passed_run = bool(event.data.get("replaces_passed_run"))
    before = state.run if replaces_passed_run else None
    state.run = Run(
        id=event.run,
        epoch=event.epoch,
        type=event.data["type"],
        source=event.data["from"],
        target=event.data["to"],
        policy=event.data.get("policy", "default"),
        holder=event.data.get("holder"),
        started=event.time,
        replaces_passed_run=replaces_passed_run,
        phases=_taken_over(before, event.data["to"]),
        reads=event.data.get("reads") or {},
        drop=event.data.get("drop") or (),
        options=event.data.get("options") or {},
        left_at=None if before is None else before.left_at,
    )


def _taken_over(before: Run | None, target: str) -> dict[str, Mapping[str, Any]]:
    """Phases of the replaced run that still hold, if it moved the applications to the same cluster.

    They include that it seeded the flow back: seeding it again would replicate records twice.
    """
    if before is None or before.target != target or before.passed is None:
        return {}
    return {name: facts for name, facts in before.phases.items() if name in ("barrier", "seeded")}


def _run_of(state: JournalState, event: Event) -> Run | None:
    """The current run, if the event belongs to it."""
    return state.run if state.run is not None and state.run.id == event.run else None


def _resumed(state: JournalState, event: Event) -> None:
    run = _run_of(state, event)
    if run is not None:
        state.run = replace(
            run,
            holder=event.data.get("holder"),
            holder_generation=run.holder_generation + 1,
            options=event.data.get("options", run.options),
            reads=joined(run.reads, event.data.get("reads") or {}),
        )


def _phase(state: JournalState, event: Event) -> None:
    run = _run_of(state, event)
    if run is None:
        return
    phase, facts = event.data["phase"], event.data.get("facts", {})
    reads = joined(run.reads, facts.get("reads") or {}) if phase == "drain" else run.reads
    state.run = replace(run, phases={**run.phases, phase: {"time": event.time, **facts}}, reads=reads)
    if phase == "seeded" and state.cuts:
        state.cuts[-1]["resumed"] = facts.get("resumed")
        _ends_found(state, run, facts.get("found") or {})


def _ends_found(state: JournalState, run: Run, ends_found: Mapping[str, Mapping[str, int]]) -> None:
    """The ends of a disaster's cut that were found by content replace the lower bounds (R45)."""
    if not ends_found:
        return
    state.cuts[-1]["found"] = ends_found
    left = state.left.get(run.source)
    if left is not None:
        ends = left.get("ends", {})
        merged = {topic: {**ends.get(topic, {}), **ends_found.get(topic, {})} for topic in {**ends, **ends_found}}
        state.left[run.source] = {**left, "ends": merged}


def _pnr(state: JournalState, event: Event) -> None:
    run = _run_of(state, event)
    if run is None:
        return
    state.run = replace(run, passed=event.time, passed_generation=run.holder_generation)
    if state.active == run.target:
        # A disaster after the point of no return of another run: what that run recorded still holds.
        return
    state.replaced_at_pnr = {
        "active": state.active,
        "left": dict(state.left),
        "cuts": list(state.cuts),
        "tenure": state.tenure,
    }
    state.run = replace(state.run, left_at=event.time)
    state.active, state.tenure = run.target, run.epoch
    facts = dict(run.phases.get("barrier", {}))
    state.left[run.source] = facts
    if naming_of(run.policy).starts_at_cut:
        cut = {"from": run.source, "to": run.target, "ends": facts.get("ends", {}), "cut": facts.get("cut", {})}
        # The flow of a lost cluster may have replicated more than it stored (R45).
        lower_bounds = {"disaster": True} if facts.get("disaster") else {}
        cut["bound"] = {run.source: facts.get("bound", {}), run.target: facts.get("cut_bound", {})}
        state.cuts.append({**cut, "resumed": None, **lower_bounds})


def _undoing(state: JournalState, event: Event) -> None:
    """Void a point of no return that was only partly written: its writer stopped before it acted on it."""
    run = _run_of(state, event)
    if run is not None and run.passed is not None:
        state.run = replace(run, passed=None, passed_generation=None, left_at=None)
        for name, value in state.replaced_at_pnr.items():
            setattr(state, name, value)


def _ended(state: JournalState, event: Event) -> None:
    run = _run_of(state, event)
    if run is not None:
        state.run = replace(run, ended=event.time, result=event.data.get("result"))


_APPLY = {
    "enabled": _enabled,
    "disabled": _disabled,
    "replaced": _replaced,
    "held": _held,
    "adopted": _adopted,
    "replayed": _replayed,
    "started": _started,
    "resumed": _resumed,
    "phase": _phase,
    "pnr": _pnr,
    "undoing": _undoing,
    "ended": _ended,
}

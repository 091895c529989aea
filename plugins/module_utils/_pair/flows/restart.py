# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Before flows start, compare their stored offsets with the replicas, and delete the offsets of recreated topics.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.state import JournalState
from ..._core.names import flow_name
from ..._core.offsets.flow_restart import (
    Begun,
    FlowPartition,
    ReplicaStart,
    forgotten,
    misfits,
    require_fit,
    would_start,
)
from ..._core.offsets.replication_gates import PartitionFacts
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._core.resources.topic_ids import recreated
from ..._kafka.connect_offsets import ConnectOffsets
from ..._kafka.records import last_data_records
from ..._kafka.topics import names
from ..._module import Result
from ..connections.clusters import both, on_each
from ..journal.copies import read_state
from ..observation.flows import FlowObservation, observe_flow
from ..observation.last_records import same_content
from ..observation.pair import ISOLATION, Pair

__all__ = ["FlowStartRequest", "compared", "flow_start", "replica_starts", "with_stored"]

Flow = tuple[str, str]
# Topics in which Kafka Connect workers may store offsets. No interface returns the value of offset.storage.topic.
_OFFSETS_TOPIC = re.compile(r"^(?!__|mm2-).*offset", re.IGNORECASE)


@dataclass(frozen=True)
class FlowStartRequest:
    """The options of ``dr_flow_start``."""

    pair: PairSpec
    flows: Sequence[Flow]
    #: False: only compare the stored offsets with the replicas.
    forget: bool
    #: Names of flows whose stored offsets dr_adopt is about to set. They are not compared.
    adopting: Collection[str]
    #: Topics that are replicated again from their beginning.
    copy_again: Collection[str]
    request_timeout: float


def flow_start(request: FlowStartRequest, check: bool) -> Result:
    """Refuse stored offsets that do not fit. With ``forget``, delete those of the topics in ``copy_again``."""
    pair = Pair(request.pair, request.flows, request.request_timeout)
    flows = dict.fromkeys(pair.flows)
    on_each(pair.kafka, pair.partitions)
    state, at_rest = both(
        lambda: read_state(pair.kafka, pair.spec),
        lambda: on_each(flows, lambda flow: _observe_at_rest(pair, flow)),
    )
    ids = {alias: pair.topic_ids(alias) for alias in pair.kafka}
    observations = on_each(flows, lambda flow: _observe(pair, flow, at_rest[flow], state))
    starts = [
        start
        for observation in observations.values()
        for start in replica_starts(pair, observation, state.topic_ids, state.unreplicated_below)
    ]
    starts = [start for start in starts if start.flow not in request.adopting]
    topics = {flow: _begun(pair, observation, state.topic_ids, ids) for flow, observation in observations.items()}
    gone = []
    if request.forget:
        gone = forgotten([topic for flow_topics in topics.values() for topic in flow_topics], request.copy_again)
    require_fit(starts, _others(pair, starts), pair.engine.capabilities.offsets_writable)
    outcomes = []
    for flow, flow_topics in topics.items():
        again = {topic.topic for topic in flow_topics if topic in gone}
        if again:
            outcomes.append(_forget(pair, flow, again, check))
    extra = {"unseen": sorted({start.flow for start in starts if not start.exists})}
    return Result(outcomes, extra, requests=pair.requests)


def _observe_at_rest(pair: Pair, flow: Flow) -> FlowObservation | None:
    """Observe the flow with its stored offsets only; None: the engine cannot read them without the connector."""
    stored = pair.engine.observe_offsets(*flow)
    return None if stored is None else observe_flow(pair, *flow, engine_state=stored)


def _observe(pair: Pair, flow: Flow, at_rest: FlowObservation | None, state: JournalState) -> FlowObservation:
    """Return ``at_rest`` if its offsets fit. Otherwise observe the flow's connectors too."""
    if at_rest is not None and not misfits(replica_starts(pair, at_rest, state.topic_ids, state.unreplicated_below)):
        return at_rest
    return with_stored(pair, observe_flow(pair, *flow))


def _others(pair: Pair, starts: Collection[ReplicaStart]) -> list[str]:
    """Name the other flows, running or not, between the clusters of each flow that is about to start."""
    flows = {start.flow for start in starts}
    wanted = [flow for flow in pair.flows if flow_name(*flow) in flows]
    return [name for flow in wanted for name in pair.engine.competing_flows(*flow, pair.topics)]


def with_stored(pair: Pair, observation: FlowObservation) -> FlowObservation:
    """Add the stored offsets of a connector that does not exist, from the workers' offsets topics.

    Offsets survive the deletion of a connector, but the REST interface then returns 404. Topics that this account may
    not read are skipped.
    """
    source, kafka = observation.connectors["source"], pair.kafka[observation.target]
    if source.state is not None or not any(facts.replica_end for facts in observation.facts.values()):
        return observation
    stored: dict[Partition, int] = {}
    with suppress(DrError):
        for topic in [name for name in names(kafka) if _OFFSETS_TOPIC.search(name)]:
            stored |= ConnectOffsets(kafka, topic, source.name, observation.source).last_replicated_offset()
    if not stored:
        return observation
    facts = {
        key: replace(partition_facts, last_replicated_offset=stored.get(key))
        for key, partition_facts in observation.facts.items()
    }
    return replace(observation, facts=facts)


def replica_starts(
    pair: Pair,
    observation: FlowObservation,
    topic_ids: Mapping[str, Mapping[str, str]],
    unreplicated_below: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> list[ReplicaStart]:
    """Return the source partitions whose replicas hold or held records, and that the flow does not replicate yet.

    ``topic_ids`` and ``unreplicated_below`` are those of the journal (see ``JournalFacts``).
    """
    source, ids = observation.connectors["source"], pair.topic_ids(observation.target)
    takes = next((topic_filter for topic_filter in source.filters if topic_filter.kind == "topics"), None)
    starts = {}
    for key, facts in observation.facts.items():
        topic, index = key
        replica = pair.naming.replica(observation.source, topic)
        taken = takes.takes(topic) if takes else source.state not in (None, "STOPPED")
        if not facts.replica_end or not would_start(source.state, taken):
            continue
        journaled = topic_ids.get(observation.target, {}).get(replica)
        below = unreplicated_below.get(observation.target, {}).get(replica, {})
        starts[key] = ReplicaStart(
            observation.name,
            topic,
            index,
            replica,
            facts.replica_end,
            facts.last_replicated_offset,
            # A stored offset proves that the connector existed.
            source.state is not None
            or facts.last_replicated_offset is not None
            or pair.engine.capabilities.offsets_outlive_flow,
            journaled is not None and journaled == ids.get(replica),
            facts.end,
            more=facts.data_after,
            replaced_below=int(below.get(str(index), 0)),
        )
    return compared(pair, observation, starts)


def compared(pair: Pair, observation: FlowObservation, starts: Mapping[Partition, ReplicaStart]) -> list[ReplicaStart]:
    """Compare, for each of ``starts``, the record at the stored offset with the last record of the replica.

    A partition whose replica is the journaled topic is not compared.
    """
    spans, ends = {}, {}
    for key, start in starts.items():
        begin, end = observation.source_log[key]
        if not start.journaled and start.stored is not None and begin <= start.stored < end:
            spans[key] = (start.stored, start.stored + 1)
            replica = Partition(start.replica, start.partition)
            ends[replica] = observation.replica_log[replica]
    source_records = last_data_records(pair.kafka[observation.source], spans, ISOLATION)
    replica_records = last_data_records(pair.kafka[observation.target], ends, ISOLATION)
    return [
        replace(
            start,
            equal=same_content(source_records.get(key), replica_records.get(Partition(start.replica, start.partition))),
        )
        for key, start in sorted(starts.items())
    ]


def _begun(
    pair: Pair,
    observation: FlowObservation,
    journaled: Mapping[str, Mapping[str, str]],
    ids: Mapping[str, Mapping[str, str]],
) -> list[Begun]:
    """Return every topic of a flow, with its stored offsets."""
    source, target = observation.source, observation.target
    facts: dict[str, dict[int, PartitionFacts]] = {}
    for (topic, index), partition_facts in sorted(observation.facts.items()):
        facts.setdefault(topic, {})[index] = partition_facts
    topics = []
    for topic in pair.topics:
        replica = pair.naming.replica(source, topic)
        journaled_ids = {
            alias: {name: known}
            for alias, name in ((source, topic), (target, replica))
            if (known := journaled.get(alias, {}).get(name))
        }
        places = tuple(
            FlowPartition(index, last_replicated_offset, partition_facts.end, partition_facts.replica_end)
            for index, partition_facts in facts.get(topic, {}).items()
            if (last_replicated_offset := partition_facts.last_replicated_offset) is not None
        )
        held = any(partition_facts.replica_end for partition_facts in facts.get(topic, {}).values())
        topics.append(Begun(observation.name, topic, replica, places, tuple(recreated(journaled_ids, ids)), held))
    return topics


def _forget(pair: Pair, flow: Flow, topics: set[str], check: bool) -> Outcome:
    """Delete the stored offsets of ``topics``, and read them back."""
    offsets = pair.engine.offsets(*flow)
    have = {key: at for key, at in offsets.read().items() if key[0] in topics}
    change = Change("offsets", offsets.name, "delete", nested(have), None)
    if check:
        return Outcome(change, "planned")
    offsets.require_stopped(
        "Offsets can be deleted only on a stopped connector. Run the playbook disable, then start again."
    )
    offsets.forget(topics)
    return Outcome(change, "done")

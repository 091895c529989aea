# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flows that are about to start: do their stored offsets fit the replicas, and mean the records that are there?

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.names import flow_name
from ..._core.offsets.flow_restart import Begun, Place, ReplicaStart, forgotten, misfits, require_fit, would_start
from ..._core.offsets.tenures import nested
from ..._core.resources.topic_ids import recreated
from ..._kafka.connect_offsets import ConnectOffsets
from ..._kafka.records import last_data_records
from ..._kafka.topics import describe, names
from ..._module import Result
from ..connections.clusters import on_each
from ..observation.pair import ISOLATION, FlowLook, Pair, same_content

__all__ = ["compared", "flow_start", "replica_starts", "with_stored"]

Flow = tuple[str, str]
# Where Kafka Connect workers keep stored offsets: offset.storage.topic is theirs to name, and no interface shows it.
_OFFSETS_TOPIC = re.compile(r"^(?!__|mm2-).*offset", re.IGNORECASE)


def flow_start(params: Mapping[str, Any], check: bool) -> Result:
    """Refuse offsets that do not fit; with ``forget``, forget those of the topics that are to be copied again."""
    pair = Pair.of_params(params)
    ids = on_each(pair.kafka, lambda alias: _ids(pair, alias))
    looks = on_each(dict.fromkeys(pair.flows), lambda flow: _look(pair, flow, params))
    starts = [one for look in looks.values() for one in replica_starts(pair, look, params)]
    starts = [one for one in starts if one.flow not in params["adopting"]]
    topics = {flow: _begun(pair, look, params["topic_ids"], ids) for flow, look in looks.items()}
    gone = []
    if params["forget"]:
        gone = forgotten([one for found in topics.values() for one in found], params["copy_again"])
    require_fit(starts, _others(pair, starts), pair.engine.capabilities.offsets_writable)
    outcomes = []
    for (source, target), found in topics.items():
        again = {one.topic for one in found if one in gone}
        if again:
            outcomes.append(_forget(pair, (source, target), again, check))
    extra = {"unseen": sorted({one.flow for one in starts if not one.exists})}
    return Result(outcomes, extra, requests=pair.requests)


def _look(pair: Pair, flow: Flow, known: Mapping[str, Any]) -> FlowLook:
    """Where an engine reads stored offsets alone, it is asked for the flow's state only if they do not fit."""
    stored = pair.engine.observe_offsets(*flow)
    if stored is not None:
        at_rest = pair.look(*flow, engine_look=stored)
        if not misfits(replica_starts(pair, at_rest, known)):
            return at_rest
    return with_stored(pair, pair.look(*flow))


def _others(pair: Pair, starts: Collection[ReplicaStart]) -> list[str]:
    """Other flows between the same ends, running or not, where a flow is about to start."""
    flows = {one.flow for one in starts}
    wanted = [flow for flow in pair.flows if flow_name(*flow) in flows]
    return [name for flow in wanted for name in pair.engine.competing_flows(*flow, pair.topics)]


def with_stored(pair: Pair, look: FlowLook) -> FlowLook:
    """``look`` with what the workers' offsets topics hold under the name of a connector that does not exist (yet).

    Offsets survive the deletion of a connector, and its REST interface then returns 404. A topic that this account
    may not read adds nothing.
    """
    source, kafka = look.connectors["source"], pair.kafka[look.target]
    if source.state is not None or not any(facts.replica_end for facts in look.facts.values()):
        return look
    stored: dict[tuple[str, int], int] = {}
    with suppress(DrError):
        for topic in [name for name in names(kafka) if _OFFSETS_TOPIC.search(name)]:
            stored |= ConnectOffsets(kafka, topic, source.name, look.source).copied()
    if not stored:
        return look
    facts = {key: replace(one, copied=stored.get(key)) for key, one in look.facts.items()}
    return replace(look, facts=facts)


def replica_starts(pair: Pair, look: FlowLook, known: Mapping[str, Any]) -> list[ReplicaStart]:
    """The partitions that ``look.source`` has and whose replicas hold or held records, where the flow does not run yet.

    ``known``: ``topic_ids`` and ``only_here`` of the journal.
    """
    source, ids = look.connectors["source"], _ids(pair, look.target)
    takes = next((one for one in source.filters if one.kind == "topics"), None)
    found = {}
    for (topic, index), facts in look.facts.items():
        replica = pair.naming.replica(look.source, topic)
        taken = takes.takes(topic) if takes else source.state not in (None, "STOPPED")
        if not facts.replica_end or not would_start(source.state, taken):
            continue
        mine = known["topic_ids"].get(look.target, {}).get(replica)
        below = known["only_here"].get(look.target, {}).get(replica, {})
        found[topic, index] = ReplicaStart(
            look.name,
            topic,
            index,
            replica,
            facts.replica_end,
            facts.copied,
            # A stored offset shows that it existed.
            source.state is not None or facts.copied is not None or pair.engine.capabilities.offsets_outlive_flow,
            mine is not None and mine == ids.get(replica),
            facts.end,
            more=facts.data_after,
            replaced_below=int(below.get(str(index), 0)),
        )
    return compared(pair, look, found)


def compared(pair: Pair, look: FlowLook, starts: Mapping[tuple[str, int], ReplicaStart]) -> list[ReplicaStart]:
    """With the record at the stored offset beside the last one of the replica, where the journal knows neither."""
    spans, ends = {}, {}
    for key, one in starts.items():
        begin, end = look.source_log[key]
        if not one.journaled and one.stored is not None and begin <= one.stored < end:
            spans[key] = (one.stored, one.stored + 1)
            ends[one.replica, one.partition] = look.replica_log[one.replica, one.partition]
    left = last_data_records(pair.kafka[look.source], spans, ISOLATION)
    right = last_data_records(pair.kafka[look.target], ends, ISOLATION)
    return [
        replace(one, equal=same_content(left.get(key), right.get((one.replica, one.partition))))
        for key, one in sorted(starts.items())
    ]


def _ids(pair: Pair, alias: str) -> dict[str, str]:
    found = describe(pair.kafka[alias], pair.partitions(alias))
    return {name: state.topic_id for name, state in found.items() if state is not None and state.topic_id}


def _begun(
    pair: Pair, look: FlowLook, journaled: Mapping[str, Mapping[str, str]], ids: Mapping[str, Mapping[str, str]]
) -> list[Begun]:
    """Every topic of a flow."""
    source, target, facts = look.source, look.target, look.facts
    found = []
    for topic in pair.topics:
        replica = pair.naming.replica(source, topic)
        mine = {
            alias: {name: known}
            for alias, name in ((source, topic), (target, replica))
            if (known := journaled.get(alias, {}).get(name))
        }
        places = tuple(
            Place(index, copied, one.end, one.replica_end)
            for (name, index), one in sorted(facts.items())
            if name == topic and (copied := one.copied) is not None
        )
        held = any(one.replica_end for key, one in facts.items() if key[0] == topic)
        found.append(Begun(look.name, topic, replica, places, tuple(recreated(mine, ids)), held))
    return found


def _forget(pair: Pair, flow: Flow, topics: set[str], check: bool) -> Outcome:
    """The flow has copied nothing of ``topics``; read back."""
    offsets = pair.engine.offsets(*flow)
    have = {key: at for key, at in offsets.read().items() if key[0] in topics}
    change = Change("offsets", offsets.name, "delete", nested(have), None)
    if check:
        return Outcome(change, "planned")
    offsets.require_stopped("Its offsets can be forgotten only then. Run the playbook disable and start again.")
    offsets.forget(topics)
    return Outcome(change, "done")

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flows that stood still, before they copy: do their stored offsets still mean the records that are there?

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._connect.offsets import change_offsets, copied_offsets, require_gone
from .._core.changes import Change, Outcome
from .._core.errors import DrError
from .._core.flow_start import Begun, Place, forgotten
from .._core.names import flow_name
from .._core.stays import nested
from .._core.topic_ids import recreated
from .._kafka.topics import describe
from .._module import Result
from .clusters import on_each
from .connect_engine import ConnectEngine
from .observe import Pair

__all__ = ["flow_start"]

Flow = tuple[str, str]


def flow_start(params: Mapping[str, Any], check: bool) -> Result:
    """Refuse offsets that do not fit; forget those of the topics that are to be copied again."""
    pair = Pair(params)
    ids = on_each(pair.kafka, lambda alias: _ids(pair, alias))
    topics = {flow: _begun(pair, flow, params["topic_ids"], ids) for flow in pair.flows}
    gone = forgotten([one for found in topics.values() for one in found], params["copy_again"])
    outcomes = []
    for (source, target), found in topics.items():
        names = {one.topic for one in found if one in gone}
        if names:
            outcomes.append(_forget(pair, (source, target), names, check))
    return Result(outcomes, requests=pair.requests)


def _ids(pair: Pair, alias: str) -> dict[str, str]:
    found = describe(pair.kafka[alias], pair.partitions(alias))
    return {name: state.topic_id for name, state in found.items() if state is not None and state.topic_id}


def _begun(
    pair: Pair, flow: Flow, journaled: Mapping[str, Mapping[str, str]], ids: Mapping[str, Mapping[str, str]]
) -> list[Begun]:
    """Every topic of a flow."""
    source, target = flow
    facts = pair.look(source, target).facts
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
        found.append(Begun(flow_name(*flow), topic, replica, places, tuple(recreated(mine, ids)), held))
    return found


def _forget(pair: Pair, flow: Flow, topics: set[str], check: bool) -> Outcome:
    """The flow has copied nothing of ``topics``; read back."""
    if not isinstance(pair.engine, ConnectEngine):
        raise DrError(
            "no_offsets", f"The offsets of {flow_name(*flow)} cannot be forgotten: only Kafka Connect lets us."
        )
    rest, name = pair.engine.rest(*flow), pair.engine.name(*flow)
    have = {key: at for key, at in copied_offsets(rest, name, flow[0]).items() if key[0] in topics}
    change = Change("offsets", name, "delete", nested(have), None)
    if check:
        return Outcome(change, "planned")
    connector = rest.connectors().get(name)
    if connector is None or not connector.stopped:
        state = "missing" if connector is None else connector.state
        raise DrError(
            "not_stopped",
            f'The connector "{name}" is {state}, wanted STOPPED without tasks.',
            "Its offsets can be forgotten only then. Run the playbook disable and start again.",
            rest.url,
        )
    change_offsets(rest, name, flow[0], dict.fromkeys(have, -1))
    require_gone(rest, name, flow[0], topics)
    return Outcome(change, "done")

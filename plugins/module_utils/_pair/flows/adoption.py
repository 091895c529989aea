# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take over the stored offsets of the connectors that have replicated a flow until now (R33).

Each step can be repeated: after a run was killed, the old connectors may be stopped already, or the offsets set.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..._connect.connector_client import ConnectorClient
from ..._connect.offsets import replicated_offsets
from ..._connect.reconcile import Stopping
from ..._connect.rest import ConnectClient, Connector
from ..._core.changes import Change, Outcome
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.inventory.adoption import config_problems, undeclared_topics, unknown_order
from ..._core.journal.state import JournalState
from ..._core.listing import first_few
from ..._core.names import CONNECTORS, connector_name, flow_name
from ..._core.offsets.flow_restart import ReplicaStart, misfits
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._core.waiting import Bounds, wait_until
from ..._engines.base import workers_of
from ..._kafka import groups as kafka_groups
from ..._kafka.connect_offsets import ConnectOffsets
from ..._kafka.topics import describe
from ..._module import Result
from ..connections.clusters import both
from ..journal.copies import read_state
from ..observation.flows import observe_flow
from ..observation.pair import Pair
from .restart import compared, replica_starts, with_stored

__all__ = ["AdoptRequest", "FormerReplicator", "adopt"]

# Seconds without new records. The tasks of a dedicated MirrorMaker 2 may still run after its group has no members.
_STILL_SECONDS = 2.0


@dataclass(frozen=True)
class FormerReplicator:
    """The process that has replicated a flow until now: connectors, or a dedicated MirrorMaker 2."""

    #: Names of the connectors by part; empty for a dedicated MirrorMaker 2.
    connectors: Mapping[str, str]
    #: Address of the connectors' workers. None: the engine's own workers, or a dedicated MirrorMaker 2.
    connect_url: str | None
    connect_client: Mapping[str, Any]
    #: Topic in which a dedicated MirrorMaker 2 stores its offsets; None: connectors have run the flow.
    offsets_topic: str | None
    #: Group of the workers of a dedicated MirrorMaker 2.
    group: str
    #: Topics that it replicates and that the pair does not replicate any more.
    leave_topics: Sequence[str]

    @classmethod
    def of(cls, option: Mapping[str, Any]) -> FormerReplicator:
        """Parse ``kafka_dr_pair.adopt``, as ``adopted_flow`` completes it."""
        return cls(
            connectors=option["connectors"],
            connect_url=option["connect_url"],
            connect_client=option["connect_client"] or {},
            offsets_topic=option["offsets_topic"],
            group=option["group"],
            leave_topics=option["leave_topics"],
        )


@dataclass(frozen=True)
class AdoptRequest:
    """The options of ``dr_adopt``."""

    pair: PairSpec
    flows: Sequence[tuple[str, str]]
    #: By the flow's name. Flows without an entry are not adopted.
    former: Mapping[str, FormerReplicator]
    #: False: only check, and change nothing.
    apply: bool
    #: Time within which stopped connectors must have no tasks.
    stop_bounds: Bounds
    request_timeout: float


def adopt(request: AdoptRequest, check: bool) -> Result:
    """Take over the flows of ``former``. Without ``apply``, only check, and return which flows are ``pending``."""
    pair = Pair(request.pair, request.flows, request.request_timeout)
    flows = [flow for flow in pair.flows if flow_name(*flow) in request.former]
    state, rivals = both(
        lambda: read_state(pair.kafka, pair.spec),
        lambda: {flow: pair.engine.competing_flows(*flow, pair.topics, running=True) for flow in flows},
    )
    adoptions = [_Adoption(pair, flow, request, state, rivals[flow]) for flow in flows]
    for adoption in adoptions:
        adoption.require_possible()
    pending = [adoption for adoption in adoptions if adoption.pending]
    warnings = [text for adoption in pending if (text := _unknown_order(adoption))]
    result = Result(extra={"pending": [adoption.name for adoption in pending], "adopted": {}}, warnings=warnings)
    if request.apply and not check:
        for adoption in adoptions:
            result.outcomes += adoption.apply()
            result.extra["adopted"][adoption.name] = adoption.facts()
    elif check:
        result.outcomes = [outcome for adoption in pending for outcome in adoption.planned()]
    result.requests = [*pair.requests, *(request for adoption in adoptions for request in adoption.requests)]
    return result


class _Adoption:
    """The adoption of one flow."""

    def __init__(
        self, pair: Pair, flow: tuple[str, str], request: AdoptRequest, state: JournalState, others: Sequence[str]
    ) -> None:
        self.name, self._flow, self._pair, self._state = flow_name(*flow), flow, pair, state
        self._former = request.former[self.name]
        self._dedicated = self._former.offsets_topic
        self._own = pair.engine.offsets(*flow)
        self._bounds, self._timeout, self._others = request.stop_bounds, request.request_timeout, others

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return the requests to the workers of the old connectors."""
        return [] if self._dedicated else list(self._rest.requests)

    @cached_property
    def _rest(self) -> ConnectorClient:
        """The client of the workers of the old connectors."""
        if self._former.connect_url is not None:
            return ConnectClient(self._former.connect_url, self._former.connect_client, self._timeout)
        return workers_of(self._pair.engine, self._flow[1], "kafka_dr_adopt")

    # ---- observations

    @cached_property
    def connectors(self) -> dict[str, Connector]:
        """The old connectors by part."""
        if self._dedicated:
            return {}
        listed = self._rest.connectors()
        named = self._former.connectors
        missing = [name for name in named.values() if name not in listed]
        if missing:
            known = (
                ", ".join(sorted(name for name, connector in listed.items() if connector.part))
                or "no MirrorMaker 2 connector"
            )
            raise DrError(
                "adoption_refused",
                f'kafka_dr_adopt names the connector "{missing[0]}" for {self.name}, but the workers at'
                f' "{self._rest.url}" have {known}.',
                "No connector was touched. Correct kafka_dr_adopt.",
                self._rest.url,
            )
        return {part: listed[name] for part, name in named.items()}

    @cached_property
    def starts(self) -> dict[Partition, ReplicaStart]:
        """Partitions that the pair's connector must not start with its present offsets."""
        observation = with_stored(self._pair, observe_flow(self._pair, *self._flow))
        starts = replica_starts(self._pair, observation, self._state.topic_ids, self._state.unreplicated_below)
        return {
            Partition(start.topic, start.partition): start
            for start in starts
            if misfits([replace(start, journaled=False)])
        }

    @property
    def pending(self) -> bool:
        """Must offsets still be taken over? True if the pair's connector is at rest and its offsets do not fit."""
        return bool(self.starts)

    def _stored(self) -> dict[Partition, int]:
        """Return the stored offsets of the old connector, for all of its topics."""
        if self._dedicated:
            return _dedicated_offsets(self._pair, self._dedicated, self._flow)
        return replicated_offsets(self._rest, self.connectors["source"].name, self._flow[0])

    @property
    def _stopped(self) -> bool:
        return all(connector.stopped for connector in self.connectors.values())

    # ---- requirements

    def require_possible(self) -> None:
        """Raise if the adoption cannot succeed, as far as this is known before the first change."""
        source, target = self._flow
        # Refuses an engine or an operator that cannot set offsets.
        workers_of(self._pair.engine, target, "kafka_dr_adopt")
        if self._dedicated:
            _require_ended(self._pair, self._flow, self._former)
        problems = [
            f'"{connector.name}": {text}'
            for connector in self.connectors.values()
            if not connector.stopped
            for text in self._rest.taken(connector.name)
        ]
        problems += [
            f'"{connector.name}": {text}'
            for part, connector in self.connectors.items()
            for text in config_problems(part, connector.config, source, target, self._pair.naming)
        ]
        served = self._pair.kafka[target].cluster_id
        if self.connectors and (cluster_id := self._rest.about()[0]) != served:
            problems.append(
                f'"{self._rest.url}" belongs to the cluster "{cluster_id}", {target} is the cluster "{served}"'
            )
        names = {connector.name for connector in self.connectors.values()}
        problems += [
            f'"{name}" replicates the same topics, but kafka_dr_adopt does not name it'
            for name in set(self._others) - names
        ]
        stored = self._stored()
        left = undeclared_topics({topic for topic, _index in stored}, _known(self._pair), self._former.leave_topics)
        if left:
            problems.append(
                f"{len(left)} other topics would no longer be replicated ({first_few(left)}): add them to"
                " kafka_dr_topics, or name them in leave_topics of kafka_dr_adopt"
            )
        if self._stopped:
            problems += self._misfits(stored)
        if problems:
            raise DrError(
                "adoption_refused",
                f"{self.name} cannot be adopted: {first_few(problems, separator='; ')}.",
                "No connector was touched. Correct kafka_dr_adopt or the inventory (docs/procedures/enable.md).",
            )

    def _misfits(self, stored: Mapping[Partition, int]) -> list[str]:
        """Return the partitions whose records show that the old offsets do not fit either."""
        observation = observe_flow(self._pair, *self._flow)
        old = {
            key: replace(
                start,
                stored=stored.get(key),
                exists=True,
                journaled=False,
                replica_end=observation.facts[key].replica_end or start.replica_end,
                source_end=observation.facts[key].end,
            )
            for key, start in self.starts.items()
        }
        return misfits(compared(self._pair, observation, old))

    # ---- changes

    def planned(self) -> list[Outcome]:
        """Return the changes of ``apply``. The offsets increase until the old connector is stopped."""
        stops = [self._stop_change(connector) for connector in self.connectors.values() if not connector.stopped]
        moved = self._offsets_change({}, self._wanted(self._stored()))
        return [Outcome(change, "planned") for change in [*stops, moved]]

    def apply(self) -> list[Outcome]:
        """Stop the old connectors, verify their offsets by content, and store them for the pair's connector."""
        running = [connector for connector in self.connectors.values() if not connector.stopped]
        outcomes = [Outcome(self._stop_change(connector), "done") for connector in running]
        for connector in running:
            self._rest.stop(connector.name)
        if self.connectors:
            self._await_stopped(self._rest, [connector.name for connector in self.connectors.values()])
        if not self.pending:
            return outcomes
        self._own.require_stopped("Offsets can be set only on a stopped connector. Start the same playbook again.")
        stored = self._stored()
        wrong = self._misfits(stored)
        if wrong:
            for connector in running:
                self._rest.resume(connector.name)
            again = f" {', '.join(connector.name for connector in running)} run again." if running else ""
            raise DrError(
                "adoption_refused",
                f"The stored offsets of {self.name} do not fit the replicas: {first_few(wrong, separator='; ')}.",
                f"No connector of the pair was started.{again} Let the old connector catch up and stop it normally, or"
                " find out which other producer writes to the replicas.",
            )
        wanted = self._wanted(stored)
        have = {key: at for key, at in self._own.read().items() if key in wanted}
        self._own.update(wanted, "It is stopped and replicates nothing. Start the same playbook again.")
        return [*outcomes, Outcome(self._offsets_change(have, wanted), "done")]

    def _await_stopped(self, rest: ConnectorClient, names: list[str]) -> None:
        waited = wait_until(Stopping(rest, names).left, lambda left: not left, self._bounds.longer(rest.patience))
        if not waited.done:
            raise DrError(
                "not_stopped",
                f'The connector "{waited.state[0]}" is not STOPPED without tasks after {waited.seconds:.0f} s.',
                "No connector of the pair was started. Check the worker's log, then start the same playbook again.",
                rest.url,
            )

    def _wanted(self, stored: Mapping[Partition, int]) -> dict[Partition, int]:
        return {key: stored[key] for key in sorted(self.starts) if key in stored}

    def _stop_change(self, connector: Connector) -> Change:
        return Change("connector", connector.name, "stop", {"state": connector.state}, {"state": "STOPPED"})

    def _offsets_change(self, have: Mapping[Partition, int], wanted: Mapping[Partition, int]) -> Change:
        return Change("offsets", self._own.name, "update", nested(have), nested(wanted))

    def facts(self) -> dict[str, Any]:
        """Return the facts for the journal: what was adopted, and its stored offsets."""
        ours = set(self._pair.topics)
        stored = {key: at for key, at in self._stored().items() if key[0] in ours}
        dedicated = {"offsets_topic": self._dedicated, "group": self._former.group}
        place = dedicated if self._dedicated else {"connect_url": self._rest.url}
        return {"connectors": dict(self._former.connectors), **place, "offsets": nested(stored)}


def _unknown_order(adoption: _Adoption) -> str:
    """A warning about settings with which the records were replicated until now (R38)."""
    source = adoption.connectors.get("source")
    return unknown_order(adoption.name) if source is None else unknown_order(source.name, source.config)


def _dedicated_offsets(pair: Pair, topic: str, flow: tuple[str, str]) -> dict[Partition, int]:
    """Offsets under the connector's name in a dedicated MirrorMaker 2, else under that in a KafkaMirrorMaker2."""
    source, target = flow
    for name in (CONNECTORS["source"], connector_name(source, target, "source")):
        stored = ConnectOffsets(pair.kafka[target], topic, name, source).last_replicated_offset()
        if stored:
            return stored
    return {}


def _require_ended(pair: Pair, flow: tuple[str, str], former: FormerReplicator) -> None:
    """Raise unless the dedicated MirrorMaker 2 has ended. Only its owner can stop it."""
    kafka, group, topic = pair.kafka[flow[1]], former.group, str(former.offsets_topic)
    if describe(kafka, [topic])[topic] is None:
        raise DrError(
            "adoption_refused",
            f'The offsets topic "{topic}" of kafka_dr_adopt does not exist on {flow[1]}.',
            "No connector was touched. Correct kafka_dr_adopt.",
        )
    active, before = kafka_groups.may_have_members(kafka, group), _replica_ends(pair, flow)
    # The pair's own connector makes the replicas grow too, once an earlier run has started it.
    own = pair.engine.observe(*flow).connectors["source"]
    is_own_at_rest = own.state != "RUNNING"
    if is_own_at_rest and not active:
        time.sleep(_STILL_SECONDS)
    if active or (is_own_at_rest and _replica_ends(pair, flow) != before):
        evidence = "still exists" if active else "has no members, but the replicas still grow"
        raise DrError(
            "adoption_running",
            f'The dedicated MirrorMaker 2 of {flow_name(*flow)} still runs: its group "{group}" on {flow[1]}'
            f" {evidence}.",
            "No connector was touched. Stop its processes normally, so that they store their offsets, then start"
            " again. The broker deletes the group some minutes after its last member has left.",
        )


def _replica_ends(pair: Pair, flow: tuple[str, str]) -> dict[Partition, tuple[int, int]]:
    source, target = flow
    return pair.ranges(target, [pair.naming.replica(source, topic) for topic in pair.topics])


def _known(pair: Pair) -> list[str]:
    """The topics of the pair, and those that enable creates: a connector for every topic replicates these too."""
    return [*pair.topics, pair.spec.journal_topic, pair.spec.state_topic]

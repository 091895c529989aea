# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A third engine: each flow is a thread that replicates lists. It needs no change of the product."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.discovery.observations import MirrorConnector
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.toy.inventory import CAPABILITIES
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import RUNNING, FlowGoal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS, Naming, flow_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import (
    FlowState,
    Partition,
    PartState,
    SiteSettings,
    attempt,
    joined,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result

ABSENT, STOPPED = "absent", "stopped"


@dataclass
class ToyFlow:
    """A thread that replicates. ``stored``: the last replicated offset by partition."""

    world: World
    ends: tuple[str, str]
    topics: tuple[str, ...]
    parts: dict[str, str] = field(default_factory=dict)
    stored: dict[Partition, int] = field(default_factory=dict)
    thread: threading.Thread | None = None
    refuses: bool = False
    lingers: bool = False

    def run(self) -> None:
        """Replicate until the flow is stopped and does not linger."""
        source, target = self.ends
        while self.parts["source"] == RUNNING or self.lingers:
            for topic in self.topics:
                for offset in range(self.stored.get((topic, 0), -1) + 1, len(self.world.logs[source, topic])):
                    self.world.logs[target, f"{source}.{topic}"].append(self.world.logs[source, topic][offset])
                    self.stored[topic, 0] = offset
            self.world.pause.wait(0.001)

    def bring(self, part: str, state: str) -> None:
        """Request a state."""
        if self.refuses:
            raise DrError("toy_refused", f"The flow {flow_name(*self.ends)} does not want to.")
        self.parts[part] = state
        if part == "source" and state == RUNNING and not self.alive:
            self.thread = threading.Thread(target=self.run, daemon=True)
            self.thread.start()

    @property
    def alive(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    def tasks(self, part: str) -> tuple[str, ...]:
        works = self.alive if part == "source" else self.parts.get(part) == RUNNING
        return ("RUNNING",) if works else ()


@dataclass
class World:
    """Logs by alias and topic, and flows by name."""

    logs: dict[tuple[str, str], list[str]]
    flows: dict[str, ToyFlow] = field(default_factory=dict)
    pause: threading.Event = field(default_factory=threading.Event)
    answers: bool = True
    orders: list[str] = field(default_factory=list)


WORLDS: dict[str, World] = {}


@dataclass(frozen=True)
class ToyOffsets:
    """The stored offsets of one flow."""

    engine: ToyEngine
    name: str

    def read(self) -> dict[Partition, int]:
        flow = self.engine.flow(self.name)
        return dict(flow.stored) if flow else {}

    def require_stopped(self, hint: str) -> None:
        flow = self.engine.flow(self.name)
        if flow is None or flow.parts.get("source") != STOPPED or flow.alive:
            raise DrError("not_stopped", f"The flow {self.name} is not stopped.", hint)

    def replace(self, wanted: Mapping[Partition, int]) -> None:
        self.engine.world.flows[self.name].stored = dict(wanted)

    def update(self, wanted: Mapping[Partition, int], hint: str) -> None:
        del hint
        self.replace({key: at for key, at in {**self.read(), **wanted}.items() if at >= 0})

    def forget(self, topics: Collection[str]) -> None:
        self.replace({key: at for key, at in self.read().items() if key[0] not in topics})


class ToyEngine:
    """See :class:`Engine`."""

    capabilities = CAPABILITIES
    application: str | None = None

    def __init__(self, world: World) -> None:
        self.world = world
        self.requests: list[dict[str, Any]] = []

    def flow(self, name: str) -> ToyFlow | None:
        """Return a flow. Each query and each command counts as a request."""
        if not self.world.answers:
            raise DrError("toy_silent", "The world does not answer.")
        self.requests.append({"method": "GET", "path": name})
        return self.world.flows.get(name)

    def observe(self, source: str, target: str) -> FlowState:
        name = flow_name(source, target)
        flow = self.flow(name)
        parts = {part: flow.parts.get(part) if flow else None for part in CONNECTORS}
        states = {part: state and state.upper() for part, state in parts.items()}
        tasks = {part: flow.tasks(part) if flow else () for part in CONNECTORS}
        found = {part: PartState(part, f"{name}.{part}", states[part], tasks[part]) for part in CONNECTORS}
        return FlowState(found, dict(flow.stored) if flow else {})

    def observe_offsets(self, source: str, target: str) -> None:
        """One request returns both."""

    def about(self, source: str, target: str) -> tuple[str | None, str | None]:
        self.flow(flow_name(source, target))
        return f"id-of-{target}", "1"

    def competing_flows(self, source: str, target: str, topics: Iterable[str], running: bool = False) -> list[str]:
        wanted = set(topics)
        return sorted(
            name
            for name, flow in self.world.flows.items()
            if flow.ends == (source, target) and name != flow_name(source, target) and wanted & set(flow.topics)
            if not running or flow.alive
        )

    def reverse_flows(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        return sorted(name for name, flow in self.world.flows.items() if flow.ends == (target, source) and flow.alive)

    def connectors_to(self, target: str) -> list[MirrorConnector]:
        return []

    def acls(self, alias: str) -> None:
        """Kafka's own protocol."""

    def apply(
        self, pair: PairSpec, goals: Sequence[FlowGoal], settings: SiteSettings, bounds: Bounds, check: bool
    ) -> Result:
        steps = [(goal.flow, part, state) for goal in goals for part, state in goal.parts.items()]
        steps += [(goal.flow, "source", "readable") for goal in goals if goal.offsets is not None]
        steps.sort(key=lambda step: step[2] == RUNNING)
        return joined([attempt(partial(self._reach, pair.flows[step[0]], step, bounds, check)) for step in steps])

    def stop(
        self,
        source: str,
        target: str,
        final: bool,
        bounds: Bounds,
        check: bool,
        awaited: Collection[str] = ("source", "checkpoint"),
    ) -> Result:
        name, ends = flow_name(source, target), (source, target)
        parts = {part: bounds if part in awaited else None for part in ("checkpoint", *(["source"] if final else []))}
        works = [partial(self._reach, ends, (name, part, STOPPED), wait, check) for part, wait in parts.items()]
        return joined([attempt(work) for work in works])

    def _reach(self, ends: tuple[str, str], step: tuple[str, str, str], bounds: Bounds | None, check: bool) -> Result:
        name, part, state = step
        flow = self.flow(name)
        now, runs = flow.parts.get(part) if flow else None, state == RUNNING
        settled = flow is None or bool(flow.tasks(part)) == runs
        if (now == state and settled) or (now and state == "readable") or (now is None and state in (ABSENT, STOPPED)):
            return Result()
        change = Change("toy", f"{name}.{part}", state, {"state": now}, {"state": state})
        if check:
            return Result([Outcome(change, "planned")])
        if flow is None:
            flow = self.world.flows[name] = ToyFlow(self.world, ends, ("T",))
        self.requests.append({"method": "PUT", "path": f"{name}.{part}"})
        self.world.orders.append(f"{name}.{part}")
        flow.bring(part, STOPPED if state == "readable" else state)
        waited = wait_until(lambda: bool(flow.tasks(part)), lambda seen: seen == runs, bounds or Bounds(0.0))
        if bounds and not waited.done:
            raise DrError("toy_late", f"The flow {name} is not {state} after {waited.seconds:.0f} s.")
        if state == ABSENT:
            del flow.parts[part]
        return Result([Outcome(change, "done")])

    def offsets(self, source: str, target: str) -> ToyOffsets:
        return ToyOffsets(self, flow_name(source, target))

    def forget(self, gone: str, here: str, check: bool) -> list[Outcome]:
        outcomes = []
        for ends in ((gone, here), (here, gone)):
            offsets = self.offsets(*ends)
            if not check:
                offsets.require_stopped("Stop it.")
            if have := offsets.read():
                change = Change("offsets", offsets.name, "delete", {"count": len(have)}, None)
                outcomes.append(Outcome(change, "planned" if check else "done"))
                if not check:
                    offsets.replace({})
        return outcomes


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Any], timeout: float
) -> ToyEngine:
    """All sites of a pair name the same world."""
    del naming, kafka, timeout
    return ToyEngine(WORLDS[next(cluster["toy"]["world"] for cluster in clusters.values())])

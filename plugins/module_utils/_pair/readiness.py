# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at everything that a move would rest on. Reads only; what cannot be seen is named, and hides nothing else.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, TypeVar

from .._core.acl import EVERYBODY, Acl, application_acls, granted, wanted_acls
from .._core.errors import DrError
from .._core.gates import PartitionFacts, lag, open_transaction
from .._core.journal import State, fold, merge
from .._core.names import Naming, flow_name
from .._core.readiness import WAYS, Expiring, Facts, Limits, judge_readiness, readiness_lines
from .._core.readiness_checks import CHECKS, SETTINGS
from .._core.topics import TopicState
from .._kafka import acls
from .._kafka import groups as kafka_groups
from .._kafka.client import Kafka
from .._kafka.records import first_data_records, last_data_records
from .._kafka.topics import describe, remember
from .._module import Result
from .clusters import Opened, connect_one, on_each, open_engine, refuse_same_cluster
from .connect_engine import ConnectEngine
from .disaster import survey
from .engine import Engine
from .evidence import of_sight
from .intruders import circling, foreign_records
from .journal import read_copy
from .observe import ISOLATION, FlowLook, GroupLook, Pair, Sight, given, kept
from .status import flow_row, group_rows, judged_flows
from .translate import find_positions

__all__ = ["readiness"]

T = TypeVar("T")
_UNDECIDED_SECONDS = 60.0
# Nobody waits for this look, and a flow that writes its progress down once a minute moves by spells.
_MOVING_SECONDS = 10.0


def readiness(params: Mapping[str, Any]) -> Result:
    """Look, judge, and say what a move would cost now."""
    look = _Look(params)
    facts = look.facts()
    found = judge_readiness(facts, CHECKS, params["accept"])
    found["cost"] = _cost(facts)
    found["loss"] = None if facts.survey is None else facts.survey["loss"]
    found["rereads"] = {"controlled": _rereads(facts.rows), "disaster": _rereads(_details(facts))}
    lines = readiness_lines(found)
    verdicts = {way: found[way] for way in WAYS}
    return Result(extra={**verdicts, "readiness": found, "lines": lines}, requests=look.requests)


def _details(facts: Facts) -> Any:
    return None if facts.survey is None else facts.survey["details"]


def _rereads(rows: Any) -> dict[str, int | None] | None:
    """By group, how many records would be read again at most; None: not known."""
    if rows is None:
        return None
    counts: dict[str, int | None] = {}
    for row in rows:
        before = counts.get(row["group"], 0)
        counts[row["group"]] = None if before is None or row["rereads"] is None else before + row["rereads"]
    return counts


def _cost(facts: Facts) -> list[str]:
    lines = []
    for way, rows in (("a controlled cutover", facts.rows), ("a disaster", _details(facts))):
        counts = _rereads(rows)
        if counts is None:
            lines.append(f"{way} now: what would be read again is not known")
            continue
        told = ", ".join(f"{group} {'?' if count is None else count}" for group, count in sorted(counts.items()))
        lines.append(f"{way} now: read again at most {told or 'nothing'}")
    if facts.survey is not None:
        lines += [f"a disaster now would lose {text}" for text in facts.survey["loss_lines"]]
    return lines


class _Look:
    """One look at a pair. Every part by itself: what fails is None, and ``unknown`` says why."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._clusters: Mapping[str, Any] = params["clusters"]
        self._naming = Naming(params["policy"], params["separator"])
        self._timeout = float(params["request_timeout"])
        self._unknown: dict[str, str] = {}
        self._kafka: dict[str, Kafka] = {}
        self.x = self.y = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""
        return self._opened.requests

    def facts(self) -> Facts:
        """Everything that can be seen; the parts that need both sides only if both answer."""
        away = on_each(dict.fromkeys(self._clusters), self._open)
        away |= self._one_cluster()
        on_each(self._kafka, self._remember)
        journal, missing = self._part("journal", self._journal) or (None, [])
        state = None if journal is None else journal.as_dict()
        self.y = self._params["to"] or self._other((state or {}).get("active") or self._params["home"])
        self.x = self._other(self.y)
        # Translation and survey take it from the parameters.
        self._params = {**self._params, "leave": self.x, "enter": self.y}
        workers, versions = self._workers()
        there = self.y in self._kafka
        seen: dict[str, Any] = {}
        if state is not None and not any(away.values()):
            seen = self._both_sides(state, workers)
        elif state is not None and there:
            seen = {"survey": self._part("survey", lambda: self._survey(state, None))}
        return Facts(
            x=self.x,
            y=self.y,
            naming=self._naming,
            originals=self._params["topics"],
            names=self._params["groups"],
            away=away,
            workers=workers,
            versions=versions,
            engine="srm" if self._clusters[self.y].get("srm") else "connect",
            journal=state,
            journal_missing=missing,
            topics={alias: self._part("topics", partial(self._topics, alias)) for alias in self._kafka},
            brokers={alias: kafka.brokers for alias, kafka in self._kafka.items()},
            rights=self._part("rights", self._rights) if there else None,
            clients=self._params["unreachable"],
            unknown=self._unknown,
            limits=Limits(*(float(self._params[f"{name}_limit"]) for name in ("lag", "expiry", "age"))),
            **seen,
        )

    def _other(self, alias: str) -> str:
        return next(name for name in self._clusters if name != alias)

    def _part(self, name: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except DrError as error:
            self._unknown[name] = error.message
            return None

    # ---- one side

    def _open(self, alias: str) -> str | None:
        try:
            self._kafka[alias] = connect_one(alias, self._clusters[alias], self._timeout)
        except DrError as error:
            return error.message
        return None

    def _one_cluster(self) -> dict[str, str | None]:
        """Two aliases of one cluster: neither is known to be what it is called."""
        try:
            refuse_same_cluster(self._kafka)
        except DrError as error:
            found = dict.fromkeys(self._kafka, error.message)
            self._kafka.clear()
            return {**found}
        return {}

    def _remember(self, alias: str) -> None:
        """All topics that are looked at, in one question. Where that is refused, each part asks by itself."""
        other, names = self._other(alias), self._naming
        own = [self._params["topic"], self._params["state_topic"], names.heartbeats(other)]
        own += [names.checkpoints(other), names.offset_syncs(other)]
        with suppress(DrError):
            remember(self._kafka[alias], [*self._names(alias), *own], SETTINGS)

    def _names(self, alias: str) -> list[str]:
        """Originals and replicas."""
        other, originals = self._other(alias), self._params["topics"]
        return list(dict.fromkeys([*originals, *(self._naming.replica(other, name) for name in originals)]))

    @cached_property
    def _opened(self) -> Opened:
        return Opened(self._kafka, open_engine(self._clusters, self._naming, self._kafka, self._timeout))

    def _workers(self) -> tuple[dict[str, str | None], dict[str, str | None]]:
        """What runs the flow toward each side: why it does not answer, and its version."""
        reasons: dict[str, str | None] = {}
        versions: dict[str, str | None] = {}
        for alias in (self.x, self.y):
            try:
                reasons[alias], versions[alias] = self._worker(self._opened.engine, alias)
            except DrError as error:
                reasons[alias] = error.message
        return reasons, versions

    def _worker(self, engine: Engine, alias: str) -> tuple[str | None, str | None]:
        source = self._other(alias)
        if not isinstance(engine, ConnectEngine):
            engine.look(source, alias)
            return None, None
        served, version = engine.rest(source, alias).about()
        known = self._kafka[alias].cluster_id if alias in self._kafka else served
        wrong = f'they belong to the cluster "{served}", not to "{known}"'
        return None if served == known else wrong, version

    def _journal(self) -> tuple[State, list[str]]:
        topic, pair = self._params["topic"], self._params["pair"]
        copies = on_each(self._kafka, lambda alias: read_copy(self._kafka[alias], topic, pair))
        missing = sorted(alias for alias, copy in copies.items() if copy is None)
        return fold(merge(copy for copy in copies.values() if copy is not None)), missing

    def _topics(self, alias: str) -> dict[str, TopicState | None]:
        names = self._names(alias)
        return describe(self._kafka[alias], names, dict.fromkeys(names, SETTINGS))

    def _survey(self, state: Mapping[str, Any], sight: Sight | None) -> dict[str, Any]:
        left = state["left"].get(self.y, {})
        known = {name: state[name] for name in ("topic_ids", "syncs_since", "seams", "only_here")}
        params = {**self._params, **known, "vouched": left.get("positions", {}), "ahead": None}
        return survey(params, self._opened, sight)

    def _rights(self) -> list[str]:
        """Those that a declared principal lacks on the side being entered. Of a processor, what it reads."""
        wanted: list[Acl] = []
        for client in self._params["clients"]:
            if client.get("principal"):
                role = "producer" if client["role"] == "producer" else "consumer"
                endpoint = self._params["endpoints"][self.y][client["name"]]
                wanted += wanted_acls(application_acls({**client, "role": role}, endpoint, client["principal"]))
        if not wanted:
            return []
        try:
            found = acls.describe(self._kafka[self.y], sorted({acl.principal for acl in wanted} | {EVERYBODY}))
        except DrError as error:
            if error.code == "no_authorizer":
                return []
            raise
        return [acl.sentence() for acl in wanted if not granted(acl, found)]

    # ---- both sides

    def _both_sides(self, state: Mapping[str, Any], workers: Mapping[str, str | None]) -> dict[str, Any]:
        """Everything is seen once, at one time; then each part makes of it what it needs."""
        flows = [(self.x, self.y)] + ([] if self._naming.policy == "identity" else [(self.y, self.x)])
        wanted = [{"source": source, "target": target} for source, target in flows]
        pair = Pair({**self._params, "flows": wanted}, self._opened)
        sight = kept(lambda: pair.sight(workers, [self.x]))
        seen = self._together(
            {
                **{flow_name(*flow): partial(self._look_at, pair, sight, flow) for flow in flows},
                "groups": lambda: kept(lambda: pair.groups_of(given(sight), self.x)),
            }
        )
        looks: list[FlowLook | DrError] = [seen[flow_name(*flow)] for flow in flows]
        parts: dict[str, Callable[[], Any]] = {
            f"flow {flow_name(*flow)}": partial(self._flow, pair, sight, look)
            for flow, look in zip(flows, looks, strict=True)
        }
        parts["groups"] = lambda: self._groups(given(seen["groups"]))
        parts["strangers"] = self._strangers
        parts["rows"] = lambda: self._rows(state, pair, given(sight), looks, given(seen["groups"]))
        parts["survey"] = lambda: self._survey(state, given(sight))
        return self._shown([flow_name(*flow) for flow in flows], self._together(parts))

    def _together(self, parts: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        with ThreadPoolExecutor(max_workers=len(parts)) as pool:
            futures = {name: pool.submit(self._part, name, work) for name, work in parts.items()}
            return {name: future.result() for name, future in futures.items()}

    def _shown(self, names: Sequence[str], found: Mapping[str, Any]) -> dict[str, Any]:
        looked = {name: found[f"flow {name}"] for name in names}
        away = looked[names[0]]
        for name in looked:
            if looked[name] is None:
                self._unknown.setdefault("flows", self._unknown[f"flow {name}"])
        groups = found["groups"] or {"rows": None, "unlisted": []}
        return {
            "flows": {name: one["row"] for name, one in looked.items() if one is not None},
            "unsound": {name: one["unsound"] for name, one in looked.items() if one is not None},
            "foreign": None if away is None else [text for one in looked.values() if one for text in one["foreign"]],
            "expiring": None if away is None else away["expiring"],
            "open_transactions": None if away is None else away["open"],
            "groups": groups["rows"],
            "unlisted": groups["unlisted"],
            "strangers": found["strangers"],
            "rows": found["rows"],
            "survey": found["survey"],
        }

    @staticmethod
    def _look_at(pair: Pair, sight: Sight | DrError, flow: tuple[str, str]) -> FlowLook | DrError:
        return kept(lambda: pair.look_of(given(sight), *flow))

    def _flow(self, pair: Pair, sight: Sight | DrError, first: FlowLook | DrError) -> dict[str, Any]:
        look, finding = judged_flows(pair, [given(first)], _MOVING_SECONDS)[0]
        foreign = foreign_records(pair, look, pair.accepted, given(sight).last)
        if self._naming.policy == "identity":
            foreign += [
                f"{name} copies back what {look.name} copies" for name in pair.against(look.source, look.target)
            ]
            foreign += circling(pair, look.source, look.target)
        return {
            "row": flow_row(look, finding),
            "unsound": look.connectors["source"].unsound,
            "foreign": foreign,
            "expiring": self._expiring(pair, look),
            "open": _left_open(pair, look),
        }

    def _expiring(self, pair: Pair, look: FlowLook) -> list[Expiring]:
        """Partitions with records that are not copied, by timestamps: N is written down now and then only."""
        waiting = {key: facts for key, facts in look.facts.items() if lag(facts) != 0 and not facts.tail_copied}
        if not waiting:
            return []
        here, there = pair.kafka[look.source], pair.kafka[look.target]
        renamed = {key: (pair.naming.replica(look.source, key[0]), key[1]) for key in waiting}
        ends = pair.ranges(look.target, {name for name, _index in renamed.values()})
        copies = last_data_records(there, {new: ends[new] for new in renamed.values() if new in ends}, ISOLATION)
        spans = {
            key: (_next(facts), facts.end or 0) for key, facts in waiting.items() if _next(facts) < (facts.end or 0)
        }
        firsts = first_data_records(here, spans, ISOLATION)
        settings = describe(here, pair.topics, dict.fromkeys(pair.topics, SETTINGS))
        now, found = time.time(), []
        for key, first in sorted(firsts.items()):
            if first is None or first.timestamp is None:
                continue
            copy = copies.get(renamed[key])
            # N may be a minute old: whatever is older than the replica's newest record has long been copied.
            newest = 0.0 if copy is None or copy.timestamp is None else copy.timestamp / 1000.0
            since = max(first.timestamp / 1000.0, newest)
            kept = _kept_seconds(settings[key[0]])
            left = None if kept is None else since + kept - now
            found.append(Expiring(*key, waited=round(max(0.0, now - since), 3), left=left))
        return found

    def _groups(self, looks: Mapping[str, GroupLook]) -> dict[str, Any]:
        return {
            "rows": [row for name, look in looks.items() for row in group_rows(self.x, name, look)],
            "unlisted": [
                {"group": name, "alias": self.x, "topics": list(look.unlisted)}
                for name, look in looks.items()
                if look.unlisted
            ],
        }

    def _strangers(self) -> dict[str, list[str]]:
        """Groups of nobody in the inventory with positions on these topics, where the applications live."""
        kafka = self._kafka[self.x]
        known = {*self._params["groups"], *self._params["local_groups"]}
        others = [name for name in kafka_groups.names(kafka) if name not in known]
        found = kafka_groups.positions(kafka, others) if others else {}
        ours = set(self._params["topics"])
        return {self.x: sorted(name for name in others if ours & {topic for topic, _index in found[name]})}

    def _rows(
        self,
        state: Mapping[str, Any],
        pair: Pair,
        sight: Sight,
        looks: Sequence[FlowLook | DrError],
        groups: Mapping[str, GroupLook],
    ) -> list[dict[str, Any]]:
        forward, *back = [given(look) for look in looks]
        known = {name: state[name] for name in ("topic_ids", "syncs_since", "seams", "only_here")}
        vouched = state["left"].get(self.y, {}).get("positions", {})
        evidence = of_sight(pair, sight, (forward, back[0] if back else None), groups)
        rows, _read = find_positions(evidence, {**self._params, **known, "vouched": vouched})
        return rows


def _next(facts: PartitionFacts) -> int:
    return max(facts.start or 0, 0 if facts.copied is None else facts.copied + 1)


def _kept_seconds(state: TopicState | None) -> float | None:
    """How long the source keeps a record by its age; None: as long as there is room, or for ever."""
    if state is None:
        return None
    value, policy = state.config.get("retention.ms"), state.config.get("cleanup.policy")
    if value is None or value.value is None or (policy is not None and "delete" not in str(policy.value)):
        return None
    return None if int(value.value) < 0 else int(value.value) / 1000.0


def _left_open(pair: Pair, look: FlowLook) -> list[str]:
    """Transactions that have been open for longer than any should be."""
    spans = {key: (facts.end or 0, facts.high or 0) for key, facts in look.facts.items() if open_transaction(facts)}
    firsts = first_data_records(pair.kafka[look.source], spans, "read_uncommitted") if spans else {}
    found = []
    for (topic, index), first in sorted(firsts.items()):
        age = None if first is None or first.timestamp is None else time.time() - first.timestamp / 1000.0
        if age is not None and age > _UNDECIDED_SECONDS:
            found.append(
                f"{topic}-{index} on {look.source}: one is open from offset {spans[topic, index][0]} on, {age:.0f} s"
            )
    return found

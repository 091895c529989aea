# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at everything that a move would rest on. Reads only; what cannot be seen is named, and hides nothing else.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any, TypeVar

from .._core.checks.facts import WAYS, Expiring, Facts, Limits, OpenTransaction, judge_readiness, readiness_lines
from .._core.checks.history import drill_line, trend_lines
from .._core.checks.not_carried import not_carried
from .._core.checks.readiness import CHECKS, SETTINGS
from .._core.checks.residence import missing_epochs
from .._core.errors import DrError
from .._core.flows.pair_spec import DEFAULTS, PairSpec
from .._core.journal.durations import durations
from .._core.journal.events import Event, merge
from .._core.journal.facts import JournalFacts
from .._core.journal.state import JournalState, fold
from .._core.names import Naming, flow_name
from .._core.offsets.flow_restart import misfits
from .._core.offsets.gates import open_transaction
from .._core.offsets.unreplicated import Uncopied
from .._core.resources.acl import EVERYBODY, Acl, bans, client_acls, granted, wanted_acls
from .._core.resources.topic_filters import Filter, left_out
from .._core.resources.topics import TopicState
from .._core.waiting import Bounds
from .._engines.base import Engine
from .._engines.opening import open_engine
from .._kafka import acls
from .._kafka import groups as kafka_groups
from .._kafka.client import Kafka
from .._kafka.records import first_data_records
from .._kafka.topics import describe, remember
from .._kafka.topics import names as topic_names
from .._module import Result
from .connections.clusters import connect_one, on_each, refuse_same_cluster
from .connections.engines import Opened
from .flows.restart import replica_starts
from .journal.copies import read_copy
from .journal.readiness_history import keep_look
from .observation.foreign_writers import circling, foreign_records
from .observation.pair import FlowLook, GroupLook, Pair, Sight, given, kept
from .observation.status import flow_row, group_rows, judged_flows
from .observation.unreplicated import uncopied
from .offsets.disaster_barrier import survey
from .offsets.evidence import of_sight
from .offsets.forecast import lasting
from .offsets.requests import DisasterRequest
from .offsets.translation import find_positions

__all__ = ["readiness"]

T = TypeVar("T")
# Nobody waits for this look, and a flow that writes its progress down once a minute moves by spells.
_MOVING_SECONDS = 10.0


def readiness(params: Mapping[str, Any], check: bool) -> Result:
    """Look, judge, say what a move would cost now, and keep the look beside the earlier ones (not in check mode)."""
    if params["to"] not in ("", *params["clusters"]):
        known = ", ".join(params["clusters"])
        raise DrError("bad_option", f'to is "{params["to"]}", wanted one of the clusters {known}.', "Correct it.")
    look = _Look(params)
    facts = look.facts()
    found = judge_readiness(facts, CHECKS, params["accept"])
    took, lacking = durations(look.events), _uncopied(facts)
    found["cost"] = [*_cost(facts, lacking), *_took(took)]
    found["uncopied"] = lacking
    found["loss"] = None if facts.survey is None else {**facts.survey["loss"], **_records_lost(lacking)}
    found["rereads"] = {"controlled": _rereads(facts.rows), "disaster": _rereads(_details(facts))}
    found["lag_s"] = _lag(facts)
    found["durations"] = took
    found["not_carried"] = look.not_carried()
    history = keep_look(look.kafka, params, found, params["history"] and not check)
    found.update(at=history.at, looks=history.looks, trend=trend_lines(history.looks), drill=history.drill)
    if facts.journal and facts.journal["held"]:
        found["cost"].append("retention is held: the topics keep everything until enable is told otherwise")
    found["cost"] += [*drill_line(history.drill), *(f"not carried: {text}" for text in found["not_carried"] or ())]
    lines = readiness_lines(found)
    verdicts = {way: found[way] for way in WAYS}
    extra = {**verdicts, "readiness": found, "lines": lines}
    return Result(extra=extra, requests=look.requests, warnings=history.warnings)


def _lag(facts: Facts) -> float | None:
    """Seconds that the record which has waited longest has waited; None: not known of each partition."""
    if facts.expiring is None or any(one.waited is None for one in facts.expiring):
        return None
    return max((one.waited for one in facts.expiring if one.waited is not None), default=0.0)


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


def _cost(facts: Facts, lacking: Mapping[str, Any] | None) -> list[str]:
    lines = []
    for way, rows in (("a controlled cutover", facts.rows), ("a disaster", _details(facts))):
        counts = _rereads(rows)
        if counts is None:
            lines.append(f"{way} now: what would be read again is not known")
            continue
        told = ", ".join(f"{group} {'?' if count is None else count}" for group, count in sorted(counts.items()))
        lines.append(f"{way} now: read again at most {told or 'nothing'}")
    if facts.survey is not None:
        counted, *more = facts.survey["loss_lines"]
        lines += [f"a disaster now would lose {text}" for text in (_lost(lacking) or counted, *more)]
    return lines


def _uncopied(facts: Facts) -> dict[str, Any] | None:
    """What only the side being left has, while both can be asked; None: that was not counted."""
    if facts.uncopied is None:
        return None
    known = [one.since for one in facts.uncopied if one.since is not None]
    oldest = max((time.time() - since for since in known), default=0.0)
    return {
        "at_least": sum(one.least for one in facts.uncopied),
        "at_most": sum(one.most for one in facts.uncopied),
        "seconds": round(oldest, 3) if len(known) == len(facts.uncopied) else None,
        "partitions": [asdict(one) for one in facts.uncopied],
    }


def _records_lost(found: Mapping[str, Any] | None) -> dict[str, Any]:
    known = found or {"at_least": None, "at_most": None, "seconds": None}
    names = {"records_at_least": "at_least", "records_at_most": "at_most", "seconds": "seconds"}
    return {name: known[key] for name, key in names.items()}


def _lost(found: Mapping[str, Any] | None) -> str:
    """For a person; nothing where it was not counted."""
    if found is None:
        return ""
    least, most, seconds = found["at_least"], found["at_most"], found["seconds"]
    since = "since an unknown time" if seconds is None else f"within the last {seconds:.1f} s"
    return f"{most if least == most else f'{least} to {most}'} records, written {since}" if most else "nothing"


def _took(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        f"{kind}: took {one['median']:.0f} s (median of {one['runs']}), the last one {one['last']:.0f} s"
        for kind, one in found.items()
    ]


class _Look:
    """One look at a pair. Every part by itself: what fails is None, and ``unknown`` says why."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._clusters: Mapping[str, Any] = params["clusters"]
        self._naming = Naming(params["policy"], params["separator"])
        self._timeout = float(params["request_timeout"])
        self._unknown: dict[str, str] = {}
        self.kafka: dict[str, Kafka] = {}
        self.events: list[Event] = []
        self._journaled = JournalFacts()
        self.x = self.y = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""
        return self._opened.requests

    def facts(self) -> Facts:
        """Everything that can be seen; the parts that need both sides only if both answer."""
        away = on_each(dict.fromkeys(self._clusters), self._open)
        away |= self._one_cluster()
        on_each(self.kafka, self._remember)
        journal, missing = self._part("journal", self._journal) or (None, [])
        state = None if journal is None else journal.as_dict()
        self.y = self._params["to"] or self._other((state or {}).get("active") or self._params["home"])
        self.x = self._other(self.y)
        if journal is not None:
            self._journaled = JournalFacts.toward(journal, self.y)
        workers, versions = self._workers()
        there = self.y in self.kafka
        rights = self._part("rights", self._rights) if there else None
        seen: dict[str, Any] = {}
        if state is not None and not any(away.values()):
            seen = self._both_sides(state, workers)
        elif state is not None and there:
            seen = {"survey": self._part("survey", lambda: self._survey(None))}
        return Facts(
            x=self.x,
            y=self.y,
            naming=self._naming,
            originals=self._params["topics"],
            names=self._params["groups"],
            away=away,
            workers=workers,
            versions=versions,
            versions_kept_by=self._opened.engine.capabilities.versions_kept_by,
            journal=state,
            journal_missing=missing,
            journal_gaps=missing_epochs(self.events),
            journal_topic=self._params["topic"],
            topics={
                alias: self._part("topics", partial(self._topics, alias, self._names(alias))) for alias in self.kafka
            },
            own={alias: self._part("own", partial(self._topics, alias, self._own(alias))) for alias in self.kafka},
            brokers={alias: kafka.brokers for alias, kafka in self.kafka.items()},
            rights=None if rights is None else rights[0],
            undeclared=() if rights is None else rights[1],
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
        except Exception as error:
            self._unknown[name] = f"{name} could not be observed: {type(error).__name__}: {error}"
        return None

    # ---- one side

    def _open(self, alias: str) -> str | None:
        try:
            self.kafka[alias] = connect_one(alias, self._clusters[alias], self._timeout)
        except DrError as error:
            return error.message
        return None

    def _one_cluster(self) -> dict[str, str | None]:
        """Two aliases of one cluster: neither is known to be what it is called."""
        try:
            refuse_same_cluster(self.kafka)
        except DrError as error:
            found = dict.fromkeys(self.kafka, error.message)
            self.kafka.clear()
            return {**found}
        return {}

    def _remember(self, alias: str) -> None:
        """All topics that are looked at, in one question. Where that is refused, each part asks by itself."""
        beats = self._naming.heartbeats(self._other(alias))
        with suppress(DrError):
            remember(self.kafka[alias], [*self._names(alias), *self._own(alias), beats], SETTINGS)

    def _own(self, alias: str) -> list[str]:
        """What a move rests on beside the topics of the pair."""
        other, names = self._other(alias), self._naming
        mine = [self._params["topic"], self._params["state_topic"]]
        return [*mine, names.checkpoints(other), names.offset_syncs(other)]

    def _names(self, alias: str) -> list[str]:
        """Originals and replicas."""
        other, originals = self._other(alias), self._params["topics"]
        return list(dict.fromkeys([*originals, *(self._naming.replica(other, name) for name in originals)]))

    @cached_property
    def _spec(self) -> PairSpec:
        named = {"name": self._params["pair"], "journal_topic": self._params["topic"]}
        keys = DEFAULTS.keys() | {"clusters", "topics"}
        return PairSpec.of({**{key: self._params[key] for key in keys if self._params.get(key)}, **named})

    @cached_property
    def _opened(self) -> Opened:
        return Opened(self.kafka, open_engine(self._clusters, self._naming, self.kafka, self._timeout))

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
        served, version = engine.about(self._other(alias), alias)
        known = self.kafka[alias].cluster_id if alias in self.kafka and served is not None else served
        wrong = f'they belong to the cluster "{served}", not to "{known}"'
        return None if served == known else wrong, version

    def _journal(self) -> tuple[JournalState, list[str]]:
        topic, pair = self._params["topic"], self._params["pair"]
        copies = on_each(self.kafka, lambda alias: read_copy(self.kafka[alias], topic, pair))
        missing = sorted(alias for alias, copy in copies.items() if copy is None)
        self.events = merge(copy for copy in copies.values() if copy is not None)
        return fold(self.events), missing

    def _topics(self, alias: str, names: Sequence[str]) -> dict[str, TopicState | None]:
        return describe(self.kafka[alias], names, dict.fromkeys(names, SETTINGS))

    def _survey(self, sight: Sight | None) -> dict[str, Any]:
        request = DisasterRequest(
            pair=self._spec,
            leave=self.x,
            enter=self.y,
            claim=None,
            stop_timeout=0.0,
            restart_timeout=0.0,
            members=Bounds(0.0),
            probe_timeout=0.0,
            request_timeout=self._timeout,
        )
        return survey(request, self._journaled, self._opened, sight)

    def _rights(self) -> tuple[list[str], list[str]]:
        """Those that a declared principal lacks on the side being entered, and clients that declare none.

        Nothing where no authorizer runs. The fence of the cutover that left this side
        opens when the applications start here again.
        """
        wanted: list[Acl] = []
        nameless = [client["name"] for client in self._params["clients"] if not client.get("principal")]
        for client in self._params["clients"]:
            wanted += wanted_acls(client_acls(client, self._params["endpoints"][self.y][client["name"]]))
        try:
            principals = sorted({acl.principal for acl in wanted})
            found = acls.describe(self.kafka[self.y], [*principals, EVERYBODY])
            found -= set(bans(self._params["topics"], principals))
        except DrError as error:
            if error.code == "no_authorizer":
                return [], []
            raise
        return [acl.sentence() for acl in dict.fromkeys(wanted) if not granted(acl, found)], nameless

    def not_carried(self) -> list[str] | None:
        """By the names of all topics; None: not known."""
        if self.x not in self.kafka:
            return None
        names = self._part("not_carried", lambda: topic_names(self.kafka[self.x]))
        if names is None:
            return None
        copied = "" if self._naming.policy == "identity" else self._naming.replica(self.y, "")
        return not_carried(self.x, names, self._params["groups"], self._params["topics"], copied)

    # ---- both sides

    def _both_sides(self, state: Mapping[str, Any], workers: Mapping[str, str | None]) -> dict[str, Any]:
        """Everything is seen once, at one time; then each part makes of it what it needs."""
        flows = [(self.x, self.y)] + ([] if self._naming.policy == "identity" else [(self.y, self.x)])
        pair = Pair(self._spec, flows, self._timeout, opened=self._opened)
        sight = kept(lambda: pair.sight(workers, [self.x]))
        seen = self._together(
            {
                **{flow_name(*flow): partial(self._look_at, pair, sight, flow) for flow in flows},
                "groups": lambda: kept(lambda: pair.groups_of(given(sight), self.x)),
            }
        )
        looks: list[FlowLook | DrError] = [seen[flow_name(*flow)] for flow in flows]
        parts: dict[str, Callable[[], Any]] = {
            f"flow {flow_name(*flow)}": partial(self._flow, state, pair, sight, look)
            for flow, look in zip(flows, looks, strict=True)
        }
        parts["groups"] = lambda: self._groups(given(seen["groups"]))
        parts["strangers"] = self._strangers
        parts["rivals"] = lambda: self._rivals(pair, flows)
        parts["rows"] = lambda: self._rows(pair, given(sight), looks, given(seen["groups"]))
        parts["survey"] = lambda: self._survey(given(sight))
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
        groups = found["groups"] or dict.fromkeys(("rows", "unlisted", "out_of_scope"))
        return {
            "flows": {name: one["row"] for name, one in looked.items() if one is not None},
            **{
                part: {name: None if one is None else one[part] for name, one in looked.items()}
                for part in ("unsound", "misfits", "foreign")
            },
            "left_out": {name: one["left_out"] for name, one in looked.items() if one is not None},
            "rivals": found["rivals"] or {},
            "uncopied": None if away is None else away["uncopied"],
            "expiring": None if away is None else away["expiring"],
            "open_transactions": None if away is None else away["open"],
            "groups": groups["rows"],
            "unlisted": groups["unlisted"],
            "out_of_scope": groups["out_of_scope"],
            "strangers": found["strangers"],
            "rows": None if found["rows"] is None else found["rows"][0],
            "refused": None if found["rows"] is None else found["rows"][1],
            "survey": found["survey"],
        }

    @staticmethod
    def _look_at(pair: Pair, sight: Sight | DrError, flow: tuple[str, str]) -> FlowLook | DrError:
        return kept(lambda: pair.look_of(given(sight), *flow))

    def _flow(
        self, state: Mapping[str, Any], pair: Pair, sight: Sight | DrError, first: FlowLook | DrError
    ) -> dict[str, Any]:
        look, finding = judged_flows(pair, [given(first)], _MOVING_SECONDS)[0]
        foreign = foreign_records(pair, look, pair.spec.accepted_foreign, given(sight).last)
        counted = uncopied(pair, look) if look.source == self.x else {}
        lacking = [counted[key] for key in sorted(counted) if counted[key].most]
        if self._naming.policy == "identity":
            foreign += [
                f"{name} copies back what {look.name} copies" for name in pair.against(look.source, look.target)
            ]
            foreign += circling(pair, look.source, look.target)
        return {
            "row": flow_row(look, finding),
            "unsound": look.connectors["source"].unsound,
            "left_out": self._left_out(pair, look),
            "misfits": []
            if self._naming.policy == "identity"
            else misfits(replica_starts(pair, look, state["topic_ids"], state["only_here"])),
            "foreign": foreign,
            "uncopied": lacking,
            "expiring": self._expiring(pair, look.source, lacking),
            "open": _left_open(pair, look),
        }

    def _rivals(self, pair: Pair, flows: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        """Other flows that run for the same topics."""
        topics = self._params["topics"]
        return {flow_name(*flow): pair.engine.competing_flows(*flow, topics, running=True) for flow in flows}

    def _left_out(self, pair: Pair, look: FlowLook) -> tuple[list[str], list[str]]:
        """By the connectors' own filters, or with the engine srm by its lists as somebody has read them."""
        names = {"topics": self._params["topics"], "groups": self._params["groups"]}
        missing = [text for part in look.connectors.values() for text in part.drift]
        unknown: list[str] = []
        filters: dict[str, Sequence[Filter]] = {part.name: part.filters for part in look.connectors.values()}
        if pair.engine.capabilities.separate_lists:
            listed, unknown = self._lists(look)
            filters = {"Streams Replication Manager": listed}
        for who, takes in filters.items():
            lacks, unclear = left_out(takes, names)
            missing += [f"{who} leaves out {text}" for text in lacks]
            unknown += [f"whether {who} takes {text} is not known" for text in unclear]
        return list(dict.fromkeys(missing)), unknown

    def _lists(self, look: FlowLook) -> tuple[list[Filter], list[str]]:
        """The two lists of a flow that decide what it carries, and which of them nobody could read."""
        rows = {
            one["kind"]: one
            for one in self._params["lists"]
            if (one["source"], one["target"]) == (look.source, look.target)
        }
        known = {kind: rows[kind] for kind in ("topics", "groups") if rows.get(kind, {}).get("known")}
        found = [Filter(kind, tuple(row["allowed"]), tuple(row["denied"])) for kind, row in known.items()]
        why = "".join(f": {text}" for text in self._params["lists_errors"][:1])
        unread = [
            f"srm-control did not show the list {kind} of {look.name}{why}"
            for kind in ("topics", "groups")
            if kind not in known and self._params[kind]
        ]
        return found, unread

    def _expiring(self, pair: Pair, source: str, lacking: Sequence[Uncopied]) -> list[Expiring]:
        """How long the first record that is not copied has waited, and how long it is kept."""
        settings = describe(pair.kafka[source], pair.topics, dict.fromkeys(pair.topics, SETTINGS))
        now, limit = time.time(), float(self._params["lag_limit"])
        found = []
        for one in lacking:
            waited = None if one.since is None else round(max(0.0, now - one.since), 3)
            # Where it is not sure that one is lacking, an old one proves nothing; a young one is within the limit.
            waited = None if waited is not None and waited > limit and not one.least else waited
            kept_for = _kept_seconds(settings[one.topic])
            left = None if kept_for is None or one.since is None else one.since + kept_for - now
            found.append(Expiring(one.topic, one.partition, waited, left))
        return found

    def _groups(self, looks: Mapping[str, GroupLook]) -> dict[str, Any]:
        return {
            "rows": [row for name, look in looks.items() for row in group_rows(self.x, name, look)],
            "unlisted": [
                {"group": name, "alias": self.x, "topics": list(look.unlisted)}
                for name, look in looks.items()
                if look.unlisted
            ],
            "out_of_scope": [row for look in looks.values() for row in look.out_of_scope],
        }

    def _strangers(self) -> dict[str, list[str]]:
        """Groups of nobody in the inventory with positions on these topics, where the applications live."""
        kafka = self.kafka[self.x]
        known = {*self._params["groups"], *self._params["local_groups"]}
        others = [name for name in kafka_groups.names(kafka) if name not in known]
        found = kafka_groups.positions(kafka, others) if others else {}
        ours = set(self._params["topics"])
        return {self.x: sorted(name for name in others if ours & {topic for topic, _index in found[name]})}

    def _rows(
        self,
        pair: Pair,
        sight: Sight,
        looks: Sequence[FlowLook | DrError],
        groups: Mapping[str, GroupLook],
    ) -> tuple[list[dict[str, Any]], list[str]]:
        forward, *back = [given(look) for look in looks]
        evidence = of_sight(pair, sight, (forward, back[0] if back else None), groups)
        rows, _read = find_positions(evidence, self._journaled)
        return rows, lasting(evidence, rows, "refuse")


def _kept_seconds(state: TopicState | None) -> float | None:
    """How long the source keeps a record by its age, infinite where age does not matter; None: not known."""
    values = {} if state is None else {name: state.config.get(name) for name in ("retention.ms", "cleanup.policy")}
    policy, kept = (
        None if (one := values.get(name)) is None else one.value for name in ("cleanup.policy", "retention.ms")
    )
    if policy is not None and "delete" not in str(policy):
        return math.inf
    if policy is None or kept is None:
        return None
    return math.inf if int(kept) < 0 else int(kept) / 1000.0


def _left_open(pair: Pair, look: FlowLook) -> list[OpenTransaction] | None:
    """Transactions that are not decided, and since when; None where an end of a log is not known."""
    if any(facts.high is None or facts.end is None for facts in look.facts.values()):
        return None
    spans = {key: (facts.end or 0, facts.high or 0) for key, facts in look.facts.items() if open_transaction(facts)}
    firsts = first_data_records(pair.kafka[look.source], spans, "read_uncommitted") if spans else {}
    found = []
    for key in sorted(spans):
        first = firsts.get(key)
        age = None if first is None or first.timestamp is None else time.time() - first.timestamp / 1000.0
        found.append(OpenTransaction(*key, offset=spans[key][0], age=age))
    return found

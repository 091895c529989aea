# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of a pair: events, and the state that they fold into.

An event is one JSON record ``{schema, pair, epoch, seq, run, time, kind, data}``. ``epoch`` counts runs of the pair,
``seq`` events of a run, so the copies on two clusters merge by (epoch, seq, run) even if one missed some.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import DrError
from .cutover_types import CUTOVER_TYPES

__all__ = [
    "KINDS",
    "OF_THE_PAIR",
    "SCHEMA",
    "Event",
    "State",
    "begin",
    "decode",
    "encode",
    "fold",
    "is_same",
    "merge",
    "missing_facts",
    "require_holder",
    "require_turn",
]

SCHEMA = 1
# enabled/disabled: the pair was set up / taken down; replaced: another cluster stands where one of its sides was; held:
# what its topics kept before they were told to keep everything; adopted: whose stored offsets a flow took over.
OF_THE_PAIR = ("enabled", "disabled", "replaced", "held", "adopted")
# The others are the life of a run: resumed, after an interruption, by the holder that it names; pnr, the point of no
# return; undoing, before its clients start again where they were.
KINDS = (*OF_THE_PAIR, "started", "resumed", "phase", "pnr", "undoing", "ended")
_FACTS = {
    "enabled": ("active",),
    "replaced": ("alias",),
    "held": ("held",),
    "adopted": ("flow", "connectors", "offsets"),
    "started": ("type", "from", "to"),
    "phase": ("phase",),
}


@dataclass(frozen=True, order=True)
class Event:
    """One entry. Ordered by epoch, then seq."""

    epoch: int
    seq: int
    run: str
    kind: str = field(compare=False)
    time: float = field(compare=False)
    data: dict[str, Any] = field(compare=False)


@dataclass
class State:
    """What the journal says now. ``active`` is the alias where the applications live; None: never enabled."""

    active: str | None = None
    enabled: bool = False
    policy: str | None = None
    epoch: int = 0
    run: dict[str, Any] | None = None
    topic_ids: dict[str, dict[str, str]] = field(default_factory=dict)
    left: dict[str, dict[str, Any]] = field(default_factory=dict)
    seams: list[dict[str, Any]] = field(default_factory=list)
    syncs_since: dict[str, dict[str, int]] = field(default_factory=dict)
    only_here: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    held: dict[str, dict[str, dict[str, str | None]]] = field(default_factory=dict)
    #: By flow: the connectors, or the dedicated MirrorMaker 2, whose stored offsets it took over, and those offsets.
    adopted: dict[str, dict[str, Any]] = field(default_factory=dict)
    last: Event | None = None
    # When the journal began: one that was lost and made again is another one.
    born: float | None = None
    # What the point of no return of the present run has replaced.
    before: dict[str, Any] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """True while a run has started and not ended."""
        return self.run is not None and self.run["ended"] is None

    def as_dict(self) -> dict[str, Any]:
        """Plain data for playbooks.

        ``left``: per alias, the facts journaled when the applications last left it. ``seams``: the cuts between the
        stays of a pair with the policy identity, oldest first (see ``stays``). ``syncs_since``: flow -> topic -> first
        record of the offset-syncs topic that is about the present topics. ``only_here``: alias -> replica -> partition
        -> offset below which its records came from a cluster that is gone: no other side has them. ``held``: alias ->
        topic -> what it kept before it was told to keep everything (see ``retention``). ``adopted``: flow -> whose
        stored offsets it took over.
        """
        return {
            "active": self.active,
            "enabled": self.enabled,
            "policy": self.policy,
            "epoch": self.epoch,
            "born": self.born,
            "interrupted": self.interrupted,
            "run": self.run,
            "topic_ids": self.topic_ids,
            "left": self.left,
            "seams": self.seams,
            "syncs_since": self.syncs_since,
            "only_here": self.only_here,
            "held": self.held,
            "adopted": self.adopted,
        }


def encode(pair: str, event: Event) -> bytes:
    """The record value of an event."""
    body = {
        "schema": SCHEMA,
        "pair": pair,
        "epoch": event.epoch,
        "seq": event.seq,
        "run": event.run,
        "time": event.time,
        "kind": event.kind,
        "data": event.data,
    }
    return json.dumps(body, separators=(",", ":"), sort_keys=True).encode()


def decode(value: bytes) -> tuple[str, Event]:
    """Pair name and event of a record value. Refuses a newer schema: guessing what it means could lose records."""
    try:
        body = json.loads(value)
        schema = int(body["schema"])
        if schema <= SCHEMA:
            event = Event(*(body[name] for name in ("epoch", "seq", "run", "kind", "time", "data")))
            return body["pair"], _known(event)
    except (ValueError, TypeError, KeyError) as error:
        raise DrError(
            "journal_unreadable",
            f"The journal holds a record that is no event: {value[:80]!r}.",
            "Somebody else wrote into the journal topic.",
        ) from error
    raise DrError(
        "journal_newer",
        f"The journal has schema {schema}, this collection knows up to {SCHEMA}.",
        "Use the newer release of switchback.kafka_dr that wrote it.",
    )


def _known(event: Event) -> Event:
    """``event``, if it can be folded: else the state would be a guess."""
    if event.kind not in KINDS:
        raise ValueError(event.kind)
    absent = missing_facts(event.kind, event.data)
    if absent:
        raise KeyError(*absent)
    return event


def missing_facts(kind: str, data: Mapping[str, Any]) -> list[str]:
    """The keys of ``data`` that an event of ``kind`` cannot do without."""
    return [name for name in _FACTS.get(kind, ()) if data.get(name) is None]


def merge(copies: Iterable[Iterable[Event]]) -> list[Event]:
    """The union of several copies of one journal, in order.

    Refuses copies that went on without each other: after a disaster on either side, both would tell another story.
    """
    union: dict[tuple[int, int, str], Event] = {}
    owner: dict[int, str] = {}
    for event in (event for copy in copies for event in copy):
        key = (event.epoch, event.seq, event.run)
        known = union.setdefault(key, event)
        same = (known.kind, known.time) == (event.kind, event.time)
        if not same or owner.setdefault(event.epoch, event.run) != event.run:
            raise DrError(
                "journal_forked",
                "The copies of the journal went on without each other from epoch"
                f' {event.epoch} on: "{owner[event.epoch] or known.kind}" and "{event.run or event.kind}".',
                "Find out on which side the applications live, and delete the other side's journal topic: enable makes"
                " it again. All pairs and applications of these clusters share that topic: read the row journal_forked"
                " in docs/troubleshooting.md first.",
            )
    return [union[key] for key in sorted(union)]


def fold(events: Iterable[Event]) -> State:
    """The state after all events."""
    state = State()
    for event in events:
        state.epoch = max(state.epoch, event.epoch)
        state.last = event
        state.born = event.time if state.born is None else state.born
        _APPLY[event.kind](state, event)
    return state


def _enabled(state: State, event: Event) -> None:
    """An ``adopted`` pair was moved by hand: the event says to where and, found by content, the cut."""
    adopted = event.data.get("adopted", False)
    ids = event.data.get("topic_ids", {})
    state.enabled = True
    state.policy = event.data.get("policy", state.policy)
    state.active = event.data["active"] if adopted else state.active or event.data["active"]
    state.left = {alias: _of_same_topics(facts, alias, state.topic_ids, ids) for alias, facts in state.left.items()}
    state.topic_ids = ids
    state.syncs_since = event.data.get("syncs_since", {})
    seam = event.data.get("seam")
    if seam:
        # What the journal knows of a topic of that name is about another one, or about a time when it was not watched.
        state.seams = [_without(one, set(seam.get("joined", ()))) for one in state.seams]
        state.seams.append({**seam, "known": False})


def _of_same_topics(
    facts: Mapping[str, Any], alias: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """``facts`` of a side that was left, without positions on topics that were created again since."""
    old, new = before.get(alias, {}), now.get(alias, {})
    other = {topic for topic in old if topic in new and new[topic] != old[topic]}
    if not other or "positions" not in facts:
        return dict(facts)
    kept = {
        group: {topic: at for topic, at in topics.items() if topic not in other}
        for group, topics in facts["positions"].items()
    }
    return {**facts, "positions": kept}


def _without(seam: Mapping[str, Any], topics: set[str]) -> dict[str, Any]:
    """A seam that says nothing of ``topics``."""
    kept = {
        name: {topic: at for topic, at in (seam.get(name) or {}).items() if topic not in topics} or None
        for name in ("ends", "cut", "resumed")
    }
    return {**seam, **kept, "ends": kept["ends"] or {}, "cut": kept["cut"] or {}}


def _disabled(state: State, event: Event) -> None:
    state.enabled = False


def _replaced(state: State, event: Event) -> None:
    """All that was known of a side is about a cluster that is gone; positions noted on the other one still hold."""
    alias = event.data["alias"]
    state.topic_ids = {name: ids for name, ids in state.topic_ids.items() if name != alias}
    state.left = {
        name: {"positions": facts.get("positions", {})} for name, facts in state.left.items() if name != alias
    }
    state.seams, state.syncs_since, state.run = [], {}, None
    state.only_here = event.data.get("only_here", {})


def _held(state: State, event: Event) -> None:
    state.held = event.data["held"]


def _adopted(state: State, event: Event) -> None:
    state.adopted = {**state.adopted, event.data["flow"]: event.data}


def _started(state: State, event: Event) -> None:
    state.run = {
        "id": event.run,
        "epoch": event.epoch,
        "type": event.data["type"],
        "from": event.data["from"],
        "to": event.data["to"],
        "policy": event.data.get("policy", "default"),
        "holder": event.data.get("holder"),
        "resumed": 0,
        "started": event.time,
        # A disaster behind another run's point of no return: that one's cut and positions still hold.
        "behind": bool(event.data.get("behind")),
        "phases": _taken_over(state, event),
        "pnr": None,
        # Which holder passed it: the number of those before.
        "pnr_turn": None,
        # When the applications left ``from``: earlier than ``pnr`` where another run had brought them over.
        "left_at": (state.run or {}).get("left_at") if event.data.get("behind") else None,
        "ended": None,
        "result": None,
    }


def _taken_over(state: State, event: Event) -> dict[str, Any]:
    """The barrier of the run whose place this one takes, if that one went to the same side and got behind it.

    And that it has armed the flow back, if it has: to do that once more would copy records twice.
    """
    before = state.run or {}
    if not event.data.get("behind") or before.get("to") != event.data["to"] or before.get("pnr") is None:
        return {}
    return {name: facts for name, facts in before["phases"].items() if name in ("barrier", "armed")}


def _resumed(state: State, event: Event) -> None:
    if state.run is not None and state.run["id"] == event.run:
        state.run["holder"] = event.data.get("holder")
        state.run["resumed"] += 1


def _phase(state: State, event: Event) -> None:
    if state.run is not None and state.run["id"] == event.run:
        facts = event.data.get("facts", {})
        state.run["phases"][event.data["phase"]] = {"time": event.time, **facts}
        if event.data["phase"] == "armed" and state.seams:
            state.seams[-1]["resumed"] = facts.get("resumed")


def _pnr(state: State, event: Event) -> None:
    if state.run is not None and state.run["id"] == event.run:
        state.run.update(pnr=event.time, pnr_turn=state.run["resumed"])
        if state.active == state.run["to"]:
            # A disaster struck behind the point of no return of another run: what that one noted still holds.
            return
        state.before = {"active": state.active, "left": dict(state.left), "seams": list(state.seams)}
        state.run["left_at"] = event.time
        state.active = state.run["to"]
        facts = state.run["phases"].get("barrier", {})
        state.left[state.run["from"]] = facts
        if state.run["policy"] == "identity":
            ends = {key: state.run[key] for key in ("from", "to")}
            state.seams.append({**ends, "ends": facts.get("ends", {}), "cut": facts.get("cut", {}), "resumed": None})


def _undoing(state: State, event: Event) -> None:
    """A point of no return that is noted all the same was written in part: who wrote it never went on behind it."""
    if state.run is not None and state.run["id"] == event.run and state.run["pnr"] is not None:
        state.run.update(pnr=None, pnr_turn=None, left_at=None)
        for name, value in state.before.items():
            setattr(state, name, value)


def _ended(state: State, event: Event) -> None:
    if state.run is not None and state.run["id"] == event.run:
        state.run["ended"] = event.time
        state.run["result"] = event.data.get("result")


_APPLY = {
    "enabled": _enabled,
    "disabled": _disabled,
    "replaced": _replaced,
    "held": _held,
    "adopted": _adopted,
    "started": _started,
    "resumed": _resumed,
    "phase": _phase,
    "pnr": _pnr,
    "undoing": _undoing,
    "ended": _ended,
}


def require_holder(state: State, run: str, turn: int | None, after_end: bool) -> dict[str, Any]:
    """The run; raises unless it is the newest one, its holder is the ``turn``-th and, but ``after_end``, it goes on.

    ``turn`` None: the caller is none of its holders.
    """
    now = state.run
    if now is None or now["id"] != run:
        found = "none" if now is None else now["id"]
        raise DrError(
            "run_superseded",
            f'The run "{run}" is not the journal\'s current one, found "{found}".',
            "Another run has taken over this pair. This one must not go on.",
        )
    if turn is not None and turn != now["resumed"]:
        raise DrError(
            "run_superseded",
            f'The run "{run}" was taken over {now["resumed"] - turn} times since this Ansible process began with it.',
            "Whoever took it over goes on with it. This process must not: it touches nothing any more.",
        )
    if now["ended"] is not None and not after_end:
        raise DrError(
            "run_ended",
            f'The run "{run}" has ended ({now["result"]}).',
            "Start the same playbook again: it looks at what there is now.",
        )
    return now


def require_turn(state: State, run: str, kind: str, data: Mapping[str, Any], turn: int | None) -> dict[str, Any]:
    """The run; raises where ``run`` may not note an event of ``kind`` (SOUNDNESS 25): newer, taken over, or at its end.

    ``turn``: how often the run had been resumed when the caller took it; None: the caller is none of its holders.
    """
    # A flow is armed when the pair is enabled again, long after a disaster has ended.
    late = kind == "phase" and data.get("phase") == "armed"
    now = require_holder(state, run, turn, late)
    if kind == "undoing" and now["pnr"] is not None and (now["behind"] or now["pnr_turn"] != now["resumed"]):
        raise DrError(
            "run_passed",
            f'The run "{run}" has passed the point of no return: producers may have written on {now["to"]}.',
            "Start its own playbook again, it goes on from there. The way back is a failback.",
        )
    return now


def is_same(run: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Does ``run`` do what is wanted: {type, from, to}?"""
    return all(run[key] == wanted[key] for key in ("type", "from", "to"))


def begin(state: State, wanted: dict[str, Any], new_id: str) -> tuple[str, int, bool]:
    """(run id, epoch, resumed) for a run of ``wanted`` = {type, from, to}: an interrupted one of the same kind goes on.

    Raises ``run_interrupted`` when another kind of run was left unfinished: two half runs cannot both be right. Only a
    disaster takes its place, because the other one may need a side that is lost.
    """
    if not state.interrupted or state.run is None:
        return new_id, state.epoch + 1, False
    if is_same(state.run, wanted):
        return str(state.run["id"]), int(state.run["epoch"]), True
    if CUTOVER_TYPES[wanted["type"]].replaces_interrupted:
        return new_id, state.epoch + 1, False
    raise DrError(
        "run_interrupted",
        f'The {state.run["type"]} run "{state.run["id"]}" from {state.run["from"]} to {state.run["to"]} has not ended;'
        f" wanted {wanted['type']} from {wanted['from']} to {wanted['to']}.",
        "Start the unfinished run again with its own playbook first: it goes on where it stopped.",
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a pair's journal: their form as records, and the union of several copies.

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

__all__ = [
    "KINDS",
    "OF_THE_PAIR",
    "SCHEMA",
    "Event",
    "decode",
    "encode",
    "merge",
    "missing_facts",
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

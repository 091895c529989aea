# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a pair's journal: their form as records, and how several copies are merged.

An event is one JSON record ``{schema, pair, epoch, seq, run, time, kind, data}``. ``epoch`` counts the runs of the
pair, and ``seq`` the events of a run. So the copies on two clusters merge by (epoch, seq, run) even if one lacks some.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..errors import DrError

__all__ = [
    "KINDS",
    "OF_THE_PAIR",
    "SCHEMA",
    "Event",
    "decode",
    "decoded",
    "encode",
    "merge",
    "missing_facts",
]

# No release wrote schema 1. Its facts have other names, so a reader would take them for missing.
SCHEMA = 2
# enabled/disabled: the pair was set up / removed; replaced: another cluster took the place of one of the pair; held:
# the retention of its topics before they were set to keep everything; adopted: whose stored offsets a flow took over;
# replayed: the partitions whose tail was replayed, with the topic ids of the source.
OF_THE_PAIR = ("enabled", "disabled", "replaced", "held", "adopted", "replayed")
# The other kinds are events of a run. resumed: after an interruption, by the holder in the event; pnr: the point of no
# return; undoing: before its applications start again on the cluster they were to leave.
KINDS = (*OF_THE_PAIR, "started", "resumed", "phase", "pnr", "undoing", "ended")
_FACTS = {
    "enabled": ("active",),
    "replaced": ("alias",),
    "held": ("held",),
    "adopted": ("flow", "connectors", "offsets"),
    "replayed": ("flow", "partitions"),
    "started": ("type", "from", "to"),
    "phase": ("phase",),
}


@dataclass(frozen=True, order=True)
class Event:
    """One event. Ordered by epoch, then seq."""

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


# All copies have the same records, of megabytes in a large pair, and a module reads them several times.
@lru_cache(maxsize=4096)
def decode(value: bytes) -> tuple[str, Event]:
    """Pair name and event of a record value. Refuses another schema: a guess at its meaning could lose records."""
    try:
        body = json.loads(value)
        schema = int(body["schema"])
        if schema == SCHEMA:
            event = Event(*(body[name] for name in ("epoch", "seq", "run", "kind", "time", "data")))
            return body["pair"], _known(event)
    except (ValueError, TypeError, KeyError) as error:
        raise DrError(
            "journal_unreadable",
            f"The journal has a record that is not an event: {value[:80]!r}.",
            "Another program wrote into the journal topic. Find it and remove its right to write there.",
        ) from error
    if schema > SCHEMA:
        raise DrError(
            "journal_newer",
            f"The journal has schema {schema}, this collection supports schema {SCHEMA}.",
            "Use the newer release of switchback.kafka_dr that wrote it.",
        )
    raise DrError(
        "journal_older",
        f"The journal has schema {schema}, which no release wrote. This collection supports schema {SCHEMA}.",
        "Find out on which cluster the applications live. Then delete the journal topic on both clusters and run the"
        " playbook enable. All pairs and applications of these clusters share that topic.",
    )


def decoded(values: Iterable[bytes], pair: str) -> list[Event]:
    """The events of ``pair``."""
    return [event for owner, event in map(decode, values) if owner == pair]


def _known(event: Event) -> Event:
    """``event``, if its kind and its facts are known. Otherwise the state would be a guess."""
    if event.kind not in KINDS:
        raise ValueError(event.kind)
    absent = missing_facts(event.kind, event.data)
    if absent:
        raise KeyError(*absent)
    return event


def missing_facts(kind: str, data: Mapping[str, Any]) -> list[str]:
    """The keys that ``data`` of an event of ``kind`` must have and lacks."""
    return [name for name in _FACTS.get(kind, ()) if data.get(name) is None]


def merge(copies: Iterable[Iterable[Event]]) -> list[Event]:
    """The union of several copies of one journal, in order.

    Raises ``journal_forked`` if the copies continued independently, for instance after a disaster on either cluster.
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
                f"The copies of the journal differ from epoch {event.epoch} on:"
                f' one has "{owner[event.epoch] or known.kind}", another has "{event.run or event.kind}".',
                "Find out on which cluster the applications live, and delete the journal topic of the other cluster;"
                " enable creates it again. All pairs and applications of these clusters share that topic: read the row"
                " journal_forked in docs/troubleshooting.md first.",
            )
    return [union[key] for key in sorted(union)]

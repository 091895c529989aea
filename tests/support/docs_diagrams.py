# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the diagrams of the documentation, docs/images/*.svg: ``make diagrams`` runs this file.

There are four kinds. ``phases NAME`` shows time from top to bottom: a row for each phase, a lane for each kind of
client and each topic. Its facts are in ``docs/phases.yml``. ``pair NAME`` shows both clusters, their topics, the flows
and the clients in one state. ``cutover NAME`` is in ``docs_machinery``, ``readme NAME`` in ``docs_overview``. Colour
never stands alone: lanes have letters, stripes or outlines as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from docs_drawing import WIDTH, Drawing
from docs_machinery import data, sequence
from docs_overview import overview
from repository import document

DOCS = Path(__file__).resolve().parents[2] / "docs"
PHASES, IMAGES = DOCS / "phases.yml", DOCS / "images"
ROW, TOP = 30.0, 46.0
HALF = ROW / 2
# The first producer starts on the cluster being entered in the middle of this phase: the point of no return.
NO_RETURN = {"start", "move_producers"}


@dataclass(frozen=True)
class State:
    """Where the clients are and what the flows do. P is the cluster being left, unless the drawing is turned."""

    producers: str
    consumers: str
    replicated: bool
    back: bool
    lost: str = ""
    committed_offsets: str = ""
    flow: bool = True


@dataclass(frozen=True)
class Topic:
    """One lane. ``origin`` is the cluster on which its records were produced."""

    side: str
    origin: str
    label: str

    def filled(self, state: State, identity: bool) -> str:
        """Return ``written``, ``replicated``, ``lost`` (the cluster is unavailable), or nothing: how records arrive."""
        if self.side == state.lost:
            return "lost"
        if state.producers == self.side and (identity or self.origin == self.side):
            return "written"
        if self.side == "B" and (identity or self.origin == "P") and state.flow and not state.replicated:
            return "replicated"
        if self.side == "P" and (identity or self.origin == "B") and state.back and state.producers == "B":
            return "replicated"
        return ""

    def read(self, state: State) -> bool:
        return state.consumers == self.side != state.lost


TOPICS = (Topic("P", "P", "T"), Topic("P", "B", "B.T"), Topic("B", "P", "P.T"), Topic("B", "B", "T"))
ONE_TOPIC = (Topic("P", "P", "T"), Topic("B", "B", "T"))


def load() -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = document(PHASES)
    return found


def steps(name: str) -> list[tuple[str, State, State]]:
    """Return each phase with the state before it and after it."""
    rows = load()[name]
    state = State(**rows["before"])
    found = [("before", state, state)]
    for phase, change in rows.items():
        if phase != "before":
            after = replace(state, **{"committed_offsets": "", **change})
            found.append((phase, state, after))
            state = after
    return found


def lanes(identity: bool) -> Iterator[tuple[float, Topic]]:
    topics = ONE_TOPIC if identity else TOPICS
    width = 80 if identity else 40
    for place, topic in enumerate(topics):
        yield 206 + place * width + (width - 40) / 2 - (4 if topic.side == "P" else 0), topic


def runs(values: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield begin, end and value of each run of equal values, so that one piece is drawn for it."""
    begin = 0
    for value, group in groupby(values):
        end = begin + len(list(group))
        yield begin, end, value
        begin = end


def phases(name: str) -> str:
    """Draw the phases of a playbook. ``failback`` is a cutoff with the clusters exchanged, as in the code."""
    source, slug = "cutoff" if name == "failback" else name, name.replace("_", "-")
    identity, rows, drawing = source == "identity", steps(source), Drawing(f"kd-{slug}", turned=name == "failback")
    halves = [state for _phase, before, after in rows for state in (before, after)]
    heads = {144.0: "clients", 242.0: f"cluster {drawing.side('P')}", 326.0: f"cluster {drawing.side('B')}"}
    for x, words in heads.items():
        drawing.text(x, 14, words, "head", "middle")
    for place, (phase, _before, _after) in enumerate(rows):
        y = TOP + place * ROW
        if place % 2:
            drawing.box(0, y, WIDTH, ROW, "band")
        words = "(before)" if phase == "before" else phase
        # The dashed line of the point of no return goes through the middle of its row.
        drawing.text(4, y + (11 if phase in NO_RETURN else HALF + 4), words, "phase")
        if phase in NO_RETURN:
            drawing.line([(0, y + HALF), (WIDTH, y + HALF)], "no-return")
    for x, words, where in (
        (114.0, "write", [state.producers for state in halves]),
        (150.0, "read", [state.consumers for state in halves]),
    ):
        drawing.text(x + 12, 32, words, "lane", "middle")
        for begin, end, side in runs(where):
            client(drawing, x, TOP + begin * HALF, TOP + end * HALF, side)
    for x, topic in lanes(identity):
        drawing.text(x + 16, 32, drawing.side(topic.label), "lane", "middle")
        for begin, end, kind in runs(topic.filled(state, identity) for state in halves):
            drawing.fill(kind, x + 4, TOP + begin * HALF, 18, (end - begin) * HALF)
        for begin, end, reads in runs("read" if topic.read(state) else "" for state in halves):
            if reads:
                drawing.box(x + 25, TOP + begin * HALF, 4, (end - begin) * HALF, "read")
        for place, (_phase, _before, after) in enumerate(rows):
            if after.committed_offsets == topic.side:
                drawing.diamond(x + 13, TOP + place * ROW + HALF)
    seldom = {
        "lost": any(state.lost for state in halves),
        "committed_offsets": any(state.committed_offsets for state in halves),
        "no-return": any(phase in NO_RETURN for phase, _before, _after in rows),
    }
    bottom = legend(drawing, TOP + len(rows) * ROW + 8, {entry for entry, there in seldom.items() if not there})
    return drawing.svg(bottom, f"What clients and topics do in each phase: {name}")


def client(drawing: Drawing, x: float, y: float, end: float, side: str) -> None:
    """Draw a solid piece with the letter of the cluster while clients run, and a thin line while they are stopped."""
    if side == "none":
        drawing.line([(x + 12, y), (x + 12, end)], "still")
    else:
        drawing.box(x, y, 24, end - y, f"on-{drawing.side(side).lower()}")
        drawing.text(x + 12, y + 14, drawing.side(side), "inside", "middle")


def legend(drawing: Drawing, y: float, absent: set[str]) -> float:
    """Explain what is in the picture. Returns the y where the legend ends."""
    words = {
        "written": "producers write here",
        "replicated": "a flow replicates here",
        "lost": "cluster is unavailable",
        "": "idle, or stopped",
        "read": "consumers read here",
        "committed_offsets": "offsets are committed",
        "no-return": "point of no return",
    }
    entries = [entry for entry in words if entry not in absent]
    for place, entry in enumerate(entries):
        x, top = (4 if place % 2 == 0 else 184), y + place // 2 * 20
        if entry == "read":
            drawing.box(x + 7, top, 4, 14, "read")
        elif entry == "committed_offsets":
            drawing.diamond(x + 9, top + 7)
        elif entry == "no-return":
            drawing.line([(x, top + 7), (x + 18, top + 7)], "no-return")
        else:
            drawing.fill(entry, x, top, 18, 14)
        drawing.text(x + 26, top + 11, words[entry], "note")
    return y + (len(entries) + 1) // 2 * 20 + 2


# ---- both clusters in one state -----------------------------------------------------------------------------------

PAIRS = {
    "normal": State("P", "P", False, True),
    "failed_over": State("B", "B", True, True),
    "disaster": State("B", "B", True, False, lost="P"),
    "identity_normal": State("P", "P", False, False),
    "identity_failed_over": State("B", "B", True, True),
}


def pair(name: str) -> str:
    """Draw P above B, the clients to the right of their cluster, and the flows between the clusters."""
    state, identity, drawing = PAIRS[name], name.startswith("identity"), Drawing(f"kd-{name.replace('_', '-')}")
    places = {"P": 10.0, "B": 170.0}
    for side, y in places.items():
        drawing.box(6, y, 240, 78, f"cluster of-{side.lower()}", 6)
        drawing.text(16, y + 18, f"cluster {side}" + (" (lost)" if state.lost == side else ""), "head")
    spots = {
        (topic.side, topic.origin): (36.0 if topic.origin == "P" else 146.0) if not identity else 91.0
        for topic in (ONE_TOPIC if identity else TOPICS)
    }
    for (side, origin), x in spots.items():
        topic = Topic(side, origin, "T" if side == origin else f"{origin}.T")
        y = places[side] + 30
        drawing.box(x, y, 76, 32, "topic", 4)
        drawing.fill(topic.filled(state, identity), x + 4, y + 6, 14, 20)
        drawing.text(x + 46, y + 21, topic.label, "lane", "middle")
    for source, target in (("P", "B"), ("B", "P")):
        x = (98.0 if source == "P" else 208.0) if not identity else (112.0 if source == "P" else 146.0)
        runs = state.lost == "" and (not identity or state.producers == source)
        down = source == "P"
        start, end = (places["P"] + 62, places["B"] + 28) if down else (places["B"] + 30, places["P"] + 64)
        drawing.line([(x, start), (x, end)], "flow" if runs else "flow off", arrow=True)
        drawing.text(
            x + (-6 if identity and down else 6),
            134,
            f"flow {source}->{target}" + ("" if runs else ": off"),
            "note",
            "end" if identity and down else "start",
        )
    y = places[state.producers]
    drawing.box(276, y + 4, 78, 26, f"on-{state.producers.lower()}", 4)
    drawing.text(315, y + 21, "producers", "inside", "middle")
    drawing.box(276, y + 46, 78, 26, f"on-{state.consumers.lower()}", 4)
    drawing.text(315, y + 63, "consumers", "inside", "middle")
    drawing.line([(274, y + 17), (249, y + 17)], "flow", arrow=True)
    drawing.line([(247, y + 59), (272, y + 59)], "flow", arrow=True)
    return drawing.svg(258, f"Clusters, topics, flows and clients: {name.replace('_', ' ')}")


def requests() -> list[str]:
    """Return everything that can be drawn."""
    return [
        *(f"phases {name}" for name in (*load(), "failback")),
        *(f"pair {name}" for name in PAIRS),
        *("cutover data", "cutover sequence"),
        "readme overview",
    ]


def file_name(request: str) -> str:
    """Return the name of the drawing's file, such as ``phases-cutoff.svg``."""
    return f"{request.replace(' ', '-').replace('_', '-')}.svg"


def draw(request: str) -> str:
    """Draw what a request names, such as ``phases cutoff`` or ``pair normal``."""
    kind, name = request.split()
    if kind == "readme":
        return {"overview": overview}[name]()
    if kind == "cutover":
        return {"data": data, "sequence": sequence}[name]()
    return {"phases": phases, "pair": pair}[kind](name)


def main() -> None:
    """Write all files, and remove those that are no longer drawn."""
    IMAGES.mkdir(exist_ok=True)
    wanted = {file_name(request): draw(request) for request in requests()}
    for path in IMAGES.glob("*.svg"):
        if path.name not in wanted and "docs_diagrams.py" in path.read_text(encoding="utf-8"):
            path.unlink()
    for name, text in wanted.items():
        (IMAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

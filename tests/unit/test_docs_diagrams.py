# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation's diagrams and tables show the phases that the code has, and draw what the facts say."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import CUTOVER_TYPES
from docs_diagrams import ONE_TOPIC, PAIRS, TOPICS, draw, load, steps
from docs_machinery import LANES, MESSAGES

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "docs/procedures/failover_cutoff.md": "cutoff",
    "docs/procedures/failback.md": "cutoff",
    "docs/procedures/failover_continuous.md": "continuous",
    "docs/procedures/failover_disaster.md": "disaster",
    "docs/identity.md": "cutoff",
}
MOVES = ("cutoff", "continuous", "disaster", "identity")
STEPS = {"disable": "enable"} | {name: name for name in load() if name not in (*MOVES, "disable")}  # and their page
REQUESTS = [
    *(f"phases {name}" for name in (*load(), "failback")),
    *(f"pair {name}" for name in PAIRS),
    *("cutover data", "cutover sequence"),
]


def phases_of_the_code() -> dict[str, list[str]]:
    return {name: list(kind.phases) for name, kind in CUTOVER_TYPES.items()}


def drawn(request: str) -> ElementTree.Element:
    return ElementTree.fromstring(draw(request))


def filled(name: str, side: str, origin: str) -> list[str]:
    """What comes into a topic, before the first phase and after each."""
    identity = name == "identity"
    (topic,) = (topic for topic in (ONE_TOPIC if identity else TOPICS) if (topic.side, topic.origin) == (side, origin))
    return [topic.filled(after, identity) for _phase, _before, after in steps(name)]


@pytest.mark.parametrize("name", MOVES)
def test_the_diagrams_have_the_phases_of_the_code_in_their_order(name: str) -> None:
    first, *rest = load()[name]
    assert (first, rest) == ("before", phases_of_the_code()["cutoff" if name == "identity" else name])


def test_the_sequence_diagram_has_the_phases_of_a_cutoff_in_their_order() -> None:
    assert list(MESSAGES) == ["before", *phases_of_the_code()["cutoff"], "after"]


def test_the_sequence_diagram_draws_an_arrow_for_each_message_and_one_point_of_no_return() -> None:
    text = draw("cutover sequence")
    messages = [message for phase in MESSAGES.values() for message in phase]
    assert text.count("marker-end") == len(messages)
    assert text.count('class="no-return"') == 1
    assert {lane for lane, _words in messages} == set(LANES) - {"controller"}


@pytest.mark.parametrize(("page", "kind"), PAGES.items())
def test_the_table_of_a_page_has_the_phases_of_the_code_in_their_order(page: str, kind: str) -> None:
    reported = re.findall(r"^\| `([a-z_]+)` \|", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert [phase for phase in reported if phase in phases_of_the_code()[kind]] == phases_of_the_code()[kind]


@pytest.mark.parametrize(("name", "page"), STEPS.items())
def test_the_steps_of_a_diagram_are_those_of_its_page_in_their_order(name: str, page: str) -> None:
    text = (ROOT / "docs" / "procedures" / f"{page}.md").read_text(encoding="utf-8")
    reported = text[text.index(f"<!-- diagram: phases {name} -->") :]
    places = [re.search(rf"\b{step}\b", reported) for step in list(load()[name])[1:]]
    assert None not in places
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_diagram_is_one_block_of_well_formed_svg_that_names_itself_and_fetches_nothing(request_: str) -> None:
    text = draw(request_)
    assert "\n\n" not in text
    assert not re.search(r"https?:|<script|<image|style=", text)
    (svg,) = drawn(request_)
    assert svg.get("aria-label")


@pytest.mark.parametrize("request_", REQUESTS)
def test_nothing_is_drawn_outside_of_the_picture(request_: str) -> None:
    (svg,) = drawn(request_)
    _left, _top, width, height = map(float, str(svg.get("viewBox")).split())
    for box in (box for box in svg.findall("rect")):
        x, y, w, h = (float(str(box.get(key))) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert (x + w, y + h) <= (width, height) or (x + w <= width and y + h <= height)
    for text in svg.findall("text"):
        assert 0 <= float(str(text.get("x"))) <= width
        assert 0 <= float(str(text.get("y"))) <= height


def test_every_name_that_a_page_asks_for_can_be_drawn() -> None:
    asked = {
        request
        for path in (ROOT / "docs").rglob("*.md")
        for request in re.findall(r"<!-- diagram: ([a-z_ ]+) -->", path.read_text(encoding="utf-8"))
    }
    assert asked <= set(REQUESTS)
    assert {f"phases {name}" for name in (*load(), "failback")} <= asked


def test_in_a_cutoff_nothing_comes_in_anywhere_while_positions_are_found() -> None:
    quiet = [name for name, _before, _after in steps("cutoff")].index("barrier")
    assert {filled("cutoff", topic.side, topic.origin)[quiet] for topic in TOPICS} == {""}


def test_continuous_never_stops_the_flow_until_everything_is_copied() -> None:
    assert filled("continuous", "B", "P") == ["replicated"] * 8 + [""]


def test_a_flow_copies_from_its_step_of_enable_on_and_not_behind_disable() -> None:
    assert filled("enable", "B", "P") == ["", "", "replicated", "replicated", "replicated"]
    assert filled("disable", "B", "P") == ["replicated", ""]


def test_positions_are_drawn_on_the_side_where_they_are_committed() -> None:
    sides = {name: [after.committed_offsets for _step, _before, after in steps(name)] for name in STEPS}
    assert sides["enable"] == ["", "", "", "P", ""]
    assert sides["reverse_checkpoint"] == ["", "", "B"]
    assert sides["rehearse"] == ["", "", "", "B", "P", "", ""]
    fingerprints = {
        name: draw(f"phases {name}").count('class="committed_offsets"') for name in ("enable", "rehearse", "disable")
    }
    assert fingerprints == {"enable": 2 + 1, "rehearse": 4 + 1, "disable": 0}  # one in the legend


def test_a_legend_tells_of_what_is_in_the_picture() -> None:
    for name in load():
        reported = draw(f"phases {name}")
        assert ("nobody can ask it" in reported) == (name == "disaster")
        assert ("point of no return" in reported) == (name in MOVES)


def test_in_a_disaster_the_lost_side_is_lost_throughout() -> None:
    assert set(filled("disaster", "P", "P") + filled("disaster", "P", "B")) == {"lost"}


def test_with_one_topic_the_flow_back_copies_from_the_phase_flows_on() -> None:
    phases = [name for name, _before, _after in steps("identity")]
    assert filled("identity", "P", "P")[phases.index("arrival") :] == ["", "replicated", "replicated"]


def test_a_failback_is_the_cutoff_with_the_sides_exchanged() -> None:
    names = {"P": "B", "B": "P", "P.T": "B.T", "B.T": "P.T", "cluster P": "cluster B", "cluster B": "cluster P"}
    there, back = (
        [text.text or "" for text in drawn(f"phases {name}").iter("text")] for name in ("cutoff", "failback")
    )
    assert back == [names.get(word, word) for word in there]


def tables(page: str) -> list[list[list[str]]]:
    """Rows of cells of each table of a page, its rule left out."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", (ROOT / page).read_text(encoding="utf-8") + "\n", re.MULTILINE)
    return [
        [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.splitlines()
            if not line.startswith("|--")
        ]
        for block in blocks
    ]


@pytest.mark.parametrize("name", ["abandon", "enable", "rehearse", "reverse_checkpoint"])
def test_a_page_without_phases_tells_of_all_four_topics_in_tables_without_blanks(name: str) -> None:
    found = [
        table
        for table in tables(f"docs/procedures/{name}.md")
        if all(topic in " ".join(table[0]) for topic in ("P:`T`", "B:`P.T`", "B:`T`", "P:`B.T`"))
    ]
    assert found
    assert [row for table in found for row in table[1:] if "" in row] == []

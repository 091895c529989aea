# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The diagrams and tables of the documentation show the phases that the code has."""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import CUTOVER_TYPES
from docs_diagrams import IMAGES, ONE_TOPIC, TOPICS, draw, file_name, load, requests, steps
from docs_machinery import LANES, MESSAGES
from repository import ROOT, files, read, require_none

PAGES = {
    "docs/procedures/failover_cutoff.md": "cutoff",
    "docs/procedures/failback.md": "cutoff",
    "docs/procedures/failover_continuous.md": "continuous",
    "docs/procedures/failover_disaster.md": "disaster",
    "docs/identity.md": "cutoff",
}
MOVES = ("cutoff", "continuous", "disaster", "identity")
STEPS = {"disable": "enable"} | {
    name: name for name in load() if name not in (*MOVES, "disable")
}  # The diagrams and their pages.
REQUESTS = requests()
SVG = "{http://www.w3.org/2000/svg}"
IMAGE = re.compile(r"!\[[^\]]+\]\((?:\.\./)?(?:docs/)?images/([a-z-]+\.svg)\)")


def phases_of_the_code() -> dict[str, list[str]]:
    return {name: list(kind.phases) for name, kind in CUTOVER_TYPES.items()}


@cache
def drawn(request: str) -> ElementTree.Element:
    return ElementTree.fromstring(draw(request))


def filled(name: str, side: str, origin: str) -> list[str]:
    """Return how records arrive in a topic, before the first phase and after each."""
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
    reported = re.findall(r"^\| `([a-z_]+)` \|", read(ROOT / page), re.MULTILINE)
    assert [phase for phase in reported if phase in phases_of_the_code()[kind]] == phases_of_the_code()[kind]


@pytest.mark.parametrize(("name", "page"), STEPS.items())
def test_the_steps_of_a_diagram_are_those_of_its_page_in_their_order(name: str, page: str) -> None:
    text = read(ROOT / "docs" / "procedures" / f"{page}.md")
    reported = text[text.index(file_name(f"phases {name}")) :]
    places = [re.search(rf"\b{step}\b", reported) for step in list(load()[name])[1:]]
    assert None not in places
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)


def test_the_file_of_a_diagram_is_what_the_generator_draws() -> None:
    paths = {request: IMAGES / file_name(request) for request in REQUESTS}
    differing = [path.name for request, path in paths.items() if not path.is_file() or read(path) != draw(request)]
    require_none(f"{file} differs: run `make diagrams`" for file in differing)


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_diagram_is_whole(request_: str) -> None:
    """It names itself, loads nothing, has a rule for each class, and draws nothing outside the picture."""
    text, svg = draw(request_), drawn(request_)
    links = re.findall(r"https?:[^\s\")]+", text)
    assert set(links) == {"http://www.w3.org/2000/svg", "https://www.gnu.org/licenses/gpl-3.0.txt"}
    assert not re.search(r"<script|<image|style=|@import|currentColor", text)
    assert svg.get("aria-label")
    first = svg.find(f"{SVG}rect")
    assert first is not None
    assert first.get("class") == "back"
    style = str(svg.findtext(f"{SVG}style"))
    used = {name for element in svg.iter() for name in str(element.get("class", "")).split()}
    # Text of these classes has the style of all text.
    assert {name for name in used if f".{name}" not in style} <= {"note"}
    patterns = {str(element.get("id")) for element in svg.iter() if element.get("id")}
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= patterns
    _left, _top, width, height = map(float, str(svg.get("viewBox")).split())
    for box in svg.findall(f"{SVG}rect"):
        x, y, w, h = (float(str(box.get(key))) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
    for words in svg.findall(f"{SVG}text"):
        assert 0 <= float(str(words.get("x"))) <= width
        assert 0 <= float(str(words.get("y"))) <= height


def test_every_diagram_is_shown_on_a_page() -> None:
    shown = {image for path in files("*.md", "docs/**/*.md") for image in IMAGE.findall(read(path))}
    assert {file_name(request) for request in REQUESTS} <= shown
    assert shown <= {path.name for path in IMAGES.glob("*.svg")}


def test_in_a_cutoff_no_topic_receives_records_at_the_barrier() -> None:
    quiet = [name for name, _before, _after in steps("cutoff")].index("barrier")
    assert {filled("cutoff", topic.side, topic.origin)[quiet] for topic in TOPICS} == {""}


def test_continuous_never_stops_the_flow_until_everything_is_replicated() -> None:
    assert filled("continuous", "B", "P") == ["replicated"] * 8 + [""]


def test_a_flow_replicates_from_its_step_of_enable_on_and_not_after_disable() -> None:
    assert filled("enable", "B", "P") == ["", "", "replicated", "replicated", "replicated"]
    assert filled("disable", "B", "P") == ["replicated", ""]


def test_committed_offsets_are_drawn_on_the_cluster_that_holds_them() -> None:
    sides = {name: [after.committed_offsets for _step, _before, after in steps(name)] for name in STEPS}
    assert sides["enable"] == ["", "", "", "P", ""]
    assert sides["reverse_checkpoint"] == ["", "", "B"]
    assert sides["rehearse"] == ["", "", "", "B", "P", "", ""]
    fingerprints = {
        name: draw(f"phases {name}").count('class="committed_offsets"') for name in ("enable", "rehearse", "disable")
    }
    assert fingerprints == {"enable": 2 + 1, "rehearse": 4 + 1, "disable": 0}  # One in the legend.


def test_a_legend_explains_what_is_in_the_picture() -> None:
    for name in load():
        reported = draw(f"phases {name}")
        assert ("cluster is unavailable" in reported) == (name == "disaster")
        assert ("point of no return" in reported) == (name in MOVES)


def test_in_a_disaster_the_lost_cluster_is_lost_throughout() -> None:
    assert set(filled("disaster", "P", "P") + filled("disaster", "P", "B")) == {"lost"}


def test_with_one_topic_the_flow_back_replicates_from_the_phase_flows_on() -> None:
    phases = [name for name, _before, _after in steps("identity")]
    assert filled("identity", "P", "P")[phases.index("arrival") :] == ["", "replicated", "replicated"]


def test_a_failback_is_the_cutoff_with_the_clusters_exchanged() -> None:
    names = {"P": "B", "B": "P", "P.T": "B.T", "B.T": "P.T", "cluster P": "cluster B", "cluster B": "cluster P"}
    there, back = (
        [text.text or "" for text in drawn(f"phases {name}").iter(f"{SVG}text")] for name in ("cutoff", "failback")
    )
    assert back == [names.get(word, word) for word in there]


def tables(page: str) -> list[list[list[str]]]:
    """Return the rows of cells of each table of a page, without its separator row."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", read(ROOT / page) + "\n", re.MULTILINE)
    return [
        [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.splitlines()
            if not line.startswith("|--")
        ]
        for block in blocks
    ]


@pytest.mark.parametrize("name", ["abandon", "enable", "rehearse", "reverse_checkpoint"])
def test_a_page_without_phases_describes_all_four_topics_in_tables_without_blanks(name: str) -> None:
    found = [
        table
        for table in tables(f"docs/procedures/{name}.md")
        if all(topic in " ".join(table[0]) for topic in ("P:`T`", "B:`P.T`", "B:`T`", "P:`B.T`"))
    ]
    assert found
    assert [row for table in found for row in table[1:] if "" in row] == []

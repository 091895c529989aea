# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page is well-formed for every report, shows all of it escaped, and shows no number for an unknown value."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Facts, judge_readiness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.downtime import downtimes
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from effort import share
from example_reports import REHEARSAL, Document, committed_offset, cutover, disaster, phases, readiness
from yamls import parse_yaml

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(2)>"'&</td></style>"""
# Only these elements are allowed, so that a new one gets reviewed.
KNOWN = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "code", "strong", "span", "div"}
KNOWN |= {"table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "circle", "polyline"}
KNOWN |= {"header", "details", "summary", "pre", "a"}
GUIDES = "https://github.com/switchback/kafka_dr/blob/main/docs/"


class Page(HTMLParser):
    """The texts and elements of a page. A tag that is not closed, or closed inside another one, is an error."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.lines: list[str] = [""]
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)
        self.close()
        assert not self.open
        self.text = "\n".join(" ".join(line.split()) for line in self.lines)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag in ("p", "li", "tr", "h1", "h2", "div", "summary", "pre"):
            self.lines.append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.lines[-1] += f" {data} "

    def row(self, start: str) -> str:
        """The only line of the page that begins with ``start``."""
        (found,) = [line for line in self.text.splitlines() if line.startswith(start)]
        return found


def made(document: Document) -> Page:
    source = page(document)
    assert source is not None
    return Page(source)


FAILURE = {"task": "a task", "message": "m", "error": {"code": "c", "hint": "h", "endpoint": "e"}}
# The documents are small, because each place in them is tried.
REPORTS = {
    "cutover": cutover(failure=FAILURE, rescue={"text": "r"}),
    "disaster": disaster(outcome="undo_failed", failure={**FAILURE, "undo": "u"}),
    "readiness": readiness(checks=readiness()["checks"][2:5], observations=readiness()["observations"][:2]),
    "rehearsal": {**REHEARSAL, "moves": [], "failure": FAILURE},
}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": "switchback.kafka_dr/status/2"},
        {"schema": "switchback.kafka_dr/report/2", "kind": "salvage"},
        {"schema": "switchback.kafka_dr/readiness/3"},
        {"schema": ["switchback.kafka_dr/readiness/2"], "kind": []},
    ],
)
def test_a_report_of_another_schema_has_no_page(document: Document) -> None:
    assert page(document) is None


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_needs_no_other_file(name: str) -> None:
    found = made(REPORTS[name])
    assert {tag for tag, _attrs in found.tags} <= KNOWN
    for _tag, attributes in found.tags:
        assert not {"src", "srcset", "data", "action"} & set(attributes)
        assert attributes.get("href", GUIDES).startswith((GUIDES, "/reports/audit/")), (
            "a page links to guides and audits"
        )
        assert not [key for key in attributes if key.startswith("on")]
    source = page(REPORTS[name]) or ""
    assert not re.search(r"url\(|@import|//", source.split("</style>")[0].split("<style>")[1])
    assert source.isascii()
    assert source == page(copy.deepcopy(REPORTS[name]))
    for word in ("prefers-color-scheme: dark", "@media print", "max-width", 'name="viewport"', "default-src 'none'"):
        assert word in source


def every_place(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document: for lists, the first and the last member."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from every_place(value[key], (*path, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1} if value else set()):
            yield from every_place(value[index], (*path, index))


def places(document: Document) -> list[tuple[Any, ...]]:
    """The places that may change. `make check` tries a random part of them."""
    found = [path for path in every_place(document) if kept(path)]
    return random.sample(found, min(len(found), share(len(found), least=10)))


def put(document: Document, path: tuple[Any, ...], value: Any) -> Document:
    changed = copy.deepcopy(document)
    inside: Any = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return changed


def kept(path: tuple[Any, ...]) -> bool:
    """Return whether a place may change: all but those that name the kind of a report."""
    return path not in (("schema",), ("kind",))


@pytest.mark.parametrize("name", REPORTS)
def test_every_text_of_a_report_is_escaped(name: str) -> None:
    """This includes keys that are names of groups and types."""
    document, clean = REPORTS[name], made(REPORTS[name])
    for path in places(document):
        found = made(put(document, path, HOSTILE))
        assert {tag for tag, _attrs in found.tags} <= KNOWN, path
        assert {key for _tag, attrs in found.tags for key in attrs} <= {
            key for _t, attrs in clean.tags for key in attrs
        }
    for key in ("rereads", "durations"):
        inner = {"controlled": {HOSTILE: 1}} if key == "rereads" else {HOSTILE: {"last": 1, "median": 1, "runs": 1}}
        found = made({**document, key: inner})
        assert {tag for tag, _attrs in found.tags} <= KNOWN


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_is_made_even_if_values_are_missing_or_of_another_type(name: str) -> None:
    """A problem with the page must never cost the report."""
    document = REPORTS[name]
    for path in places(document):
        for value in (None, -1, 10**400, float("nan"), "\x00\ud800", "9999-12-31", [[]], {"a": []}):
            assert page(put(document, path, value)), (path, value)
    for key in document:
        if kept((key,)):
            made({other: value for other, value in document.items() if other != key})
    made({key: document[key] for key in ("schema", "kind") if key in document})


# ---- a cutover


def test_the_page_of_a_cutover_shows_its_direction_and_every_check_with_its_reason() -> None:
    report = cutover()
    found = made(report)
    assert found.row("cutoff P") == "cutoff P \N{RIGHTWARDS ARROW} B"
    assert "MOVED to B" in found.text.splitlines()
    assert found.row("UNKNOWN evidence:").startswith(
        "UNKNOWN evidence: 3 of 7 PROVEN; committed offsets are not proven;"
    )
    assert "run 20261123T065148Z-18f3a0, pair B-P, began 2026-11-23 06:51:40 UTC" in found.text
    for check in report["checks"]:
        assert f"{check['verdict']} {check['name']} {check['reason']}" in found.text.splitlines()
    # Checks that are not proven are repeated in a list of their own, with the way to get the evidence.
    assert found.row("UNKNOWN groups :") == "UNKNOWN groups : no members yet"
    assert found.text.count("How to prove it: ") == 4
    assert found.row("not checked: ") == "not checked: record-by-record comparison of both clusters"
    late = made(cutover(late_writes=["P T-0: 3 offsets"]))
    assert late.row("REFUTED fence : UNFENCED, and written after")
    assert late.text.index("REFUTED fence") < late.text.index("UNKNOWN groups")


def test_bars_start_with_their_phases_and_are_as_long() -> None:
    found = made(cutover())
    styles = [attrs.get("style") or "" for _tag, attrs in found.tags if (attrs.get("class") or "").startswith("bar")]
    bars = [style for style in styles if style]
    # 68 s from the first start to the last end: seven phases of 8 s, then writes (58 s) and reads (38 s).
    assert [style.split(";")[1] for style in bars] == ["width:11.76%"] * 7 + ["width:85.29%", "width:55.88%"]
    assert bars[2] == "left:29.41%;width:11.76%"
    assert bars[8] == "left:29.41%;width:55.88%"
    ticks = found.text.split("Timeline")[1].splitlines()
    assert [line for line in ticks if line.endswith(" s") and line.split()[0].isdigit()][:4] == [
        "0 s",
        "20 s",
        "40 s",
        "60 s",
    ]


def lines_of(found: Page, name: str) -> list[str | None]:
    return [attrs.get("style") for _tag, attrs in found.tags if attrs.get("class") == name]


def test_the_point_of_no_return_is_a_line_in_each_row_if_the_axis_has_it() -> None:
    """It was passed 50 s after the start of the first phase."""
    assert lines_of(made(cutover()), "turn") == ["left:73.53%"] * 9
    for turned in (None, 1795416000):
        assert lines_of(made(cutover(turned=turned)), "turn") == []


def test_the_moves_of_a_rehearsal_have_their_point_of_no_return() -> None:
    assert lines_of(made(REHEARSAL), "turn") == ["left:73.53%"] * 7


@pytest.mark.parametrize(("seconds", "drawn"), [(20.0, "20.0 s, the applications run"), (900.0, "(drawn shorter)")])
def test_the_audit_is_on_the_timeline_and_does_not_hide_the_phases(seconds: float, drawn: str) -> None:
    audit = {
        "verdict": "PROVEN",
        "reason": "",
        "text": ["PROVEN: 9 compared"],
        "not_checked": [],
        "folder": "/reports/audit",
    }
    found = made(cutover(audit={**audit, "began": "2026-11-23T06:53:00+00:00", "seconds": seconds}))
    assert drawn in found.text
    widths = [float(str(style).rpartition("width:")[2][:-1]) for style in lines_of(found, "bar")]
    assert min(widths) > 3
    assert ("a", {"href": "/reports/audit/audit.html"}) in found.tags


@pytest.mark.parametrize("folder", ["//evil.example/x", "javascript:alert(1)", "https://evil.example"])
def test_a_page_links_only_to_files_and_guides(folder: str) -> None:
    found = made(cutover(audit={"verdict": "PROVEN", "reason": "", "text": [], "not_checked": [], "folder": folder}))
    assert {
        attrs["href"] for tag, attrs in found.tags if tag == "a" and not str(attrs["href"]).startswith(GUIDES)
    } == set()


def test_guides_are_linked_where_galaxy_yml_says_that_they_are() -> None:
    galaxy = parse_yaml((ROOT / "galaxy.yml").read_text())
    assert f"{galaxy['repository']}/blob/main/docs/" == GUIDES
    for name in REPORTS:
        guides = [str(attrs["href"]) for tag, attrs in made(REPORTS[name]).tags if tag == "a"]
        assert guides
        assert [guide for guide in guides if not (ROOT / "docs" / guide.removeprefix(GUIDES)).is_file()] == []


def test_tiles_show_the_figures_of_a_move() -> None:
    barrier = {"skips": [], "starts": {"T": {"0": 5}}, "ends": {"T": {"0": 1205}}}
    rows = [committed_offset("a"), committed_offset("b", quality="safe", rereads=3)]
    found = made(cutover(barrier=barrier, details=rows, rereads=3))
    for line in (
        "writes stood still 58.0 s until all were started, at most 68.0 s until they were observed at work",
        "reads stood still 38.0 s until all were started; it is not known when they worked again",
        "offsets moved 1,200 records and transaction markers",
        "lost 0",
        "read again at most 3 records",
        "groups exact 1 of 2",
    ):
        assert found.row(line.split(" s ", maxsplit=1)[0]) == line
    unknown = made(cutover(barrier={"starts": {"T": {"0": 5}}, "ends": {"T": {"0": None}}}, details=[], rereads=None))
    for name in ("offsets moved", "lost", "read again", "groups exact"):
        assert unknown.row(f"{name} not known")


def test_a_page_has_the_text_for_the_pager() -> None:
    report = cutover()
    assert all(" ".join(line.split()) in made(report).text for line in report["pager"].splitlines())


def reported(document: Document) -> dict[str, str]:
    return {still.who: still.text for still in downtimes(document)}


EARLIER = {"run": "20261123T064000Z-18f3a0"}


@pytest.mark.parametrize(
    ("parts", "writes", "reads"),
    [
        ({}, "58.0 s until all were started, at most 68.0 s", "38.0 s until all were started; it is not known when"),
        (
            {"times": phases("stop_consumers", "start_consumers", "move_producers"), "type": "continuous"},
            "8.0 s",
            "18.0 s",
        ),
        (
            {"times": phases("stop_producers", "drain")},
            "not known: the run ended before",
            "not known: this run finished neither",
        ),
        # Applications that an earlier start of the run stopped were down for longer than this start knows.
        (EARLIER, "not known: an earlier start of this run stopped them", "not known: an earlier start"),
        (
            {**EARLIER, "opened": 1795416700 - 900},
            "at most 16 min 08 s: an earlier start of this run, elsewhere, stopped them",
            "at most 16 min 08 s: an earlier",
        ),
        (
            {**EARLIER, "opened": 1795416700 - 900, "stopped": {"writes": 1795416700 - 600, "reads": None}},
            "11 min 08 s until all were started, with the interruption",
            "at most 16 min 08 s: an earlier",
        ),
        (
            {
                "outcome": "undone",
                **EARLIER,
                "opened": 1795416700 - 900,
                "stopped": {"writes": 1795416700 - 600, "reads": None},
            },
            "at most 11 min 40 s: the undo",
            "at most 16 min 40 s: the undo",
        ),
        ({"times": phases("start", "arrival")}, "not known: an earlier start", "not known: an earlier start"),
        (
            {"outcome": "undone", "times": phases("stop_producers")},
            "at most 90.0 s: the undo",
            "at most 100.0 s: the undo",
        ),
        ({"outcome": "undone", **EARLIER}, "not known; the undo", "not known; the undo"),
    ],
)
def test_downtimes_are_reported_as_far_as_they_are_known(parts: Document, writes: str, reads: str) -> None:
    found = reported(cutover(**parts))
    assert found["writes"].startswith(writes)
    assert found["reads"].startswith(reads)


def test_the_start_of_the_downtime_of_a_lost_cluster_is_unknown() -> None:
    found = reported(disaster(times=phases("stop_consumers", "start_consumers", "move_producers")))
    assert found == {
        "writes": "not known: since the other cluster was lost, and 38.0 s of this run until they were started",
        "reads": "not known: since the other cluster was lost, and 28.0 s of this run until they were started",
    }
    assert set(reported(disaster(times=[])).values()) == {"not known: since the other cluster was lost"}


@pytest.mark.parametrize("parts", [{"outcome": "already_there"}, {"outcome": "checked"}, {"run": None}])
def test_a_run_that_stopped_no_application_has_no_downtime(parts: Document) -> None:
    assert downtimes(cutover(times=[], **parts)) == []
    assert "Timeline" not in made(cutover(times=[], **parts)).text, "no empty chart"


@pytest.mark.parametrize(
    ("outcome", "run", "next_"),
    [
        ("failed", None, "Correct the cause, then start again:"),
        ("failed", "r1", "Correct the cause, then start again. It continues from the point of no return:"),
        ("undone", "r1", "Correct the cause, then start again:"),
        ("undo_failed", "r1", "Correct the cause, then start again. It does what is left to do:"),
    ],
)
def test_a_failure_is_shown_with_its_hint_and_the_next_step(outcome: str, run: str | None, next_: str) -> None:
    error = {"code": "not_replicated", "hint": "Look at the worker.", "endpoint": "b:9092"}
    failure = {"task": "Wait until every record is replicated", "message": "It stopped moving.", "error": error}
    found = made(cutover(outcome=outcome, run=run, failure=failure))
    assert found.row("In Wait") == "In Wait until every record is replicated : It stopped moving."
    assert "Look at the worker." in found.text.splitlines()
    assert found.row("Correct the cause").replace(" :", ":") == next_
    assert found.row("ansible-playbook switchback.kafka_dr.failover_cutoff")
    assert "code not_replicated at b:9092" in found.text
    # A hint at the end of the message is not repeated, and an outcome without its failure is no success.
    twice = {**failure, "message": "It stopped moving. Look at the worker."}
    assert made(cutover(outcome=outcome, run=run, failure=twice)).text.count("Look at the worker.") == 2, (
        "with the pager"
    )
    assert made(cutover(outcome=outcome, run=run)).row("In not known")


def test_offsets_show_old_existing_and_new_values_with_inexact_ones_first() -> None:
    rows = [
        committed_offset("a"),
        committed_offset("b", existing=95, quality="safe", rereads=1200, hazards=["compacted"]),
        committed_offset("c", left=None, existing=None, offset=None, quality="none", rereads=None),
    ]
    found = made(cutover(details=rows, rereads=None))
    assert found.row("a P.T") == "a P.T 0 90 70 80 exact 0 read to the end"
    assert found.row("b P.T") == "b P.T 0 90 95 95 (kept) safe 1,200 read to the end; compacted"
    assert found.row("c P.T").startswith("c P.T 0 not known not known not known none not known")
    assert found.text.index("b P.T") < found.text.index("a P.T")
    assert "group topic partition before, on P existing, on B after, on B" in found.text
    lowered = made(cutover(details=rows, lowered=1))
    assert lowered.row("b P.T").startswith("b P.T 0 90 95 80 safe")
    assert lowered.row("1 of them") == "1 of them were lowered"
    undone = made(cutover(details=rows, times=phases("stop_producers")))
    assert undone.row("a P.T").startswith("a P.T 0 90 70 not committed exact")


def test_two_hundred_offsets_are_shown_and_the_others_counted() -> None:
    exact = [committed_offset("g", number) for number in range(1300)]
    found = made(cutover(details=[*exact, committed_offset("late", quality="safe")]))
    assert len([line for line in found.text.splitlines() if line.startswith("g P.T")]) == 199
    assert found.row("and 1,101 more")
    # An inexact one is never left out.
    assert found.row("late P.T")
    assert "more, in the JSON" not in made(cutover(details=exact[:200])).text


def test_an_interrupted_run_shows_the_journaled_offsets() -> None:
    found = made(cutover(details=[], rereads=None))
    assert found.row("g T 4") == "g T 4 not known not known 55 not known not known"
    assert found.row("rereads: ") == "rereads: how many records are read again"


def test_only_a_disaster_shows_a_loss_as_a_range() -> None:
    found = made(disaster())
    assert found.row("records, at least").endswith(" 0")
    assert found.row("records, at most").endswith("not known")
    assert found.row("time since the first").endswith("not known")
    assert found.row("offsets up to").endswith(" 3")
    assert found.row("age of the newest").endswith("not known")
    assert made(disaster(survey=None)).row("records, at least").endswith("not known")
    assert "lost in a disaster" not in made(cutover()).text


def test_an_audit_shows_its_own_lines() -> None:
    audit = {"verdict": "PROVEN", "reason": "", "text": ["PROVEN: 9 compared"], "not_checked": ["later records"]}
    found = made(cutover(audit=audit))
    assert "PROVEN: 9 compared" in found.text.splitlines()
    assert found.row("not checked: ") == "not checked: later records"


# ---- readiness


def test_readiness_shows_both_verdicts_and_names_every_check() -> None:
    found = made(readiness())
    assert found.row("NO for") == "NO for a controlled cutover"
    assert found.row("UNKNOWN for") == "UNKNOWN for a disaster"
    assert "observed at 2026-11-23 06:58:30 UTC" in found.text
    for row in readiness()["checks"]:
        line = found.row(f"{row['answer']} {row['name']} {row['asks']} {', '.join(row['counts'])}")
        assert line.endswith(row["found"])


def test_checks_that_are_not_yes_come_first_with_the_next_step() -> None:
    report = readiness()
    open_ = [row for row in report["checks"] if row["answer"] != "YES"]
    found = made(report)
    above = found.text.split("All checks", maxsplit=1)[0]
    places = [above.index(f"{answer} {name}") for answer, name in (("NO", "flow_progress"), ("UNKNOWN", "versions"))]
    assert [*places, above.index("ACCEPTED undeclared_groups")] == sorted(
        [*places, above.index("ACCEPTED undeclared_groups")]
    )
    for row in open_:
        assert f"Found: {row['found']}" in above
        assert f"What to do: {row['remedy']}" in above or not row["remedy"]
    assert "cluster_to" not in above
    count = len(report["checks"])
    assert f"{count} checks: {count - 3} YES, 1 NO, 1 UNKNOWN, 1 ACCEPTED" in above
    # An unknown answer is not taken for a good one.
    strange = [{**report["checks"][0], "answer": "PERHAPS"}]
    assert "PERHAPS cluster_from" in made(readiness(checks=strange)).text.split("All checks", maxsplit=1)[0]


def test_only_a_pair_with_checks_is_shown_as_ready() -> None:
    rows = [{**row, "answer": "YES"} for row in readiness()["checks"]]
    assert "Nothing: every check is YES." in made(readiness(checks=rows)).text
    assert "Nothing: every check is YES." not in made(readiness(checks=[])).text


def test_an_unknown_cost_of_a_move_is_never_shown_as_0() -> None:
    found = made(readiness())
    assert found.row("g 5") == "g 5 not known"
    assert found.row("read again, controlled") == "read again, controlled cutover not known records at most"
    assert found.row("h not") == "h not known not known"
    assert found.row("replication lags by") == "replication lags by 2.2 s the flow to the idle cluster"
    assert found.row("cutoff 44") == "cutoff 44.1 s 41.0 s 3"
    assert found.row("cutoff 0") == "cutoff 0 records 3.9 s 4.1 s median of 3 runs"
    assert found.row("a run took") == "a run took cutoff 41.0 s median of completed runs"
    nothing = made(
        readiness(rereads=None, loss=None, lag_s=None, durations=None, observations=None, trend=None, at=None)
    )
    assert nothing.row("Records read again").endswith("not known")
    assert "offsets that were" not in nothing.text, "no empty table"
    for name in (
        "read again, controlled cutover",
        "read again, disaster",
        "at risk in a disaster",
        "replication lags by",
    ):
        assert nothing.row(f"{name} not known")
    assert nothing.row("The journal has no completed run yet")
    assert "observed at not known" in nothing.text
    assert "The latest observations" not in nothing.text


def test_observations_are_drawn_with_gaps_and_the_newest_are_listed_first() -> None:
    observations = readiness()["observations"]
    observations[10]["lag_s"] = observations[29]["rereads"] = None
    found = made(readiness(observations=observations))
    shapes = [tag for tag, _attrs in found.tags]
    assert (shapes.count("rect"), shapes.count("polyline"), shapes.count("circle")) == (60, 2, 29)
    fills = [attrs["class"] for tag, attrs in found.tags if tag == "rect"]
    assert fills[:2] == ["good", "bad"]
    lines = [line for line in found.text.splitlines() if line.startswith("2026-11-23 06:")]
    assert lines[0] == "2026-11-23 06:29:00 UTC YES NO 1.5 s not known not known back"
    assert lines[1] == "2026-11-23 06:28:00 UTC YES NO 1.5 s not known 7 back"
    assert len(lines) == 20
    assert found.row("and 10 earlier")
    # An idle flow is no division by zero, and a missing answer is not YES.
    still = made(readiness(observations=[{"at": "2026-11-23T06:00:00", "lag_s": 0.0}] * 2))
    assert {attrs["class"] for tag, attrs in still.tags if tag == "rect"} == {"open"}
    # One observation is no chart.
    assert "svg" not in {tag for tag, _attrs in made(readiness(observations=observations[:1])).tags}


def test_skipped_checks_share_one_line() -> None:
    checks = readiness()["checks"]
    skipped = [{**row, "answer": "SKIPPED"} for row in checks[:3]]
    found = made(readiness(checks=[*skipped, *checks[3:]]))
    names = ", ".join(row["name"] for row in skipped)
    assert found.row("SKIPPED, ") == f"SKIPPED, because they depend on another check (3): {names}."


def test_the_page_accepts_the_real_results_of_the_readiness_checks() -> None:
    pair = Facts(x="P", y="B", naming=naming_of("default", "."), originals=["T"], away={"P": "no answer", "B": None})
    found = made({**readiness(), **judge_readiness(pair, CHECKS)})
    line = "NO cluster_from Does P respond, and is it the cluster in the inventory? controlled no answer"
    assert found.row("NO cluster_from Does P respond, and is it the cluster in the inventory? controlled") == line

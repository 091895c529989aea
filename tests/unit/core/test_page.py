# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page is well-formed for every report, shows all of it escaped, and shows no number for an unknown value."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Facts, judge_readiness
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import Naming
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.cutover import cutover_report
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.downtime import downtimes
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page

Document = dict[str, Any]
HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(2)>"'&</td></style>"""
# Only these elements are allowed, so that a new one gets reviewed.
KNOWN = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "code", "strong", "span", "div"}
KNOWN |= {"table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "circle", "polyline"}


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
        if tag in ("p", "li", "tr", "h1", "h2", "div"):
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


def committed_offset(group: str = "g", number: int = 0, **parts: Any) -> Document:
    base = {"group": group, "topic": "P.T", "partition": number, "left": 90, "existing": 70, "offset": 80}
    return {**base, "quality": "exact", "rereads": 0, "reason": "read to the end", "hazards": [], **parts}


def cutover(**parts: Any) -> Document:
    names = ["stop_producers", "drain", "stop_consumers", "barrier", "commit_offsets", "start", "arrival"]
    times = [
        {"phase": name, "began": 1795416710 + 10 * at, "ended": 1795416718 + 10 * at, "result": "ok"}
        for at, name in enumerate(names)
    ]
    facts = {
        "pair": "B-P",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        # Seconds after the start, which is 06:51:40.
        "run": "20261123T065148Z-18f3a0",
        "outcome": "completed",
        "began": 1795416700,
        "ended": 1795416800,
        "judgement": {"verdict": "PROVEN", "text": "lives there"},
        "times": times,
        "hooks": [],
        "rereads": 0,
        "details": [committed_offset()],
        "survey": None,
        "probes": [],
        "lowered": 0,
        "kept": [],
        "rescue": None,
        "fence": None,
        "unstopped": [],
        "barrier": {
            "cut": {},
            "entered": [{"group": "g", "committed_offsets": [{"topic": "T", "partition": 4, "offset": 55}]}],
        },
        "arrival": {
            "first_write": {"verdict": "PROVEN", "reason": "read back"},
            "groups": {"verdict": "UNKNOWN", "reason": "no members yet"},
        },
        "late_writes": [],
        "settled": [{"topic": "T", "partition": 0, "drained": "PROVEN", "reason": ""}],
        "audit": None,
        "failure": None,
        "plan": {},
    }
    return cutover_report({**facts, **parts})


def disaster(**parts: Any) -> Document:
    loss = {"offsets_at_least": 3, "records_at_most": None, "seconds_at_most": 65.0, "heartbeat_age": None}
    survey = {"loss": loss, "loss_lines": ["at least 3 offsets"], "ages": {"g": 12.0}}
    rows = [{**committed_offset(), "method": "checkpoint"}]
    return cutover(**{"type": "disaster", "survey": survey, "details": rows, **parts})


def readiness(**parts: Any) -> Document:
    names = [check.name for check in CHECKS]
    answers = dict.fromkeys(names, "YES") | {
        "flow_progress": "NO",
        "undeclared_groups": "ACCEPTED",
        "versions": "UNKNOWN",
    }
    rows = [
        {
            "name": check.name,
            "asks": check.asks.format(x="P", y="B"),
            "answer": answers[check.name],
            "found": f"what was found of {check.name}",
            "remedy": check.remedy.format(x="P", y="B") if answers[check.name] in ("NO", "UNKNOWN") else "",
            "counts": list(check.counts),
        }
        for check in CHECKS
    ]
    observation = {
        "controlled": "YES",
        "disaster": "NO",
        "lag_s": 1.5,
        "loss_records": None,
        "rereads": 7,
        "named": ["back"],
    }
    base = {
        "schema": "switchback.kafka_dr/readiness/1",
        "pair": "B-P",
        "from": "P",
        "to": "B",
        "controlled": "NO",
        "disaster": "UNKNOWN",
        "at": "2026-11-23T06:58:30.584391",
        "checks": rows,
        "cost": ["a controlled cutover now: read again at most g 5"],
        "loss": {"offsets_at_least": 3, "records_at_most": None, "seconds_at_most": 12.5, "heartbeat_age": 1.0},
        "rereads": {"controlled": {"g": 5, "h": None}, "disaster": None},
        "lag_s": 2.25,
        "durations": {"cutoff": {"last": 44.1, "median": 41.0, "runs": 3}},
        "observations": [{**observation, "at": f"2026-11-23T06:{minute:02d}:00.000000"} for minute in range(30)],
        "trend": ["controlled: NO since today"],
    }
    return {**base, **parts}


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
}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": "switchback.kafka_dr/status/1"},
        {"schema": "switchback.kafka_dr/report/1", "kind": "salvage"},
        {"schema": "switchback.kafka_dr/readiness/2"},
        {"schema": ["switchback.kafka_dr/readiness/1"], "kind": []},
    ],
)
def test_a_report_of_another_schema_has_no_page(document: Document) -> None:
    assert page(document) is None


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_needs_no_other_file(name: str) -> None:
    found = made(REPORTS[name])
    assert {tag for tag, _attrs in found.tags} <= KNOWN
    for _tag, attributes in found.tags:
        assert not {"src", "href", "srcset", "data", "action"} & set(attributes)
        assert not [key for key in attributes if key.startswith("on")]
    source = page(REPORTS[name]) or ""
    assert not re.search(r"url\(|@import|//", source.split("</style>")[0].split("<style>")[1])
    assert source.isascii()
    assert source == page(copy.deepcopy(REPORTS[name]))
    for word in ("prefers-color-scheme: dark", "@media print", "max-width", 'name="viewport"', "default-src 'none'"):
        assert word in source


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document: for lists, the first and the last member."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1} if value else set()):
            yield from places(value[index], (*path, index))


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
    for path in filter(kept, places(document)):
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
    for path in filter(kept, places(document)):
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
    assert "cutoff P \N{RIGHTWARDS ARROW} B: completed" in found.row("UNKNOWN cutoff")
    assert "run 20261123T065148Z-18f3a0, pair B-P, began 2026-11-23 06:51:40 UTC" in found.text
    for check in report["checks"]:
        assert found.row(f"{check['verdict']} {check['name']}").endswith(check["reason"])
    # Checks that are not proven are repeated in a list of their own.
    assert found.row("groups: ") == "groups: no members yet"
    assert found.row("not checked: ") == "not checked: record-by-record comparison of both clusters"
    assert "drained: all" not in found.text
    assert (
        made(cutover(late_writes=["P T-0: 3 offsets"])).row("fence: ").startswith("fence: UNFENCED, and written after")
    )


def test_bars_start_with_their_phases_and_are_as_long() -> None:
    styles = [attrs["style"] for tag, attrs in made(cutover()).tags if tag == "div" and "style" in attrs]
    # 68 s from the first start to the last end: seven phases of 8 s, then writes (58 s) and reads (38 s).
    assert [style.split(";")[1] for style in styles if style] == ["width:11.76%"] * 7 + ["width:85.29%", "width:55.88%"]
    assert styles[2] == "margin-left:29.41%;width:11.76%"
    assert styles[8] == "margin-left:29.41%;width:55.88%"


def reported(document: Document) -> dict[str, str]:
    return {still.who: still.text for still in downtimes(document)}


def phases(*names: str) -> list[Document]:
    return [
        {"phase": name, "began": 1795416710 + 10 * at, "ended": 1795416718 + 10 * at, "result": "ok"}
        for at, name in enumerate(names)
    ]


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
        (
            EARLIER,
            "not known: an earlier start of this run stopped them; 68.0 s",
            "not known: an earlier start",
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
    assert "No phase was finished." in made(cutover(times=[], **parts)).text


@pytest.mark.parametrize(
    ("outcome", "run", "next_"),
    [
        ("failed", None, "nothing was changed. Correct the cause, then start the same playbook again."),
        ("failed", "r1", "the point of no return is passed."),
        ("undone", "r1", "correct the cause, then start again: ansible-playbook switchback.kafka_dr.failover_cutoff"),
        ("undo_failed", "r1", "correct the cause, then start again; the run does what is left"),
    ],
)
def test_a_failure_is_shown_with_its_hint_and_the_next_step(outcome: str, run: str | None, next_: str) -> None:
    error = {"code": "not_replicated", "hint": "Look at the worker.", "endpoint": "b:9092"}
    failure = {"task": "Wait until every record is replicated", "message": "It stopped moving.", "error": error}
    found = made(cutover(outcome=outcome, run=run, failure=failure))
    assert found.row("In Wait") == "In Wait until every record is replicated : It stopped moving."
    assert "Look at the worker." in found.text.splitlines()
    assert found.row("Next:").startswith(f"Next: {next_}")
    assert "code not_replicated at b:9092" in found.text
    # A hint at the end of the message is not repeated, and an outcome without its failure is no success.
    twice = {**failure, "message": "It stopped moving. Look at the worker."}
    assert made(cutover(outcome=outcome, run=run, failure=twice)).text.count("Look at the worker.") == 1
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
    assert found.row("offsets that were").endswith(", at least 3")
    assert found.row("records, at most").endswith("not known")
    assert found.row("written within").endswith("65.0 s")
    assert found.row("age of the newest").endswith("not known")
    assert made(disaster(survey=None)).row("offsets that were").endswith("not known")
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
    assert found.row("h not") == "h not known not known"
    assert found.row("The flow lags").endswith("2.2 s")
    for row, figures in (("cutoff", "44.1 s 41.0 s 3"), ("continuous", "not known not known not known")):
        assert found.row(f"{row} ") == f"{row} {figures}"
    nothing = made(
        readiness(rereads=None, loss=None, lag_s=None, durations=None, observations=None, trend=None, at=None)
    )
    assert nothing.row("Records read again").endswith("not known")
    assert nothing.row("offsets that were").endswith("not known")
    assert nothing.row("The flow lags").endswith("not known")
    assert nothing.row("cutoff ") == "cutoff not known not known not known"
    assert "observed at not known" in nothing.text
    assert "The latest observations" not in nothing.text


def test_observations_are_drawn_with_gaps_and_the_newest_are_listed_first() -> None:
    observations = readiness()["observations"]
    observations[10]["lag_s"] = observations[29]["rereads"] = None
    found = made(readiness(observations=observations))
    shapes = [tag for tag, _attrs in found.tags]
    assert (shapes.count("rect"), shapes.count("polyline"), shapes.count("circle")) == (60, 2, 29)
    fills = [attrs["fill"] for tag, attrs in found.tags if tag == "rect"]
    assert fills[:2] == ["#2ea043", "#d1242f"]
    lines = [line for line in found.text.splitlines() if line.startswith("2026-11-23 06:")]
    assert lines[0] == "2026-11-23 06:29:00 UTC YES NO 1.5 s not known not known back"
    assert lines[1] == "2026-11-23 06:28:00 UTC YES NO 1.5 s not known 7 back"
    assert len(lines) == 20
    assert found.row("and 10 earlier")
    # An idle flow is no division by zero, and a missing answer is not YES.
    still = made(readiness(observations=[{"at": "2026-11-23T06:00:00", "lag_s": 0.0}]))
    assert {attrs["fill"] for tag, attrs in still.tags if tag == "rect"} == {"#bf8700"}


def test_the_page_accepts_the_real_results_of_the_readiness_checks() -> None:
    pair = Facts(x="P", y="B", naming=Naming("default", "."), originals=["T"], away={"P": "no answer", "B": None})
    found = made({**readiness(), **judge_readiness(pair, CHECKS)})
    line = "NO cluster_from Does P respond, and is it the cluster in the inventory? controlled no answer"
    assert found.row("NO cluster_from Does P respond, and is it the cluster in the inventory? controlled") == line

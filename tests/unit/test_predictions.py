# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RPO and RTO of readiness, and the predictions of a rehearsal, come from this pair's journal and stored rehearsals."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Expiring, Facts, Limits
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import fold
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.unreplicated import Unreplicated
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal import readiness_history
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness import workflow
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.request import ReadinessRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.rehearsal import removal
from repository import ROOT, document

ROLE = ROOT / "roles" / "rehearsal" / "tasks"
CLUSTERS = {"P": {"bootstrap_servers": "p:9092"}, "B": {"bootstrap_servers": "b:9092"}}
REHEARSED: dict[str, Any] = {"type": "continuous", "back": False, "from": "P", "to": "B", "outcome": "completed"}
REHEARSED |= {"verdict": "PROVEN", "cutover_s": 9.0, "writes_s": 5.5, "reads_s": 6.1}


def pair(name: str = "B-P") -> PairSpec:
    return PairSpec.of({"clusters": CLUSTERS, "topics": ["T"], "groups": ["g"], "home": "P", "name": name})


def moved(run: int, seconds: float) -> list[Event]:
    """The events of a completed cutoff in which writes stopped for ``seconds``, and reads for one second less."""
    name, began = f"r{run}", 1000.0 * run
    phases = (("stop_producers", 0.0, 0.5), ("stop_consumers", 1.0, 1.5), ("start", 2.0, seconds))
    times = [{"phase": phase, "began": began + start, "ended": began + end} for phase, start, end in phases]
    started = {"type": "cutoff", "from": "P", "to": "B", "policy": "default"}
    return [
        Event(run, 0, name, "started", began, started),
        Event(run, 1, name, "ended", began + 60, {"result": "completed", "times": times}),
    ]


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """The state topic of each cluster, empty."""
    kept: dict[str, dict[str, Any]] = {"P": {}, "B": {}}
    clusters = {alias: SimpleNamespace(alias=alias, requests=[]) for alias in kept}

    def write(kafka: Any, _topic: str, values: dict[str, Any]) -> None:
        kept[kafka.alias] |= values

    for module in (readiness_history, removal):
        monkeypatch.setattr(module, "read_latest", lambda kafka, _topic: dict(kept[kafka.alias]))
        monkeypatch.setattr(module, "write_latest", write)
    monkeypatch.setattr(removal, "connect_pair", lambda *_more: clusters)
    nothing = {"left": {}, "strays": [], "rest": {}}
    sides = {alias: SimpleNamespace(kafka=one, requests=[], observe=lambda: nothing) for alias, one in clusters.items()}
    monkeypatch.setattr(removal, "_open", lambda *_more: sides)
    monkeypatch.setattr(workflow, "Clusters", lambda _request: Connected(clusters))
    return kept


class Connected:
    """What the observation needs of connections. The journal has ``events``."""

    events: tuple[Event, ...] = ()

    def __init__(self, kafka: dict[str, Any]) -> None:
        self.kafka, self.opened = kafka, SimpleNamespace(requests=[])

    def journal(self) -> tuple[Any, list[Event], list[str]]:
        return fold(self.events), list(self.events), []

    def not_carried(self, *_more: Any) -> list[str]:
        return []


def report(monkeypatch: pytest.MonkeyPatch, events: list[Event], lacking: int | None = None) -> dict[str, Any]:
    """The report of readiness, with ``lacking`` records that only P has (None: not counted)."""
    # Its producer's clock is an hour ahead, so the timestamp is no age.
    rows = None if lacking is None else [Unreplicated("T", 0, lacking, lacking, time.time() + 3600, "")]
    late = [] if not lacking else [Expiring("T", 0, 2.0, math.inf, math.inf)]
    survey = {"details": [], "loss": {"records_at_least": 0}, "loss_lines": ["unknown"]}
    facts = Facts(
        x="P",
        y="B",
        naming=pair().naming,
        originals=["T"],
        away={},
        survey=survey,
        unreplicated=rows,
        expiring=None if lacking is None else late,
    )
    monkeypatch.setattr(workflow, "_facts", lambda *_more: facts)
    monkeypatch.setattr(Connected, "events", tuple(events))
    request = ReadinessRequest(pair(), "B", [], {}, None, [], [], [], True, Limits(), 1.0)
    found: dict[str, Any] = workflow.readiness(request, check=False).extra["readiness"]
    return found


def rto(found: dict[str, Any], kind: str) -> tuple[float | None, float | None]:
    (row,) = [row for row in found["objectives"] if row["type"] == kind]
    return row["writes_s"], row["reads_s"]


@pytest.mark.usefixtures("topics")
def test_the_recovery_time_is_that_of_the_runs_in_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rto(report(monkeypatch, []), "cutoff") == (None, None)
    events = [*moved(1, 8.0), *moved(2, 10.0), *moved(3, 30.0)]
    found = report(monkeypatch, events)
    assert rto(found, "cutoff") == (10.0, 9.0)
    assert [line for line in found["cost"] if line.startswith("cutoff: RPO")] == [
        "cutoff: RPO 0 records, because it does not start now; RTO writes 10.0 s, reads 9.0 s (median of 3 runs of"
        " this pair)"
    ]


def test_the_recovery_time_is_that_of_the_stored_rehearsal(
    topics: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    removal.note(pair("C-P"), {**REHEARSED, "writes_s": 99.0}, 1.0, check=False)
    assert rto(report(monkeypatch, []), "continuous") == (None, None), "of another pair"
    removal.note(pair(), REHEARSED, 1.0, check=False)
    assert rto(report(monkeypatch, []), "continuous") == (5.5, 6.1)
    assert any(value.get("kind") == "readiness" for value in topics["B"].values()), "the result is stored as well"


@pytest.mark.usefixtures("topics")
@pytest.mark.parametrize(
    ("lacking", "wanted"), [(None, "unknown"), (0, "0 records"), (1200, "1,200 records of the last 2.0 s")]
)
def test_the_recovery_point_is_what_the_flow_has_not_replicated(
    monkeypatch: pytest.MonkeyPatch, lacking: int | None, wanted: str
) -> None:
    (row,) = [row for row in report(monkeypatch, [], lacking)["objectives"] if row["type"] == "disaster"]
    assert row["rpo"].startswith(wanted)


@pytest.mark.usefixtures("topics")
def test_a_rehearsal_is_predicted_by_the_stored_ones_of_its_pair() -> None:
    removal.note(pair("C-P"), REHEARSED, 1.0, check=False)
    removal.note(pair(), REHEARSED, 1.0, check=False)
    earlier = removal.observe(pair(), SimpleNamespace(), 1.0).extra["earlier"]  # type: ignore[arg-type]
    assert [(one["pair"], one["writes_s"]) for one in earlier] == [("B-P", 5.5)]


def test_the_role_passes_the_stored_rehearsals_and_stores_its_own() -> None:
    def given(module: str, file: str) -> dict[str, Any]:
        (found,) = [task for task in tasks_of(document(ROLE / file)) if f"switchback.kafka_dr.{module}" in task]
        return {**found[f"switchback.kafka_dr.{module}"], "register": found.get("register")}

    observed, written = given("dr_rehearsal_info", "main.yml")["register"], given("dr_report", "end.yml")
    assert written["facts"]["earlier"] == f"{{{{ {observed}.earlier }}}}"
    stored = given("dr_rehearsal", "end.yml")
    assert (stored["state"], stored["note"]) == ("noted", f"{{{{ {written['register']}.note }}}}")


def tasks_of(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        yield task
        for part in ("block", "rescue", "always"):
            yield from tasks_of(task.get(part) or [])

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alert rules and dashboard only use metrics and labels that readiness writes, and the dashboard works in Grafana."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.metrics import readiness_metrics
from yamls import load_yaml

FOLDER = Path(__file__).resolve().parents[2] / "extensions" / "monitoring"
ANSWERS = ("YES", "NO", "UNKNOWN", "SKIPPED", "ACCEPTED")
# Every check with every answer, so that each label has each of its possible values.
REPORTS: list[dict[str, Any]] = [
    {
        "pair": "B-P",
        "from": "P",
        "to": "B",
        "checks": [{"name": check.name, "answer": answer} for check in CHECKS],
        "rereads": {"controlled": {"g": 0}, "disaster": {"g": 1}},
    }
    for answer in ANSWERS
]
SAMPLE = re.compile(r"(\w+)\{(.*)\} \S+")
LABEL = re.compile(r'(\w+)="([^"]*)"')
SELECTOR = re.compile(r"\b(kafka_dr_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
Metrics = dict[str, dict[str, set[str]]]


@pytest.fixture(scope="module")
def metrics() -> Metrics:
    """The labels and their values by metric, as rendered."""
    found: Metrics = {}
    for line in "".join(readiness_metrics(report, 1.0) for report in REPORTS).splitlines():
        if sample := SAMPLE.fullmatch(line):
            for label, value in LABEL.findall(sample[2]):
                found.setdefault(sample[1], {}).setdefault(label, set()).add(value)
    return found


def rules() -> list[dict[str, Any]]:
    loaded = load_yaml(FOLDER / "prometheus-rules.yml")
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    return loaded


def questions() -> Iterator[tuple[str, str]]:
    """Each expression with the texts that use labels of its result."""
    for rule in rules():
        yield rule["expr"], " ".join(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield target["expr"], " ".join(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["definition"], ""


@pytest.mark.parametrize(("expr", "named"), list(questions()))
def test_every_metric_label_and_value_that_is_used_is_written(metrics: Metrics, expr: str, named: str) -> None:
    asked = SELECTOR.findall(expr)
    assert asked
    for name, matchers in asked:
        assert name in metrics
        for label, kind, value in MATCHER.findall(matchers):
            assert label in metrics[name], (name, label)
            if not value.startswith("$"):
                values = value.split("|") if "~" in kind else [value]
                assert set(values) <= metrics[name][label], (name, label, value)
        assert set(named.split()) <= set(metrics[name]), (name, named)
    for grouped in re.findall(r"\bby \(([^)]*)\)", expr):
        assert all(label.strip() in metrics[asked[0][0]] for label in grouped.split(","))


def test_a_metric_that_is_never_written_is_detected(metrics: Metrics) -> None:
    """This tests the check itself."""
    for expr in ("kafka_dr_lag > 1", 'kafka_dr_ready{answer="MAYBE"}', 'kafka_dr_lag_seconds{group="g"}'):
        with pytest.raises(AssertionError):
            test_every_metric_label_and_value_that_is_used_is_written(metrics, expr, "")


def test_every_metric_is_shown(metrics: Metrics) -> None:
    shown = {
        name for panel in dashboard()["panels"] for name, _matchers in SELECTOR.findall(json.dumps(panel["targets"]))
    }
    assert shown == set(metrics)


def test_every_alert_has_a_severity_and_a_description() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    assert "KafkaDrLag" in names
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert all(rule["annotations"][key].strip() for key in ("summary", "description"))


def test_the_dashboard_has_the_parts_that_grafana_needs() -> None:
    made = dashboard()
    assert made["uid"]
    assert len(made["uid"]) <= 40
    assert isinstance(made["schemaVersion"], int)
    variables = {variable["name"] for variable in made["templating"]["list"]}
    ids = [panel["id"] for panel in made["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in made["panels"]:
        assert {"type", "title", "description", "gridPos", "targets", "fieldConfig", "options"} <= set(panel)
        assert {"defaults", "overrides"} == set(panel["fieldConfig"])
        refs = [target["refId"] for target in panel["targets"]]
        assert refs
        assert len(set(refs)) == len(refs)
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
    # An undeclared variable is shown as its own name.
    used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(made["panels"])))
    assert used == variables


def test_no_two_panels_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert cells
        assert max(x for x, _y in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alert rules and dashboard only use metrics and labels that readiness writes, and the dashboard works in Grafana."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.metrics import readiness_metrics
from repository import ROOT, document, read, require_none

FOLDER = ROOT / "extensions" / "monitoring"
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
    loaded = document(FOLDER / "prometheus-rules.yml")
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(read(FOLDER / "grafana-dashboard.json"))
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


def never_written(metrics: Metrics, expr: str, named: str) -> Iterator[str]:
    """What an expression, or a text that uses labels of its result, asks for although no metric has it."""
    asked = SELECTOR.findall(expr)
    if not asked:
        yield f"no metric in {expr}"
        return
    for name, matchers in asked:
        labels = metrics.get(name, {})
        if not labels:
            yield name
        for label, kind, value in MATCHER.findall(matchers):
            values = set(value.split("|") if "~" in kind else [value])
            if label not in labels or (not value.startswith("$") and not values <= labels[label]):
                yield f"{name}: {label}={value}"
        yield from (f"{name}: {label}" for label in named.split() if label not in labels)
    for grouped in re.findall(r"\bby \(([^)]*)\)", expr):
        yield from (f"by {label}" for label in grouped.split(",") if label.strip() not in metrics.get(asked[0][0], {}))


def test_every_metric_label_and_value_that_is_used_is_written(metrics: Metrics) -> None:
    require_none(fault for expr, named in questions() for fault in never_written(metrics, expr, named))


@pytest.mark.parametrize(
    "expr",
    ["kafka_dr_lag > 1", 'kafka_dr_ready{answer="MAYBE"}', 'kafka_dr_lag_seconds{group="g"}', "up > 0"],
)
def test_a_metric_that_is_never_written_is_detected(metrics: Metrics, expr: str) -> None:
    """This tests the check itself."""
    assert list(never_written(metrics, expr, ""))


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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prometheus evaluates the alert rules with the metrics that readiness really writes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.metrics import readiness_metrics

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "extensions" / "monitoring" / "prometheus-rules.yml"
PAIR = {"pair": "B-P", "from": "P", "to": "B"}
READY: dict[str, Any] = {**PAIR, "controlled": "YES", "disaster": "YES", "lag_s": 0.2}
READY["checks"] = [{"name": check.name, "answer": "YES"} for check in CHECKS]
NEVER_AGAIN, AGAIN = "+0x120", "+60x120"
NAME = "kafka_dr_readiness_timestamp_seconds"


@pytest.fixture(scope="module")
def promtool() -> str:
    done = subprocess.run(
        ["bash", str(ROOT / "tests" / "support" / "promtool.sh")], capture_output=True, text=True, check=False
    )
    if done.returncode:
        why = f"The alert rules were NOT checked and evaluated by promtool. {done.stderr.strip()}"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return done.stdout.strip()


def test_the_alert_rules_are_valid(promtool: str) -> None:
    done = subprocess.run(
        [promtool, "check", "rules", "--lint-fatal", str(RULES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


def answered(**answers: str) -> dict[str, Any]:
    """A report in which some checks have these answers."""
    return {**READY, "checks": [{**row, "answer": answers.get(row["name"], row["answer"])} for row in READY["checks"]]}


NO = {"controlled": "NO", "disaster": "NO"}
NOT_READY = [("KafkaDrNotReady", "way", way) for way in ("controlled", "disaster")]
UNKNOWN = [("KafkaDrUnknown", "way", way) for way in ("controlled", "disaster")]
LAG = [("KafkaDrLag", "", "")]


Case = tuple[dict[str, Any] | None, str, dict[str, list[Any]]]
# The values that are unknown without it, as readiness reports them then: with dead workers, no check of their flow is
# NO.
BLIND = {
    "workers_to": {"flow": "SKIPPED", "flow_progress": "SKIPPED", "flow_lag": "SKIPPED"},
    "workers_from": {"back": "SKIPPED", "back_progress": "SKIPPED"},
}
STALLED = ("flow", "flow_progress", "workers_to", "back", "back_progress", "workers_from")


def stalled(check: str) -> Case:
    """The lag of a flow whose workers do not respond is unknown."""
    report = {**answered(**{check: "NO"}, **BLIND.get(check, {})), **NO, "lag_s": None}
    return report, AGAIN, {"0m": [], "5m": [("KafkaDrFlowStalled", "check", check)]}


CASES: dict[str, Case] = {
    "ready": (READY, AGAIN, {"5m": [], "110m": []}),
    "lag in bounds": ({**READY, "lag_s": 60.0}, AGAIN, {"5m": []}),
    "lag": ({**READY, "lag_s": 61.0}, AGAIN, {"0m": [], "5m": LAG}),
    # An unknown lag is neither a lag nor 0. The verdict reports it.
    "unknown": (
        {**READY, "lag_s": None, "controlled": "UNKNOWN", "disaster": None},
        AGAIN,
        {"5m": [], "45m": UNKNOWN},
    ),
    **{f"stalled {check}": stalled(check) for check in STALLED},
    "not ready": (
        {**answered(back="NO", rights="NO"), **NO},
        AGAIN,
        {"45m": [("KafkaDrFlowStalled", "check", "back"), *NOT_READY]},
    ),
    "readiness is stale": (READY, NEVER_AGAIN, {"50m": [], "70m": [("KafkaDrReadinessStale", "", "")]}),
    "no metrics": (None, "", {"10m": [], "20m": [("KafkaDrNoMetrics", "", "")]}),
}


def test_every_alert_has_a_case_that_fires_and_one_that_does_not() -> None:
    seen = [
        {name for name, _label, _value in ones}
        for _report, _observations, times in CASES.values()
        for ones in times.values()
    ]
    for name in (rule["alert"] for rule in rules()):
        assert any(name in one for one in seen), f"no case in which {name} fires"
        assert any(name not in one for one in seen), f"no case in which {name} is silent"


def test_the_checks_named_by_alerts_exist_and_each_alternative_has_a_case() -> None:
    (expr,) = (rule["expr"] for rule in rules() if rule["alert"] == "KafkaDrFlowStalled")
    named = re.search(r'check=~"([^"]+)"', expr)
    assert named
    assert sorted(named[1].split("|")) == sorted(STALLED)
    assert set(STALLED) <= {check.name for check in CHECKS}


@pytest.mark.parametrize(("report", "observations", "firing"), CASES.values(), ids=CASES)
def test_exactly_the_expected_alerts_fire(
    promtool: str, tmp_path: Path, report: dict[str, Any] | None, observations: str, firing: dict[str, list[Any]]
) -> None:
    lines = readiness_metrics(report, 0.0).splitlines() if report else []
    series = [re.fullmatch(r"(\w+)(\{.*\}) (\S+)", line) for line in lines if not line.startswith("#")]
    given = [
        {"series": one[1] + one[2], "values": one[3] + (observations if one[1] == NAME else NEVER_AGAIN)}
        for one in series
        if one
    ]
    severities = {rule["alert"]: rule["labels"]["severity"] for rule in rules()}
    expected = [
        {
            "expr": 'ALERTS{alertstate="firing"}',
            "eval_time": time,
            "exp_samples": [{"labels": alert(severities, *one), "value": 1} for one in ones],
        }
        for time, ones in firing.items()
    ]
    test = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": given, "promql_expr_test": expected}],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump(test))
    done = subprocess.run([promtool, "test", "rules", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def rules() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    return found


def alert(severities: dict[str, str], name: str, label: str, value: str) -> str:
    """An alert as the series ALERTS shows it."""
    own = {"KafkaDrFlowStalled": {"answer": "NO"}, "KafkaDrNotReady": {"answer": "NO"}}
    own["KafkaDrUnknown"] = {"answer": "UNKNOWN"}
    pair = {} if name == "KafkaDrNoMetrics" else PAIR
    labels = {"alertname": name, "alertstate": "firing", "severity": severities[name], **pair, **own.get(name, {})}
    labels |= {label: value} if label else {}
    return "ALERTS{" + ",".join(f'{key}="{text}"' for key, text in labels.items()) + "}"

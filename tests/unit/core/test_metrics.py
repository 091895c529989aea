# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every line has the format of the textfile collector, and an unknown value is NaN."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.metrics import readiness_metrics

PAIR = {"pair": "B-P", "from": "P", "to": "B"}
REPORT: dict[str, Any] = {
    **PAIR,
    "schema": "switchback.kafka_dr/readiness/2",
    "controlled": "YES",
    "disaster": "NO",
    "checks": [{"name": "flow", "answer": "YES"}, {"name": "presynced", "answer": "NO"}],
    "lag_s": 0.25,
    "loss": {"records_at_least": 0, "records_at_most": None, "seconds_at_most": 12.5},
    "rereads": {"controlled": {"g": 0, "h": None}, "disaster": {"g": 9}},
    "durations": {"cutoff": {"last": 44.1, "median": 41.0, "runs": 3}},
    "objectives": [
        {"type": "cutoff", "rpo": "0 records", "writes_s": 3.9, "reads_s": 4.1, "source": "median of 3 runs"},
        {"type": "disaster", "rpo": "unknown", "writes_s": None, "reads_s": None, "source": "unknown"},
    ],
}
AT = 1795417110.5
NAMES = [
    "kafka_dr_ready",
    "kafka_dr_check",
    "kafka_dr_lag_seconds",
    "kafka_dr_predicted_loss_records",
    "kafka_dr_predicted_loss_seconds",
    "kafka_dr_predicted_rereads",
    "kafka_dr_predicted_duration_seconds",
    "kafka_dr_predicted_downtime_seconds",
    "kafka_dr_readiness_timestamp_seconds",
]
# The exposition format: https://prometheus.io/docs/instrumenting/exposition_formats/
HELP = re.compile(r"# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) [^\\\n]+")
TYPE = re.compile(r"# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) gauge")
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(
    rf"([a-zA-Z_:][a-zA-Z0-9_:]*)\{{({LABEL}(?:,{LABEL})*)\}} (NaN|-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
)
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: str) -> Samples:
    """Return every sample without the labels of the pair. Raise an error for a malformed or repeated line."""
    assert text.endswith("\n")
    found: Samples = {}
    reported: list[str] = []
    # A reader splits only at "\\n": other line terminators are part of a value.
    lines = text[:-1].split("\n")
    for number, line in enumerate(lines):
        if head := HELP.fullmatch(line):
            reported.append(head[1])
            assert (TYPE.fullmatch(lines[number + 1]) or {1: ""})[1] == head[1]
        elif not TYPE.fullmatch(line):
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            # All lines of a family are consecutive, after its HELP and TYPE lines.
            assert sample[1] == reported[-1]
            labels = {
                one.split("=", 1)[0]: unescaped(one.split("=", 1)[1][1:-1]) for one in re.findall(LABEL, sample[2])
            }
            assert list(labels)[:3] == list(PAIR)
            key = sample[1], frozenset((name, value) for name, value in labels.items() if name not in PAIR)
            assert key not in found, line
            found[key] = float(sample[3])
    assert reported == NAMES
    return found


def unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda found: ESCAPES[found[0]], text)


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[f"kafka_dr_{name}", frozenset(labels.items())]


def test_a_report_becomes_metrics() -> None:
    found = parsed(readiness_metrics(REPORT, AT))
    answers = {
        way: [value(found, "ready", way=way, answer=one) for one in ("YES", "NO", "UNKNOWN")]
        for way in ("controlled", "disaster")
    }
    assert answers == {"controlled": [1, 0, 0], "disaster": [0, 1, 0]}
    assert value(found, "check", check="flow", answer="YES") == 1
    assert value(found, "check", check="presynced", answer="NO") == 1
    assert value(found, "lag_seconds") == 0.25
    assert value(found, "predicted_loss_records", bound="least") == 0
    assert value(found, "predicted_loss_seconds", bound="most") == 12.5
    assert value(found, "predicted_rereads", group="g", way="controlled") == 0
    assert value(found, "predicted_rereads", group="g", way="disaster") == 9
    assert value(found, "predicted_duration_seconds", type="cutoff") == 41.0
    assert value(found, "predicted_downtime_seconds", type="cutoff", of="writes") == 3.9
    assert value(found, "predicted_downtime_seconds", type="cutoff", of="reads") == 4.1
    assert value(found, "readiness_timestamp_seconds") == AT


def test_an_unknown_value_is_nan_and_its_line_exists() -> None:
    found = parsed(readiness_metrics(REPORT, AT))
    for name, labels in (
        ("predicted_loss_records", {"bound": "most"}),
        ("predicted_loss_seconds", {"bound": "least"}),
        ("predicted_rereads", {"group": "h", "way": "controlled"}),
        ("predicted_rereads", {"group": "h", "way": "disaster"}),
        ("predicted_duration_seconds", {"type": "continuous"}),
        ("predicted_duration_seconds", {"type": "disaster"}),
        ("predicted_downtime_seconds", {"type": "continuous", "of": "reads"}),
        ("predicted_downtime_seconds", {"type": "disaster", "of": "writes"}),
    ):
        assert math.isnan(value(found, name, **labels)), (name, labels)


@pytest.mark.parametrize("parts", [{"loss": None, "lag_s": None, "durations": None, "rereads": None}, {"rereads": {}}])
def test_an_unobserved_part_is_nan(parts: dict[str, Any]) -> None:
    found = parsed(readiness_metrics({**REPORT, **parts}, AT))
    assert not [key for key in found if key[0] == "kafka_dr_predicted_rereads"]
    for name, family in (("loss", "predicted_loss"), ("lag_s", "lag_seconds"), ("durations", "predicted_duration")):
        figures = [figure for key, figure in found.items() if key[0].startswith(f"kafka_dr_{family}")]
        assert figures
        assert all(map(math.isnan, figures)) is (name in parts)


@pytest.mark.parametrize("report", [{}, {"checks": None, "controlled": "PERHAPS", "disaster": None}])
def test_a_missing_answer_is_unknown_and_never_0(report: dict[str, Any]) -> None:
    found = parsed(readiness_metrics(report, AT))
    for way in ("controlled", "disaster"):
        assert [value(found, "ready", way=way, answer=one) for one in ("YES", "NO", "UNKNOWN")] == [0, 0, 1]
    others = [
        one for key, one in found.items() if key[0] not in ("kafka_dr_ready", "kafka_dr_readiness_timestamp_seconds")
    ]
    assert others
    assert all(map(math.isnan, others))


@pytest.mark.parametrize(
    "name", ['a"b', "a\\b", "a\nb", 'a\\"\\n\n"', "\\", '"} 1', "ä€😀", "", "a\rb", "a\u2028b", "{x}"]
)
def test_label_values_are_read_back_unchanged(name: str) -> None:
    report = {**REPORT, "rereads": {"controlled": {name: 3}}, "checks": [{"name": name, "answer": name or "YES"}]}
    text = readiness_metrics({**report, "pair": name}, AT)
    found = parsed(text)
    assert value(found, "predicted_rereads", group=name, way="controlled") == 3
    assert value(found, "check", check=name, answer=name or "YES") == 1
    assert text.encode("utf-8").decode("utf-8") == text


def test_text_that_utf_8_cannot_encode_does_not_break_the_file() -> None:
    text = readiness_metrics({**REPORT, "pair": "a\ud800b"}, AT)
    assert 'pair="a?b"' in text
    assert parsed(text)


def test_no_line_is_repeated() -> None:
    """The collector refuses the whole file otherwise."""
    twice = [{"name": "flow", "answer": "YES"}, {"name": "flow", "answer": "NO"}, "no check", {}]
    assert parsed(readiness_metrics({**REPORT, "checks": twice, "rereads": {"controlled": {"1": 2, 1: 3}}}, AT))


@pytest.mark.parametrize("number", [0, 3, 2**62, 0.1, 1e-9, 1e18, 123456789.125, True, "7", float("inf"), float("nan")])
def test_numbers_are_written_as_prometheus_reads_them(number: Any) -> None:
    found = value(parsed(readiness_metrics({**REPORT, "lag_s": number}, AT)), "lag_seconds")
    known = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    assert found == number if known else math.isnan(found)

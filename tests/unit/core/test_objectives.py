# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RPO and RTO of a pair: from its own runs and rehearsals only, and unknown without them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.objectives import (
    objective_lines,
    objectives,
)

TOOK = {"cutoff": {"last": 40.0, "median": 41.0, "runs": 3, "phases": {}, "writes": 7.14, "reads": 8.0}}
LOSS = {"records_at_least": 10, "records_at_most": 1200, "seconds_at_most": 0.84}
REHEARSED = {"type": "cutoff", "outcome": "completed", "writes_s": 5.5, "reads_s": 6.1}


def row(kind: str, **report: Any) -> dict[str, Any]:
    return next(one for one in objectives(report) if one["type"] == kind)


def test_seconds_are_the_median_of_this_pairs_runs() -> None:
    found = row("cutoff", controlled="YES", durations=TOOK, rehearsal=REHEARSED)
    assert (found["writes_s"], found["reads_s"], found["source"]) == (7.14, 8.0, "median of 3 runs of this pair")
    assert found["rpo"] == "0 records"


def test_a_rehearsal_counts_for_its_type_until_a_run_has_completed() -> None:
    found = row("cutoff", durations={}, rehearsal=REHEARSED)
    assert (found["writes_s"], found["reads_s"], found["source"]) == (5.5, 6.1, "the last rehearsal of this pair")
    assert row("continuous", durations={}, rehearsal=REHEARSED)["writes_s"] is None
    assert row("cutoff", durations={}, rehearsal={**REHEARSED, "outcome": "failed"})["writes_s"] is None


@pytest.mark.parametrize("kind", ["cutoff", "continuous", "disaster"])
@pytest.mark.parametrize("report", [{}, {"durations": None, "rehearsal": None, "loss": None}])
def test_without_a_run_and_a_rehearsal_the_downtime_is_unknown(kind: str, report: dict[str, Any]) -> None:
    found = row(kind, **report)
    assert (found["writes_s"], found["reads_s"]) == (None, None)
    assert found["source"].startswith("unknown: ")


def test_a_rehearsal_is_no_evidence_for_a_disaster() -> None:
    assert row("disaster", rehearsal={**REHEARSED, "type": "disaster"})["writes_s"] is None


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (LOSS, "10 to 1,200 records of the last 0.8 s"),
        ({**LOSS, "records_at_least": 1200}, "1,200 records of the last 0.8 s"),
        ({**LOSS, "seconds_at_most": None}, "10 to 1,200 records of an unknown age"),
        ({"records_at_least": 0, "records_at_most": 0, "seconds_at_most": 0.0}, "0 records"),
        ({"records_at_least": None, "records_at_most": None, "seconds_at_most": None}, "unknown"),
        (None, "unknown"),
    ],
)
def test_a_disaster_loses_what_is_not_replicated(loss: Any, text: str) -> None:
    assert row("disaster", loss=loss)["rpo"] == text


@pytest.mark.parametrize("answer", ["NO", "UNKNOWN", None])
def test_a_planned_cutover_loses_nothing_because_it_does_not_start(answer: Any) -> None:
    assert row("cutoff", controlled=answer)["rpo"] == "0 records, because it does not start now"


def test_what_was_accepted_may_be_lost() -> None:
    rows = [
        {"name": "held", "answer": "ACCEPTED", "counts": ["controlled", "disaster"]},
        {"name": "loss", "answer": "ACCEPTED", "counts": ["disaster"]},
        {"name": "flows", "answer": "YES", "counts": ["controlled"]},
    ]
    found = row("cutoff", controlled="YES", checks=rows)["rpo"]
    assert found == "0 records, apart from what you accepted: held"


def test_lines_use_both_words() -> None:
    took = {**TOOK, "disaster": {**TOOK["cutoff"], "runs": 1}}
    lines = objective_lines(objectives({"controlled": "YES", "durations": took, "loss": LOSS, "rehearsal": None}))
    assert lines[0] == "cutoff: RPO 0 records; RTO writes 7.1 s, reads 8.0 s (median of 3 runs of this pair)"
    assert lines[1].startswith("continuous: RPO 0 records; RTO unknown: this pair has no completed run of this type")
    assert lines[2] == (
        "disaster: RPO 10 to 1,200 records of the last 0.8 s;"
        " RTO from the start of the playbook, writes 7.1 s, reads 8.0 s (median of 1 run of this pair)"
    )

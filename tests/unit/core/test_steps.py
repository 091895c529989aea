# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness, a rehearsal and an audit name the next command, and have five lines for a pager."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.steps import audit_steps
from example_reports import AUDIT, REHEARSAL, Document, readiness
from kafka_dr_audit import plan
from kafka_dr_audit.text import pager
from schemas import faults

YES = [{"name": "journal", "answer": "YES", "asks": "?", "found": "", "remedy": "", "counts": ["controlled"]}]


def commands(document: Document) -> list[str]:
    return [step["command"].removeprefix("ansible-playbook switchback.kafka_dr.") for step in document["next"]]


@pytest.mark.parametrize(
    ("controlled", "disaster", "wanted"),
    [
        ("YES", "YES", ["rehearse -i INVENTORY -e kafka_dr_confirm=B"]),
        ("YES", "NO", ["readiness -i INVENTORY -e kafka_dr_to=B", "rehearse -i INVENTORY -e kafka_dr_confirm=B"]),
        ("UNKNOWN", "UNKNOWN", ["readiness -i INVENTORY -e kafka_dr_to=B"]),
        (
            "NO",
            "YES",
            [
                "readiness -i INVENTORY -e kafka_dr_to=B",
                "failover_disaster -i INVENTORY -e kafka_dr_to=B -e kafka_dr_confirm=B",
            ],
        ),
    ],
)
def test_readiness_names_a_move_only_if_it_is_ready_for_it(controlled: str, disaster: str, wanted: list[str]) -> None:
    found = readiness(controlled=controlled, disaster=disaster)
    assert commands(found) == wanted
    assert all(step["text"] in (page(found) or "") for step in found["next"])


def test_the_pager_text_of_readiness() -> None:
    loss = {**readiness()["loss"], "records_at_most": 1200}
    assert readiness(loss=loss)["pager"].splitlines() == [
        "Ready to move P -> B: NO for a controlled cutover, UNKNOWN for a disaster"
        " (pair B-P, observed at 2026-11-23 06:58:30 UTC)",
        "In the way: NO flow_progress, UNKNOWN versions",
        "At risk in a disaster: at most 1,200 records. Replication lags by 2.2 s.",
        "cutoff: RPO 0 records; RTO writes 3.9 s, reads 4.1 s (median of 3 runs)",
        "Next: ansible-playbook switchback.kafka_dr.readiness -i INVENTORY -e kafka_dr_to=B",
    ]
    unknown = readiness(loss=None, lag_s=None, checks=YES)["pager"].splitlines()
    assert unknown[1:3] == [
        "In the way: nothing",
        "At risk in a disaster: not known. Replication lags by an unknown time.",
    ]


@pytest.mark.parametrize("made", [readiness(), REHEARSAL])
def test_each_page_has_the_next_step_and_the_text_for_the_pager(made: Document) -> None:
    shown = (page(made) or "").replace("&gt;", ">")
    assert f"<h2>What now</h2>\n<p>{made['next'][0]['text']}:</p><pre><code>{made['next'][0]['command']}" in shown
    assert f"<h2>For the pager</h2>\n<pre><code>{made['pager']}</code></pre>" in shown


def test_reports_with_next_steps_are_valid_for_their_schemas() -> None:
    for made in (readiness(), REHEARSAL, AUDIT):
        assert [fault for fault in faults(made) if "next" in fault or "pager" in fault] == []


def test_an_audit_has_the_next_steps_of_its_verdict() -> None:
    steps = audit_steps("B-P", "P", "localhost")
    found = {verdict: commands({"next": rows}) for verdict, rows in steps.items()}
    again = ["verify -i INVENTORY"]
    assert found == {"PROVEN": ["readiness -i INVENTORY -e kafka_dr_to=P"], "REFUTED": again, "UNKNOWN": again}
    assert set(steps) == set(plan.VERDICTS)
    assert steps["REFUTED"][0]["text"].startswith("Do not move the applications.")


def test_the_pager_text_of_an_audit() -> None:
    assert AUDIT["pager"].splitlines() == [
        "UNKNOWN: audit of the pair B-P, run 20261123T065300Z",
        "Records compared: 116,640. Lost: none found.",
        "Offsets exact: 23 of 24. Groups exact: 1 of 2.",
        "Found: 3 DUPLICATE (PROVEN); partition 3 could not be read to its end",
        "Next: ansible-playbook switchback.kafka_dr.verify -i INVENTORY",
    ]
    stopped = {key: AUDIT[key] for key in ("run", "pair", "verdict")}
    error = {"code": "disk_full", "message": "The disk\nis full."}
    assert pager({**stopped, "topics": [], "error": error}).splitlines()[1:] == [
        "Records compared: not known. Lost: not known.",
        "Offsets exact: not known. Groups exact: not known.",
        "Found: The disk is full.",
        "Next: see docs/audit.md",
    ]


@pytest.mark.parametrize(("verdict", "found"), [("PROVEN", "no difference"), ("UNKNOWN", "not known")])
def test_only_a_proof_says_that_nothing_differs(verdict: str, found: str) -> None:
    """A partial result has no reason yet."""
    document = {key: AUDIT[key] for key in ("run", "pair")} | {"verdict": verdict, "topics": []}
    assert pager(document).splitlines()[3] == f"Found: {found}"

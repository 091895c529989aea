# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every report has a published schema. The playbook tests check that each report is valid for it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import report_pages
from repository import files, read
from schemas import faults, schemas

# Only programs of this collection read these.
PRIVATE = {"switchback.kafka_dr/audit-plan/2", "switchback.kafka_dr/salvage/2"}


def test_schema_and_documentation_of_a_cutover_report_are_what_its_class_says() -> None:
    assert report_pages.SCHEMA.read_text() == report_pages.schema(), "run `make error-codes`"
    assert report_pages.PAGE.read_text() == report_pages.page(), "run `make error-codes`"


def test_every_schema_of_the_code_is_published_and_no_other() -> None:
    code = files("plugins/**/*.py", "roles/**/*.yml", "spark/**/*.py")
    named = {name for path in code for name in re.findall(r"switchback\.kafka_dr/[a-z-]+/\d+", read(path))}
    assert named - PRIVATE == set(schemas())


@pytest.mark.parametrize("name", sorted(schemas()))
def test_each_schema_is_a_valid_schema(name: str) -> None:
    Draft202012Validator.check_schema(schemas()[name])


CHECKPOINT: dict[str, Any] = {
    "schema": "switchback.kafka_dr/checkpoint/2",
    "pair": "B-P",
    "to": "B",
    "outcome": "done",
    "reason": "",
    "committed": 3,
    "rereads": None,
    "committed_offsets": [],
}


def test_a_valid_document_has_no_faults() -> None:
    assert faults(CHECKPOINT) == []


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"committed": "3"}, "$.committed: '3' is not of type 'integer'"),
        ({"committed": -1}, "$.committed: -1 is less than the minimum of 0"),
        ({"schema": "switchback.kafka_dr/checkpoint/3"}, "no published schema is called"),
        ({"schema": "switchback.kafka_dr/report/2", "kind": "dance"}, "no report is of the kind 'dance'"),
    ],
)
def test_each_fault_of_an_invalid_document_is_reported(change: dict[str, Any], reported: str) -> None:
    assert [text for text in faults({**CHECKPOINT, **change}) if reported in text]

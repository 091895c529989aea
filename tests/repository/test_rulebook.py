# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rulebook agrees with its schema, with the alerts that Prometheus raises, and with the AWX job template."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

import jsonschema
import pytest

from awx_project import questions, templates
from repository import ROOT, document, read

RULEBOOK = ROOT / "extensions" / "eda" / "rulebooks" / "readiness_on_lag.yml"
ALERTS = ROOT / "extensions" / "monitoring" / "prometheus-rules.yml"


@pytest.fixture(scope="module")
def rulebook() -> Any:
    return document(RULEBOOK)


def test_it_is_valid_for_the_rulebook_schema(rulebook: Any) -> None:
    """The schema is the one in ansible-lint, which is that of ansible-rulebook."""
    schema = json.loads((resources.files("ansiblelint") / "schemas" / "rulebook.json").read_text(encoding="utf-8"))
    jsonschema.validate(rulebook, schema)


def test_it_reads_one_alert_at_a_time_and_requires_a_token(rulebook: Any) -> None:
    (source,) = rulebook[0]["sources"]
    assert source["eda.builtin.webhook"]["token"] == "{{ webhook_token }}"
    assert source["filters"] == [{"eda.builtin.event_splitter": {"splitter_key": "payload.alerts"}}]


def test_it_starts_the_readiness_job_template_which_needs_no_answer(rulebook: Any) -> None:
    (rule,) = rulebook[0]["rules"]
    job = rule["action"]["run_job_template"]
    assert set(re.findall(r"{{ (\w+) }}", read(RULEBOOK))) == {
        "webhook_port",
        "webhook_token",
        "organization",
        "job_template",
    }
    assert (job["name"], job["organization"], job.get("job_args")) == ("{{ job_template }}", "{{ organization }}", None)
    assert not [one for one in questions(templates()["readiness"]) if one["required"]]
    assert rule["throttle"] == {"once_within": "5 minutes", "group_by_attributes": ["event.labels.pair"]}


def test_our_rules_raise_the_alerts_that_it_waits_for(rulebook: Any) -> None:
    (rule,) = rulebook[0]["rules"]
    groups = document(ALERTS)["groups"]
    raised = {one["alert"] for group in groups for one in group["rules"]}
    waited = set(re.findall(r'"(KafkaDr\w+)"', rule["condition"]))
    assert waited
    assert waited <= raised

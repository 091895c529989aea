# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters as a playbook sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.switchback.kafka_dr.plugins.filter import pair as plugin
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core import layout, preflight, report

ROOT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {
    "kafka_dr_home": "P",
    "kafka_dr_clusters": {
        "P": {"bootstrap_servers": "p:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b:9092", "connect_url": "http://b:8083"},
    },
    "kafka_dr_topics": [{"name": "Payments", "partitions": 6}],
    "kafka_dr_groups": ["settlement"],
}


def test_variables_come_with_their_prefix() -> None:
    found = plugin.pair(GOOD)
    assert (found["name"], found["groups"]) == ("B-P", ["settlement"])


def test_a_bad_inventory_stops_the_playbook_with_every_problem_and_that_nothing_was_changed() -> None:
    with pytest.raises(AnsibleFilterError) as stopped:
        plugin.pair({**GOOD, "kafka_dr_home": "Q", "kafka_dr_tpoics": []})
    text = str(stopped.value)
    for part in ('kafka_dr_home is "Q"', "kafka_dr_tpoics", 'Did you mean "kafka_dr_topics"?', "Nothing was changed"):
        assert part in text


def test_the_derived_pair_can_be_written_as_json() -> None:
    """Facts travel to other hosts and into the journal as JSON."""
    found = plugin.pair(GOOD)
    assert json.loads(json.dumps(found)) == found


def test_every_public_function_of_the_pure_rooms_is_a_filter() -> None:
    filters = plugin.FilterModule().filters()
    wanted = {"pair", *layout.__all__, *preflight.__all__, *report.__all__}
    assert set(filters) == wanted
    assert all(callable(function) for function in filters.values())


def test_the_filters_work_in_a_playbook_by_their_full_names() -> None:
    text = "{{ given | switchback.kafka_dr.pair | switchback.kafka_dr.flow_steps('P') | to_json }}"
    ansible = Path(sys.executable).with_name("ansible")
    command = [ansible, "localhost", "-o", "-m", "ansible.builtin.debug", "-a", f"msg={text}"]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_NOCOLOR": "true",
    }
    ran = subprocess.run(
        [*command, "-e", json.dumps({"given": GOOD})],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "checkpoint" in ran.stdout
    assert "stopped" in ran.stdout

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters as a playbook uses them."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.switchback.kafka_dr.plugins.filter import pair as plugin
from ansible_collections.switchback.kafka_dr.plugins.filter import srm
from repository import ROOT, document, files, read

GOOD: dict[str, Any] = {
    "kafka_dr_home": "P",
    "kafka_dr_clusters": {
        "P": {"bootstrap_servers": "p:9092", "connect_url": "http://p:8083"},
        "B": {"bootstrap_servers": "b:9092", "connect_url": "http://b:8083"},
    },
    "kafka_dr_topics": [{"name": "Payments", "partitions": 6}],
    "kafka_dr_groups": ["settlement"],
}


def test_variables_have_their_prefix() -> None:
    found = plugin.pair(GOOD)
    assert (found["name"], found["groups"]) == ("B-P", ["settlement"])


def test_an_invalid_inventory_stops_the_playbook_with_every_problem_before_any_change() -> None:
    with pytest.raises(AnsibleFilterError) as stopped:
        plugin.pair({**GOOD, "kafka_dr_home": "Q", "kafka_dr_tpoics": []})
    text = str(stopped.value)
    for part in ('kafka_dr_home is "Q"', "kafka_dr_tpoics", 'Did you mean "kafka_dr_topics"?', "Nothing was changed"):
        assert part in text


def test_the_derived_pair_can_be_written_as_json() -> None:
    """Facts are sent to other hosts and into the journal as JSON."""
    found = plugin.pair(GOOD)
    assert json.loads(json.dumps(found)) == found


def test_every_used_filter_exists_and_every_filter_is_used() -> None:
    use = re.compile(r"""(?:\|\s*|map\(')switchback\.kafka_dr\.(\w+)""")
    assert {name for path in YAML for name in use.findall(read(path))} == set(FILTERS)


YAML = files("roles/**/*.yml", "roles/**/*.j2", "playbooks/*.yml")
FILTERS = {**plugin.FilterModule().filters(), **srm.FilterModule().filters()}


def test_the_filters_are_those_of_every_plugin_file() -> None:
    assert {path.stem for path in files("plugins/filter/*.py")} == {"pair", "srm"}


def test_every_filter_has_a_page_and_no_page_is_left_over() -> None:
    assert {path.stem for path in files("plugins/filter/*.yml")} == set(FILTERS)


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_the_page_of_a_filter_names_its_arguments_in_their_order(name: str) -> None:
    page = document(ROOT / "plugins" / "filter" / f"{name}.yml")["DOCUMENTATION"]
    first, *others = inspect.signature(FILTERS[name]).parameters.values()
    positional = [word.strip() for word in page.get("positional", "").split(",") if word]
    needed = {"_input"} | {one.name for one in others if one.default is inspect.Parameter.empty}
    assert first.default is inspect.Parameter.empty
    assert positional == [one.name for one in others]
    assert list(page["options"]) == ["_input", *positional]
    assert {key for key, option in page["options"].items() if option.get("required")} == needed


@pytest.mark.playbook
def test_the_filters_work_in_a_playbook_by_their_full_names() -> None:
    batches = "([] | switchback.kafka_dr.client_batches({}) | to_json)"
    text = "{{ ((given | switchback.kafka_dr.pair).live_flows.P | to_json) ~ " + batches + " }}"
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
    assert "source" in ran.stdout
    assert "target" in ran.stdout

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook checks the whole inventory before any other task, and reports every problem at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repository import ROOT, document, files

# discover needs no complete inventory, and checks what it has in its module. demo and the lab write an inventory.
PLAYBOOKS = {path.stem for path in files("playbooks/*.yml")} - {"demo", "discover", "lab_down", "lab_up"}
CLIENT = {"role": "producer", "stop": ["down"], "endpoint_file": "/etc/k.env"}
VARIABLES = {
    "kafka_dr_home": "P",
    "kafka_dr_clusters": {
        "P": {"bootstrap_servers": "127.0.0.1:1", "connect_url": "http://127.0.0.1:2"},
        "B": {"bootstrap_servers": "127.0.0.1:3", "connect_url": "http://127.0.0.1:2/"},
    },
    "kafka_dr_topics": [{"name": "T", "partitions": 1}, {"name": "T.salvage", "partitions": 1}],
    "kafka_dr_flow": {"source_settings": {"transforms": "route"}},
    "kafka_dr_clients": [
        {**CLIENT, "name": "a", "hosts": "web", "start": ["a"]},
        {**CLIENT, "name": "b", "hosts": "web2", "start": ["b"]},
        {**CLIENT, "name": "c", "hosts": "none", "start": ["c"], "endpoint_file": None},
        {**CLIENT, "name": "d", "hosts": "nowhere", "start": ["d"], "endpoint_file": None},
    ],
    "kafka_dr_metrics_file": "kafka_dr.txt",
}
PROBLEMS = (
    "Both clusters have the same connect_url",
    'The topic "T.salvage" has the name that salvage uses',
    'kafka_dr_flow.source_settings: The setting "transforms" is "route"',
    'The client "c" has hosts "none", which is an empty group',
    'The client "d" has hosts "nowhere", which is neither a host nor a group of the Ansible inventory',
    'The clients "a" and "b" on "web2" have the same endpoint_file "/etc/k.env"',
    'kafka_dr_metrics_file is "kafka_dr.txt"',
)


def test_the_first_task_checks_the_inventory() -> None:
    for playbook in PLAYBOOKS:
        first = document(ROOT / "playbooks" / f"{playbook}.yml")[0]["tasks"][0]
        # Ansible's own check would report one problem, and refuse a variable without a value.
        wanted = {"name": "switchback.kafka_dr.kafka_dr", "public": True, "rolespec_validate": False}
        assert first["ansible.builtin.include_role"] == wanted, playbook
    defaults, check = document(ROOT / "roles" / "kafka_dr" / "tasks" / "main.yml")[:2]
    assert defaults["ansible.builtin.import_tasks"] == "defaults.yml"
    (task,) = document(ROOT / "roles" / "kafka_dr" / "tasks" / "defaults.yml")
    assert "ansible.builtin.set_fact" in task
    assert "switchback.kafka_dr.pair(groups)" in check["ansible.builtin.assert"]["that"][0]


@pytest.mark.playbook
@pytest.mark.parametrize("playbook", ["enable", "failover_disaster"])
def test_every_problem_is_reported_before_anything_else(playbook: str, tmp_path: Path) -> None:
    hosts = {"children": {"web": {"hosts": {"web1": None, "web2": None}}, "none": {}}, "vars": VARIABLES}
    (tmp_path / "inventory.yml").write_text(json.dumps({"all": hosts}))
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, f"switchback.kafka_dr.{playbook}", "-i", tmp_path / "inventory.yml", "-e", "kafka_dr_confirm=B"],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"), "ANSIBLE_NOCOLOR": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    flat = " ".join((done.stdout + done.stderr).split()).replace('\\"', '"')
    assert [problem for problem in PROBLEMS if problem not in flat] == []
    last = [line for line in done.stdout.splitlines() if line.startswith("TASK [")][-1]
    assert last.startswith("TASK [switchback.kafka_dr.kafka_dr : Check the inventory]")

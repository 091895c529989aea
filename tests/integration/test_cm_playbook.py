# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules as a user runs them: ansible-playbook, action groups, check mode, and a second run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.switchback.kafka_dr.tests.support.cm_server import ROOT, CmServer, cm_server

pytestmark = pytest.mark.integration

PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  module_defaults:
    group/switchback.kafka_dr.cm:
      cm_url: "{{ cm.cm_url }}"
      cm_client: "{{ cm.cm_client }}"
      cluster: "{{ cm.cluster }}"
  tasks:
    - switchback.kafka_dr.cm_config:
        properties:
          Reverse Checkpointing Enabled: true
        lines:
          Streams Replication Manager's Replication Configs:
            P->B.enabled: true
            B->P.enabled: true
            sync.group.offsets.enabled: true
            B.ssl.truststore.password: "{{ word }}"
        aliases: [P, B]
      register: config
    - switchback.kafka_dr.cm_service:
        changed: "{{ config.changed }}"
        wait_sleep: 0.1
    - switchback.kafka_dr.cm_config_info:
        properties: [streams.replication.manager.config]
      register: info
    - ansible.builtin.assert:
        that: info.properties[0].lines['P->B.enabled'] == 'true'
      when: not ansible_check_mode
"""


def play(cm: CmServer, folder: Path, *options: str) -> tuple[int, str]:
    """The exit code and output of the playbook."""
    book = folder / "book.yml"
    book.write_text(PLAYBOOK, encoding="utf-8")
    variables = folder / "variables.json"
    variables.write_text(json.dumps({"cm": cm.params(), "word": "hunter2hunter2"}), encoding="utf-8")
    command = [str(Path(sys.executable).parent / "ansible-playbook"), str(book), "-e", f"@{variables}", *options]
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
        "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_a_play_changes_only_once_and_shows_no_secret(tmp_path: Path) -> None:
    with cm_server(tmp_path / "cm") as cm:
        planned = play(cm, tmp_path, "--check", "--diff")
        assert (planned[0], "changed=2" in planned[1], cm.log("PUT") + cm.log("POST")) == (0, True, []), planned[1]
        applied = play(cm, tmp_path, "--diff", "-vvv")
        assert (applied[0], "changed=2" in applied[1]) == (0, True), applied[1]
        assert [path.rsplit("/", 1)[1] for _method, path in cm.log("POST")] == ["deployClientConfig", "restart"]
        again = play(cm, tmp_path)
        assert (again[0], "changed=0" in again[1]) == (0, True), again[1]
        for text in (planned[1], applied[1]):
            assert "hunter2hunter2" not in text
            assert '"P->B.enabled": "true"' in text

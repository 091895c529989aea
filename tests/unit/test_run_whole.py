# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A playbook runs completely or not at all: --tags, --skip-tags, --start-at-task and --limit are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible import context
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.collections import ImmutableDict

from ansible_collections.switchback.kafka_dr.plugins.filter.pair import run_whole
from repository import ROOT, document, files, name, read, require_none

IMPORTED = "ansible.builtin.import_playbook"
LINE = "This playbook must run whole. Start it without --tags, --skip-tags, --start-at-task and --limit."


def test_every_play_has_a_guard_that_no_tag_can_skip() -> None:
    for playbook in files("playbooks/*.yml"):
        plays = [play for play in document(playbook) if IMPORTED not in play]
        assert plays, playbook
        assert all("| switchback.kafka_dr.run_whole }}" in play["hosts"] for play in plays), playbook


def test_no_task_has_a_tag_that_molecule_skips() -> None:
    tasks = files("playbooks/*.yml", "roles/*/*/**/*.yml")
    assert tasks
    require_none(name(path) for path in tasks if "notest" in read(path))


def given(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(options))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tags": ["all"], "skip_tags": [], "start_at_task": None},
        {"tags": (), "skip_tags": (), "start_at_task": ""},
        {"tags": ["all", "start"]},
        {"subset": "controller"},
        {"subset": "all"},
        {"tags": ["all"], "skip_tags": ["molecule-notest", "notest", "molecule-idempotence-notest"]},
    ],
)
def test_a_complete_run_keeps_its_host(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    given(monkeypatch, **options)
    assert run_whole("controller") == "controller"


@pytest.mark.parametrize(
    "options",
    [
        {"tags": ["start"]},
        {"tags": ["always"]},
        {"tags": ["all"], "skip_tags": ["always"]},
        {"tags": ["all"], "skip_tags": ["notest", "always"]},
        {"tags": ["all"], "start_at_task": "Move"},
        {"subset": "another"},
    ],
)
def test_a_partial_run_is_refused(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    given(monkeypatch, **options)
    with pytest.raises(AnsibleFilterError, match=LINE):
        run_whole("controller")


@pytest.mark.playbook
@pytest.mark.parametrize(
    ("playbook", "options"),
    [
        ("failover_cutoff", ["--tags", "start"]),
        ("failover_cutoff", ["--start-at-task", "Move"]),
        ("enable", ["--skip-tags", "always"]),
        ("failback", ["--limit", "another"]),
        ("status", ["--skip-tags", "always", "--tags", "start"]),
        ("lab_down", ["--start-at-task", "no such task"]),
    ],
)
def test_ansible_starts_no_task_of_a_partial_run(playbook: str, options: list[str]) -> None:
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, f"switchback.kafka_dr.{playbook}", "-i", "localhost,another,", *options],
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"), "ANSIBLE_NOCOLOR": "true"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    assert LINE in " ".join(done.stderr.split())
    assert "TASK [" not in done.stdout
    assert "is undefined" not in done.stdout + done.stderr


def test_an_empty_host_is_refused_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch)
    with pytest.raises(AnsibleFilterError, match="kafka_dr_run_on is empty"):
        run_whole(" ")

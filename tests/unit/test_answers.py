# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Extra variables of AWX are restored before the first task; tests/unit/test_awx_answers.py does so with Ansible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible import context
from ansible.module_utils.common.collections import ImmutableDict
from ansible.utils.vars import load_extra_vars

from ansible_collections.switchback.kafka_dr.plugins.filter.pair import run_whole
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.answers import restore_answers

# As ansible-core reads the file below.
READ = {"kafka_dr_a": None, "kafka_dr_b": 83, "kafka_dr_c": False, "kafka_dr_d": "text", "other": None, "other_b": 83}
FILE = """\
!unsafe 'kafka_dr_a': !unsafe ''
!unsafe 'kafka_dr_b': !unsafe '0123'
!unsafe 'kafka_dr_c': !unsafe "NO"
!unsafe 'kafka_dr_d': !unsafe 'text'
!unsafe 'other': !unsafe ''
!unsafe 'other_b': !unsafe '0123'
"""
RESTORED = {"kafka_dr_b": "0123", "kafka_dr_c": "NO", "kafka_dr_d": "text", "other": None, "other_b": 83}


def restored(monkeypatch: pytest.MonkeyPatch, read: dict[str, Any], *options: str) -> dict[str, Any]:
    """The extra variables afterwards. ``read``: as Ansible has read them. ``options``: the values of ``-e``."""
    extra = dict(read)
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict(extra_vars=options))
    monkeypatch.setattr(load_extra_vars, "extra_vars", extra, raising=False)
    restore_answers()
    return extra


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "extravars").write_text(FILE)
    return tmp_path / "extravars"


def test_quoted_answers_get_their_text_back_and_empty_ones_are_not_given(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    assert restored(monkeypatch, READ, f"@{file}") == RESTORED
    assert restored(monkeypatch, RESTORED, f"@{file}") == RESTORED


def test_the_last_value_of_a_variable_counts(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    later = file.with_name("later")
    later.write_text("kafka_dr_b: 5\n!unsafe 'kafka_dr_c': !unsafe 'off'\n")
    read = {**READ, "kafka_dr_b": 5}
    assert restored(monkeypatch, read, f"@{file}", f"@{later}") == {**RESTORED, "kafka_dr_b": 5, "kafka_dr_c": "off"}
    assert restored(monkeypatch, read, f"@{file}", '{"kafka_dr_b": 5}') == {**RESTORED, "kafka_dr_b": 5}


@pytest.mark.parametrize("content", ["$ANSIBLE_VAULT;1.1;AES256\n6132\n", "", "- a\n", '{"kafka_dr_b": 83}'])
def test_another_file_restores_nothing(monkeypatch: pytest.MonkeyPatch, file: Path, content: str) -> None:
    file.write_text(content)
    assert restored(monkeypatch, READ, f"@{file}") == {name: READ[name] for name in READ if name != "kafka_dr_a"}


def test_a_pipe_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert restored(monkeypatch, {"kafka_dr_b": 83}, "@/dev/null") == {"kafka_dr_b": 83}


def test_without_extra_variables_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "CLIARGS", ImmutableDict())
    monkeypatch.delattr(load_extra_vars, "extra_vars", raising=False)
    restore_answers()
    assert run_whole("controller") == "controller"
    assert run_whole(None) == "localhost"

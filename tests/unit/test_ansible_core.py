# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection uses of ansible-core beyond its public interfaces, with the installed version."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible.playbook.play_context import PlayContext

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils import ansible_core
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.local_run import ActionModule

RESULT = {"changed": False, "msg": "done"}


def action(**task: object) -> ActionModule:
    plugin = ActionModule.__new__(ActionModule)
    plugin._task = SimpleNamespace(**{"args": {}, "check_mode": False, "diff": False, "no_log": False, **task})
    plugin._play_context = PlayContext()
    return plugin


class ResultObject:
    """The object that ansible-core 2.21 returns for a module's output."""

    def as_result_dict(self, *, for_round_trip: bool) -> dict[str, object]:
        return RESULT if for_round_trip else {}


@pytest.mark.parametrize("found", [RESULT, ResultObject()])
def test_a_parsed_result_becomes_a_dictionary_in_every_ansible_core(
    monkeypatch: pytest.MonkeyPatch, found: object
) -> None:
    plugin = action()
    monkeypatch.setattr(plugin, "_parse_returned_data", lambda _data, _profile: found)
    assert ansible_core.parsed(plugin, 0, "", "") == RESULT


@pytest.mark.parametrize("resolved", ["switchback.kafka_dr.dr_audit", "dr_audit"])
def test_a_module_runs_under_its_own_name_no_matter_how_the_task_names_it(resolved: str) -> None:
    """`resolved_fqcn` is a short name if the task finds the module through the keyword `collections`."""
    asked = []

    def find(action: str, collection_list: list[str]) -> SimpleNamespace:
        asked.append((action, collection_list))
        return SimpleNamespace(resolved_fqcn=resolved)

    plugin = action(action="acme.alias.check", collections=["acme.alias"])
    plugin._shared_loader_obj = SimpleNamespace(module_loader=SimpleNamespace(find_plugin_with_context=find))
    assert ansible_core.module_name(plugin) == "dr_audit"
    assert asked == [("acme.alias.check", ["acme.alias"])]

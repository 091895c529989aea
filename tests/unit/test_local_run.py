# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin that runs every module."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils import local_run

RESULT = {"changed": False, "msg": "done"}


class ResultObject:
    """The object that ansible-core 2.21 returns for a module's output."""

    def as_result_dict(self, *, for_round_trip: bool) -> dict[str, object]:
        return RESULT if for_round_trip else {}


@pytest.mark.parametrize("parsed", [RESULT, ResultObject()])
def test_a_parsed_result_becomes_a_dictionary_in_every_ansible_core(parsed: object) -> None:
    assert local_run._as_dict(parsed) == RESULT


@pytest.mark.parametrize("resolved", ["switchback.kafka_dr.dr_audit", "dr_audit"])
def test_a_module_runs_under_its_own_name_no_matter_how_the_task_names_it(resolved: str) -> None:
    """`resolved_fqcn` is a short name if the task finds the module through the keyword `collections`."""
    asked = []

    def find(action: str, collection_list: list[str]) -> SimpleNamespace:
        asked.append((action, collection_list))
        return SimpleNamespace(resolved_fqcn=resolved)

    plugin = local_run.ActionModule.__new__(local_run.ActionModule)
    plugin._task = SimpleNamespace(action="acme.alias.check", collections=["acme.alias"])
    plugin._shared_loader_obj = SimpleNamespace(module_loader=SimpleNamespace(find_plugin_with_context=find))
    assert plugin._module_name() == "dr_audit"
    assert asked == [("acme.alias.check", ["acme.alias"])]

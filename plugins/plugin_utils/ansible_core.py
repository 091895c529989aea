# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything of ansible-core that this collection uses and that is no public interface, in one place.

`make compatibility LIBRARIES=1` moves a pair through each function here with every supported ansible-core.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible.module_utils import _internal
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.plugins.action import ActionBase

# How values are written between the controller and a module.
_PROFILE = "legacy"


def module_name(action: ActionBase) -> str:
    """The module's real name, even if the task calls it through a redirect of another collection."""
    found = action._shared_loader_obj.module_loader.find_plugin_with_context(
        action._task.action, collection_list=action._task.collections
    )
    name: str = found.resolved_fqcn
    return name.rpartition(".")[2]


def standard_input(action: ActionBase, name: str, variables: Mapping[str, Any]) -> bytes:
    """What the module ``name`` reads from its standard input: the arguments of the task, and Ansible's own."""
    arguments = dict(action._task.args)
    action._update_module_args(name, arguments, variables)
    encoder = get_module_encoder(_PROFILE, Direction.CONTROLLER_TO_MODULE)
    return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=encoder).encode()


def parsed(action: ActionBase, code: int, printed: str, errors: str) -> dict[str, Any]:
    """Return the result that a module has printed. ``code``: its exit code."""
    ran = {"rc": code, "stdout": printed, "stderr": errors}
    lines = {f"{stream}_lines": ran[stream].splitlines() for stream in ("stdout", "stderr")}  # type: ignore[attr-defined]
    found: Any = action._parse_returned_data({**ran, **lines}, _PROFILE)
    # Since ansible-core 2.21 it is an object.
    result: dict[str, Any] = found if isinstance(found, dict) else found.as_result_dict(for_round_trip=True)
    return result


def packed(action: ActionBase, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Run the module as Ansible runs all others: as an archive, on any host."""
    normal = action._shared_loader_obj.action_loader.get(
        "ansible.builtin.normal",
        task=action._task,
        connection=action._connection,
        play_context=action._play_context,
        loader=action._loader,
        templar=action._templar,
        shared_loader_obj=action._shared_loader_obj,
    )
    answer: dict[str, Any] = normal.run(task_vars=variables)
    return answer


def leave_the_controller() -> None:
    """In a fork that becomes a module: its warnings go to its result, and not to a display that is not visible."""
    _internal.is_controller = False

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module of this collection from its files when it runs on the controller: a quarter of the start-up cost.

Ansible sends a module as an archive whose Python sources are compiled anew in every task, a second of processor time
here, while producers stand still. On the controller the files are there, compiled once: the module runs from them, as
``ansible-core`` documents for running a module directly. Everywhere else, and wherever the task asks for more than a
plain local run, Ansible's normal way is taken, with the same module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.plugins.action import ActionBase

_PROFILE = "legacy"
# What ansible.cfg or ANSIBLE_PYTHON_INTERPRETER says where no variable does; "auto" is no path and no plain local run.
_INTERPRETER = constants.config.get_config_value("INTERPRETER_PYTHON")
_PLUGINS = Path(__file__).parents[1]
# The folder that holds ansible_collections/switchback/kafka_dr/plugins.
_ROOT = _PLUGINS.parents[3]


class ActionModule(ActionBase):
    """Action of every module of the collection."""

    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The module's result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        del tmp
        variables = task_vars or {}
        if self._is_plain_and_local(variables):
            result.update(self._run_from_files(variables))
            return result
        normal = self._shared_loader_obj.action_loader.get(
            "ansible.builtin.normal",
            task=self._task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        answer: dict[str, Any] = normal.run(task_vars=task_vars)
        return answer

    def _is_plain_and_local(self, variables: dict[str, Any]) -> bool:
        interpreter = self._templar.template(variables.get("ansible_python_interpreter") or _INTERPRETER)
        return (
            self._connection.transport == "local"
            and self._connection.become is None
            and not self._task.async_val
            and not any(self._task.environment or ())
            and _is_ours(interpreter)
            and (_ROOT / "ansible_collections").is_dir()
        )

    def _run_from_files(self, variables: dict[str, Any]) -> dict[str, Any]:
        name = self._task.action.rsplit(".", 1)[-1]
        arguments = dict(self._task.args)
        self._update_module_args(name, arguments, variables)
        encoder = get_module_encoder(_PROFILE, Direction.CONTROLLER_TO_MODULE)
        paths = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        ended = subprocess.run(
            [sys.executable, "-m", f"ansible_collections.switchback.kafka_dr.plugins.modules.{name}"],
            input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=encoder),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        answer: dict[str, Any] = self._parse_returned_data(
            {
                "rc": ended.returncode,
                "stdout": ended.stdout,
                "stdout_lines": ended.stdout.splitlines(),
                "stderr": ended.stderr,
                "stderr_lines": ended.stderr.splitlines(),
            },
            _PROFILE,
        )
        return answer


def _is_ours(interpreter: Any) -> bool:
    """Whether a path is the interpreter of this process: ``python`` or ``python3`` of the same environment."""
    if not isinstance(interpreter, str) or not Path(interpreter).is_absolute():
        return False
    ours, named = Path(sys.executable), Path(interpreter)
    return named == ours or (named.parent == ours.parent and named.resolve() == ours.resolve())

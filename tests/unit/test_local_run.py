# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin that runs every module."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils import ansible_core, local_run


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Every module writes to the returned file, and crashes as long as the file has one line."""
    runs = tmp_path / "runs"

    class Module:
        @staticmethod
        def main() -> None:
            with runs.open("a") as file:
                file.write("run\n")
            if len(runs.read_text().splitlines()) == 1:
                os.kill(os.getpid(), signal.SIGSEGV)
            print("{}", flush=True)

    real = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda name, *more: Module if ".kafka_dr." in name else real(name, *more)
    )
    return runs


def run_task(monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, object]:
    plugin = local_run.ActionModule.__new__(local_run.ActionModule)
    plugin._task = SimpleNamespace(args={})
    monkeypatch.setattr(ansible_core, "module_name", lambda _action: name)
    monkeypatch.setattr(plugin, "_update_module_args", lambda *_args: None)
    monkeypatch.setattr(plugin, "_parse_returned_data", lambda data, _profile: data)
    return plugin._run_from_files({})


@pytest.mark.parametrize("name", ["dr_status_info", "dr_barrier", "kafka_group"])
def test_a_module_that_may_be_repeated_runs_again_after_a_crash(
    monkeypatch: pytest.MonkeyPatch, crashing: Path, name: str
) -> None:
    result = run_task(monkeypatch, name)
    assert (result["rc"], result["stdout"]) == (0, "{}\n")
    assert crashing.read_text() == "run\n" * 2


def test_a_module_that_changes_something_runs_once_and_its_crash_is_an_error_with_the_stack(
    monkeypatch: pytest.MonkeyPatch, crashing: Path
) -> None:
    """Its effects are unknown, so only the next run of the playbook, which observes first, may repeat it."""
    result = run_task(monkeypatch, "dr_flows")
    assert crashing.read_text() == "run\n"
    assert result["failed"]
    assert result["error"]["code"] == "module_crashed"  # type: ignore[index]
    assert "its process ended with SIGSEGV. It was in File" in str(result["msg"])
    assert "in main" in str(result["module_stderr"])


def collection_modules() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith("ansible_collections")}


def test_the_modules_of_a_cutover_are_loaded_once_and_the_main_process_keeps_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_run, "_loaded", {})
    before, finders, path = collection_modules(), list(sys.meta_path), list(sys.path)
    local_run.load_modules()
    loaded = dict(local_run._loaded)
    names = {f"{local_run._MODULES}.{name}" for name in local_run.needed_fast()}
    assert names <= set(loaded)
    assert all(hasattr(loaded[name], "main") for name in names)
    assert all(loaded[name] is not module for name, module in before.items() if name in names)
    assert (collection_modules(), sys.meta_path, sys.path) == (before, finders, path)
    local_run.load_modules()
    assert local_run._loaded == loaded


def test_a_fork_loads_no_modules_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_run, "_loaded", {})
    monkeypatch.setattr(local_run.multiprocessing, "parent_process", object)
    local_run.load_modules()
    assert local_run._loaded == {}


def test_a_module_that_was_loaded_is_not_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = ModuleType("dr_probe_info")
    ready.main = lambda: print("loaded", flush=True)  # type: ignore[attr-defined]
    monkeypatch.setattr(local_run, "_loaded", {f"{local_run._MODULES}.dr_probe_info": ready})
    assert run_task(monkeypatch, "dr_probe_info")["stdout"] == "loaded\n"

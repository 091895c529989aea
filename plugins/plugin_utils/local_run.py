# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module of this collection directly from its files on the controller, at a tenth of the start-up cost.

Ansible normally sends a module as an archive, and Python compiles its sources again in every task. For this collection
that takes a second of processor time, during which producers may be stopped. On the controller, the files exist, are
compiled once, and Ansible itself is loaded. A fork of the worker becomes the module, reads its arguments from standard
input as ``ansible-core`` documents for running a module directly, and prints its result. A crash of the module affects
only the fork: its error has the stack, and a module that may be repeated runs once more. On other hosts, and for tasks
that need more than a plain local run, Ansible's normal action plugin runs the same module.
"""

from __future__ import annotations

import ast
import faulthandler
import importlib
import multiprocessing
import os
import re
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import IO, Any, NoReturn

from ansible import constants
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.redaction import redacted, secrets_of
from ansible_collections.switchback.kafka_dr.plugins.plugin_utils import ansible_core, background

# Seconds between two reads of a module's progress. The last one delays the module's result, maybe within a downtime.
_POLL_INTERVAL = 0.02
# The value of ansible.cfg or ANSIBLE_PYTHON_INTERPRETER, if no variable is set. "auto" is not a path, so it is not a
# plain local run.
_INTERPRETER = constants.config.get_config_value("INTERPRETER_PYTHON")
# The signals of a crash in native code, such as librdkafka. A process that the kernel or an operator ends has another.
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_MODULES = "ansible_collections.switchback.kafka_dr.plugins.modules"
_UTILS = "ansible_collections.switchback.kafka_dr.plugins.module_utils"
# Values of a result that the module has not masked itself: it has not ended as a module does.
_RAW = ("module_stdout", "module_stderr", "exception")
# What load_modules() has imported, by name.
_loaded: dict[str, ModuleType] = {}
_PLUGINS = Path(__file__).parents[1]
# The folder that holds ansible_collections/switchback/kafka_dr/plugins.
_ROOT = _PLUGINS.parents[3]
# How a module declares it, see Properties.
_DECLARED = re.compile(r"^LOCAL_RUN = (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True)
class Properties:
    """What a module declares about itself in its line ``LOCAL_RUN = {...}``."""

    #: It runs while applications are stopped, so it is imported before.
    fast: bool = False
    #: It may be called again with the same arguments after a crash, as a resumed run does.
    repeatable: bool = False
    #: Prefix of the lines on its standard error that are shown while it runs: minutes of silence look like a hang.
    progress: str | None = None

    @classmethod
    def of(cls, name: str) -> Properties:
        """Those of a module. One named `_info` changes nothing, so it is repeatable without a declaration."""
        found = _DECLARED.search((_PLUGINS / "modules" / f"{name}.py").read_text(encoding="utf-8"))
        declared = {"repeatable": name.endswith("_info"), **(ast.literal_eval(found[1]) if found else {})}
        return cls(**declared)


def needed_fast() -> list[str]:
    """The modules that run while applications are stopped."""
    names = (path.stem for path in sorted((_PLUGINS / "modules").glob("[!_]*.py")))
    return [name for name in names if Properties.of(name).fast]


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible has no types
    """The action plugin of all modules of the collection."""

    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        del tmp
        variables = task_vars or {}
        if variables.get(background.VARIABLE):
            result.update(background.begin(lambda: self._run_module(variables)))
        else:
            result.update(self._run_module(variables))
        return result

    def _run_module(self, variables: dict[str, Any]) -> dict[str, Any]:
        """A module masks its own result. If it fails with a stack, only its arguments show what is secret (R44)."""
        answer = self._run_anywhere(variables)
        if not answer.keys().isdisjoint(_RAW):
            secrets = secrets_of(self._task.args)
            answer.update({key: redacted(answer[key], secrets) for key in (*_RAW, "msg") if key in answer})
        return answer

    def _run_anywhere(self, variables: dict[str, Any]) -> dict[str, Any]:
        if self._is_plain_and_local(variables):
            return self._run_from_files(variables)
        return ansible_core.packed(self, variables)

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
        name = ansible_core.module_name(self)
        given, properties = ansible_core.standard_input(self, name, variables), Properties.of(name)
        code, printed, errors = _run(name, given, properties.progress)
        # What has printed a result may have changed something after that.
        repeatable = properties.repeatable and (name.endswith("_info") or not printed.strip())
        if -code in _CRASHES and repeatable:
            # A stack of faulthandler has no values.
            Display().warning(f"{name} crashed ({signal.Signals(-code).name}) and runs once more. {_stack(errors)}")
            code, printed, errors = _run(name, given, properties.progress)
        if code < 0 and not printed.strip():
            return _ended(name, signal.Signals(-code).name, errors)
        return ansible_core.parsed(self, code, printed, errors)


def _run(name: str, given: bytes, progress: str | None) -> tuple[int, str, str]:
    """Run a module in a fork. Return its exit code, or the negative number of a signal, its output and its errors."""
    with TemporaryFile() as arguments, TemporaryFile() as out, TemporaryFile() as err:
        arguments.write(given)
        arguments.seek(0)
        child = os.fork()
        if child == 0:
            _be_the_module(name, arguments, out, err)
        code = _wait(child, err, progress)
        return code, _text(out), _text(err)


def _ended(name: str, ended_by: str, errors: str) -> dict[str, Any]:
    """The result of a module that a signal ended before it printed one."""
    error = DrError(
        "module_crashed",
        f"The module {name} returned no result: its process ended with {ended_by}. {_stack(errors)}",
        "Start the same playbook again: it reads what was done and continues. For SIGKILL, search the kernel's log for"
        " the out-of-memory killer. Report a SIGSEGV or SIGABRT with the stack in module_stderr.",
    )
    return {"failed": True, "msg": error.sentence(), "error": error.as_dict(), "module_stderr": errors}


def _stack(errors: str) -> str:
    """The innermost Python call of the crashed thread, from the stacks that ``faulthandler`` wrote."""
    current = errors.partition("Current thread")[2].splitlines()[1:2]
    return f"It was in {current[0].strip()}." if current else ""


def _wait(child: int, err: IO[bytes], progress: str | None) -> int:
    """Wait for the module and return its exit code. Lines that begin with `progress` are shown as they come."""
    if progress is None:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    display, shown = Display(), 0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        # The fork shares the file description: only `pread` leaves its offset unchanged.
        text = os.pread(err.fileno(), 1 << 20, shown)
        whole = text[: text.rfind(b"\n") + 1]
        shown += len(whole)
        for line in whole.decode("utf-8", "replace").splitlines():
            if line.startswith(progress):
                display.display(line)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_INTERVAL)


def _be_the_module(name: str, given: IO[bytes], out: IO[bytes], err: IO[bytes]) -> NoReturn:
    """In the fork: run the module with these files as its standard streams, and exit."""
    code: object = 1
    try:
        for number, file in enumerate((given, out, err)):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")
        )
        faulthandler.enable()
        sys.argv = [name]
        ansible_core.leave_the_controller()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _use_own_importer()
        sys.modules.update(_loaded)
        importlib.import_module(f"{_MODULES}.{name}").main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _use_own_importer() -> dict[str, ModuleType]:
    """Import collections as Python does, with cached compiled files. Return the modules that Ansible's importer loaded.

    The controller's importer compiles each source again.
    """
    sys.meta_path[:] = [finder for finder in sys.meta_path if "ansible" not in type(finder).__module__]
    replaced = {name: sys.modules.pop(name) for name in filter(_of_collection, list(sys.modules))}
    sys.path.insert(0, str(_ROOT))
    sys.path_importer_cache.clear()
    return replaced


def load_modules() -> None:
    """Import the modules of a cutover in Ansible's main process, so that no task imports them while applications stand.

    Each fork of that process has them already, which saves a third of a second of processor time. The main process
    keeps the modules that Ansible's importer has loaded. A module that cannot be imported here fails in its own task.
    """
    if _loaded or multiprocessing.parent_process() is not None:
        return
    finders, path = list(sys.meta_path), list(sys.path)
    replaced = _use_own_importer()
    try:
        with suppress(Exception):
            for name in needed_fast():
                importlib.import_module(f"{_MODULES}.{name}")
            # A module imports its engine by a computed name, when it opens the pair.
            importlib.import_module(f"{_UTILS}._engines.opening").packed()
            importlib.import_module(f"{_UTILS}._http").tls_context(None, True, None, None)
        _loaded.update({name: module for name, module in sys.modules.items() if _of_collection(name)})
    finally:
        for name in filter(_of_collection, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(replaced)
        sys.meta_path[:], sys.path[:] = finders, path
        sys.path_importer_cache.clear()


def _of_collection(name: str) -> bool:
    return name.partition(".")[0] == "ansible_collections"


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _is_ours(interpreter: Any) -> bool:
    """Whether a path is this process's interpreter: ``python`` or ``python3`` of the same environment."""
    if not isinstance(interpreter, str) or not Path(interpreter).is_absolute():
        return False
    ours, named = Path(sys.executable), Path(interpreter)
    return named == ours or (named.parent == ours.parent and named.resolve() == ours.resolve())

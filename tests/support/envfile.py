# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that a shell and systemd read from an environment file. Both use the real programs' own parsers."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

_FOLDERS = ("/usr/lib", "/lib")


def systemd_library() -> Path | None:
    """libsystemd-shared of an installed systemd, or None. It needs no running manager."""
    found = [path for folder in _FOLDERS for path in Path(folder).glob("**/systemd/libsystemd-shared-*.so")]
    return found[0] if found else None


def read_by_systemd(library: Path, path: Path) -> dict[str, str]:
    """The variables of ``EnvironmentFile=path``, as ``exec_context_load_environment`` (src/core/execute.c) gets them.

    It calls ``load_env_file`` (src/basic/env-file.c), then drops assignments that are not valid.
    """
    shared = ctypes.CDLL(str(library))
    shared.load_env_file.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p))]
    shared.env_assignment_is_valid.argtypes = [ctypes.c_char_p]
    shared.env_assignment_is_valid.restype = ctypes.c_bool
    found = ctypes.POINTER(ctypes.c_char_p)()
    code = shared.load_env_file(None, str(path).encode(), ctypes.byref(found))
    assert code == 0, f"load_env_file returned {code}"
    values: dict[str, str] = {}
    index = 0
    while (entry := found[index]) is not None:
        if shared.env_assignment_is_valid(entry):
            key, _equals, value = entry.decode().partition("=")
            values[key] = value
        index += 1
    return values


def read_by_shell(shell: str, paths: Sequence[Path], keys: Sequence[str]) -> list[list[str]]:
    """The values of ``keys`` after ``. path``, for each path. One process reads all of them."""
    words = " ".join(f'"${{{key}}}"' for key in keys)
    script = f'for file; do unset {" ".join(keys)}; . "$file"; printf "%s\\0" {words}; done'
    done = subprocess.run([shell, "-c", script, shell, *map(str, paths)], capture_output=True, timeout=120, check=True)
    assert not done.stderr, done.stderr
    values = done.stdout.decode().split("\0")[:-1]
    return [values[index : index + len(keys)] for index in range(0, len(values), len(keys))]

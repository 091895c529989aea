# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module in this process, the way Ansible would, and return what it printed."""

from __future__ import annotations

import contextlib
import gc
import io
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest
from ansible.module_utils.common import warnings
from ansible.module_utils.testing import patch_module_args

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.compressed import expand

__all__ = ["run_module", "warned"]


def run_module(
    module: ModuleType, params: Mapping[str, Any], check: bool = False, diff: bool = False, expanded: bool = True
) -> dict[str, Any]:
    """The result of ``module.main()``, with ``failed`` and ``rc`` (the exit code) always set.

    ``expanded``: with its compressed rows as rows, as the next module gets them.
    """
    args = {**params, "_ansible_check_mode": check, "_ansible_diff": diff}
    printed = io.StringIO()
    # Warnings are collected per process, and those of an earlier run are not ours.
    warnings._global_warnings.clear()
    try:
        with patch_module_args(args), contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
            module.main()
    finally:
        # A module collects no garbage. This process continues, and must end its clients here and not in one of their
        # callbacks. What the run made is young: a whole collection looks through a million objects of pytest.
        gc.enable()
        gc.collect(1)
    result: dict[str, Any] = json.loads(printed.getvalue())
    result = expand(result) if expanded else result
    result.setdefault("failed", False)
    result["rc"] = end.value.code
    return result


def warned(result: Mapping[str, Any], captured: pytest.CaptureFixture[str]) -> str:
    """All warnings of a run as one text: from its result or, if Ansible's controller is loaded, from the output."""
    return str(result.get("warnings", "")) + " ".join(captured.readouterr().err.split())

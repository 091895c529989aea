# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the collection that a module reaches by imports. Ansible packs all of them with the module."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache
from pathlib import Path

from repository import ROOT, nodes

__all__ = ["closure"]

PLUGINS = ROOT / "plugins"
COLLECTION = "ansible_collections.switchback.kafka_dr."


@cache
def imported(path: Path) -> list[Path]:
    """Files of the collection that ``path`` imports anywhere in its code, also within functions."""
    found: list[Path] = []
    for node in nodes(path):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        elif (node.module or "").startswith(COLLECTION):
            base = ROOT.joinpath(*(node.module or "").removeprefix(COLLECTION).split("."))
        else:
            continue
        places = [base, *(base / alias.name for alias in node.names)]
        found += (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return [file for file in found if file.is_file()]


def closure(module: str, without: Collection[str] = ()) -> set[str]:
    """Paths below ``plugins`` of every file that ``module`` reaches by imports, other than through ``without``."""
    pending, found = [PLUGINS / "modules" / f"{module}.py"], {PLUGINS / path for path in without}
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += imported(path)
    return {str(path.relative_to(PLUGINS)) for path in found} - set(without)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the collection that a module reaches by imports. Ansible packs all of them with the module."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["closure"]

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
COLLECTION = "ansible_collections.switchback.kafka_dr."


def imported(path: Path) -> Iterator[Path]:
    """Files of the collection that ``path`` imports anywhere in its code, also within functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
        elif (node.module or "").startswith(COLLECTION):
            base = ROOT.joinpath(*(node.module or "").removeprefix(COLLECTION).split("."))
        else:
            continue
        places = [base, *(base / alias.name for alias in node.names)]
        yield from (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))


def closure(module: str, without: Collection[str] = ()) -> set[str]:
    """Paths below ``plugins`` of every file that ``module`` reaches by imports, other than through ``without``."""
    pending, found = [PLUGINS / "modules" / f"{module}.py"], {PLUGINS / path for path in without}
    while pending:
        path = pending.pop()
        if path not in found and path.is_file():
            found.add(path)
            pending += imported(path)
    return {str(path.relative_to(PLUGINS)) for path in found} - set(without)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports between the packages of the product go one way (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MODULE_UTILS = Path(__file__).resolve().parents[2] / "plugins" / "module_utils"
# A package imports packages before it in this list, and none after it.
LAYERS = [
    "_core",
    "_core.resources",
    "_core.offsets",
    "_core.journal",
    "_core.checks",
    "_core.flows",
    "_core.srm",
    "_core.inventory",
    "_core.reports",
    "",
    "_kafka",
    "_connect",
    "_cm",
    "_srm",
    "_engines",
    "_engines.connect",
    "_engines.srm",
    "_pair.connections",
    "_pair.observation",
    "_pair.journal",
    "_pair.offsets",
    "_pair.flows",
    "_pair.rehearsal",
    "_pair",
]
# It finds the engines by their folders.
OPENING = ("_engines", "opening.py")


def imports() -> Iterator[tuple[str, str]]:
    """Package and imported package, for each relative import in ``module_utils``."""
    for path in sorted(MODULE_UTILS.rglob("*.py")):
        package = path.parent.relative_to(MODULE_UTILS).parts
        if (*package, path.name) == OPENING:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = package[: len(package) - node.level + 1]
            target = (*base, *(node.module or "").split(".")) if node.module else base
            while target and not (MODULE_UTILS.joinpath(*target)).is_dir():
                target = target[:-1]
            yield ".".join(package), ".".join(target)


def test_every_package_is_a_layer() -> None:
    found = {".".join(path.parent.relative_to(MODULE_UTILS).parts) for path in MODULE_UTILS.rglob("*.py")}
    assert found == set(LAYERS)


@pytest.mark.parametrize("package", LAYERS)
def test_a_package_imports_nothing_above_it(package: str) -> None:
    upward = {
        target for source, target in imports() if source == package and LAYERS.index(target) > LAYERS.index(source)
    }
    assert upward == set()

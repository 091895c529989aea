# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports between the packages of the product go in one direction (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from repository import ROOT, files, nodes, require_none

MODULE_UTILS = ROOT / "plugins" / "module_utils"
# A package imports packages before it in this list, and none after it.
LAYERS = [
    "_core",
    "_core.resources",
    "_core.offsets",
    "_core.journal",
    "_core.checks",
    "_core.flows",
    "_core.run",
    "_core.engines",
    "_core.engines.aiven",
    "_core.engines.connect",
    "_core.engines.srm",
    "_core.engines.strimzi",
    "_core.inventory",
    "_core.discovery",
    "_core.reports",
    "",
    "_kafka",
    "_kubernetes",
    "_connect",
    "_cm",
    "_srm",
    "_aiven",
    "_engines",
    "_engines.aiven",
    "_engines.connect",
    "_engines.srm",
    "_engines.strimzi",
    "_pair.connections",
    "_pair.observation",
    "_pair.discovery",
    "_pair.journal",
    "_pair.offsets",
    "_pair.flows",
    "_pair.rehearsal",
    "_pair.readiness",
    "_pair.salvage",
    "_pair",
    "_run",
]
# It finds the engines by their folders.
OPENING = ("_engines", "opening.py")


def layer(module: tuple[str, ...]) -> str:
    """The layer of a module: its package."""
    return ".".join(module if MODULE_UTILS.joinpath(*module).is_dir() else module[:-1])


def imports() -> Iterator[tuple[str, str]]:
    """The layer and the imported layer for each relative import in ``module_utils``."""
    for path in files("plugins/module_utils/**/*.py"):
        package = path.parent.relative_to(MODULE_UTILS).parts
        if (*package, path.name) == OPENING:
            continue
        for node in nodes(path):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = package[: len(package) - node.level + 1]
            target = (*base, *node.module.split(".")) if node.module else base
            for name in node.names:
                module = (*target, name.name)
                is_module = MODULE_UTILS.joinpath(*module).with_suffix(".py").is_file()
                yield layer((*package, path.stem)), layer(module if is_module else target)


def test_every_package_is_a_layer() -> None:
    paths = files("plugins/module_utils/**/*.py")
    found = {layer(path.relative_to(MODULE_UTILS).with_suffix("").parts) for path in paths}
    assert found == set(LAYERS)


def test_the_core_imports_nothing_but_the_core() -> None:
    require_none(
        sorted({f"{source} imports {target}" for source, target in imports() if source[:5] == "_core" != target[:5]})
    )


def test_a_package_imports_nothing_from_a_higher_layer() -> None:
    require_none(
        sorted(
            {
                f"{source} imports {target}"
                for source, target in imports()
                if LAYERS.index(target) > LAYERS.index(source)
            }
        )
    )

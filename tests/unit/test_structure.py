# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The product defines a partition once, and keeps classes short; no variable is called `_`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
#: Lines of the longest class. A class has one reason to exist and fits on two screens, about 120 lines. Lower this with
#: each split.
LONGEST_CLASS = 198


def definitions() -> Iterator[tuple[str, str, str]]:
    """The file, the name and the value ("" for a class) of each class and of each assignment to a name."""
    for path in sorted(PLUGINS.rglob("*.py")):
        file = path.relative_to(PLUGINS).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield file, node.name, ""
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    yield file, ast.unparse(target), ast.unparse(node.value)


def test_a_partition_is_defined_once() -> None:
    places = [(file, name) for file, name, value in definitions() if name == "Partition" or value == "tuple[str, int]"]
    assert places == [("module_utils/_core/partition.py", "Partition")]


def test_no_class_is_longer_than_the_bound() -> None:
    lines = {
        f"{path.relative_to(ROOT)}: {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for folder in (PLUGINS, ROOT / "spark")
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    assert {name: length for name, length in lines.items() if length > LONGEST_CLASS} == {}


def test_no_variable_is_called_underscore() -> None:
    """`ansible-test sanity` refuses it, and takes too long for `make check`."""
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("plugins", "roles", "spark", "tests", "molecule")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store)
    ]
    assert not named

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of this repository, each read and parsed once per process."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from yamls import parse_yaml

ROOT = Path(__file__).resolve().parents[2]


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file. Callers must not change it."""
    return ast.parse(read(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a Python file."""
    return tuple(ast.walk(tree(path)))


@cache
def document(path: Path) -> Any:
    """The content of a YAML file. Callers must not change it."""
    return parse_yaml(read(path))


@cache
def files(*patterns: str) -> list[Path]:
    """The files that match one of the patterns, which start at the root. Sorted by path."""
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})


@cache
def tracked(*under: str) -> list[Path]:
    """The files that git has or would add, below the given paths if there are any."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *under]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in (ROOT / line for line in listed.splitlines()) if path.is_file()]


def product() -> list[Path]:
    """The code of the product: Python, tasks and templates."""
    folders = ("plugins", "roles", "playbooks")
    return files(*(f"{folder}/**/*{suffix}" for folder in folders for suffix in (".py", ".yml", ".j2")))


def modules() -> list[str]:
    """The names of all modules of the collection."""
    return [path.stem for path in files("plugins/modules/*.py") if path.stem != "__init__"]


def name(path: Path) -> str:
    """The path of a file below the root."""
    return path.relative_to(ROOT).as_posix()


def require_none(faults: Iterable[str]) -> None:
    """Fail with all faults, one on each line."""
    lines = list(faults)
    assert not lines, f"{len(lines)} faults:\n" + "\n".join(lines)

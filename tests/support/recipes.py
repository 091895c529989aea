# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow the recipes of docs/architecture.md in a copy of the collection: change only the files that they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from repository import ROOT, read

__all__ = ["CollectionCopy", "steps"]

PAGE = ROOT / "docs" / "architecture.md"
_PARTS = (
    "plugins/module_utils",
    "plugins/modules",
    *(f"tests/support/{name}.py" for name in ("import_closure", "repository", "yamls")),
)


def steps(recipe: str) -> list[list[str]]:
    """The names in code style at the start of each step of a recipe, before its explanation."""
    found = re.search(rf"^\*\*{re.escape(recipe)}\*\*\n(.*?)(?=^\*\*|^## |\Z)", read(PAGE), re.MULTILINE | re.DOTALL)
    assert found, f'docs/architecture.md has no recipe "{recipe}"'
    parts = re.split(r"^\d+\. ", found[1], flags=re.MULTILINE)[1:]
    return [re.findall(r"`([^`]+)`", part.split(":", 1)[0]) for part in parts]


class CollectionCopy:
    """A copy of the collection in ``folder``, in which one recipe is followed."""

    def __init__(self, folder: Path, recipe: str) -> None:
        self._above, self.root = folder, folder / "ansible_collections" / "switchback" / "kafka_dr"
        self.steps = steps(recipe)
        for name in _PARTS:
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, place)
        self._before = self._contents()

    def _contents(self) -> dict[str, bytes]:
        files = (path for path in self.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {str(path.relative_to(self.root)): path.read_bytes() for path in files}

    def place(self, step: int, **names: str) -> Path:
        """The file or folder that a step names, below ``module_utils``. ``names``: replacements, as NAME=toy."""
        (named,) = [name for name in self.steps[step - 1] if "/" in name]
        for word, value in names.items():
            named = named.replace(word, value)
        return self.root / "plugins" / "module_utils" / named

    @staticmethod
    def insert(path: Path, after: str, text: str) -> None:
        """Insert ``text`` after the only occurrence of ``after``."""
        content = path.read_text(encoding="utf-8")
        assert content.count(after) == 1, f"{path.name} has {after!r} {content.count(after)} times"
        path.write_text(content.replace(after, after + text), encoding="utf-8")

    def changed(self) -> list[str]:
        """Files that were changed, created or deleted."""
        now = self._contents()
        return sorted(name for name in self._before.keys() | now.keys() if self._before.get(name) != now.get(name))

    def run(self, program: str) -> str:
        """Run a Python program that imports the copy, and return its output."""
        path = os.pathsep.join((str(self._above), str(self.root / "tests" / "support")))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find engines by their folders, for the inventory. Pure.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from .inventory import EngineInventory

__all__ = ["DEFAULT", "engine_inventory", "engines", "inventories"]

#: The engine of an inventory that names none.
DEFAULT = "connect"


def engines() -> tuple[str, ...]:
    """Names of the engines: each folder with a file ``engine.py``. Empty inside of Ansible's archive."""
    folders = sys.modules[__name__.rpartition(".")[0]].__path__
    return tuple(sorted(path.parent.name for folder in folders for path in Path(folder).glob("*/engine.py")))


def engine_inventory(name: str) -> EngineInventory:
    """The part of an inventory that the engine ``name`` contributes."""
    found: EngineInventory = import_module(f".{name}.inventory", __package__).INVENTORY
    return found


def inventories() -> dict[str, EngineInventory]:
    """Of all engines, by name."""
    return {name: engine_inventory(name) for name in engines()}

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the engines by their folders, and load their inventory parts. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

from .inventory import EngineInventory

__all__ = ["DEFAULT", "engine_inventory", "engines", "inventories"]

#: The engine of an inventory that does not set ``kafka_dr_engine``.
DEFAULT = "connect"


def engines() -> tuple[str, ...]:
    """Names of the engines: the packages beside this module.

    Also inside the zip archive that Ansible sends to a remote host, which has no folders to search.
    """
    package = sys.modules[__name__.rpartition(".")[0]]
    return tuple(sorted(module.name for module in iter_modules(package.__path__) if module.ispkg))


def engine_inventory(name: str) -> EngineInventory:
    """Load the inventory part of the engine ``name``."""
    inventory: EngineInventory = import_module(f".{name}.inventory", __package__).INVENTORY
    return inventory


def inventories() -> dict[str, EngineInventory]:
    """The inventory parts of all engines, by engine name."""
    return {name: engine_inventory(name) for name in engines()}

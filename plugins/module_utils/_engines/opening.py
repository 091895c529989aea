# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the engine of a pair by its folder.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from .._core.names import Naming
from .._kafka.client import Kafka
from .base import Engine

__all__ = ["ENGINES", "open_engine", "packed"]

#: Each folder with a file ``engine.py`` is an engine of that name.
ENGINES = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/engine.py")))


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> Engine:
    """Connect to what runs the flows. ``clusters``: by alias, with ``connect_url``, or ``srm``."""
    name = "srm" if any(cluster.get("srm") for cluster in clusters.values()) else "connect"
    opened: Engine = import_module(f".{name}.engine", __package__).open_engine(clusters, naming, kafka, timeout)
    return opened


def packed() -> tuple[ModuleType, ...]:
    """Every engine, imported by name: for a module that runs on another host Ansible packs only what it finds so."""
    from .connect import engine as connect
    from .srm import engine as srm

    return connect, srm

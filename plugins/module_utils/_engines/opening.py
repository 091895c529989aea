# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the engine of a pair.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from .._core.engines.finding import DEFAULT
from .._core.names import Naming
from .._kafka.client import Kafka
from .base import Engine

__all__ = ["open_engine", "packed"]


def open_engine(
    clusters: Mapping[str, Mapping[str, Any]], naming: Naming, kafka: Mapping[str, Kafka], timeout: float
) -> Engine:
    """Open the engine that the clusters of a pair name.

    ``clusters``: by alias, each with the key ``engine`` and the keys that this engine needs. ``timeout``: seconds for
    each request.
    """
    name = next((cluster["engine"] for cluster in clusters.values() if cluster.get("engine")), DEFAULT)
    opened: Engine = import_module(f".{name}.engine", __package__).open_engine(clusters, naming, kafka, timeout)
    return opened


def packed() -> tuple[ModuleType, ...]:
    """Return the modules of all engines.

    For a module that runs on another host, Ansible packs only the files that an import statement names. The import by
    a computed name in :func:`open_engine` is invisible to it.
    """
    from .aiven import engine as aiven
    from .connect import engine as connect
    from .srm import engine as srm
    from .strimzi import engine as strimzi

    return aiven, connect, srm, strimzi

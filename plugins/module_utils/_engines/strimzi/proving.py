# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which connectors are read by looks, and which by the status of their resource.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.errors import DrError
from ..._kubernetes.api import Resource
from .changing import KafkaConnectors
from .looks import Looks

__all__ = ["Proving"]


class Proving:
    """Reads the connectors that were added by looks. An operator before Strimzi 0.44 cannot look."""

    def __init__(self, resources: KafkaConnectors, looks: Looks) -> None:
        self._resources, self._looks = resources, looks
        self._names: set[str] = set()
        self._read: set[str] = set()
        self._can_look = True
        # Both flows of a pair may be observed at the same time, and a look has one reader.
        self._lock = threading.RLock()

    def add(self, names: Iterable[str]) -> None:
        """Read these connectors by looks from now on."""
        self._names |= set(names)

    def discard(self, name: str) -> None:
        """Forget a connector that was deleted."""
        self._names.discard(name)

    def unread(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that no look has read, although the operator can look."""
        return [name for name in names if self._can_look and name not in self._read]

    def begin(self, name: str, spec: Mapping[str, Any] | None = None) -> None:
        """Begin a look, and change the specification with it. An operator that cannot look gets the change alone."""
        if self._can_look:
            try:
                self._looks.begin(name, spec)
                return
            except DrError as error:
                if error.code != "operator_too_old":
                    raise
                self._can_look = False
        if spec:
            self._resources.change(name, spec, {})

    def read(self, resources: Mapping[str, Resource]) -> dict[str, Resource]:
        """Return ``resources`` (by connector), with those that looks read in place of the given ones."""
        with self._lock:
            self._looks.drop(name for name in self._names if name not in resources)
            looked = [name for name in sorted(self._names) if name in resources and self._can_look]
            # All patches first: the operator then works on one while this client waits for another.
            for name in looked:
                self.begin(name)
            read_by_looks = {name: self._looks.finish(name).resource for name in looked if self._can_look}
            self._read |= set(read_by_looks)
            return {**resources, **read_by_looks}

    def offsets(self, name: str) -> Mapping[str, Any] | None:
        """Return the stored offsets by a look of their own. None: this connector is not read by looks."""
        with self._lock:
            if name not in self._names or not self._can_look:
                return None
            self._looks.settle(name)
            self.begin(name)
            return self._looks.finish(name).offsets if self._can_look else None

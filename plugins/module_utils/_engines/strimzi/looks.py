# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a connector's state, tasks and offsets after a moment that is proven.

A status may be stale, and an annotation does not change the generation. One patch therefore asks for the offsets and
changes the specification. The operator carries it out in this order: state, offsets, status of the worker, status of
the resource (AbstractConnectOperator, Strimzi 0.49.1). Once observedGeneration has reached the generation of the patch
and the annotation is gone, status and offsets are from after the patch (0.14 to 0.19 s, measured).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..._core.errors import DrError, Unreachable
from ..._core.waiting import Bounds, wait_until
from ..._kubernetes.api import KubernetesError, Resource
from .changing import KafkaConnectors
from .resources import OFFSETS, annotation, settled_generation, warning_of
from .site import CONFIG_MAPS, old_operator

__all__ = ["Look", "Looks"]

_KEY = "offsets.json"


@dataclass(frozen=True)
class Look:
    """A finished look."""

    resource: Resource
    #: Stored offsets in Kafka Connect's format.
    offsets: Mapping[str, Any]


@dataclass(frozen=True)
class _Pending:
    config_map: str
    #: The generation that the patch made.
    generation: int


class Looks:
    """The looks of one client: at most one for each connector at a time."""

    def __init__(self, connectors: KafkaConnectors) -> None:
        self._connectors = connectors
        self._pending: dict[str, _Pending] = {}
        #: Whether the operator did not answer within its bound. Later waits are then those of the caller.
        self._silent = False

    def begin(self, name: str, spec: Mapping[str, Any] | None = None) -> None:
        """Change the specification by ``spec``, and ask for a look in the same patch.

        Without ``spec``, a look that is already pending is enough. Raises ``operator_too_old`` before any change.
        """
        if name in self._pending:
            if spec is None:
                return
            self.finish(name)
        resource = self._connectors.require(name)
        config_map = self._free_name(resource)
        wanted = {**(spec or {}), "listOffsets": {"toConfigMap": {"name": config_map}}}
        try:
            changed = self._connectors.change(name, wanted, {OFFSETS: "list"})
        except KubernetesError as error:
            if "listOffsets" in error.text:
                raise old_operator(self._connectors.site, "a look at offsets") from error
            raise
        self._pending[name] = _Pending(config_map, int(changed["metadata"]["generation"]))

    def finish(self, name: str) -> Look:
        """Wait for the pending look. Raises the retriable ``operator_silent``; a later call then observes once more."""
        bounds = Bounds(0.0) if self._silent else self._connectors.operator_bounds
        waited = wait_until(lambda: self._finished(name), lambda look: look is not None, bounds)
        self._silent = waited.state is None
        if waited.state is not None:
            return waited.state
        resource = self._connectors.require(name)
        generation, warning = resource["metadata"]["generation"], warning_of(resource)
        reported = f" It reports: {warning}" if warning else ""
        raise Unreachable(
            "operator_silent",
            f'The operator did not report the offsets of "{name}" within {waited.seconds:.0f} s: it has carried out'
            f" generation {settled_generation(resource)} of {generation}.{reported}",
            "Check that the Strimzi cluster operator runs, watches this namespace and reaches the workers.",
            self._connectors.site.api.url,
            retriable=True,
        )

    def settle(self, name: str) -> None:
        """Wait for a pending look, if there is one: the resource must not be changed before."""
        if name in self._pending:
            self.finish(name)

    def drop(self, names: Iterable[str]) -> None:
        """Forget pending looks of connectors that were deleted."""
        for name in names:
            self._pending.pop(name, None)

    def _finished(self, name: str) -> Look | None:
        look = self._pending[name]
        resource = self._connectors.require(name)
        if annotation(resource, OFFSETS) is not None or settled_generation(resource) < look.generation:
            return None
        del self._pending[name]
        return Look(resource, self._read(name, look))

    def _read(self, name: str, look: _Pending) -> Mapping[str, Any]:
        site = self._connectors.site
        config_map = site.api.find(CONFIG_MAPS, site.namespace, look.config_map)
        try:
            offsets = json.loads((config_map or {}).get("data", {})[_KEY])
        except (KeyError, ValueError):
            state = "does not exist" if config_map is None else f"has no JSON in {_KEY}"
            raise Unreachable(
                "operator_silent",
                f'The operator removed the annotation of "{name}", but the ConfigMap "{look.config_map}" {state}.',
                "Check whether another program removes annotations or ConfigMaps in this namespace.",
                site.api.url,
                retriable=True,
            ) from None
        # It is of no more use, and the operator's next answer must not be mistaken for this one.
        with suppress(DrError):
            site.api.delete(CONFIG_MAPS, site.namespace, look.config_map)
        return offsets if isinstance(offsets, Mapping) else {}

    def _free_name(self, resource: Resource) -> str:
        """A name that differs from the present one, so that the generation changes, and that no ConfigMap has."""
        made = str(resource["metadata"]["name"])
        present = ((resource.get("spec") or {}).get("listOffsets") or {}).get("toConfigMap") or {}
        name = next(option for option in (f"{made}-look-1", f"{made}-look-2") if option != present.get("name"))
        site = self._connectors.site
        site.api.delete(CONFIG_MAPS, site.namespace, name)
        return name

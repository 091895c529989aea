# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create a stopped connector that never replicates a record.

Before Strimzi 1.2 the operator creates a connector RUNNING and stops it afterwards: one with ``spec.state: stopped``
replicated 100 records (measured with 0.49.1). So a STOPPED connector is created with filters that match nothing, and
gets its own after it was proven to be stopped. Any run may do the second step, because the first one may be killed.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ..._connect.rest import Connector
from ..._core.errors import DrError
from ..._core.waiting import wait_until
from ..._kubernetes.api import KubernetesError, Resource
from .changing import KafkaConnectors
from .resources import connector_name_of, connector_of, new_resource

__all__ = ["Creation"]

# A regular expression that no name matches. A connector with it runs, but replicates nothing.
_NOTHING = "(?!)"


class Creation:
    """Creates the resources of one site. ``connectors``: reads them, the new ones by looks."""

    def __init__(self, resources: KafkaConnectors, connectors: Callable[[], Mapping[str, Connector]]) -> None:
        self._resources, self._connectors = resources, connectors

    def begin(self, name: str, config: Mapping[str, str], stopped: bool) -> None:
        """Create the resource. A stopped one replicates nothing yet."""
        site = self._resources.site
        first = {**config, **{key: _NOTHING for key in ("topics", "groups") if stopped and key in config}}
        state = "stopped" if stopped else "running"
        body = new_resource(name, site.kind("kafkaconnectors").version, site.connect, first, state)
        try:
            self._resources.create(body)
        except KubernetesError as error:
            # An earlier attempt without a response may have created it.
            same = error.status == 409 and (resource := self._resources.find(name)) is not None
            if not same or connector_of(resource or {}).config != {**first, "name": name}:
                raise

    def await_stopped(self, resource: Resource) -> None:
        """Wait until a connector that replicates nothing yet is stopped. Raises ``not_stopped``."""
        spec = resource.get("spec") or {}
        if spec.get("state") != "stopped" or _NOTHING not in (spec.get("config") or {}).values():
            return
        name, bounds = connector_name_of(resource), self._resources.operator_bounds
        waited = wait_until(
            lambda: self._connectors().get(name),
            lambda seen: seen is not None and seen.stopped,
            # The first status after a change is stale, so the operator must answer twice.
            replace(bounds, timeout=2 * bounds.timeout),
        )
        if not waited.done:
            seen = waited.state
            raise DrError(
                "not_stopped",
                f'The new connector "{name}" is {seen.state if seen else "missing"} after {waited.seconds:.0f} s,'
                " wanted STOPPED with 0 tasks.",
                "Its filters match nothing, so it replicates nothing. Check the operator's log, then start the same"
                " playbook again.",
                self._resources.site.api.url,
            )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the changes that bring a connector to its desired state. Secrets never become part of a change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._core.changes import Change, Differences
from .._core.redaction import is_secret, looks_secret, shown
from .._core.resources.topic_filters import takes_any
from .rest import Connector

__all__ = ["DesiredConnector", "masked", "merged_config", "plan", "retained_settings", "rivals"]

KIND = "connector"
_HIDDEN = "(secret)"
_OTHER = "(secret, another value)"


@dataclass(frozen=True)
class DesiredConnector:
    """The desired state of one connector."""

    name: str
    #: ``source``, ``checkpoint`` or ``heartbeat``.
    part: str
    #: ``present``, ``running``, ``inactive``, ``stopped`` or ``absent``.
    state: str
    #: Wanted settings. None removes a setting.
    config: Mapping[str, str | None]

    @property
    def configured(self) -> bool:
        """True if the configuration is to be written. Stopping and deleting do not change it."""
        return self.state in ("present", "running", "inactive")


def plan(desired: DesiredConnector, actual: Connector | None) -> list[Change]:
    """Return the changes for one connector, in their order.

    =========  ==================  ======================================================================
    desired    does not exist      exists
    =========  ==================  ======================================================================
    present    create STOPPED      update settings that differ, keep the state
    running    create RUNNING      update settings that differ; resume, or restart if FAILED
    inactive   nothing             update settings that differ; it must stay STOPPED without tasks
    stopped    nothing             stop, unless STOPPED without tasks
    absent     nothing             stop as above, so that no task writes any more; delete
    =========  ==================  ======================================================================
    """
    if actual is None:
        return [_create(desired)] if desired.state in ("present", "running") else []
    if desired.configured:
        return _update(desired, actual) + (_start(desired, actual) if desired.state == "running" else [])
    steps = [] if actual.stopped else [_move(desired.name, "stop", _state(actual), "STOPPED")]
    if desired.state == "absent":
        steps.append(Change(KIND, desired.name, "delete", {"exists": True}, {"exists": False}))
    return steps


def merged_config(desired: DesiredConnector, actual: Connector | None) -> dict[str, str]:
    """Return the whole configuration to write: the connector's current settings, overridden by the wanted ones."""
    merged: dict[str, str | None] = {**(actual.config if actual else {}), **desired.config}
    return {key: value for key, value in merged.items() if value is not None}


def retained_settings(desired: DesiredConnector, actual: Connector | None) -> list[str]:
    """Return the names of settings that the connector has but the inventory does not declare. They are kept."""
    return sorted(set(actual.config) - set(desired.config)) if actual and desired.configured else []


def masked(config: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return ``config`` with all secrets masked."""
    return {key: shown(key, value, _HIDDEN) for key, value in config.items()}


def rivals(desired: DesiredConnector, topics: Iterable[str], connectors: Mapping[str, Connector]) -> list[str]:
    """Return the names of other connectors that do the same work and are not stopped.

    Two source connectors would replicate each record twice. A connector that takes none of ``topics`` belongs to
    another application and is left out.
    """
    same = ("source.cluster.alias", "target.cluster.alias")
    return sorted(
        other.name
        for other in connectors.values()
        if other.name != desired.name
        and other.part == desired.part
        and not other.stopped
        and all(other.config.get(key) == desired.config.get(key) for key in same)
        and (desired.part == "heartbeat" or takes_any(other.config, topics))
    )


def _create(desired: DesiredConnector) -> Change:
    state = "RUNNING" if desired.state == "running" else "STOPPED"
    return Change(KIND, desired.name, "create", None, {"state": state, **masked(merged_config(desired, None))})


def _update(desired: DesiredConnector, actual: Connector) -> list[Change]:
    differences = Differences()
    for key in sorted(desired.config):
        before, after = actual.config.get(key), desired.config[key]
        if before != after and (is_secret(key) or looks_secret(before) or looks_secret(after)):
            before, after = before and _HIDDEN, after and _OTHER
        differences.add(key, before, after)
    return [differences.change(KIND, desired.name, "update")] if differences else []


def _start(desired: DesiredConnector, actual: Connector) -> list[Change]:
    if actual.state in ("STOPPED", "PAUSED"):
        return [_move(desired.name, "resume", _state(actual), "RUNNING")]
    if actual.failures:
        return [_move(desired.name, "restart", "FAILED", "RUNNING")]
    return []


def _move(name: str, action: str, before: str, after: str) -> Change:
    return Change(KIND, name, action, {"state": before}, {"state": after})


def _state(actual: Connector) -> str:
    if actual.state == "STOPPED" and actual.tasks:
        return "STOPPED with tasks"
    return actual.state or "UNKNOWN"

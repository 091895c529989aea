# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be done to a connector so that it is as wanted. Pure; secrets never reach a change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._core.changes import Change, Differences
from .._core.resources.topic_filters import takes_any
from .._core.security import is_secret
from .rest import Connector

__all__ = ["Wish", "kept_settings", "masked", "merged_config", "plan", "rivals"]

KIND = "connector"
_HIDDEN = "(secret)"
_OTHER = "(secret, another value)"


@dataclass(frozen=True)
class Wish:
    """One connector as it is wanted. ``state``: present, running, stopped or absent; ``config`` None removes a key."""

    name: str
    part: str
    state: str
    config: Mapping[str, str | None]

    @property
    def configured(self) -> bool:
        """True when the configuration is to be written; stopping and deleting leave it alone."""
        return self.state in ("present", "running")


def plan(wish: Wish, actual: Connector | None) -> list[Change]:
    """The steps for one connector, in their order.

    =========  ==================  ======================================================================
    wanted     missing             exists
    =========  ==================  ======================================================================
    present    create STOPPED      update what differs, leave the state alone
    running    create RUNNING      update what differs; resume, or restart what FAILED or stays UNASSIGNED
    stopped    nothing             stop, unless STOPPED without tasks
    absent     nothing             stop as above, so that nothing moves afterwards; delete
    =========  ==================  ======================================================================
    """
    if actual is None:
        return [_create(wish)] if wish.configured else []
    if wish.configured:
        return _update(wish, actual) + (_start(wish, actual) if wish.state == "running" else [])
    steps = [] if actual.stopped else [_move(wish.name, "stop", _state(actual), "STOPPED")]
    if wish.state == "absent":
        steps.append(Change(KIND, wish.name, "delete", {"exists": True}, {"exists": False}))
    return steps


def merged_config(wish: Wish, actual: Connector | None) -> dict[str, str]:
    """The whole configuration to write: what the connector has, with everything that is wanted on top."""
    merged: dict[str, str | None] = {**(actual.config if actual else {}), **wish.config}
    return {key: value for key, value in merged.items() if value is not None}


def kept_settings(wish: Wish, actual: Connector | None) -> list[str]:
    """Settings that the connector has and nobody asked for: kept, and named."""
    return sorted(set(actual.config) - set(wish.config)) if actual and wish.configured else []


def masked(config: Mapping[str, str | None]) -> dict[str, str | None]:
    """``config`` with every secret hidden."""
    return {key: _HIDDEN if value and is_secret(key) else value for key, value in config.items()}


def rivals(wish: Wish, topics: Iterable[str], connectors: Mapping[str, Connector]) -> list[str]:
    """Other connectors that do the same work and are not stopped: two of them copy every record twice.

    One that is known to take none of ``topics`` is another application's.
    """
    same = ("source.cluster.alias", "target.cluster.alias")
    return sorted(
        other.name
        for other in connectors.values()
        if other.name != wish.name
        and other.part == wish.part
        and not other.stopped
        and all(other.config.get(key) == wish.config.get(key) for key in same)
        and (wish.part == "heartbeat" or takes_any(other.config, topics))
    )


def _create(wish: Wish) -> Change:
    state = "RUNNING" if wish.state == "running" else "STOPPED"
    return Change(KIND, wish.name, "create", None, {"state": state, **masked(merged_config(wish, None))})


def _update(wish: Wish, actual: Connector) -> list[Change]:
    differences = Differences()
    for key in sorted(wish.config):
        before, after = actual.config.get(key), wish.config[key]
        if is_secret(key) and before != after:
            before, after = before and _HIDDEN, after and _OTHER
        differences.add(key, before, after)
    return [differences.change(KIND, wish.name, "update")] if differences else []


def _start(wish: Wish, actual: Connector) -> list[Change]:
    if actual.state in ("STOPPED", "PAUSED"):
        return [_move(wish.name, "resume", _state(actual), "RUNNING")]
    if actual.failures:
        return [_move(wish.name, "restart", "FAILED", "RUNNING")]
    return []


def _move(name: str, action: str, before: str, after: str) -> Change:
    return Change(KIND, name, action, {"state": before}, {"state": after})


def _state(actual: Connector) -> str:
    if actual.state == "STOPPED" and actual.tasks:
        return "STOPPED with tasks"
    return actual.state or "UNKNOWN"

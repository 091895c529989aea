# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine contributes to the inventory of a pair: capabilities, keys, checks, derived values. Pure.

Each engine's folder has a file ``inventory.py`` with one ``INVENTORY``. The filters on the controller use it, so it
imports nothing that connects to a system.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._core.resources.connector_settings import unsafe_settings
from .._core.schema import Key

__all__ = ["STEPS", "Capabilities", "Check", "EngineInventory", "Refusals"]

#: The variables that must be free of wrong types, by name with blanks between, and the check of a pair.
Check = tuple[str, Callable[[Mapping[str, Any]], list[str]]]
#: Moments at which an engine may need steps of its own: before the first change of ``enable``, once the flows of
#: ``enable`` have their state, and before ``readiness`` judges what the flows carry.
STEPS = ("before_enable", "after_flows", "before_readiness")
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do. Procedures ask for these by name, never for the engine."""

    #: Offset-syncs are written on the source cluster; else on the target.
    offset_syncs_on_source: bool
    #: :meth:`..base.Engine.offsets` works.
    offsets_writable: bool
    #: Stored offsets of a flow that does not exist (yet) can be read as well.
    offsets_outlive_flow: bool
    #: Which topics and groups a flow takes is kept in lists apart from it, which only an account of the site may read.
    separate_lists: bool
    #: A change of a flow restarts the service that runs the flows of a site: waits need the bounds of a restart.
    changes_restart: bool
    #: Each part of a flow has a state of its own, which a plan can name.
    parts_have_states: bool
    #: What keeps the versions of both sides equal, where :meth:`..base.Engine.about` reports none.
    versions_retained_by: str = ""

    def bound(self, seconds: float, restart_seconds: float) -> float:
        """Seconds that a change of a flow may take: ``restart_seconds`` where it restarts a service."""
        return restart_seconds if self.changes_restart else seconds


@dataclass(frozen=True)
class Refusals:
    """Why an engine refuses what an inventory may ask for, as the end of a sentence; empty: it does not."""

    #: ``kafka_dr_adopt``
    adoption: str
    #: Topics that name applications, which move one by one.
    applications: str
    #: ``kafka_dr_copy_again``
    copy_again: str
    #: ``kafka_dr_policy: identity``
    identity: str
    #: The role ``rehearsal``
    rehearsal: str


class EngineInventory:
    """The engine's part of an inventory. A sentence that a check returns is shown to the user as it is."""

    capabilities: Capabilities
    refusals: Refusals
    #: Further keys of a cluster in ``kafka_dr_clusters``.
    cluster_keys: Mapping[str, Key] = _NOTHING
    #: Keys of a site in ``kafka_dr_ENGINE``, which maps aliases to sites; empty: there is no such variable.
    site_keys: Mapping[str, Key] = _NOTHING
    #: Task file of the role ``replication`` by moment of :data:`STEPS`.
    steps: Mapping[str, str] = _NOTHING
    #: Replication factor by part of a flow, of the topics that it creates; absent: the broker's default.
    usual_factors: Mapping[str, int] = _NOTHING

    def value_checks(self) -> Sequence[Check]:
        """Checks of the engine's own keys, which an inventory may have whatever its engine is."""
        return ()

    def pair_checks(self) -> Sequence[Check]:
        """Checks of a pair that has this engine."""
        return ()

    def setting_problems(self, where: str, config: Mapping[str, str | None]) -> list[str]:
        """Problems of settings that a user gives for the connectors of both flows. None: a setting is removed."""
        return [f"{where}: {problem}" for problem in unsafe_settings(config, (), given=True)]

    def site(self, site: Mapping[str, Any]) -> dict[str, Any]:
        """What modules need of a site: the key ENGINE of its cluster."""
        return dict(site)

    def lists(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        """By alias, the lists that say what flows carry, for the engine's own steps."""
        del pair
        return {}

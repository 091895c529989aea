# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine contributes to the inventory of a pair: capabilities, keys, checks and derived values.

Each engine's folder has a file ``inventory.py`` that defines ``INVENTORY``. Filters on the controller import it, so it
must not import code that connects to a system.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..resources.connector_settings import unsafe_settings
from ..schema import Key

__all__ = ["STEPS", "Capabilities", "Check", "EngineInventory", "Refusals"]

#: A check of a pair: the names of the variables that it reads, separated by blanks, and a function that returns one
#: sentence for each problem. The function is called only if these variables have the right types.
Check = tuple[str, Callable[[Mapping[str, Any]], list[str]]]
#: Moments at which an engine may run its own steps: before the first change of ``enable``, after the flows of
#: ``enable`` have their state, and before ``readiness`` checks what the flows replicate.
STEPS = ("before_enable", "after_flows", "before_readiness")
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do. Callers check these flags, never the name of the engine."""

    #: True: the offset-syncs topic is on the source cluster. False: on the target cluster.
    offset_syncs_on_source: bool
    #: True: :meth:`..base.Engine.offsets` returns an object. False: it raises ``no_offsets``.
    offsets_writable: bool
    #: True: stored offsets can be read even if the flow does not exist.
    offsets_outlive_flow: bool
    #: True: separate lists select the topics and groups of a flow, and only an account at the site can read them.
    separate_lists: bool
    #: True: each change of a flow restarts the service of the site, so waits need the time limit of a restart.
    changes_restart: bool
    #: True: each part of a flow has its own state, which a plan can name.
    parts_have_states: bool
    #: What keeps the versions at both sites equal, if :meth:`..base.Engine.about` reports no version. The readiness
    #: report shows it.
    versions_retained_by: str = ""
    #: What the evidence about a flow's settings is, if its connectors cannot be read. The readiness report shows it.
    settings_known_by: str = ""
    #: True: after :meth:`..base.Engine.stop` with ``final``, :meth:`..base.Engine.observe` reports the source part as
    #: ``final``. False: no stop can be proven. Then flows keep replicating in a cutover, no part is ever ``final``, and
    #: a barrier relies on Kafka alone: every partition is replicated to its end.
    stop_provable: bool = True
    #: True: a flow whose group sync is RUNNING writes group offsets on the target. False: group sync is off in every
    #: state, and only this collection commits offsets.
    syncs_groups: bool = True

    def bound(self, seconds: float, restart_seconds: float) -> float:
        """Seconds that a change of a flow may take: ``restart_seconds`` if the change restarts a service."""
        return restart_seconds if self.changes_restart else seconds


@dataclass(frozen=True)
class Refusals:
    """Why an engine does not support a feature, as the end of a sentence. Empty: it supports the feature."""

    #: Adopt existing connectors (``kafka_dr_adopt``).
    adoption: str
    #: Move applications one by one: topics that name their applications.
    applications: str
    #: Replicate a topic again from the start (``kafka_dr_copy_again``).
    copy_again: str
    #: Keep topic names (``kafka_dr_policy: identity``).
    identity: str
    #: Rehearse a cutover (the role ``rehearsal``).
    rehearsal: str
    #: Replace a lost cluster by a new one (the playbook ``rebuild``).
    rebuild: str


class EngineInventory:
    """The engine's part of an inventory. Each sentence that a check returns is shown to the user unchanged."""

    #: What the engine can do.
    capabilities: Capabilities
    #: What the engine does not support.
    refusals: Refusals
    #: Additional keys of a cluster in ``kafka_dr_clusters``.
    cluster_keys: Mapping[str, Key] = _NOTHING
    #: Keys of a site in the variable ``kafka_dr_ENGINE``, which maps aliases to sites. Empty: no such variable exists.
    site_keys: Mapping[str, Key] = _NOTHING
    #: Task file of the role ``replication`` for each moment of :data:`STEPS`.
    steps: Mapping[str, str] = _NOTHING
    #: Default replication factor of the topics that a part of a flow creates, by part. Absent: the broker's default.
    usual_factors: Mapping[str, int] = _NOTHING

    def value_checks(self) -> Sequence[Check]:
        """Checks of the engine's own keys. They run for every inventory, also for one that uses another engine."""
        return ()

    def pair_checks(self) -> Sequence[Check]:
        """Checks that run only for a pair that uses this engine."""
        return ()

    def setting_problems(self, where: str, config: Mapping[str, str | None]) -> list[str]:
        """Return the problems of connector settings that the user sets for both flows, one sentence each.

        ``where``: the variable that holds the settings. A value of None removes a setting.
        """
        return [f"{where}: {problem}" for problem in unsafe_settings(config, (), given=True)]

    def site(self, site: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a site that modules need. They become the key ENGINE of the site's cluster."""
        return dict(site)

    def lists(self, pair: Mapping[str, Any]) -> dict[str, Any]:
        """Return the lists that select what flows replicate, by alias, for the engine's own steps."""
        del pair
        return {}

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was observed on both clusters of a pair, as plain data.

None stands for what could not be read. It is never taken as "none".

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..resources.acl import Acl
from ..resources.connector_settings import PRODUCER
from ..resources.groups import GroupState
from ..resources.topics import TopicState

__all__ = ["SETTINGS", "ClusterObservation", "GroupUse", "MirrorConnector", "PairObservation"]

#: Settings of a connector that are kept. All others may hold a password.
SETTINGS = (
    *("connector.class", "source.cluster.alias", "target.cluster.alias", "transforms", "predicates"),
    *("replication.policy.class", "replication.policy.separator"),
    *("topics", "topics.exclude", "groups", "groups.exclude"),
    *("errors.tolerance", *PRODUCER),
)


@dataclass(frozen=True)
class GroupUse:
    """A consumer group and the topics that it uses on one cluster."""

    #: None: the group could not be described.
    state: GroupState | None
    #: Topics with a committed offset. None: they could not be read.
    committed: frozenset[str] | None

    @property
    def topics(self) -> set[str]:
        """Topics with a committed offset, and those that are assigned to a member."""
        assigned = set() if self.state is None else {partition.topic for partition in self.state.assigned}
        return assigned | (self.committed or set())

    @property
    def known(self) -> bool:
        """True if everything about the group could be read."""
        return self.state is not None and self.committed is not None

    @property
    def has_members(self) -> bool:
        """True if the group is known to have members."""
        return self.state is not None and bool(self.state.members)


@dataclass(frozen=True)
class MirrorConnector:
    """A MirrorMaker 2 connector of any name, as its workers report it."""

    name: str
    #: ``source``, ``checkpoint`` or ``heartbeat``.
    part: str
    state: str | None
    #: Those of :data:`SETTINGS` that are set.
    settings: Mapping[str, str]
    #: Topics with stored offsets, for a source connector. None: they could not be read.
    replicated: frozenset[str] | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """The aliases of source and target. The defaults are those of MirrorConnectorConfig."""
        settings = self.settings
        return settings.get("source.cluster.alias", "source"), settings.get("target.cluster.alias", "target")

    @property
    def policy(self) -> str:
        """The class of its replication policy, without the package."""
        return self.settings.get("replication.policy.class", "DefaultReplicationPolicy").rsplit(".", 1)[-1]

    @property
    def separator(self) -> str:
        """The separator between alias and topic in the names of its replicas."""
        return self.settings.get("replication.policy.separator", ".")


@dataclass(frozen=True)
class ClusterObservation:
    """One cluster, and the connectors on the workers that replicate to it."""

    alias: str
    cluster_id: str
    brokers: int
    topics: Mapping[str, TopicState]
    groups: Mapping[str, GroupUse]
    #: None: they could not be read, or the cluster has no authorizer.
    acls: frozenset[Acl] | None
    #: True: the cluster has an authorizer, so the lists only have what the login may describe. None: unknown.
    authorizer: bool | None
    #: None: they could not be read.
    connectors: tuple[MirrorConnector, ...] | None
    #: What could not be read, with the reason, one sentence each.
    unread: tuple[str, ...] = ()
    #: Topics whose own settings could not be read.
    without_settings: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PairObservation:
    """Both clusters."""

    home: ClusterObservation
    away: ClusterObservation
    #: Hosts of the Ansible inventory by network address.
    hosts: Mapping[str, str] = field(default_factory=dict)

    @property
    def clusters(self) -> tuple[ClusterObservation, ClusterObservation]:
        """The home cluster and the other one."""
        return self.home, self.away

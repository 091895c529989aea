# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that MirrorMaker 2 gives to topics and connectors.

Source: org.apache.kafka.connect.mirror.DefaultReplicationPolicy, IdentityReplicationPolicy, MirrorSourceConfig.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from .errors import DrError
from .partition import Partition

__all__ = [
    "CONNECTORS",
    "HEARTBEATS",
    "JOURNAL_TOPIC",
    "POLICIES",
    "STATE_TOPIC",
    "Naming",
    "PrefixedNaming",
    "connector_name",
    "flow_name",
    "is_internal",
    "naming_of",
    "offsets_topic",
    "rehearsal_alias",
    "rehearsal_separator",
    "salvage_topic",
]

CONNECTORS = {
    "source": "MirrorSourceConnector",
    "checkpoint": "MirrorCheckpointConnector",
    "heartbeat": "MirrorHeartbeatConnector",
}

# The topic that a heartbeat connector writes on its source cluster, with any separator.
HEARTBEATS = "heartbeats"
# Ends in "-internal": ReplicationPolicy.isInternalTopic keeps it out of every flow.
JOURNAL_TOPIC = "kafka-dr-journal-internal"
# Compacted: records of which only the latest counts, such as leases and presynced offsets.
STATE_TOPIC = "kafka-dr-state-internal"


@dataclass(frozen=True)
class Naming(ABC):
    """A replication policy: how it names replicas, and what follows from that. :func:`naming_of` makes one.

    Callers ask for the properties below, never for the name of the policy.
    """

    separator: str = "."
    #: Value of ``kafka_dr_policy``.
    policy: ClassVar[str]
    #: Value of ``replication.policy.class`` without its package.
    java_class: ClassVar[str]
    #: A replica has the name of its original. No name can be mistaken for the name of a replica.
    keeps_names: ClassVar[bool]
    #: Flows write into the topics into which applications write, so only one of both may write at a time.
    flows_write_originals: ClassVar[bool]
    #: Only the flow from the cluster of the applications runs. The other one would replicate the same records back.
    one_flow_at_a_time: ClassVar[bool]
    #: A flow starts at the cut between two tenures, or where the logs on both clusters are found to be equal (R22).
    starts_at_cut: ClassVar[bool]

    @abstractmethod
    def replica(self, source_alias: str, topic: str) -> str:
        """Name of the replica of ``topic`` from ``source_alias``."""

    def replica_partition(self, source_alias: str, key: Partition) -> Partition:
        """Replica of a partition of ``source_alias``."""
        return Partition(self.replica(source_alias, key.topic), key.partition)

    def checkpoints(self, source_alias: str) -> str:
        """Checkpoints topic of the flow from ``source_alias``; it is on the target."""
        return f"{source_alias}{self.separator}checkpoints{self.separator}internal"

    def offset_syncs(self, other_alias: str) -> str:
        """Offset-syncs topic. With location ``source``, ``other_alias`` is the target; with ``target``, the source."""
        return f"mm2-offset-syncs{self.separator}{other_alias}{self.separator}internal"

    def heartbeats(self, source_alias: str) -> str:
        """Replicated heartbeats on the target: prefixed under both policies."""
        return f"{source_alias}{self.separator}heartbeats"


class PrefixedNaming(Naming):
    """A replica has the alias of its source as a prefix, so both flows run at the same time."""

    policy = "default"
    java_class = "DefaultReplicationPolicy"
    keeps_names = flows_write_originals = one_flow_at_a_time = starts_at_cut = False

    def replica(self, source_alias: str, topic: str) -> str:
        """Name of the replica of ``topic`` from ``source_alias``."""
        return f"{source_alias}{self.separator}{topic}"


class IdentityNaming(Naming):
    """Original and replica have one name. After a cutover, the applications continue the log that the flow wrote."""

    policy = "identity"
    java_class = "IdentityReplicationPolicy"
    keeps_names = flows_write_originals = one_flow_at_a_time = starts_at_cut = True

    def replica(self, source_alias: str, topic: str) -> str:
        """Name of the replica of ``topic`` from ``source_alias``."""
        del source_alias
        return topic


#: The replication policies by the value of ``kafka_dr_policy``.
POLICIES: Mapping[str, type[Naming]] = {one.policy: one for one in (PrefixedNaming, IdentityNaming)}


def naming_of(policy: str | None = None, separator: str = ".") -> Naming:
    """Return the naming of a policy; None: MirrorMaker 2's default. Raises ``bad_option`` for an unknown name."""
    found = POLICIES.get(policy or PrefixedNaming.policy)
    if found is None:
        raise DrError("bad_option", f'The policy is "{policy}", wanted one of {", ".join(POLICIES)}.', "Correct it.")
    return found(separator)


def flow_name(source: str, target: str) -> str:
    """Name of a flow, as MirrorMaker 2 and Cloudera write it."""
    return f"{source}->{target}"


def connector_name(source: str, target: str, part: str, application: str | None = None) -> str:
    """Connector of a flow, named as Strimzi names it: ``P->B.MirrorSourceConnector``.

    For one application of several: ``P->B.payments.MirrorSourceConnector``. All applications share the heartbeats.
    """
    own = f".{application}" if application and part != "heartbeat" else ""
    return f"{flow_name(source, target)}{own}.{CONNECTORS[part]}"


def offsets_topic(source: str) -> str:
    """The topic on the target where a dedicated MirrorMaker 2 stores its offsets of ``source``, with any separator."""
    return f"mm2-offsets.{source}.internal"


def rehearsal_alias(alias: str, separator: str) -> str:
    """Alias of a cluster in a rehearsal of a pair with this separator, which no alias may contain."""
    return f"rehearsal{'_' if '-' in separator else '-'}{alias}"


def rehearsal_separator(separator: str) -> str:
    """Another separator than the pair's. Otherwise the pair's flows would replicate the rehearsal's heartbeats."""
    return ".." if "-" in separator else "--"


def salvage_topic(topic: str) -> str:
    """The topic to which the playbook salvage replays records of ``topic``, unless that is ``topic`` itself."""
    return f"{topic}.salvage"


def is_internal(topic: str) -> bool:
    """True for topics of Kafka, Kafka Connect or MirrorMaker 2: this collection never deletes or changes them."""
    return (
        topic == "heartbeats"
        or topic.startswith(("__", "mm2-", "srm-", "connect-"))
        or topic.endswith((".internal", "-internal", ".heartbeats"))
    )

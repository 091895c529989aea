# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that MirrorMaker 2 gives to topics and connectors.

Source: org.apache.kafka.connect.mirror.DefaultReplicationPolicy, IdentityReplicationPolicy, MirrorSourceConfig.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CONNECTORS",
    "HEARTBEATS",
    "JOURNAL_TOPIC",
    "STATE_TOPIC",
    "Naming",
    "connector_name",
    "flow_name",
    "is_internal",
    "offsets_topic",
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
class Naming:
    """The replication policy of a pair: ``default`` prefixes replicas with the source alias, ``identity`` does not."""

    policy: str = "default"
    separator: str = "."

    def replica(self, source_alias: str, topic: str) -> str:
        """Name of the replica of ``topic`` from ``source_alias``."""
        return topic if self.policy == "identity" else f"{source_alias}{self.separator}{topic}"

    def checkpoints(self, source_alias: str) -> str:
        """Checkpoints topic of the flow from ``source_alias``; it is on the target."""
        return f"{source_alias}{self.separator}checkpoints{self.separator}internal"

    def offset_syncs(self, other_alias: str) -> str:
        """Offset-syncs topic. With location ``source``, ``other_alias`` is the target; with ``target``, the source."""
        return f"mm2-offset-syncs{self.separator}{other_alias}{self.separator}internal"

    def heartbeats(self, source_alias: str) -> str:
        """Replicated heartbeats on the target: prefixed under both policies."""
        return f"{source_alias}{self.separator}heartbeats"


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

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

# What a heartbeat connector writes on its source's side, whatever the separator.
HEARTBEATS = "heartbeats"
# Ends in "-internal": ReplicationPolicy.isInternalTopic keeps it out of every flow.
JOURNAL_TOPIC = "kafka-dr-journal-internal"
# Compacted: what matters only in its latest form, such as who is at work and how old prepared positions are.
STATE_TOPIC = "kafka-dr-state-internal"


@dataclass(frozen=True)
class Naming:
    """The replication policy of a pair: ``default`` prefixes replicas with the source alias, ``identity`` does not."""

    policy: str = "default"
    separator: str = "."

    def replica(self, source_alias: str, topic: str) -> str:
        """Name on the target of ``topic`` of ``source_alias``."""
        return topic if self.policy == "identity" else f"{source_alias}{self.separator}{topic}"

    def checkpoints(self, source_alias: str) -> str:
        """Checkpoint topic of the flow from ``source_alias``; it lies on the target."""
        return f"{source_alias}{self.separator}checkpoints{self.separator}internal"

    def offset_syncs(self, other_alias: str) -> str:
        """Offset-syncs topic. Location source: ``other_alias`` is the target; location target: the source."""
        return f"mm2-offset-syncs{self.separator}{other_alias}{self.separator}internal"

    def heartbeats(self, source_alias: str) -> str:
        """Replicated heartbeats on the target: prefixed under both policies."""
        return f"{source_alias}{self.separator}heartbeats"


def flow_name(source: str, target: str) -> str:
    """A flow as MirrorMaker 2 and Cloudera write it."""
    return f"{source}->{target}"


def connector_name(source: str, target: str, part: str, application: str | None = None) -> str:
    """Connector of a flow, named as Strimzi names it: ``P->B.MirrorSourceConnector``.

    Of one application out of many: ``P->B.payments.MirrorSourceConnector``. Heartbeats are everybody's.
    """
    own = f".{application}" if application and part != "heartbeat" else ""
    return f"{flow_name(source, target)}{own}.{CONNECTORS[part]}"


def offsets_topic(source: str) -> str:
    """Where a dedicated MirrorMaker 2 keeps what it copied from ``source``; on the target, whatever the separator."""
    return f"mm2-offsets.{source}.internal"


def salvage_topic(topic: str) -> str:
    """Where the playbook salvage writes what it brings over of ``topic``, unless that is ``topic`` itself."""
    return f"{topic}.salvage"


def is_internal(topic: str) -> bool:
    """True for topics that belong to Kafka, Connect or MirrorMaker 2: never deleted or altered by us."""
    return (
        topic == "heartbeats"
        or topic.startswith(("__", "mm2-", "srm-", "connect-"))
        or topic.endswith((".internal", "-internal", ".heartbeats"))
    )

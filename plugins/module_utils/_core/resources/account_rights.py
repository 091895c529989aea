# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights (ACLs) that this collection and the flows need on one cluster, each with its reason.

Applications: see :func:`.acl.client_acls`. This file imports nothing of the collection, because the lab, which runs
without Ansible, takes the rights of its flows from here.

Sources: org.apache.kafka.common.acl.AclOperation (READ, WRITE, DELETE and ALTER imply DESCRIBE; ALTER_CONFIGS implies
DESCRIBE_CONFIGS), kafka.server.KafkaApis (4.3).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ACCOUNTS", "Place", "Right", "flow_rights", "grouped", "operator_rights", "rights_of", "viewer_rights"]

#: The accounts by name, with what they are for.
ACCOUNTS = {
    "viewer": "this collection, for `readiness`, `status`, `verify` and `support_bundle`",
    "operator": "this collection, for all playbooks",
    "flow": "the Kafka Connect workers and MirrorMaker 2",
}
_CLUSTER = "kafka-cluster"
_CANARY = "kafka-dr-rehearsal-"


@dataclass(frozen=True, order=True)
class Right:
    """One ACL that allows, without its principal."""

    resource_type: str
    name: str
    operation: str
    pattern_type: str
    #: The playbooks or parts that need it, and for what.
    why: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """One cluster of a pair: the names that rights refer to."""

    pair: str
    #: Alias of the other cluster.
    other: str
    #: Originals.
    topics: Sequence[str] = ()
    #: Replicas with names of their own.
    replicas: Sequence[str] = ()
    #: Topics with checkpoints of the flows to this cluster.
    checkpoints: Sequence[str] = ()
    #: The topic of the other cluster's heartbeats, and the one of this cluster's own.
    replicated_heartbeats: str = ""
    heartbeats: str = ""
    #: Offset-syncs topics.
    syncs: Sequence[str] = ()
    groups: Sequence[str] = ()
    #: Topics that ``salvage`` writes.
    salvage_topics: Sequence[str] = ()
    #: The journal and the state topic.
    own: Sequence[str] = ()
    #: See ``Naming``: flows write into the topics of the applications.
    flows_write_originals: bool = False
    #: The pair moves one of several applications.
    application: bool = False
    #: ``rebuild`` deletes offset-syncs topics, because the engine cannot set offsets.
    deletes_syncs: bool = False
    separator: str = "."
    #: Alias of the other cluster in a rehearsal, and its separator.
    rehearsal_other: str = ""
    rehearsal_separator: str = "--"
    #: Name of the pair that a rehearsal makes.
    rehearsal_pair: str = ""
    #: ``group.id`` of the workers on this cluster, with which the names of their topics begin; "": unknown.
    workers: str = ""


def viewer_rights(place: Place) -> list[Right]:
    """The rights of an account that changes nothing."""
    pair = (*place.topics, *place.replicas, *place.checkpoints, *place.syncs)
    heartbeats = (place.heartbeats,) if place.application and place.heartbeats else ()
    return [
        Right("cluster", _CLUSTER, "describe", "literal", "readiness: ACLs of the applications"),
        Right("cluster", _CLUSTER, "describe_configs", "literal", "readiness: limits of the brokers; support_bundle"),
        Right("topic", "*", "describe", "literal", "all: topics that a group reads although no inventory names them"),
        Right("group", "*", "describe", "literal", "all: members and committed offsets, also of undeclared groups"),
        *_each(pair, "read", "all: compare the last records; verify: all records"),
        *_each((place.replicated_heartbeats,), "read", "all: the age of the last heartbeat"),
        *_each(heartbeats, "read", "all: the heartbeat of the flow of one application"),
        *_each(place.own, "read", "all: which cluster is active, and which run is at work"),
        Right(
            "topic",
            "__share_group_state",
            "read",
            "literal",
            "readiness, enable, moves: which topics share groups read",
        ),
        *_each((*pair, *place.own), "describe_configs", "readiness, status: settings of the topic"),
        *_each((place.replicated_heartbeats,), "describe_configs", "readiness: all settings with one request"),
    ]


def operator_rights(place: Place) -> list[Right]:
    """The rights of an account that runs every playbook. ALTER on the cluster lets it change every ACL."""
    heartbeats = [name for name in (place.replicated_heartbeats, place.heartbeats) if name]
    made = (*place.topics, *place.replicas, *heartbeats, *place.checkpoints, *place.syncs, *place.own)
    set_by_enable = (*place.topics, *place.syncs, *place.own)
    salvage = "salvage with kafka_dr_salvage=replay"
    changing = [
        Right("cluster", _CLUSTER, "alter", "literal", "rights, rehearse, a fence over Kafka: change ACLs"),
        *_each(made, "create", "enable: create the topic, or validate that a flow can"),
        *_each(place.topics, "alter", "enable: add partitions"),
        *_each(set_by_enable, "alter_configs", "enable: settings of the topic"),
        *_each(place.replicas, "alter_configs", "kafka_dr_hold_retention: keep records"),
        *_each(place.syncs if place.deletes_syncs else (), "delete", "rebuild: delete offset-syncs"),
        *_each(place.own, "write", "all that change something: journal and leases"),
        *(
            Right("transactional_id", f"kafka-dr-{name}", "write", "literal", why)
            for name, why in (
                (place.pair, "all that change something: one writer of the journal"),
                (f"salvage-{place.pair}", salvage),
                (place.rehearsal_pair, "rehearse: its own journal"),
            )
        ),
        *(Right("group", name, "read", "literal", "failover_*, failback: commit offsets") for name in place.groups),
        *_each(place.salvage_topics, "create", salvage),
        *_each(place.salvage_topics, "alter_configs", salvage),
        *_each(place.salvage_topics, "write", salvage),
        Right("topic", "*", "describe_configs", "literal", "rehearse: prove that no other topic has changed"),
        Right("topic", f"{_CANARY}{place.pair}-", "all", "prefixed", "rehearse: its own topics"),
        Right("group", f"{_CANARY}{place.pair}-", "all", "prefixed", "rehearse: its own groups"),
        Right(
            "topic", f"{place.rehearsal_other}{place.rehearsal_separator}", "all", "prefixed", "rehearse: its replicas"
        ),
        Right("topic", f"mm2-offset-syncs{place.rehearsal_separator}", "all", "prefixed", "rehearse: its offset-syncs"),
    ]
    return _without_implied([*viewer_rights(place), *changing])


def flow_rights(place: Place) -> list[Right]:
    """The rights of workers and connectors. With the policy ``identity`` also on the topics of the applications."""
    why = "Kafka Connect: its own topics and transactions"
    kinds = ("topic", "transactional_id") if place.workers else ()
    own = [Right(kind, place.workers, "all", "prefixed", why) for kind in kinds]
    # The leader of the workers fences the others (KIP-618).
    own += [Right("transactional_id", f"connect-cluster-{place.workers}", "all", "literal", why)] if kinds else []
    flows = f"{place.other}{place.separator}"
    rehearsal = f"{place.rehearsal_other}{place.rehearsal_separator}"
    return [
        *own,
        Right("topic", flows, "all", "prefixed", "replicas, heartbeats and checkpoints of the other cluster"),
        Right("topic", rehearsal, "all", "prefixed", "rehearse: the same for a rehearsal"),
        Right("topic", "mm2-offset-syncs", "all", "prefixed", "offset-syncs"),
        Right("topic", "heartbeats", "all", "literal", "heartbeats of this cluster"),
        Right("topic", "*", "read", "literal", "originals"),
        Right("topic", "*", "describe_configs", "literal", "settings of originals, which replicas get too"),
        Right("group", "*", "read", "literal", "the group of the workers, and committed offsets, read and synced"),
        *(
            Right("topic", name, "all", "literal", "policy identity: a replica has the name of its original")
            for name in (place.topics if place.flows_write_originals else ())
        ),
    ]


def rights_of(account: str, place: Place) -> list[Right]:
    """The rights of one of ``ACCOUNTS``."""
    return {"viewer": viewer_rights, "operator": operator_rights, "flow": flow_rights}[account](place)


def grouped(rights: Sequence[Right]) -> list[tuple[str, str, str, str, str]]:
    """Rows to show: operation, resource type, pattern type, names and reason. A row has all names with its reason."""
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for right in rights:
        key = (right.operation, right.resource_type.replace("_", " "), right.pattern_type, right.why)
        rows.setdefault(key, []).append(right.name)
    return [(*key[:3], ", ".join(names), key[3]) for key, names in rows.items()]


def _each(topics: Sequence[str], operation: str, why: str) -> list[Right]:
    return [Right("topic", name, operation, "literal", why) for name in topics]


def _without_implied(rights: Sequence[Right]) -> list[Right]:
    """Leave out rights that another one implies, on the same resource or on all, and a second reason for the same."""
    implying = {"describe": {"read", "write", "delete", "alter", "all"}, "describe_configs": {"alter_configs", "all"}}
    given = {(right.resource_type, right.name, right.pattern_type, right.operation) for right in rights}
    needed: dict[tuple[str, str, str, str], Right] = {}
    for right in rights:
        resource = (right.resource_type, right.name, right.pattern_type)
        stronger = [(*resource, operation) for operation in implying.get(right.operation, ())]
        if right.name != "*":
            stronger.append((right.resource_type, "*", "literal", right.operation))
        if not given.intersection(stronger):
            needed.setdefault((*resource, right.operation), right)
    return list(needed.values())

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that describe a pair of clusters. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``pair.spec`` documents ``pair_option()``; ``pair.flows`` documents ``flow_options()``."""

    SPEC = r"""
options:
  pair:
    description:
      - The pair of clusters. A module reads only the keys that it needs. The roles of this collection pass
        C(kafka_dr_pair.spec).
      - C(clusters) (required) holds the two clusters by alias. Each has C(bootstrap_servers). Where Kafka Connect runs
        the flow toward the cluster, it has C(connect_url). Where Streams Replication Manager runs that flow, it has
        C(srm) with C(url), C(client), C(api_version), C(cluster) and C(service).
      - A cluster can also have C(client) (librdkafka properties), C(admin_client) (used by modules instead of
        C(client)), C(connect_client) (see O(switchback.kafka_dr.connect_mirror#module:connect_client)) and
        C(cluster_id). With C(cluster_id), a module refuses any other cluster.
      - C(topics) (required) lists the names of the original topics. They are the same on both clusters. C(groups) lists
        the consumer groups that move with the applications. C(patterns) holds, for C(topics) and C(groups), the
        patterns of the inventory, each with C(match) and C(exclude). The two lists hold what they took.
      - C(group_topics) maps a group to the original topics that it reads. A group without an entry reads the topics on
        which it has committed offsets.
      - C(local_groups) lists groups of the inventory that do not move. C(accept_undeclared) lists groups outside the
        inventory that may stay at work on the cluster that the applications leave.
      - C(policy) is V(default) (replicas are prefixed with the source alias) or V(identity) (replicas have the name of
        their original). It defaults to V(default). C(separator) is C(replication.policy.separator) and defaults to
        V(.).
      - C(drop) lists topics and groups that may leave the pair.
      - C(accept_foreign_writers) lists topics whose replicas may hold records that the flow did not write.
      - C(home) is the alias where the applications of a new pair live. It defaults to the first cluster.
      - C(name) is the name of the pair in the journal. It defaults to both aliases in alphabetical order, joined by a
        hyphen. C(journal_topic) and C(state_topic) default to C(kafka-dr-journal-internal) and
        C(kafka-dr-state-internal).
    type: dict
    required: true
  request_timeout:
    description: Bound of each request to Kafka, Kafka Connect or Cloudera Manager, in seconds.
    type: float
    default: 15.0
"""

    FLOWS = r"""
options:
  flows:
    description: The flows, each with the alias of its source and of its target.
    type: list
    elements: dict
    required: true
    suboptions:
      source:
        description: Alias of the cluster that the flow reads from.
        type: str
        required: true
      target:
        description: Alias of the cluster that the flow writes to.
        type: str
        required: true
"""

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that describe a pair of clusters."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of the modules that look at a whole pair; ``pair.flows`` documents ``flow_options()``."""

    DOCUMENTATION = r"""
options:
  clusters:
    description:
      - The two clusters by alias.
      - Each needs C(bootstrap_servers), and C(connect_url) where a flow toward it runs; it may have C(client)
        (librdkafka properties), C(admin_client) (used instead of C(client) by this module), C(connect_client)
        (see the options of M(switchback.kafka_dr.connect_mirror)) and C(cluster_id) (another cluster is refused).
      - C(engine) is the name of the engine that runs the flows; without it, that is C(connect). With the engine C(srm),
        each needs C(srm) instead of C(connect_url), a dictionary with C(url), C(client), C(api_version), C(cluster) and
        C(service).
      - The derived variable C(kafka_dr_pair.clusters) has this shape.
    type: dict
    required: true
  topics:
    description: Names of the original topics, equal on both sides.
    type: list
    elements: str
    required: true
  groups:
    description: Consumer groups that move with the applications.
    type: list
    elements: str
    default: []
  group_topics:
    description:
      - The originals that a group reads, as a dictionary from group to a list of topics.
      - A group that is not named here reads the topics on which it has committed positions.
    type: dict
    default: {}
  policy:
    description: Replication policy of the flows; V(default) prefixes replicas with the source alias.
    type: str
    choices: [default, identity]
    default: default
  separator:
    description: Separator between alias and topic in replica names, C(replication.policy.separator).
    type: str
    default: "."
  accept_foreign:
    description:
      - Topics of which it is known that somebody else than the flow has written into their replicas. For any other one
        that is an error, because such records are never copied back.
    type: list
    elements: str
    default: []
  request_timeout:
    description: Bound of each request to Kafka, Connect or Cloudera Manager, in seconds.
    type: float
    default: 15.0
"""

    SPEC = r"""
options:
  pair:
    description:
      - The pair of clusters. The roles of this collection pass C(kafka_dr_pair.spec). A module reads what it needs.
      - C(clusters), required, holds the two clusters by alias. Each has C(bootstrap_servers); C(connect_url) where
        Kafka Connect runs the flow toward it, or C(srm) with C(url), C(client), C(api_version), C(cluster) and
        C(service) where Streams Replication Manager does; C(client), librdkafka properties; C(admin_client), used
        instead of C(client) by modules; C(connect_client), see M(switchback.kafka_dr.connect_mirror); and
        C(cluster_id), so that another cluster is refused.
      - C(topics), required, lists the names of the original topics, which are equal on both clusters. C(groups) lists
        the consumer groups that move with the applications.
      - C(group_topics) maps a group to the original topics that it reads. A group that is not named reads the topics
        on which it has committed offsets.
      - C(policy) is V(default) (replicas are prefixed with the source alias) or V(identity), C(separator) is
        C(replication.policy.separator). They default to V(default) and C(.).
      - C(accept_foreign) lists topics whose replicas are known to hold records of other writers than the flow.
      - C(home) is the alias where the applications of a new pair live, by default the first cluster.
      - C(name) is the name of the pair in the journal, by default both aliases joined by a hyphen. C(journal_topic) and
        C(state_topic) default to C(kafka-dr-journal-internal) and C(kafka-dr-state-internal).
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
    description: The flows that this is about, each with C(source) and C(target) alias.
    type: list
    elements: dict
    required: true
    suboptions:
      source:
        description: Alias of the cluster that the flow reads.
        type: str
        required: true
      target:
        description: Alias of the cluster that the flow writes.
        type: str
        required: true
"""

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that describe a pair of clusters."""

from __future__ import annotations


class ModuleDocFragment:
    """``pair.spec`` documents ``pair_option()``, ``pair.flows`` documents ``flow_options()``."""

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
      - C(accept_foreign_writers) lists topics whose replicas are known to hold records of other writers than the flow.
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

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read topics: identity, partitions, settings and offsets."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_topic_info
short_description: Read Kafka topics
version_added: 1.0.0
description:
  - Returns the id, partitions, settings and, on request, the offsets of topics. It uses a few batched requests.
  - Reading a topic never creates it. An unknown value is null, never 0.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  topics:
    description:
      - Names of the topics. If not set, all topics.
    type: list
    elements: str
  internal:
    description:
      - Whether to include topics that belong to Kafka, Kafka Connect or MirrorMaker 2 when O(topics) is not set.
    type: bool
    default: false
  config:
    description:
      - Which settings to return. V(overrides) returns the topic's own settings. V(all) also returns the defaults that
        apply to the topic.
    type: str
    choices: [none, overrides, all]
    default: overrides
  offsets:
    description:
      - Whether to read the log start offset and the log end offset of every partition.
    type: bool
    default: false
  isolation:
    description:
      - What counts as the end of a log. With V(read_committed), it is the last stable offset. An open transaction holds
        it back. With V(read_uncommitted), it is the high watermark.
    type: str
    choices: [read_committed, read_uncommitted]
    default: read_committed
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.confluent_kafka
seealso:
  - module: switchback.kafka_dr.kafka_topic
  - module: switchback.kafka_dr.kafka_group_info
  - name: Kafka topic configuration reference
    description: Names, types and defaults of topic settings.
    link: https://kafka.apache.org/documentation/#topicconfigs
"""

EXAMPLES = r"""
- name: Read a topic, its replica and their offsets
  switchback.kafka_dr.kafka_topic_info:
    bootstrap_servers: p1.example.com:9092
    expected_cluster_id: 4L6g3nShT-eMCtK--X86sw
    topics: [Payments, B.Payments]
    offsets: true
  register: payments

- name: Require that both topics exist
  ansible.builtin.assert:
    that: payments.topics | rejectattr('exists') | length == 0

- name: Read all topics with their own settings
  switchback.kafka_dr.kafka_topic_info:
    bootstrap_servers: p1.example.com:9092
"""

RETURN = r"""
cluster_id:
  description: Id of the cluster, as the brokers report it.
  returned: success
  type: str
  sample: 4L6g3nShT-eMCtK--X86sw
topics:
  description: One entry per topic, in the order of O(topics). If O(topics) is not set, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the topic.
      type: str
    exists:
      description: Whether the topic exists. If it does not, all other values are null.
      type: bool
    topic_id:
      description:
        - Id of the topic. It changes when the topic is deleted and created again.
        - Null if the brokers assign none, before Kafka 2.8.
      type: str
    partitions:
      description: Number of partitions.
      type: int
    replication_factor:
      description: Number of replicas of each partition. Null while the partitions have different numbers.
      type: int
    leaderless:
      description: Partitions that currently have no leader.
      type: list
      elements: int
    config:
      description: Settings by name, as O(config) selects them.
      type: dict
    cleanup_policy:
      description: The effective V(cleanup.policy). Null with O(config=none).
      type: str
    timestamp_type:
      description: The effective V(message.timestamp.type). Null with O(config=none).
      type: str
    offsets:
      description: Offsets by partition. Null without O(offsets).
      type: list
      elements: dict
      contains:
        partition:
          description: Number of the partition.
          type: int
        start:
          description: Log start offset. Null if it could not be read.
          type: int
        end:
          description: Log end offset, as O(isolation) defines it. Null if it could not be read.
          type: int
  sample:
    - name: Payments
      exists: true
      topic_id: 1cXtYB3QQDuJ4ABiLBn6cA
      partitions: 1
      replication_factor: 3
      leaderless: []
      config: {retention.ms: "604800000"}
      cleanup_policy: delete
      timestamp_type: CreateTime
      offsets:
        - {partition: 0, start: 0, end: 1201}
requests:
  description: Requests that the module sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample:
    - {api: describe_cluster}
error:
  description: Why the task failed, for playbooks that branch on the reason.
  returned: failure
  type: dict
  contains:
    code:
      description: For example V(wrong_cluster) or V(kafka_unreachable).
      type: str
    message:
      description: What failed, with the value found and the value wanted.
      type: str
    hint:
      description: What to do next.
      type: str
    endpoint:
      description: Address of the peer that caused the error.
      type: str
  sample:
    code: kafka_unreachable
    message: No broker at "p1.example.com:9092" responded within 15 s.
    hint: Check that the brokers run and that this host reaches them.
    endpoint: p1.example.com:9092
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import is_internal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import TopicState, topic_row
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka, connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import (
    describe,
    known_ranges,
    names,
    with_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    kafka_options,
    run,
)

OPTIONS = ArgumentSpec(
    {
        "topics": {"type": "list", "elements": "str"},
        "internal": {"type": "bool", "default": False},
        "config": {"type": "str", "choices": ["none", "overrides", "all"], "default": "overrides"},
        "offsets": {"type": "bool", "default": False},
        "isolation": {
            "type": "str",
            "choices": ["read_committed", "read_uncommitted"],
            "default": "read_committed",
        },
    }
)
SHOWN_ALWAYS = ("cleanup.policy", "message.timestamp.type")


def observe(module: AnsibleModule) -> Result:
    """Read the topics and, as requested, their settings and offsets."""
    params = module.params
    kafka = connect(params)
    asked = params["topics"]
    if asked is None:
        asked = [name for name in names(kafka) if params["internal"] or not is_internal(name)]
    found = describe(kafka, list(dict.fromkeys(asked)))
    states = [state for state in found.values() if state is not None]
    if params["config"] != "none":
        wanted = None if params["config"] == "all" else {state.name: SHOWN_ALWAYS for state in states}
        found.update(with_config(kafka, states, wanted))
    spans = read_offsets(kafka, states, params["isolation"]) if params["offsets"] else None
    rows = [topic_row(name, state, params["config"], spans) for name, state in found.items()]
    return Result(extra={"cluster_id": kafka.cluster_id, "topics": rows}, requests=kafka.requests)


def read_offsets(kafka: Kafka, states: list[TopicState], isolation: str) -> dict[Any, Any]:
    """Log start offset and log end offset of every partition of the topics."""
    return known_ranges(
        kafka, {Partition(state.name, index) for state in states for index in range(state.partitions)}, isolation
    )


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(OPTIONS).create_module(), observe)


if __name__ == "__main__":
    main()

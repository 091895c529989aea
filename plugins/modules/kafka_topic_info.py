#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at topics: identity, shape, settings and offsets."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_topic_info
short_description: Look at Kafka topics
version_added: 1.0.0
description:
  - Returns identity, shape, settings and, if wanted, offsets of topics, in a few batched requests.
  - A topic that does not exist is not created by asking for it. What is not known is null, never 0.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  topics:
    description:
      - Names of the topics to look at. If not set, all topics.
    type: list
    elements: str
  internal:
    description:
      - Whether looking at all topics includes those that belong to Kafka, Kafka Connect or MirrorMaker 2.
    type: bool
    default: false
  config:
    description:
      - Which settings to return. V(overrides) are the topic's own, V(all) includes the defaults that apply to it.
    type: str
    choices: [none, overrides, all]
    default: overrides
  offsets:
    description:
      - Whether to read the log start and log end of every partition.
    type: bool
    default: false
  isolation:
    description:
      - What counts as the end of a log. With V(read_committed) it is the last stable offset, which an open transaction
        holds back.
    type: str
    choices: [read_committed, read_uncommitted]
    default: read_committed
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.kafka
seealso:
  - module: switchback.kafka_dr.kafka_topic
"""

EXAMPLES = r"""
- name: Look at two topics and their offsets
  switchback.kafka_dr.kafka_topic_info:
    bootstrap_servers: p1.example.com:9092
    expected_cluster_id: 4L6g3nShT-eMCtK--X86sw
    topics: [Payments, B.Payments]
    offsets: true
  register: payments

- name: Both exist
  ansible.builtin.assert:
    that: payments.topics | rejectattr('exists') | length == 0

- name: All topics with their own settings
  switchback.kafka_dr.kafka_topic_info:
    bootstrap_servers: p1.example.com:9092
"""

RETURN = r"""
cluster_id:
  description: Id of the cluster, as it tells it.
  returned: success
  type: str
topics:
  description: One entry per topic, in the order asked, or by name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the topic.
      type: str
    exists:
      description: Whether it exists. If not, all that follows is null.
      type: bool
    topic_id:
      description: Its id, which changes when a topic is deleted and created again.
      type: str
    partitions:
      description: Number of partitions.
      type: int
    replication_factor:
      description: Replicas of each partition, null while partitions differ in it.
      type: int
    leaderless:
      description: Partitions that have no leader at the moment.
      type: list
      elements: int
    config:
      description: Settings by name, as O(config) says.
      type: dict
    cleanup_policy:
      description: The effective V(cleanup.policy), null with O(config=none).
      type: str
    timestamp_type:
      description: The effective V(message.timestamp.type), null with O(config=none).
      type: str
    offsets:
      description: Per partition, null without O(offsets).
      type: list
      elements: dict
      contains:
        partition:
          description: Number of the partition.
          type: int
        start:
          description: First offset of the log, null if it could not be read.
          type: int
        end:
          description: Offset after the last one, null if it could not be read.
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
  description: Requests that were sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample:
    - {api: describe_cluster}
error:
  description: What went wrong, for playbooks that branch on it.
  returned: failure
  type: dict
  contains:
    code:
      description: For example V(wrong_cluster) or V(kafka_unreachable).
      type: str
    message:
      description: What was wanted and what was found.
      type: str
    hint:
      description: What to do next.
      type: str
    endpoint:
      description: Where it happened.
      type: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import is_internal
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
    """Describe the topics, then their settings, then their offsets: only what was asked for."""
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
    """Log start and end of every partition of the topics."""
    return known_ranges(
        kafka, {(state.name, index) for state in states for index in range(state.partitions)}, isolation
    )


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(OPTIONS).create_module(), observe)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read consumer groups: members, committed offsets, and whether records are left to read."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_group_info
short_description: Read Kafka consumer groups
version_added: 1.0.0
description:
  - Returns the state, members, committed offsets and lag of consumer groups. An unknown value is null, never 0.
  - Can find out whether a group has read to the end. The lag alone does not show this, because transaction markers take
    offsets that no consumer receives.
  - Can wait until groups are idle or have read to the end.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  groups:
    description:
      - Names of the groups. If not set, all groups.
    type: list
    elements: str
  topics:
    description:
      - Topics whose partitions are returned, even if a group has no committed offset on them. If not set, the module
        returns the partitions on which a group has committed offsets.
    type: list
    elements: str
  isolation:
    description:
      - The isolation level that the consumers of the groups use. It determines the log end and which records count.
    type: str
    choices: [read_committed, read_uncommitted]
    default: read_committed
  check_data:
    description:
      - Whether to read from each committed offset on, to find out whether a record lies before the log end.
    type: bool
    default: false
  settle_seconds:
    description:
      - Seconds to watch the groups. A group is idle if it had no members and its committed offsets did not change in
        this time.
    type: float
  wait_for:
    description:
      - What to wait for, for all groups. V(idle) needs O(settle_seconds). V(read_to_end) implies O(check_data).
      - In check mode the module reads once and does not wait.
    type: str
    choices: [idle, read_to_end]
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.confluent_kafka
notes:
  - A consumer that uses C(assign()) instead of C(subscribe()) is not a member of its group. The module sees only the
    offsets that it commits.
seealso:
  - module: switchback.kafka_dr.kafka_group
  - module: switchback.kafka_dr.kafka_topic_info
  - name: Managing consumer groups
    description: How to list and reset offsets with Kafka's own tool.
    link: https://kafka.apache.org/documentation/#basic_ops_consumer_group
"""

EXAMPLES = r"""
- name: Read two groups on a topic and its replica
  switchback.kafka_dr.kafka_group_info:
    bootstrap_servers: p1.example.com:9092
    expected_cluster_id: 4L6g3nShT-eMCtK--X86sw
    groups: [settlement, fraud]
    topics: [Payments, B.Payments]
    check_data: true

- name: Wait until the consumers have left (fails with the remaining members)
  switchback.kafka_dr.kafka_group_info:
    bootstrap_servers: p1.example.com:9092
    groups: [settlement, fraud]
    wait_for: idle
    settle_seconds: 2
    wait_timeout: 60

- name: Wait until every record is read (fails after 30 seconds without progress)
  switchback.kafka_dr.kafka_group_info:
    bootstrap_servers: p1.example.com:9092
    groups: [settlement]
    topics: [Payments]
    wait_for: read_to_end
    wait_timeout: 600
    stall_timeout: 30
"""

RETURN = r"""
groups:
  description:
    - One entry per group, in the order of O(groups). If O(groups) is not set, sorted by name. If a wait fails, the last
      state.
  returned: when the module has read the groups
  type: list
  elements: dict
  contains:
    group:
      description: Name of the group.
      type: str
    state:
      description:
        - State as the coordinator reports it, for example V(STABLE) or V(EMPTY). V(DEAD) if there is no such group.
          V(UNDESCRIBED) if it is neither a classic nor a consumer group, so that its members are unknown. V(UNKNOWN)
          occurs while groups of the newer protocol rebalance.
      type: str
    type:
      description: V(classic) or V(consumer). Null if it is unknown.
      type: str
    members:
      description: The members with client id, host, instance id and assigned partitions.
      type: list
      elements: dict
    idle:
      description: Whether the group was idle during O(settle_seconds). Null without O(settle_seconds).
      type: bool
    lag:
      description: Sum of C(lag) over all partitions. Null if one of them is unknown or if there are none.
      type: int
    read_to_end:
      description:
        - True if the group has read every partition to the end, false if it has not read one of them to the end. Null
          if this is unknown, was not checked, or if there are no partitions.
      type: bool
    committed_offsets:
      description: One entry per partition.
      type: list
      elements: dict
      contains:
        topic:
          description: Name of the topic.
          type: str
        partition:
          description: Number of the partition.
          type: int
        offset:
          description: The committed offset. Null if there is none.
          type: int
        start:
          description: Log start offset.
          type: int
        end:
          description: Log end offset. With O(isolation=read_committed), the last stable offset.
          type: int
        lag:
          description: Number of offsets from the committed offset to the log end. This is not the number of records.
          type: int
        read_to_end:
          description:
            - Whether no record lies between the committed offset and the log end. Null if it is unknown or was not
              checked.
          type: bool
  sample:
    - group: settlement
      state: EMPTY
      type: classic
      members: []
      idle: true
      lag: 1
      read_to_end: true
      committed_offsets:
        - {topic: Payments, partition: 0, offset: 1200, start: 0, end: 1201, lag: 1, read_to_end: true}
waited:
  description:
    - How the wait ended. C(ended) is V(done), V(stalled) or V(timeout). Null without O(wait_for) and in check mode.
  returned: when the module has read the groups
  type: dict
  sample: {ended: done, seconds: 2.1, observations: 9}
requests:
  description: Requests that the module sent, without secrets. After a wait, their number by kind.
  returned: when the module has read the groups
  type: list
  elements: dict
  sample:
    - {api: describe_consumer_groups, groups: 1}
error:
  description: Why the task failed, for playbooks that branch on the reason.
  returned: failure
  type: dict
  contains:
    code:
      description: For example V(wrong_cluster), V(kafka_unreachable), V(wait_timeout) or V(wait_stalled).
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
    code: wait_stalled
    message: "After 41.2 s nothing moved any more: 1 groups are not at the end of what there is to read: settlement."
    hint: Check that the consumers run, and that no open transaction holds back the end.
    endpoint: p1.example.com:9092
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.group_observations import (
    Extra,
    GroupObservation,
    Quiet,
    counted,
    group_observation,
    wait_error,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, Waited, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import groups as kafka_groups
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka, connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.records import data_after
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.topics import describe, known_ranges
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    kafka_options,
    run,
    wait_options,
)

OPTIONS = ArgumentSpec(
    {
        "groups": {"type": "list", "elements": "str"},
        "topics": {"type": "list", "elements": "str"},
        "isolation": {
            "type": "str",
            "choices": ["read_committed", "read_uncommitted"],
            "default": "read_committed",
        },
        "check_data": {"type": "bool", "default": False},
        "settle_seconds": {"type": "float"},
        "wait_for": {"type": "str", "choices": ["idle", "read_to_end"]},
    },
    required_if=[("wait_for", "idle", ["settle_seconds"])],
)


class Watch:
    """Observes groups repeatedly, until their goal is reached or it is known which of them are idle."""

    def __init__(self, kafka: Kafka, groups: list[str], params: dict[str, Any]) -> None:
        self.kafka = kafka
        self.groups = groups
        self.params = params
        self.quiet = Quiet(params["settle_seconds"])
        self.check_data = params["check_data"] or params["wait_for"] == "read_to_end"

    def observe(self) -> list[GroupObservation]:
        """Every group. Reads the logs after the committed offsets, so that no log end is older than an offset."""
        states = kafka_groups.describe(self.kafka, self.groups)
        commits = kafka_groups.known_committed_offsets(self.kafka, self.groups)
        idle = self.quiet.note(time.monotonic(), states, commits)
        ranges = self._ranges(commits)
        data = self._data(commits, ranges) if self.check_data else {}
        shown = None if self.params["topics"] is None else set(ranges)
        return [
            group_observation(states[name], commits[name], ranges, Extra(shown, data, idle[name]))
            for name in self.groups
        ]

    def _ranges(self, commits: dict[Any, Any]) -> dict[Any, Any]:
        topics = self.params["topics"]
        if topics is None:
            topics = {topic for committed_offsets in commits.values() for topic, number in committed_offsets}
        counts = {name: state.partitions for name, state in describe(self.kafka, sorted(topics)).items() if state}
        partitions = {Partition(topic, number) for topic, count in counts.items() for number in range(count)}
        return known_ranges(self.kafka, partitions, self.params["isolation"])

    def _data(self, commits: dict[Any, Any], ranges: dict[Any, Any]) -> dict[Any, Any]:
        places = {
            (key, offset)
            for committed_offsets in commits.values()
            for key, offset in committed_offsets.items()
            if offset is not None
        }
        return data_after(self.kafka, places, ranges, self.params["isolation"])

    def until(self, goal: str | None) -> Waited[list[GroupObservation]]:
        """Observe until ``goal`` is reached. None: until it is known which groups are idle."""
        params = self.params
        if goal is None:
            bounds = Bounds((params["settle_seconds"] or 0) + params["wait_timeout"], params["wait_sleep"])
            return wait_until(self.observe, lambda observations: self.quiet.decided, bounds)
        bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
        return wait_until(
            self.observe,
            lambda observations: all(observation.reached(goal) for observation in observations),
            bounds,
            progress=lambda observations: [observation.progress(goal) for observation in observations],
        )


def observe(module: AnsibleModule) -> Result:
    """Observe the groups once, or until the goal or a bound is reached."""
    params = module.params
    kafka = connect(params)
    groups = list(dict.fromkeys(params["groups"])) if params["groups"] is not None else kafka_groups.names(kafka)
    goal = None if module.check_mode else params["wait_for"]
    watch = Watch(kafka, groups, params)
    waited = watch.until(goal)
    result = Result(extra={"groups": [one.as_dict() for one in waited.state], "waited": None})
    result.requests = kafka.requests if waited.observations == 1 else counted(kafka.requests)
    if goal:
        result.extra["waited"] = {
            "ended": waited.ended,
            "seconds": round(waited.seconds, 3),
            "observations": waited.observations,
        }
        result.failure = wait_error(goal, waited, kafka.bootstrap_servers)
    return result


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(wait_options(), OPTIONS).create_module(), observe)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at consumer groups: who is in them, where they stand, and whether anything is left to read."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_group_info
short_description: Look at Kafka consumer groups
version_added: 1.0.0
description:
  - Returns state, members, positions and distance to the log end of consumer groups; the unknown is null, never 0.
  - Can tell whether a group has read to the end, which the distance alone cannot, because transaction markers take
    offsets that no consumer ever receives.
  - Can wait until groups are idle, or have read to the end.
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
      - Topics whose partitions are shown, also those that a group has no position on. If not set, the partitions that a
        group has positions on.
    type: list
    elements: str
  isolation:
    description:
      - The isolation level that the groups read with. It decides what counts as the log end and as a record.
    type: str
    choices: [read_committed, read_uncommitted]
    default: read_committed
  check_data:
    description:
      - Whether to read from each position on, to tell if a record lies before the log end.
    type: bool
    default: false
  settle_seconds:
    description:
      - Watches the groups for this time. A group is idle if it had no members and its positions did not change.
    type: float
  wait_for:
    description:
      - What to wait for, for all groups. V(idle) needs O(settle_seconds). V(read_to_end) implies O(check_data).
      - In check mode it looks once and does not wait.
    type: str
    choices: [idle, read_to_end]
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
notes:
  - A consumer that reads with C(assign()) instead of subscribing is not a member of its group and cannot be seen, only
    its commits can.
seealso:
  - module: switchback.kafka_dr.kafka_group
"""

EXAMPLES = r"""
- name: Where are the groups
  switchback.kafka_dr.kafka_group_info:
    bootstrap_servers: p1.example.com:9092
    expected_cluster_id: 4L6g3nShT-eMCtK--X86sw
    groups: [settlement, fraud]
    topics: [Payments, B.Payments]
    check_data: true

- name: The consumers are gone (fails with the members that are left)
  switchback.kafka_dr.kafka_group_info:
    bootstrap_servers: p1.example.com:9092
    groups: [settlement, fraud]
    wait_for: idle
    settle_seconds: 2
    wait_timeout: 60

- name: Everything is read (fails early if nobody reads)
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
  description: One entry per group, in the order asked, or by name. On a failed wait the last look.
  returned: when the groups were looked at
  type: list
  elements: dict
  contains:
    group:
      description: Name of the group.
      type: str
    state:
      description:
        - As the coordinator says, for example V(STABLE), V(EMPTY), or V(DEAD) if there is no such group. V(UNKNOWN) is
          seen while groups of the newer protocol rebalance.
      type: str
    type:
      description: V(classic) or V(consumer), null if it is not known.
      type: str
    members:
      description: The members with client id, host, instance id and assigned partitions.
      type: list
      elements: dict
    idle:
      description: Whether it was idle over O(settle_seconds), null if that was not asked.
      type: bool
    lag:
      description: Sum of C(lag) over the positions, null if any of them is not known or there are none.
      type: int
    read_to_end:
      description:
        - True if every position is, false if any is not, null if that is not known, was not asked, or there are no
          positions.
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
          description: The committed position, null if there is none.
          type: int
        start:
          description: Log start.
          type: int
        end:
          description: Log end, with O(isolation=read_committed) the last stable offset.
          type: int
        lag:
          description: Offsets between position and end. This counts offsets, not records.
          type: int
        read_to_end:
          description: Whether no record lies between position and end, null if not asked or not known.
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
  description: How the waiting went, null without O(wait_for).
  returned: when the groups were looked at
  type: dict
  sample: {ended: done, seconds: 2.1, observations: 9}
requests:
  description: Requests that were sent, without secrets. Those of a wait are counted, not listed one by one.
  returned: when the groups were looked at
  type: list
  elements: dict
  sample:
    - {api: describe_consumer_groups, groups: 1}
error:
  description: What went wrong, for playbooks that branch on it.
  returned: failure
  type: dict
  contains:
    code:
      description: For example V(wrong_cluster), V(kafka_unreachable), V(wait_timeout) or V(wait_stalled).
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

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

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
    """Looks at the groups again and again; ``settled`` and ``done`` say when it is enough."""

    def __init__(self, kafka: Kafka, groups: list[str], params: dict[str, Any]) -> None:
        self.kafka = kafka
        self.groups = groups
        self.params = params
        self.quiet = Quiet(params["settle_seconds"])
        self.check_data = params["check_data"] or params["wait_for"] == "read_to_end"

    def observe(self) -> list[GroupObservation]:
        """Every group: state and positions first, then the logs, so that an end is never older than a position."""
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
        partitions = {(topic, number) for topic, count in counts.items() for number in range(count)}
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
        """Watch until ``goal``; without one, for as long as it takes to tell who is idle."""
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
    """Look once, or watch until the goal is reached or the bounds are."""
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

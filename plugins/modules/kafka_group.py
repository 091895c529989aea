#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write given positions of consumer groups, only where that is safe, and prove that they were taken."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_group
short_description: Commit given positions of consumer groups
version_added: 1.0.0
description:
  - Writes the positions (offset of the next record to read) of consumer groups, partition by partition, and reads them
    back.
  - Nothing at all is written unless every group is without members, every partition exists, and every position lies
    within its log. Kafka itself would take a position past the end, and the consumer would then skip or re-read
    everything.
  - After writing, the groups and their positions are looked at again.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  groups:
    description:
      - The groups and their positions. A group that does not exist yet comes into being.
    type: list
    elements: dict
    required: true
    suboptions:
      group:
        description: Name of the group.
        type: str
        required: true
      committed_offsets:
        description: The positions to write. Partitions that are not listed are left as they are.
        type: list
        elements: dict
        required: true
        suboptions:
          topic:
            description: Name of the topic.
            type: str
            required: true
          partition:
            description: Number of the partition.
            type: int
            required: true
          offset:
            description: Offset of the next record that the group is to read.
            type: int
            required: true
  lower:
    description:
      - What to do where a group has already committed a higher position than the wanted one. Going back makes it read
        records again; staying may skip records that it never processed.
      - V(fail) refuses, and says for how many partitions.
      - V(lower) goes back, and counts it in RV(lowered).
      - V(keep) leaves the higher position, and says so in the row's C(status).
    type: str
    choices: [fail, lower, keep]
    default: fail
  settle:
    description:
      - Seconds that the positions must then stay as they were written. What somebody else moves meanwhile is set again,
        and counted in RV(moved); after three times it fails. 0 does not look.
      - For positions below those that a stopped MirrorMaker 2 would write. A task that hangs on a dead cluster outlives
        its connector, and syncs groups meanwhile.
    type: float
    default: 0.0
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.kafka
attributes:
  check_mode:
    support: partial
    details:
      - Everything is checked but the writing itself, for which Kafka has no validation.
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - A consumer that reads with C(assign()) instead of subscribing is not a member of its group and cannot be seen.
  - Log ends are the last stable offsets, so a position within an open transaction is refused.
seealso:
  - module: switchback.kafka_dr.kafka_group_info
"""

EXAMPLES = r"""
- name: Settlement goes on at these records
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    expected_cluster_id: 7QmXW0aLSgqeGrIHwGVbyA
    groups:
      - group: settlement
        committed_offsets:
          - {topic: P.Payments, partition: 0, offset: 182733}
          - {topic: P.Payments, partition: 1, offset: 180019}

- name: Would it be accepted
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    groups: "{{ translated.groups }}"
  check_mode: true
  diff: true

- name: After a disaster the position of the lost side is the truth, even where it is lower
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    groups: "{{ translated.groups }}"
    lower: lower
  register: committed
"""

RETURN = r"""
committed_offsets:
  description: One row per group and partition.
  returned: when the groups were looked at
  type: list
  elements: dict
  contains:
    group:
      description: Name of the group.
      type: str
    topic:
      description: Name of the topic.
      type: str
    partition:
      description: Number of the partition.
      type: int
    before:
      description: Position before, null if there was none.
      type: int
    wanted:
      description: The position asked for.
      type: int
    after:
      description: Position read back at the end, null if there is none.
      type: int
    status:
      description:
        - V(unchanged), V(planned) in check mode, V(done), V(kept) with O(lower=keep), V(failed), or V(refused) if
          nothing was written because of a problem somewhere in the list.
      type: str
  sample:
    - {group: settlement, topic: P.Payments, partition: 0, before: 120, wanted: 182733, after: 182733, status: done}
lowered:
  description: How many positions were, or would be, written below an existing one.
  returned: when the groups were looked at
  type: int
  sample: 0
moved:
  description: How many positions somebody else moved within O(settle), and were set again.
  returned: when the groups were looked at
  type: int
  sample: 0
changes:
  description: The written rows as changes of kind V(position).
  returned: always
  type: list
  elements: dict
  sample:
    - kind: position
      name: settlement P.Payments-0
      action: commit
      before: {offset: 120}
      after: {offset: 182733}
      status: done
      error: null
requests:
  description: Requests that were sent, without secrets.
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
      description:
        - For example V(bad_offsets), V(group_active), V(offset_out_of_range), V(offset_lower),
          V(unknown_partition), V(offset_not_written), or V(several_failed).
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

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import wanted_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.committing import commit_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    kafka_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

COMMITTED_OFFSET = {
    "topic": {"type": "str", "required": True},
    "partition": {"type": "int", "required": True},
    "offset": {"type": "int", "required": True},
}
GROUP = {
    "group": {"type": "str", "required": True},
    "committed_offsets": {"type": "list", "elements": "dict", "required": True, "options": COMMITTED_OFFSET},
}
OPTIONS = ArgumentSpec(
    {
        "groups": {"type": "list", "elements": "dict", "required": True, "options": GROUP},
        "lower": {"type": "str", "choices": ["fail", "lower", "keep"], "default": "fail"},
        "settle": {"type": "float", "default": 0.0},
    }
)


def reconcile(module: AnsibleModule) -> Result:
    """Check the list, look at groups and logs, plan, write, and look again."""
    params = module.params
    wanted = wanted_offsets(params["groups"])
    return commit_offsets(connect(params), wanted, params["lower"], module.check_mode, params["settle"])


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(OPTIONS, guard_options()).create_module(), guarded(reconcile))


if __name__ == "__main__":
    main()

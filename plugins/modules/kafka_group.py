#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commit given offsets of consumer groups, only where that is safe, and read them back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kafka_group
short_description: Commit offsets of Kafka consumer groups
version_added: 1.0.0
description:
  - Commits offsets of consumer groups by partition, and reads them back. A committed offset is the offset of the next
    record that the group reads.
  - The module writes nothing unless every group has no members, every partition exists, and every offset is within its
    log. Kafka itself accepts an offset past the log end. The consumer would then skip or read everything again.
  - After writing, the module reads the groups and their committed offsets again.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  groups:
    description:
      - The groups and their offsets. A group that does not exist is created.
    type: list
    elements: dict
    required: true
    suboptions:
      group:
        description: Name of the group.
        type: str
        required: true
      committed_offsets:
        description: The offsets to commit. Partitions that are not listed stay unchanged.
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
          own:
            description:
              - A higher offset that the group itself committed earlier, according to the journal. If the committed
                offset is still exactly this one, the module lowers it despite O(lower=fail), because the group was set
                back on the other cluster since.
            type: int
          metadata:
            description:
              - A text that the broker stores with the offset, for the application that commits it. An empty text
                removes what is there.
              - If not set, an offset that the module commits has no metadata, and one that is already committed keeps
                its own.
            type: str
  lower:
    description:
      - What to do if a group has already committed a higher offset than the wanted one. With the lower offset, the
        group reads records again. With the higher offset, it may skip records that it never processed.
      - V(fail) fails and reports the number of partitions.
      - V(lower) commits the lower offset. RV(lowered) counts these partitions.
      - With V(fail), an offset that equals C(own) of its row in O(groups) is lowered nevertheless.
      - V(keep) leaves the higher offset. C(status) of the row in RV(committed_offsets) is V(kept).
    type: str
    choices: [fail, lower, keep]
    default: fail
  settle:
    description:
      - Seconds during which the committed offsets must then stay unchanged. If another client changes one, the module
        commits the wanted offset again and counts it in RV(moved). After three attempts the task fails. With V(0), the
        module does not watch the offsets.
      - Use this for offsets below those that a stopped MirrorMaker 2 would commit. A task that hangs on a dead cluster
        can outlive its connector and still sync group offsets.
    type: float
    default: 0.0
extends_documentation_fragment:
  - switchback.kafka_dr.compress
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.confluent_kafka
attributes:
  check_mode:
    support: partial
    details:
      - The module checks everything except the commit itself. Kafka has no validation for it.
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - A consumer that uses C(assign()) instead of C(subscribe()) is not a member of its group. The module cannot see it.
  - The module uses the last stable offset as the log end. It refuses an offset within an open transaction.
seealso:
  - module: switchback.kafka_dr.kafka_group_info
  - module: switchback.kafka_dr.dr_translation_info
  - name: Managing consumer groups
    description: How to list and reset offsets with Kafka's own tool.
    link: https://kafka.apache.org/documentation/#basic_ops_consumer_group
"""

EXAMPLES = r"""
- name: Let the settlement group continue at these records
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    expected_cluster_id: 7QmXW0aLSgqeGrIHwGVbyA
    groups:
      - group: settlement
        committed_offsets:
          - {topic: P.Payments, partition: 0, offset: 182733}
          - {topic: P.Payments, partition: 1, offset: 180019}

- name: Find the committed offsets of settlement on B
  switchback.kafka_dr.dr_translation_info:
    pair:
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
      topics: [Payments]
      groups: [settlement]
    leave: P
    enter: B
  register: translation

- name: Check whether these offsets can be committed
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    groups: "{{ translation.committed_offsets }}"
  check_mode: true
  diff: true

- name: Commit these offsets even where the group has a higher one
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    groups: "{{ translation.committed_offsets }}"
    lower: lower
"""

RETURN = r"""
committed_offsets:
  description: One row per group and partition.
  returned: when the module has read the groups
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
      description: Committed offset before the task. Null if there was none.
      type: int
    wanted:
      description: The wanted offset.
      type: int
    after:
      description: Committed offset read back at the end. Null if there is none.
      type: int
    status:
      description:
        - V(unchanged), V(planned) in check mode, V(done), V(kept) with O(lower=keep), or V(failed). V(refused) if the
          module wrote nothing because of a problem with any row.
      type: str
  sample:
    - {group: settlement, topic: P.Payments, partition: 0, before: 120, wanted: 182733, after: 182733, status: done}
kept:
  description: The rows of RV(committed_offsets) whose C(status) is V(kept).
  returned: when the module has read the groups
  type: list
  elements: dict
  sample: []
lowered:
  description: Number of partitions with a committed offset below the former one. In check mode, those that would be.
  returned: when the module has read the groups
  type: int
  sample: 0
moved:
  description: Number of committed offsets that another client changed within O(settle) and that were committed again.
  returned: when the module has read the groups
  type: int
  sample: 0
changes:
  description: The written rows as changes of kind V(committed_offset).
  returned: always
  type: list
  elements: dict
  sample:
    - kind: committed_offset
      name: settlement P.Payments-0
      action: commit
      before: {offset: 120}
      after: {offset: 182733}
      status: done
      error: null
requests:
  description: Requests that the module sent, without secrets.
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
      description:
        - For example V(bad_offsets), V(group_active), V(offset_out_of_range), V(offset_lower), V(unknown_partition),
          V(offset_not_written) or V(several_failed).
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
    code: group_active
    message: Group "settlement" is active (state STABLE, 2 members).
    hint: Stop its consumers, then run this again.
    endpoint: b1.example.com:9092
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import (
    own_offsets,
    wanted_metadata,
    wanted_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.committing import commit_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    compress_options,
    kafka_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

LOCAL_RUN = {"repeatable": True}
COMMITTED_OFFSET = {
    "topic": {"type": "str", "required": True},
    "partition": {"type": "int", "required": True},
    "offset": {"type": "int", "required": True},
    "own": {"type": "int"},
    "metadata": {"type": "str"},
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
# Return values to compress.
ROWS = ("committed_offsets", "changes")


def reconcile(module: AnsibleModule) -> Result:
    """Validate the list, commit the offsets that differ and read them back."""
    params = module.params
    groups = params["groups"]
    wanted = wanted_offsets(groups)  # first, because it checks the list
    return commit_offsets(
        connect(params),
        wanted,
        params["lower"],
        module.check_mode,
        params["settle"],
        own_offsets(groups),
        wanted_metadata(groups),
    )


def main() -> None:
    """Run the module."""
    run(kafka_options().merge(OPTIONS, guard_options(), compress_options()).create_module(), guarded(reconcile), ROWS)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the offsets at which a flow of a pair with the policy identity starts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_seed
short_description: Set the offsets at which a flow starts, with the policy identity (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/seed.yml) and C(roles/replication/tasks/seed.yml) call this module.
  - With the policy V(identity), both clusters hold the same topics, and one flow replicates at a time. After a cutover
    the flow back must start at the cut. With a lower offset, it would replicate records to where they came from. With a
    higher offset, it would leave out records that producers have written in the meantime.
  - Requires the source connector to be STOPPED without tasks and no flow in the other direction. Deletes the offsets of
    earlier rounds, stores the wanted ones and reads them back.
  - Journals them as the phase C(seeded) of O(guard.run). Without O(guard.run), the module journals O(cut) for the last
    run of the journal if that run was a disaster failover, which cannot seed the flow back itself. The journaled ends
    are then lower bounds, because the worker had replicated more than it stored. So the module finds the ends by
    content and journals those that it finds. It warns about the others.
  - Reads the topic ids from the journal. With a cut, a topic with another id fails the task. Without a cut, records
    of a topic with another id or without an id count as unknown history.
  - Without a cut, as when a pair is enabled, a partition keeps the connector's stored offset if it fits both logs. If
    the target was never written, the partition starts at 0. Otherwise the module finds the cut by content. The cut is
    then the offset after the only record on the source that equals the last record on the target. If there is no such
    record, the task fails and names what is missing.
  - Without a cut, the module does not change a running connector if the journal knows all topics and O(moved) is
    V(false). It never starts the connector.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  source:
    description: Alias of the cluster where the applications live.
    type: str
    required: true
  target:
    description: Alias of the other cluster, to which the workers of the flow belong.
    type: str
    required: true
  cut:
    description:
      - The first offsets to replicate, as a dictionary from topic to partition to offset.
      - With O(record), O(cut) and O(ends) are those of its run.
      - If not set and O(moved) is V(false), the cut of a disaster failover that could not seed this flow.
    type: dict
  ends:
    description:
      - Log ends of O(target) at the barrier of the cutover, in the form of O(cut). Data records at or after them were
        written after the cut and exist on O(target) only. They are refused.
    type: dict
    default: {}
  accept_tail:
    description: Topics for which records at or after O(ends) are accepted. They stay on O(target) only.
    type: list
    elements: str
    default: []
  moved:
    description: Whether the operator moved the applications by hand. The module then finds a cut for each partition.
    type: bool
    default: false
attributes:
  check_mode:
    support: partial
    details: Changes nothing and returns nothing, because the connector may not exist yet.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: The module does not change offsets that are as wanted. The journal of a run gets an entry each time.
seealso:
  - module: switchback.kafka_dr.dr_barrier
  - module: switchback.kafka_dr.dr_flow_start
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Let the flow back start at the cut
  switchback.kafka_dr.dr_seed:
    pair: "{{ kafka_dr_pair.spec }}"
    source: B
    target: P
    cut: "{{ barrier.barrier.cut }}"
    ends: "{{ barrier.barrier.ends }}"
    guard: "{{ kafka_dr_guard }}"
"""

RETURN = r"""
seeded:
  description: Whether the connector was stopped and its offsets are as wanted now.
  returned: success
  type: bool
  sample: true
partitions:
  description:
    - One row for each partition. C(cut) is the first offset to replicate. C(tail) is the number of offsets at or after
      O(ends) that may hold records.
  returned: success
  type: list
  elements: dict
  sample: [{topic: Payments, partition: 0, cut: 1213, tail: 0, drained: PROVEN, reason: nothing is at or after the cut}]
late_writes:
  description: Records at or after O(ends) that were accepted, in words.
  returned: success
  type: list
  elements: str
  sample: []
cut_record:
  description:
    - The cuts that the journal does not know yet, in its form. Null if it knows all of them. C(joined) lists the topics
      that are new to it.
  returned: success
  type: dict
  sample:
    from: P
    to: B
    ends: {Payments: {"0": 1213}}
    cut: {Payments: {"0": 1213}}
    resumed: {Payments: {"0": 1213}}
    joined: [Payments]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import SeedRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.seeding import seed
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import run_of

SPEC = ArgumentSpec(
    {
        "source": {"type": "str", "required": True},
        "target": {"type": "str", "required": True},
        "cut": {"type": "dict"},
        "ends": {"type": "dict", "default": {}},
        "accept_tail": {"type": "list", "elements": "str", "default": []},
        "moved": {"type": "bool", "default": False},
    }
).merge(pair_option(), guard_options(), record_options())
# Return values to compress.
ROWS = ("partitions",)


def work(module: AnsibleModule) -> Result:
    """Set the offsets, read them back and journal them."""
    params = module.params
    moved = run_of(params)
    cut = params["cut"] if moved is None else moved.barrier["cut"]
    request = SeedRequest(
        pair=pair_spec(params),
        source=params["source"],
        target=params["target"],
        cut=cut,
        ends=params["ends"] if moved is None else moved.barrier["ends"],
        accept_tail=params["accept_tail"],
        moved=params["moved"],
        claim=claim_of(params),
        request_timeout=params["request_timeout"],
    )
    return seed(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work), ROWS)


if __name__ == "__main__":
    main()

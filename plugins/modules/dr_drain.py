#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until everything is replicated and read, then ask the flow to stop."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_drain
short_description: Wait until everything is replicated and read, then ask the flow to stop (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/phase_drain.yml) and C(roles/cutover/tasks/phase_rescue.yml) call this module after the
    producers have stopped.
  - Waits as M(switchback.kafka_dr.dr_status_info) does until everything is replicated, and for the groups on the
    cluster being left. O(record) names the clusters.
  - Then asks the flow between them to stop, and does not wait for it, unless a processor or an awaited application of
    another team may still write. This saves time and proves nothing. M(switchback.kafka_dr.dr_barrier) stops the flow
    again and proves it.
  - If a group reads a topic that the journal's run does not have yet, appends it to the journal, as the phase C(drain)
    of the run. Afterwards the group has no members that show it.
  - In a disaster, compares the log ends that the cluster being left still returns with what is replicated. Ends when
    everything that can be read is replicated, when nothing has moved for O(stall_timeout) seconds, or after
    O(wait_timeout). What is not replicated then is a result, not an error.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  groups_timeout:
    description: Seconds to wait for the groups after the flows have replicated everything.
    type: float
    default: 60.0
  groups_stall:
    description: Seconds without a newly committed offset after which the module no longer waits for the groups.
    type: float
    default: 10.0
attributes:
  check_mode:
    support: full
    details: It waits in check mode too.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.dr_barrier
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Wait until everything is replicated and read
  switchback.kafka_dr.dr_drain:
    pair: "{{ kafka_dr_pair.spec }}"
    guard: "{{ kafka_dr_guard }}"
    record: "{{ cutover_record }}"
  register: drained
"""

RETURN = r"""
waited_s:
  description: Seconds waited.
  returned: when the module has observed the pair, and not in a disaster
  type: float
  sample: 0.2
commits_seen:
  description:
    - When the committed offsets of all groups on the cluster being left were read, and a digest of them. The barrier
      compares.
  returned: success, and not in a disaster
  type: dict
  sample: {at: 41234.5, digest: 5f2c}
replicated:
  description: Whether every partition was read and everything in it is replicated.
  returned: in a disaster
  type: bool
  sample: false
offsets_left:
  description: Number of offsets that are not known to be replicated. Null if it is unknown for a partition.
  returned: in a disaster
  type: int
  sample: 12
unreadable:
  description: Partitions whose log end is unknown.
  returned: in a disaster
  type: list
  elements: str
  sample: []
text:
  description: The result in words.
  returned: in a disaster
  type: str
  sample: at least 12 offsets of 1 partitions were not replicated within 30 s
seconds:
  description: Seconds waited.
  returned: in a disaster
  type: float
  sample: 30.012
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    record_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.rescue import RescueRequest, rescue
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.status import StatusRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.drain import drain
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import required_run

LOCAL_RUN = {"fast": True, "repeatable": True, "progress": "status "}
SPEC = ArgumentSpec(
    {
        "groups_timeout": {"type": "float", "default": 60.0},
        "groups_stall": {"type": "float", "default": 10.0},
    }
).merge(pair_option(), wait_options(), guard_options(), record_options())


def work(module: AnsibleModule) -> Result:
    """Wait, and ask the flow to stop. In a disaster, wait for what the cluster being left still serves."""
    params = module.params
    moving = required_run(params)
    move = moving.move
    if not move.kind.needs_source:
        return rescue(
            RescueRequest(pair_spec(params), move.source, move.target, bounds_of(params), params["request_timeout"])
        )
    request = StatusRequest(
        pair=pair_spec(params),
        flows=move.flows,
        wait_for="replicated",
        bounds=bounds_of(params),
        restart_timeout=None,
        groups_on=move.source,
        groups_timeout=params["groups_timeout"],
        groups_stall=params["groups_stall"],
        partial=False,
        request_timeout=params["request_timeout"],
    )
    return drain(request, moving, module.check_mode, claim_of(params))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

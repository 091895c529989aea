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
  - C(roles/cutover/tasks/phase_drain.yml) calls this module after the producers have stopped.
  - Waits as M(switchback.kafka_dr.dr_status_info) does until everything is replicated, and for the groups on O(leave).
  - With O(stop), then asks the flow from O(leave) to O(enter) to stop, and does not wait for it. This saves time and
    proves nothing. M(switchback.kafka_dr.dr_barrier) stops the flow again and proves it.
  - If a group reads a topic that the journal's run does not have yet, appends it to the journal, as the phase C(drain)
    of the run. Afterwards the group has no members that show it.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  leave:
    description: Alias of the cluster that the applications leave.
    type: str
    required: true
  enter:
    description: Alias of the cluster that the applications move to.
    type: str
    required: true
  stop:
    description: Whether to ask the flow to stop. Use V(false) if an application that still runs may write.
    type: bool
    default: true
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
    flows: "{{ kafka_dr_pair.live_flows.P }}"
    leave: P
    enter: B
  register: drained
"""

RETURN = r"""
waited_s:
  description: Seconds waited.
  returned: when the module has observed the pair
  type: float
  sample: 0.2
commits_seen:
  description:
    - When the committed offsets of all groups on O(leave) were read, and a digest of them, for
      O(switchback.kafka_dr.dr_barrier#module:commits_seen).
  returned: success
  type: dict
  sample: {at: 41234.5, digest: 5f2c}
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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.status import StatusRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.drain import drain
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    flow_options,
    flows_of,
    guard_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "leave": {"type": "str", "required": True},
        "enter": {"type": "str", "required": True},
        "stop": {"type": "bool", "default": True},
        "groups_timeout": {"type": "float", "default": 60.0},
        "groups_stall": {"type": "float", "default": 10.0},
    }
).merge(pair_option(), flow_options(), wait_options(), guard_options(), record_options())


def work(module: AnsibleModule) -> Result:
    """Wait, and ask the flow to stop."""
    params = module.params
    request = StatusRequest(
        pair=pair_spec(params),
        flows=flows_of(params),
        wait_for="replicated",
        bounds=bounds_of(params),
        restart_timeout=None,
        groups_on=params["leave"],
        groups_timeout=params["groups_timeout"],
        groups_stall=params["groups_stall"],
        partial=False,
        request_timeout=params["request_timeout"],
    )
    leave, enter = params["leave"], params["enter"]
    return drain(request, leave, enter, params["stop"], module.check_mode, claim_of(params))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

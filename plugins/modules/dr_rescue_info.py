#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a flow has replicated what the cluster being left still serves."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rescue_info
short_description: Wait until a flow has replicated what the cluster being left still serves (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/phase_rescue.yml) calls this module.
  - Repeatedly compares the log ends of the original topics on O(leave) with the last replicated offsets of the flow to
    O(enter). Stops when every readable record is replicated, when nothing has moved for O(stall_timeout) seconds, or
    after O(wait_timeout).
  - The module itself replicates nothing. Records that remain unreplicated are a result, not an error.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  leave:
    description: Alias of the cluster being left.
    type: str
    required: true
  enter:
    description: Alias of the cluster being entered.
    type: str
    required: true
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_salvage
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Wait until the flow has replicated what P still serves
  switchback.kafka_dr.dr_rescue_info:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
    wait_timeout: 30
    stall_timeout: 5
"""

RETURN = r"""
replicated:
  description: Whether every partition was read and everything in it is replicated.
  returned: success
  type: bool
  sample: false
offsets_left:
  description: Number of offsets that are not known to be replicated. Null if it is unknown for a partition.
  returned: success
  type: int
  sample: 12
unreadable:
  description: Partitions whose log end is unknown.
  returned: success
  type: list
  elements: str
  sample: []
text:
  description: The result in words.
  returned: success
  type: str
  sample: at least 12 offsets of 1 partitions were not replicated within 30 s
seconds:
  description: Seconds waited.
  returned: success
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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.rescue import RescueRequest, rescue
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec({"leave": {"type": "str", "required": True}, "enter": {"type": "str", "required": True}}).merge(
    pair_option(), wait_options(), record_options()
)


def work(module: AnsibleModule) -> Result:
    """Wait for the flow and return what is left."""
    params = module.params
    return rescue(
        RescueRequest(
            pair=pair_spec(params),
            leave=params["leave"],
            enter=params["enter"],
            bounds=bounds_of(params),
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

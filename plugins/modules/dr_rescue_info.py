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
  - A step of the roles of this collection. Its options may change in any release.
  - Compares, again and again, the log ends of the original topics on O(leave) with what the flow to O(enter) has
    replicated, until nothing that can be read is missing, nothing moves any more for O(stall_timeout) seconds, or
    O(wait_timeout) is over.
  - The module itself replicates nothing. Records that are left in the end are a result, not an error.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
options:
  leave:
    description: Alias of the cluster that the applications leave.
    type: str
    required: true
  enter:
    description: Alias of the cluster that the applications enter.
    type: str
    required: true
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
  description: Whether every partition was read, and everything in it is replicated.
  returned: success
  type: bool
offsets_left:
  description: Number of offsets that are not known to be replicated. Null if it is unknown for a partition.
  returned: success
  type: int
unreadable:
  description: Partitions whose log end is unknown.
  returned: success
  type: list
  elements: str
text:
  description: The result in words.
  returned: success
  type: str
seconds:
  description: Seconds waited.
  returned: success
  type: float
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.rescue import RescueRequest, rescue
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec({"leave": {"type": "str", "required": True}, "enter": {"type": "str", "required": True}}).merge(
    pair_option(), wait_options()
)


def work(module: AnsibleModule) -> Result:
    """Wait and report."""
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

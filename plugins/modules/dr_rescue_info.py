#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a flow has brought over what a side that is given up still serves."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rescue_info
short_description: Wait until a flow has brought over what a side that is given up still serves
version_added: 1.0.0
description:
  - Compares, again and again, the ends of O(topics) on O(leave) with what the flow to O(enter) has copied, until
    nothing that can be read is missing, nothing moves any more for O(stall_timeout) seconds, or O(wait_timeout) is
    over.
  - It copies nothing itself. What is left in the end is a result and no error.
extends_documentation_fragment:
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
options:
  leave:
    description: Alias of the side that is given up.
    type: str
    required: true
  enter:
    description: Alias of the other side.
    type: str
    required: true
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Let the flow bring over what P still serves
  switchback.kafka_dr.dr_rescue_info:
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments]
    leave: P
    enter: B
    wait_timeout: 30
    stall_timeout: 5
"""

RETURN = r"""
copied:
  description: Whether every partition was read, and all of it is copied.
  returned: success
  type: bool
offsets_left:
  description: Offsets that are not noted as copied; null if that is not known of every partition.
  returned: success
  type: int
unreadable:
  description: Partitions that told no end.
  returned: success
  type: list
  elements: str
text:
  description: The same in words.
  returned: success
  type: str
seconds:
  description: How long was waited.
  returned: success
  type: float
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run, wait_options
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.rescue import rescue
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_options

SPEC = ArgumentSpec({"leave": {"type": "str", "required": True}, "enter": {"type": "str", "required": True}}).merge(
    pair_options(), wait_options()
)


def work(module: AnsibleModule) -> Result:
    """Wait and tell."""
    return rescue(module.params)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

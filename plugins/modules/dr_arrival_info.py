#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell whether the applications have arrived on the side that they entered."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_arrival_info
short_description: Prove the first writes and the positions after a cutover
version_added: 1.0.0
description:
  - Waits, with a bound, until a record was written behind the cut of every topic and reads it back, and until every
    group has members. A quiet topic gives UNKNOWN, never a hang.
  - Fails when the position of a group lies below the one that was committed for it, or is gone.
extends_documentation_fragment:
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes
options:
  cut:
    description: End of each original before the first producer started here, by topic and partition.
    type: dict
    required: true
  positions:
    description: Positions that were committed, in the shape that M(switchback.kafka_dr.kafka_group) takes.
    type: list
    elements: dict
    default: []
  groups:
    description: Groups whose consumers were started.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Have producers and consumers arrived on B?
  switchback.kafka_dr.dr_arrival_info:
    bootstrap_servers: "b1:9092"
    cut: {Payments: {"0": 0, "1": 0}}
    groups: [settlement]
    wait_timeout: 15
"""

RETURN = r"""
first_write:
  description: C(verdict) (PROVEN or UNKNOWN) and C(reason) for the first writes.
  returned: always
  type: dict
groups:
  description: C(verdict) (PROVEN, REFUTED or UNKNOWN) and C(reason) for the groups.
  returned: always
  type: dict
first_records:
  description: By topic, C(partition), C(offset) and C(timestamp) of the record that was read back.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    kafka_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.arrival import arrival

SPEC = ArgumentSpec(
    {
        "cut": {"type": "dict", "required": True},
        "positions": {"type": "list", "elements": "dict", "default": []},
        "groups": {"type": "list", "elements": "str", "default": []},
    }
).merge(kafka_options(), wait_options())


def work(module: AnsibleModule) -> Result:
    """Wait and judge."""
    return arrival(module.params)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

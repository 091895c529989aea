#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify that no group that moved is at work on the cluster that was left."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_departure_info
short_description: Verify that no group that moved is at work on the cluster that was left (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/phase_flows.yml) and C(roles/cutover/tasks/phase_settled.yml) call this module, after the
    point of no return.
  - Reads the members and committed offsets of the groups on the cluster that was left once, and compares the offsets
    with those at the barrier. O(record) has both. A cluster that does not respond results in UNKNOWN and does not fail
    the task.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  group_sync:
    description:
      - Whether the flow toward that cluster has committed offsets there since the barrier. A changed offset on one of
        its replicas may then be a consumer's or the flow's.
      - V(stopped) is without such commits. V(started) is after a look of the same run with V(stopped) that was PROVEN,
        so changed offsets on these replicas show nothing. With V(unknown) they result in UNKNOWN.
    type: str
    choices: [stopped, started, unknown]
    required: true
seealso:
  - module: switchback.kafka_dr.dr_arrival_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Verify that no group is at work on P any more
  switchback.kafka_dr.dr_departure_info:
    pair: "{{ kafka_dr_pair.spec }}"
    record: "{{ cutover_record }}"
    group_sync: stopped
"""

RETURN = r"""
departure:
  description: C(verdict) (PROVEN, REFUTED, UNKNOWN, or NOT_APPLICABLE without groups) and C(reason).
  returned: always
  type: dict
  sample: {verdict: PROVEN, reason: 1 groups have no members on P and have committed nothing there since the barrier}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.departure import (
    DepartureRequest,
    departure,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import required_run

SPEC = ArgumentSpec(
    {"group_sync": {"type": "str", "choices": ["stopped", "started", "unknown"], "required": True}}
).merge(pair_option(), record_options())


def work(module: AnsibleModule) -> Result:
    """Observe the groups once, and judge what they show."""
    params = module.params
    moved = required_run(params)
    return departure(
        DepartureRequest(
            pair=pair_spec(params),
            leave=moved.move.source,
            barrier_offsets=moved.barrier.get("committed_offsets") or {},
            group_sync=params["group_sync"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

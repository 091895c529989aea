#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verify the first writes and the committed offsets after a cutover."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_arrival_info
short_description: Verify the first writes and the committed offsets after a cutover (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/phase_arrival.yml) and C(roles/cutover/tasks/await_start.yml) call this module.
  - Waits, within O(wait_timeout), until each topic has a record at or after the cut, and the members of every group are
    assigned all partitions on which the run committed offsets. Reads the record back. A topic without writes results in
    UNKNOWN and does not block the run. So does a topic that no member is assigned, such as the mirrored topic if the
    consumers subscribe to the original only.
  - Fails if the committed offset of a group is missing, outside the log, or lower than the one that the run committed.
  - Reads the cut and the committed offsets from the barrier of the run, in the pair's journal on the cluster being
    entered, which O(record) names. It contacts no other cluster.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  await_others:
    description:
      - Whether to wait for the applications of other teams too. With V(false) the module observes them and does not
        wait for them.
    type: bool
    default: false
seealso:
  - module: switchback.kafka_dr.kafka_group_info
  - module: switchback.kafka_dr.dr_barrier
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Verify that producers and consumers work on B
  switchback.kafka_dr.dr_arrival_info:
    pair: "{{ kafka_dr_pair.spec }}"
    record: "{{ cutover_record }}"
    wait_timeout: 15
"""

RETURN = r"""
first_write:
  description: C(verdict) (PROVEN or UNKNOWN) and C(reason) for the first writes.
  returned: when the cluster responded
  type: dict
  sample: {verdict: PROVEN, reason: first records of 1 topics read back}
groups:
  description: C(verdict) (PROVEN, REFUTED, UNKNOWN, or NOT_APPLICABLE without groups) and C(reason) for the groups.
  returned: when the cluster responded
  type: dict
  sample: {verdict: PROVEN, reason: "1 groups have members on all their topics, no committed offset fell back"}
first_records:
  description:
    - By topic, C(partition), C(offset) and C(timestamp) of the record that was read back. The timestamp is in epoch
      milliseconds. Its producer set it, so it does not say when the record was written.
  returned: when the cluster responded
  type: dict
  sample: {Payments: {partition: 0, offset: 1214, timestamp: 1764148512345}}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.other_applications import (
    OtherApplications,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.arrival import ArrivalRequest, arrival
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import required_run

LOCAL_RUN = {"fast": True, "progress": "status "}
SPEC = ArgumentSpec({"await_others": {"type": "bool", "default": False}}).merge(
    pair_option(), wait_options(), record_options()
)


def work(module: AnsibleModule) -> Result:
    """Wait for first writes and members, then judge the committed offsets."""
    params = module.params
    pair, move = pair_spec(params), required_run(params).move
    return arrival(
        ArrivalRequest(
            pair=pair,
            enter=move.target,
            groups=pair.groups,
            not_awaited=OtherApplications() if params["await_others"] else move.other_applications,
            bounds=Bounds(params["wait_timeout"], params["wait_sleep"]),
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

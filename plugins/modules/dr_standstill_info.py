#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until applications that the inventory does not control have stopped."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_standstill_info
short_description: Wait until applications that the inventory does not control have stopped (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/preflight.yml), C(roles/cutover/tasks/await_stop.yml) and
    C(roles/cutover/tasks/last_probe.yml) call this module.
  - Watches O(groups) and the log ends of O(topics) on O(at). Ends when no group has members, no group has committed an
    offset for O(idle_settle) seconds, and no topic was written for O(settle) seconds. Fails after O(wait_timeout) in
    addition to these seconds, and names what is not at rest. What has not changed since an earlier look in O(record) on
    the same host counts as unchanged from that time on.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  at:
    description: Alias of the cluster on which the applications must stop. The module reads only this cluster.
    type: str
    required: true
  topics:
    description: Topics that must receive no record.
    type: list
    elements: str
    default: []
  groups:
    description: Groups that must have no members and commit no offset.
    type: list
    elements: str
    default: []
  settle:
    description: Seconds in which the topics must receive no record.
    type: float
    default: 10.0
  idle_settle:
    description: Seconds in which the groups must commit no offset.
    type: float
    default: 1.0
seealso:
  - module: switchback.kafka_dr.dr_arrival_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Wait until the applications of other teams have stopped
  switchback.kafka_dr.dr_standstill_info:
    pair: "{{ kafka_dr_pair.spec }}"
    at: P
    topics: [Payments]
    groups: [settlement]
    wait_timeout: 600
  register: stopped
"""

RETURN = r"""
waited_s:
  description: Seconds waited.
  returned: when the cluster responded
  type: float
  sample: 12.4
seen:
  description: Since when, and with which content, each topic and group has not changed. A later look compares.
  returned: when the cluster responded
  type: dict
  sample: {topics: {Payments: {at: 41234.5, digest: 5f2c, end: 1214}}, groups: {}}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.standstill import (
    StandstillRequest,
    standstill,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import run_of

LOCAL_RUN = {"fast": True, "progress": "status "}
NAMES = {"type": "list", "elements": "str", "default": []}
SPEC = ArgumentSpec(
    {
        "at": {"type": "str", "required": True},
        "topics": NAMES,
        "groups": NAMES,
        "settle": {"type": "float", "default": 10.0},
        "idle_settle": {"type": "float", "default": 1.0},
    }
).merge(pair_option(), wait_options(), record_options())


def work(module: AnsibleModule) -> Result:
    """Watch until everything is at rest."""
    params = module.params
    earlier = run_of(params)
    return standstill(
        StandstillRequest(
            pair=pair_spec(params),
            at=params["at"],
            topics=params["topics"],
            groups=params["groups"],
            settle=params["settle"],
            idle_settle=params["idle_settle"],
            seen={} if earlier is None else earlier.seen,
            bounds=Bounds(params["wait_timeout"], params["wait_sleep"]),
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

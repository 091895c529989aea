#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a cutover may start, has already happened, or why it stopped, from given facts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_judge
short_description: Decide whether a cutover may start (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/preflight.yml), C(roles/cutover/tasks/preflight_disaster.yml),
    C(roles/cutover/tasks/at_rest.yml) and C(roles/cutover/tasks/main.yml) call this module on the controller.
  - Decides from O(facts). It connects to no cluster and changes nothing.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.internal
options:
  kind:
    description:
      - V(cutover) decides whether a planned cutover may start or is not needed. V(disaster) decides the same from what
        the surviving cluster knows.
      - V(last_probe) decides whether a disaster run may pass the point of no return, from the last probe of the cluster
        being left.
      - V(at_rest) decides whether a pair whose applications already live on the wanted cluster is in the state that it
        should be in.
      - V(stopped) returns where and why a cutover stopped, and what to do next.
      - V(begun) returns what a run is about to stop, and how to go on if it is interrupted.
      - V(arrived) returns since when the applications run on the cluster being entered.
    type: str
    choices: [cutover, disaster, last_probe, at_rest, stopped, begun, arrived]
    required: true
  facts:
    description: What the roles of this collection observed. The keys depend on O(kind).
    type: dict
    required: true
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_readiness
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Decide whether the applications may move to B
  switchback.kafka_dr.dr_judge:
    kind: cutover
    facts:
      status: "{{ pair_status.status }}"
      state: "{{ journal.state }}"
      type: cutoff
      from: P
      to: B
      policy: default
      groups: [settlement]
      other_applications: {topics: [], groups: []}
      wait: 0
  register: judged
"""

RETURN = r"""
judgement:
  description:
    - C(problems) lists why the cutover must not start. C(already) is whether the applications already live there, and
      C(verdict) is the verdict about that. C(text) is the decision in words. With O(kind=stopped),
      O(kind=begun) or O(kind=arrived), it has only C(text).
    - With O(kind=cutover) and O(kind=disaster), C(terms) says what the move asks of other teams, if the inventory does
      not control all applications.
    - With O(kind=cutover), C(reads) holds by group and topic what the groups read before the cutover, with the
      partitions that were never written.
  returned: success
  type: dict
  sample:
    problems: []
    already: false
    verdict: UNKNOWN
    text: The applications may move to B.
    reads: {settlement: {Payments: []}}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.advice import KINDS, judge
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run

SPEC = ArgumentSpec(
    {
        "kind": {"type": "str", "choices": list(KINDS), "required": True},
        "facts": {"type": "dict", "required": True},
    }
)


def work(module: AnsibleModule) -> Result:
    """Return the decision about the facts."""
    return Result(extra={"judgement": judge(module.params["kind"], module.params["facts"])})


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the readiness checks that do not depend on the stop of the applications."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_before_stop_info
short_description: Ask the readiness checks that do not depend on the stop of the applications (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/before_stop.yml) calls this module before a planned move stops the first application.
  - Asks the checks of M(switchback.kafka_dr.dr_readiness) that no other task of preflight asks. It fails if the answer
    of one of them is C(NO), or C(UNKNOWN), and remains so for 10 s.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  enter:
    description: Alias of the cluster that the applications would enter.
    type: str
    required: true
  clients:
    description: The applications, each with C(name), C(role), C(group) and C(principal), whose rights are checked.
    type: list
    elements: dict
    required: true
  endpoints:
    description: By alias and application, the topics that it writes (C(topics)) and reads (C(subscribe)).
    type: dict
    required: true
  lists:
    description:
      - With Streams Replication Manager, RV(switchback.kafka_dr.srm_allowlist_info#module:lists) of both flows. A list
        that is not included is unknown.
    type: list
    elements: dict
    default: []
  lists_errors:
    description: Why lists could not be read, in words.
    type: list
    elements: str
    default: []
  accept:
    description: Names of checks whose C(NO) you accept.
    type: list
    elements: str
    default: []
seealso:
  - module: switchback.kafka_dr.dr_readiness
  - module: switchback.kafka_dr.dr_status_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Ask the readiness checks that do not depend on the stop of the applications
  switchback.kafka_dr.dr_before_stop_info:
    pair: "{{ kafka_dr_pair.spec }}"
    enter: B
    clients: "{{ kafka_dr_pair.clients }}"
    endpoints: "{{ kafka_dr_pair.endpoints }}"
"""

RETURN = r"""
refusals:
  description: The checks that refuse the move, in words. The task fails if there is one.
  returned: when the module has observed the pair
  type: list
  elements: str
  sample: []
requests:
  description: Requests that the module sent, without secrets.
  returned: when the module has observed the pair
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: not_ready
    message: 'The applications cannot move now: Does every topic still have the topic id in the journal? NO (topic_ids)'
    hint: No application was stopped.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Limits
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.request import ReadinessRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.workflow import before_stop

NAMES = {"type": "list", "elements": "str", "default": []}
SPEC = ArgumentSpec(
    {
        "enter": {"type": "str", "required": True},
        "clients": {"type": "list", "elements": "dict", "required": True},
        "endpoints": {"type": "dict", "required": True},
        "lists": {"type": "list", "elements": "dict", "default": []},
        "lists_errors": NAMES,
        "accept": NAMES,
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Ask the checks, and fail if one of them refuses."""
    params = module.params
    request = ReadinessRequest(
        pair=pair_spec(params),
        to=params["enter"],
        applications=params["clients"],
        endpoints=params["endpoints"],
        unreachable=None,
        lists=params["lists"],
        list_errors=params["lists_errors"],
        accept=params["accept"],
        keep=False,
        limits=Limits(),
        # Without other_applications: preflight has a task of its own that watches them, or waits for them later.
        request_timeout=params["request_timeout"],
    )
    return before_stop(request)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

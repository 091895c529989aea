#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask one cluster, within a bound, whether it could still work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_probe_info
short_description: Ask a cluster within a bound whether it could still work
version_added: 1.0.0
description:
  - Asks for the id of the cluster and for the end of every partition of O(topics), within O(timeout) seconds
    altogether. It answers only if all of that was told.
  - A cluster that is dead, frozen or without leaders is a result and no error. Another cluster than
    O(expected_cluster_id) is an error.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes.info_module
options:
  bootstrap_servers:
    description: Comma separated list of brokers.
    type: str
    required: true
  client:
    description: librdkafka properties for the connection, such as C(security.protocol).
    type: dict
    default: {}
  expected_cluster_id:
    description: Id that the cluster must have.
    type: str
  topics:
    description: Topics of which every partition must have a leader.
    type: list
    elements: str
    required: true
  timeout:
    description: Seconds for everything.
    type: float
    default: 3.0
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Does the old side still answer?
  switchback.kafka_dr.dr_probe_info:
    bootstrap_servers: p1:9092
    topics: [Payments]
    timeout: 1
  register: probe
"""

RETURN = r"""
answers:
  description: Whether the cluster named itself and every partition has a leader that told its end.
  returned: always
  type: bool
reachable:
  description: Whether the cluster named itself at least.
  returned: always
  type: bool
locked_out:
  description:
    - Whether it is there, and certificate, login or rights kept this task from asking. Nothing is known of its state.
  returned: always
  type: bool
reason:
  description: What was found, in words.
  returned: always
  type: str
seconds:
  description: How long the question took.
  returned: always
  type: float
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.probe import probe

SPEC = ArgumentSpec(
    {
        "bootstrap_servers": {"type": "str", "required": True},
        "client": {"type": "dict", "default": {}},
        "expected_cluster_id": {"type": "str"},
        "topics": {"type": "list", "elements": "str", "required": True},
        "timeout": {"type": "float", "default": 3.0},
    }
)


def work(module: AnsibleModule) -> Result:
    """One question."""
    params = module.params
    cluster = {**params, "cluster_id": params["expected_cluster_id"]}
    return Result(extra=probe(cluster, params["topics"], params["timeout"]).as_dict())


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

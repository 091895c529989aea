#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft an inventory from two running clusters, and compare a complete one with them."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_discover_info
short_description: Draft an inventory from two running clusters
version_added: 1.0.0
description:
  - Reads topics, consumer groups, ACLs and MirrorMaker 2 connectors of both clusters, and returns a complete draft of
    the inventory as YAML text. Comments give the reason for each topic and group that is left out.
  - Each question that only a human can answer is a comment that begins with C(TODO).
  - If O(variables) name topics, the module also compares the inventory with the clusters.
  - A part that cannot be read is a question in the draft. It never counts as empty.
  - Secrets of the connections are never part of a result. The draft names variables in their place.
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
options:
  variables:
    description:
      - Variables of the inventory by name. V(kafka_dr_home) and V(kafka_dr_clusters) are required.
      - The module checks them like every playbook does.
    type: dict
    required: true
  hosts:
    description: Hosts of the Ansible inventory by network address. The draft names the hosts of applications by them.
    type: dict
    default: {}
  request_timeout:
    description: Seconds to wait for the response to one request.
    type: float
    default: 15.0
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.kafka_topic_info
  - module: switchback.kafka_dr.kafka_group_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Draft an inventory
  switchback.kafka_dr.dr_discover_info:
    variables:
      kafka_dr_home: P
      kafka_dr_clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
  register: discovered

- name: Write the draft
  ansible.builtin.copy:
    content: "{{ discovered.draft }}"
    dest: /tmp/discovered.yml
    mode: "0640"
"""

RETURN = r"""
draft:
  description: The draft as YAML text with comments.
  returned: success
  type: str
  sample: |
    ---
    kafka_dr_home: P
todos:
  description: The questions that only a human can answer, in the order of the draft.
  returned: success
  type: list
  elements: str
  sample: ["only B has Refunds. If applications of this pair use them, add them."]
problems:
  description: Why the inventory check refuses the draft. Empty if the draft passes.
  returned: success
  type: str
  sample: ""
drift:
  description: Each difference between the inventory and the clusters, in words. Null if O(variables) name no topics.
  returned: success
  type: list
  elements: str
  sample: ['The topic "Payments" on B has 6 partitions, the inventory has 12.']
unread:
  description: What could not be read, with the reason.
  returned: success
  type: list
  elements: str
  sample: []
cluster_ids:
  description: Ids of the clusters by alias.
  returned: success
  type: dict
  sample: {P: 4L6g3nShT-eMCtK--X86sw, B: 7QmXW0aLSgqeGrIHwGVbyA}
lines:
  description: The result in a few lines.
  returned: success
  type: list
  elements: str
  sample: ["The draft has 1 topics, 1 groups that move, 0 that stay, and 3 TODOs.", "It passes the inventory check."]
requests:
  description: Requests that the module sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: kafka_unreachable
    message: No broker at "p1.example.com:9092" responded within 15 s.
    hint: Check that the brokers run and that this host reaches them.
    endpoint: p1.example.com:9092
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.discovery.workflow import discover

SPEC = ArgumentSpec(
    {
        "variables": {"type": "dict", "required": True},
        "hosts": {"type": "dict", "default": {}},
        "request_timeout": {"type": "float", "default": 15.0},
    }
)


def work(module: AnsibleModule) -> Result:
    """Observe both clusters and draft the inventory."""
    params = module.params
    return discover(params["variables"], params["hosts"], params["request_timeout"])


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

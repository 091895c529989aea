#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check, within a time limit, whether a cluster can work."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_probe_info
short_description: Check within a time limit whether a Kafka cluster can work
version_added: 1.0.0
description:
  - Requests the id of the cluster and the log end of every partition of O(topics), within O(timeout) seconds in all.
    RV(answers) is V(true) only if the cluster returned all of them.
  - A cluster that is down, hangs or has partitions without a leader is a result, not an error. A cluster with another
    id than O(expected_cluster_id) is an error.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
options:
  bootstrap_servers:
    description: Bootstrap brokers of the cluster, as C(host:port), separated by commas.
    type: str
    required: true
  client:
    description: librdkafka properties for the connection, for example C(security.protocol).
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
    description: Seconds for all requests together.
    type: float
    default: 3.0
seealso:
  - module: switchback.kafka_dr.dr_readiness
  - module: switchback.kafka_dr.kafka_topic_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Check whether the old cluster still works
  switchback.kafka_dr.dr_probe_info:
    bootstrap_servers: p1.example.com:9092,p2.example.com:9092
    topics: [Payments]
    timeout: 2
  register: probe

- name: Refuse a disaster failover while the old cluster works
  ansible.builtin.assert:
    that: not probe.answers
    fail_msg: "P still works: {{ probe.reason }}"
"""

RETURN = r"""
answers:
  description: Whether the cluster returned its id and every partition has a leader that returned its log end.
  returned: success
  type: bool
  sample: false
reachable:
  description: Whether the cluster returned at least its id.
  returned: success
  type: bool
  sample: true
locked_out:
  description:
    - Whether the cluster exists but refused this client because of its certificate, login or rights. The state of the
      cluster is unknown then.
  returned: success
  type: bool
  sample: false
reason:
  description: The result in words.
  returned: success
  type: str
  sample: "it responds, but 3 partitions have no leader: Payments-0, Payments-4, Payments-9"
seconds:
  description: Duration of all requests in seconds.
  returned: success
  type: float
  sample: 0.412
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: wrong_cluster
    message: '"p1.example.com:9092" is the cluster with the id "7QmXW0aLSgqeGrIHwGVbyA", wanted "4L6g3nShT-eMCtK".'
    hint: Correct bootstrap_servers or the cluster id in the inventory.
    endpoint: p1.example.com:9092
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.probe import probe

SPEC = ArgumentSpec(
    {
        "bootstrap_servers": {"type": "str", "required": True},
        "client": {"type": "dict", "default": {}},
        "expected_cluster_id": {"type": "str"},
        "topics": {"type": "list", "elements": "str", "required": True},
        "timeout": {"type": "float", "default": 3.0},
    }
).merge(record_options())


def work(module: AnsibleModule) -> Result:
    """Probe the cluster once."""
    params = module.params
    cluster = {**params, "cluster_id": params["expected_cluster_id"]}
    return Result(extra=probe(cluster, params["topics"], params["timeout"]).as_dict())


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove or refute, record by record, that both clusters of a pair hold the same records."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_audit
short_description: Prove or refute, record by record, that both clusters of a pair hold the same records
version_added: 1.0.0
description:
  - Writes a plan, runs the Spark program C(spark/kafka_dr_audit) of this collection with it, and returns the result.
  - The program reads both clusters itself. It compares keys, values, headers, timestamps and the order of all records,
    and names each difference. It also reports whether each offset that the last move committed was exact, made the
    group read records again, or skipped records.
  - Reads the journal of the pair and changes nothing on the clusters. The folder O(output) receives C(plan.json),
    C(audit.json), C(audit.html) and Spark's log.
  - The task succeeds with every verdict. The verdict is C(UNKNOWN) if Spark did not start or the time limit was
    reached.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
options:
  output:
    description: Folder for the results, on the host that runs the task.
    type: path
    required: true
  package:
    description: Folder that contains C(kafka_dr_audit). This is C(spark) of this collection.
    type: path
    required: true
  accept:
    description:
      - By topic, kinds of differences that you know and that do not refute the audit, for example C(FOREIGN) or
        C(DUPLICATE).
    type: dict
    default: {}
  guarantee:
    description:
      - Delivery guarantee of the Kafka Connect workers. With V(exactly_once), a record that occurs twice in a replica
        refutes the audit.
    type: str
    choices: [at_least_once, exactly_once]
    default: at_least_once
  fresh:
    description:
      - Whether the last move has only just ended. If V(false), an offset below the log start offset counts as removed
        by retention and is not judged.
    type: bool
    default: false
  settle:
    description:
      - Seconds that the last records of a snapshot may take to arrive while producers write.
      - With the policy V(identity), also the seconds that the flow may take to store its progress before the snapshot.
    type: float
    default: 30.0
  sample:
    description: Number of differences of each kind that the result lists one by one.
    type: int
    default: 20
  python:
    description: Python with PySpark, numpy, pandas and pyarrow. If empty, the Python that runs the module.
    type: str
    default: ""
  spark_master:
    description: Spark's master, for example C(local[*]), C(spark://host:7077), C(yarn) or C(k8s://...).
    type: str
    default: local[*]
  spark_conf:
    description: Spark settings by name.
    type: dict
    default: {}
  spark_memory:
    description: Memory of the Spark driver.
    type: str
    default: 1g
  spark_jars:
    description: Folder with Spark's Kafka connector, if this host cannot reach Maven Central.
    type: str
    default: ""
  run_on:
    description: Inventory host of the playbook, for the commands of the next steps. If empty, the result has none.
    type: str
    default: ""
  wait_timeout:
    description: Seconds after which the module kills the audit.
    type: float
    default: 3600.0
attributes:
  check_mode:
    support: full
    details: The module writes only to the folder O(output), in check mode too.
  diff_mode:
    support: N/A
    details: An audit never counts as a change.
  idempotent:
    support: full
requirements:
  - Java 17 or later, and a Python with PySpark 4.0 to 4.2, numpy, pandas and pyarrow, on the host that runs the task
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_readiness
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Compare both clusters record by record
  switchback.kafka_dr.dr_audit:
    pair:
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092"}
        B: {bootstrap_servers: "b1.example.com:9092"}
      topics: [Payments]
      groups: [settlement]
    output: /var/lib/kafka_dr/audit
    package: /usr/share/ansible/collections/ansible_collections/switchback/kafka_dr/spark
  register: pair_audit

- name: Require that the audit proves equality
  ansible.builtin.assert:
    that: pair_audit.verdict == 'PROVEN'
    fail_msg: "{{ pair_audit.reason or (pair_audit.audit.text | join(' ')) }}"
"""

RETURN = r"""
verdict:
  description: C(PROVEN), C(REFUTED) or C(UNKNOWN).
  returned: success
  type: str
  sample: PROVEN
reason:
  description: Why the program gave no verdict. Empty if it gave one.
  returned: success
  type: str
  sample: ""
audit:
  description: The whole result. C(docs/audit.md) describes its keys.
  returned: success
  type: dict
  sample:
    schema: switchback.kafka_dr/audit/2
    pair: B-P
    verdict: PROVEN
    partial: false
    text: ["PROVEN: 1213 records of 1 topics are equal"]
    topics: []
    not_checked: []
folder:
  description: Absolute path of O(output).
  returned: success
  type: str
  sample: /var/lib/kafka_dr/audit
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: topic_missing
    message: '"Payments" does not exist on P, so there is nothing to compare.'
    hint: Run the playbook enable first.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.audit import AuditRequest, audit
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

LOCAL_RUN = {"progress": "audit "}
SPEC = ArgumentSpec(
    {
        "output": {"type": "path", "required": True},
        "package": {"type": "path", "required": True},
        "accept": {"type": "dict", "default": {}},
        "guarantee": {
            "type": "str",
            "choices": ["at_least_once", "exactly_once"],
            "default": "at_least_once",
        },
        "fresh": {"type": "bool", "default": False},
        "settle": {"type": "float", "default": 30.0},
        "sample": {"type": "int", "default": 20},
        "python": {"type": "str", "default": ""},
        "spark_master": {"type": "str", "default": "local[*]"},
        "spark_conf": {"type": "dict", "default": {}},
        "spark_memory": {"type": "str", "default": "1g"},
        "spark_jars": {"type": "str", "default": ""},
        "run_on": {"type": "str", "default": ""},
        "wait_timeout": {"type": "float", "default": 3600.0},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Run the audit and return its result."""
    return audit(AuditRequest.of(pair_spec(module.params), module.params))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove or refute, record by record, that both sides of a pair hold the same."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_audit
short_description: Prove or refute, record by record, that both sides of a pair hold the same
version_added: 1.0.0
description:
  - Writes a plan, runs the Spark program C(spark/kafka_dr_audit) of this collection with it, and returns what it found.
  - The program reads both clusters itself. It compares keys, values, headers, timestamps and the order of all records,
    names each difference, and tells of each position of the last move whether it was exact, read records again, or
    skipped some.
  - Reads the journal of the pair, and changes nothing on the clusters. The folder O(output) gets C(plan.json),
    C(audit.json), C(audit.html) and Spark's own log.
  - Ends well with every verdict; without one, because Spark did not start or the time was over, that is UNKNOWN.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
options:
  output:
    description: Folder of the results, on the host where this runs.
    type: path
    required: true
  package:
    description: Folder that holds C(kafka_dr_audit), normally C(spark) of this collection.
    type: path
    required: true
  accept:
    description:
      - By topic, kinds of differences that are known and do not refute, such as C(FOREIGN) or C(DUPLICATE).
    type: dict
    default: {}
  guarantee:
    description: What the workers promise. With V(exactly_once) a record that lies twice in a replica refutes.
    type: str
    choices: [at_least_once, exactly_once]
    default: at_least_once
  fresh:
    description:
      - Whether the move has only just ended. Later, a position below a log start was overtaken by retention, and is not
        judged any more.
    type: bool
    default: false
  settle:
    description: Seconds that the last records of a snapshot may take to arrive while producers write.
    type: float
    default: 30.0
  sample:
    description: Differences of each kind that are listed one by one.
    type: int
    default: 20
  python:
    description: Python that has PySpark, numpy, pandas and pyarrow; the module's own if it is empty.
    type: str
    default: ""
  spark_master:
    description: Spark's master, such as C(local[*]), C(spark://host:7077), C(yarn) or C(k8s://...).
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
    description: Folder with the Kafka connector of Spark, where Maven Central cannot be reached.
    type: str
    default: ""
  wait_timeout:
    description: Seconds after which the audit is ended.
    type: float
    default: 3600.0
attributes:
  check_mode:
    support: full
    details: Nothing but the folder of the results is written, in check mode too.
  diff_mode:
    support: N/A
    details: An audit never counts as a change.
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Compare both sides of the pair
  switchback.kafka_dr.dr_audit:
    pair: "{{ kafka_dr_pair.spec }}"
    output: /var/lib/kafka_dr/audit
    package: /usr/share/ansible/collections/ansible_collections/switchback/kafka_dr/spark
  register: pair_audit
"""

RETURN = r"""
verdict:
  description: PROVEN, REFUTED or UNKNOWN.
  returned: success
  type: str
reason:
  description: Why there is no verdict, where the audit ended early.
  returned: success
  type: str
audit:
  description: The whole result; its keys are described in C(docs/audit.md).
  returned: success
  type: dict
folder:
  description: Where the results lie.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.audit import AuditRequest, audit
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

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
        "wait_timeout": {"type": "float", "default": 3600.0},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Run the audit and return what it found."""
    return audit(AuditRequest.of(pair_spec(module.params), module.params))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

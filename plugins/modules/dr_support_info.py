#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a problem report needs: brokers, journal and connectors of both clusters, and versions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_support_info
short_description: Read what a problem report needs from both clusters
version_added: 1.0.0
description:
  - C(roles/report/tasks/bundle.yml) calls this module.
  - Returns, for each cluster, its brokers, its copy of the journal, and the MirrorMaker 2 connectors of its workers
    with states, settings and offsets. Secrets are masked.
  - The module reads each part separately. If a part cannot be read, it returns the error of that part and still returns
    the other parts. A cluster that is down does not fail the task.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
seealso:
  - module: switchback.kafka_dr.dr_support_bundle
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Read both clusters
  switchback.kafka_dr.dr_support_info:
    pair:
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092"}
        B: {bootstrap_servers: "b1.example.com:9092"}
      topics: [Payments]
    request_timeout: 10
  register: support

- name: Show why the journal of P cannot be read
  ansible.builtin.debug:
    msg: "{{ support.sides.P.journal.error | default('it was read') }}"
"""

RETURN = r"""
sides:
  description:
    - By alias, C(brokers), C(journal), C(connectors) and C(offsets). Each is a dictionary with C(found), or with
      C(error) in words.
    - C(brokers) holds the id of the cluster, the controller, the brokers, and C(protocol), the version of the protocol
      between brokers (if known). C(journal) holds the events, oldest first. C(connectors) holds the version of the
      workers (C(kafka)) and their C(connectors). C(offsets) holds the last replicated offsets by connector.
  returned: success
  type: dict
  sample:
    P:
      brokers: {error: No broker at "p1.example.com:9092" responded.}
      journal: {error: No broker at "p1.example.com:9092" responded.}
    B:
      brokers: {found: {cluster_id: 7QmXW0aLSgqeGrIHwGVbyA}}
      journal: {found: []}
      connectors: {found: {kafka: 4.3.1, connectors: []}}
      offsets: {found: {}}
versions:
  description:
    - Versions of C(collection), C(ansible_core), C(python), C(confluent_kafka), C(librdkafka), C(java) and C(system)
      on the host that runs the task. Null if one is not installed.
  returned: success
  type: dict
  sample:
    collection: 1.0.0
    ansible_core: 2.19.14
    python: 3.11.9
    confluent_kafka: 2.16.1
    librdkafka: 2.16.1
    java: openjdk version "17.0.13" 2026-10-15
    system: Linux-6.1.0-x86_64-with-glibc2.36
requests:
  description: Requests that the module sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.support import support

SPEC = pair_option()


def work(module: AnsibleModule) -> Result:
    """Read each part of both clusters."""
    params = module.params
    return support(pair_spec(params), params["request_timeout"], str(module.ansible_version))


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

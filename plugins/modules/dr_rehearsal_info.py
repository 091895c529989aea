#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List what rehearsals created on a pair, and fingerprint everything else."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rehearsal_info
short_description: List what rehearsals created on a pair, and fingerprint everything else (internal step)
version_added: 1.0.0
description:
  - C(roles/rehearsal/tasks/main.yml) and C(roles/rehearsal/tasks/end.yml) call this module.
  - Finds resources with the names of a rehearsal on both clusters and on their Kafka Connect workers. Returns a
    fingerprint of every other resource. Two calls show whether anything else has changed in between.
  - Returns the stored results of earlier rehearsals.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  rehearsal:
    description: What a rehearsal of O(pair) creates, as the filter of the role C(rehearsal) derives it.
    type: dict
    required: true
    suboptions:
      clusters:
        description:
          - Both clusters by alias of the rehearsal, each with C(bootstrap_servers), C(client), C(cluster_id), and what
            its C(engine) needs, such as C(connect_url). Required to find or remove anything.
        type: dict
        default: {}
      belongings:
        description:
          - By alias, the C(topics), C(groups) and C(connectors) that a rehearsal creates there, each as a list of
            names. C(principals) lists the principals whose ACLs on those topics and groups belong to the rehearsal.
        type: dict
        default: {}
      name_parts:
        description: Each name that a rehearsal creates contains one of these texts.
        type: list
        elements: str
        default: []
seealso:
  - module: switchback.kafka_dr.dr_rehearsal
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: List what a rehearsal left
  switchback.kafka_dr.dr_rehearsal_info:
    pair: "{{ kafka_dr_pair.spec }}"
    rehearsal:
      clusters: "{{ rehearsal_pair.clusters }}"
      belongings: "{{ rehearsal_pair.rehearsal.belongings }}"
      name_parts: "{{ rehearsal_pair.rehearsal.name_parts }}"
  register: rehearsal_left
"""

RETURN = r"""
left:
  description: Resources of the rehearsal that exist, by alias and kind (topics, groups, connectors, ACLs).
  returned: success
  type: dict
  sample: {P: {topics: [rehearsal-Payments]}, B: {}}
strays:
  description:
    - Other resources whose names look like those of a rehearsal, in words, such as a replica that another flow made.
  returned: success
  type: list
  elements: str
  sample: [topic C.rehearsal-Payments on B]
rest:
  description:
    - By alias, a fingerprint of every other topic, group, connector and ACL, by kind and name. That of a topic covers
      its id, partitions, replication factor and own settings. That of a connector covers its configuration, whether it
      is stopped, and its failed tasks.
  returned: success
  type: dict
  sample: {P: {topic Payments: 5a0f1c22d94be871, group settlement: ""}, B: {}}
earlier:
  description: The stored results of earlier rehearsals of the pair, oldest first.
  returned: success
  type: list
  elements: dict
  sample:
    - schema: 1
      pair: B-P
      kind: rehearsal
      at: "2026-11-20T03:10:00.000000"
      type: cutoff
      from: P
      to: B
      back: true
      outcome: completed
      verdict: PROVEN
      cutover_s: 9.4
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    pair_option,
    pair_spec,
    rehearsal_option,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.rehearsal.belongings import Rehearsal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.rehearsal.removal import observe

SPEC = pair_option().merge(rehearsal_option(required=True))


def work(module: AnsibleModule) -> Result:
    """Observe both clusters."""
    rehearsal = Rehearsal.of(module.params["rehearsal"])
    return observe(pair_spec(module.params), rehearsal, module.params["request_timeout"])


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

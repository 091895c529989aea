#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at what rehearsals have left on a pair, and at everything else."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rehearsal_info
short_description: List what rehearsals created on a pair, and everything else (internal step)
version_added: 1.0.0
description:
  - Finds what bears the names of a rehearsal on both clusters and on the Kafka Connect workers beside them, and takes a
    digest of everything else, so that two looks tell whether anything was changed between them.
  - Tells what is kept of earlier rehearsals.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
options:
  rehearsal:
    description: What a rehearsal of O(pair) creates, as the filter of the role C(rehearsal) derives it.
    type: dict
    required: true
    suboptions:
      clusters:
        description:
          - Both clusters by alias of the rehearsal, each with C(bootstrap_servers), C(client), C(cluster_id) and
            C(connect_url). Required to find or remove anything.
        type: dict
        default: {}
      belongings:
        description:
          - By alias, what a rehearsal creates there, as C(topics), C(groups) and C(connectors), each a list of names,
            and C(principals), whose ACLs on those topics and groups belong to the rehearsal.
        type: dict
        default: {}
      name_parts:
        description: Each name that a rehearsal creates contains one of these texts.
        type: list
        elements: str
        default: []
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Is anything of a rehearsal left?
  switchback.kafka_dr.dr_rehearsal_info:
    pair: "{{ kafka_dr_pair.spec }}"
    rehearsal:
      clusters: "{{ rehearsal_pair.clusters }}"
      belongings: "{{ rehearsal_pair.rehearsal.belongings }}"
      name_parts: "{{ rehearsal_pair.rehearsal.name_parts }}"
  register: rehearsal_look
"""

RETURN = r"""
left:
  description: Resources of the rehearsal that exist, by alias and kind (topics, groups, connectors, ACLs).
  returned: success
  type: dict
strays:
  description: Other things that bear the marks of a rehearsal, in words, such as a copy that somebody else's flow made.
  returned: success
  type: list
  elements: str
rest:
  description: By alias, a digest of each other topic, group, connector and right by kind and name. Of a topic its id,
    partitions, replication factor and own settings, of a connector its configuration and whether it is stopped.
  returned: success
  type: dict
earlier:
  description: What is kept of earlier rehearsals of the pair, oldest first.
  returned: success
  type: list
  elements: dict
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
    """Look at both clusters."""
    rehearsal = Rehearsal.of(module.params["rehearsal"])
    return observe(pair_spec(module.params), rehearsal, module.params["request_timeout"])


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

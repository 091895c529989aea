#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove what a rehearsal created, or store its result."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rehearsal
short_description: Remove what a rehearsal created, or store its result (internal step)
version_added: 1.0.0
description:
  - C(roles/rehearsal/tasks/clean.yml) and C(roles/rehearsal/tasks/end.yml) call this module.
  - With O(state=absent), deletes the connectors, groups, topics and ACLs of a rehearsal on both clusters, as far as
    they exist. It also deletes the offsets of the connectors and groups. Then checks that nothing is left.
  - Deletes only resources with exactly these names. Other resources whose names look like those of a rehearsal stay.
options:
  state:
    description:
      - V(absent) removes everything that a rehearsal created.
      - V(noted) stores O(note) in the state topic of the pair, on both clusters.
    type: str
    choices: [absent, noted]
    default: absent
  note:
    description: The result of the rehearsal.
    type: dict
  rehearsal:
    description: What a rehearsal of O(pair) creates, as the filter of the role C(rehearsal) derives it.
    type: dict
    default: {}
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
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: V(noted) stores a new note each time.
notes:
  - Stop the applications of the rehearsal first. If their consumers were killed, the module waits up to one minute
    until the groups have no members.
seealso:
  - module: switchback.kafka_dr.dr_rehearsal_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Remove what an interrupted rehearsal left
  switchback.kafka_dr.dr_rehearsal:
    pair: "{{ kafka_dr_pair.spec }}"
    rehearsal:
      clusters: "{{ rehearsal_pair.clusters }}"
      belongings: "{{ rehearsal_pair.rehearsal.belongings }}"
      name_parts: "{{ rehearsal_pair.rehearsal.name_parts }}"
"""

RETURN = r"""
changes:
  description: What the module deleted. In check mode, what it would delete.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: topic
      name: rehearsal-Payments
      action: delete
      before: {}
      after: null
      status: done
      error: null
requests:
  description: Requests that the module sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    pair_option,
    pair_spec,
    rehearsal_option,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.rehearsal.belongings import Rehearsal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.rehearsal.removal import note, remove

SPEC = ArgumentSpec(
    {
        "state": {"type": "str", "choices": ["absent", "noted"], "default": "absent"},
        "note": {"type": "dict"},
    },
    required_if=[("state", "noted", ["note"])],
).merge(pair_option(), rehearsal_option(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Remove what a rehearsal created, or store its result."""
    pair, timeout = pair_spec(module.params), module.params["request_timeout"]
    if module.params["state"] == "noted":
        return note(pair, module.params["note"], timeout, module.check_mode)
    return remove(pair, Rehearsal.of(module.params["rehearsal"]), timeout, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

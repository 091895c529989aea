#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take away what a rehearsal has made, or keep what it showed."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rehearsal
short_description: Remove what a rehearsal created, or keep its result (internal step)
version_added: 1.0.0
description:
  - With O(state=absent) deletes connectors with their offsets, groups with their positions, topics and rights of a
    rehearsal on both clusters, whatever of them exists, and looks again whether anything is left.
  - Only things with exactly these names are touched. Others that bear the marks of a rehearsal are not.
options:
  state:
    description:
      - V(absent) takes everything of a rehearsal away.
      - V(noted) keeps O(note) in the state topic of the pair, on both clusters.
    type: str
    choices: [absent, noted]
    default: absent
  note:
    description: What is kept of the rehearsal.
    type: dict
  rehearsal:
    description: What a rehearsal of O(pair) creates, as the filter of the role C(rehearsal) derives it.
    type: dict
    default: {}
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
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: A note is a new one each time.
notes:
  - The clients of the rehearsal must have been stopped. Groups whose members died are waited for, up to a minute.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Take away what an interrupted rehearsal has left
  switchback.kafka_dr.dr_rehearsal:
    pair: "{{ kafka_dr_pair.spec }}"
    rehearsal:
      clusters: "{{ rehearsal_pair.clusters }}"
      belongings: "{{ rehearsal_pair.rehearsal.belongings }}"
      name_parts: "{{ rehearsal_pair.rehearsal.name_parts }}"
"""

RETURN = r"""
changes:
  description: What was deleted, or in check mode would be.
  returned: always
  type: list
  elements: dict
requests:
  description: Requests that were sent, without secrets.
  returned: success
  type: list
  elements: dict
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
    """Remove what a rehearsal has created, or keep its result."""
    pair, timeout = pair_spec(module.params), module.params["request_timeout"]
    if module.params["state"] == "noted":
        return note(pair, module.params["note"], timeout, module.check_mode)
    return remove(Rehearsal.of(module.params["rehearsal"]), timeout, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

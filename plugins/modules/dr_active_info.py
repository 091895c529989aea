#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out on which cluster the applications of a pair live, by journal and evidence."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_active_info
short_description: Find out on which cluster the applications of a pair live
version_added: 1.0.0
description:
  - Reads the journal and what both clusters show, and returns the alias on which the applications live.
  - Without a journal, or with an empty one, members of the groups and originals that grow decide. Where nothing is at
    work and the pair is not new, the module fails and asks for O(asked).
  - Fails where journal, evidence and O(asked) contradict each other, where the journal topic can lose events, where
    events are missing in it, and where a group has committed offsets or members on a topic of the pair that
    O(group_topics) leaves out.
extends_documentation_fragment:
  - switchback.kafka_dr.journal
  - switchback.kafka_dr.journal.state
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.attributes.info_module
options:
  home:
    description: Alias of the home cluster, where the applications of a new pair live.
    type: str
    required: true
  asked:
    description: Alias on which the applications live, named by the operator. Evidence against it fails the module.
    type: str
    default: ""
  observe:
    description: Whether to observe which originals grow even where the journal names the active side.
    type: bool
    default: false
  window:
    description: Seconds between the two observations that show whether originals grow.
    type: float
    default: 2.0
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Find out where the applications live
  switchback.kafka_dr.dr_active_info:
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments]
    groups: [settlement]
    pair: "{{ kafka_dr_pair.name }}"
    home: P
"""

RETURN = r"""
active:
  description: Alias of the cluster on which the applications live.
  returned: success
  type: str
reason:
  description: How that is known.
  returned: success
  type: str
grown:
  description:
    - By alias, originals that grew between the two observations, in words. Empty where they were not observed.
    - With the policy identity the flow writes originals too.
  returned: success
  type: dict
journaled:
  description: What the journal says; null if it is missing or empty.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.residence import residence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    journal_options,
    pair_options,
    state_options,
)

SPEC = ArgumentSpec(
    {
        "home": {"type": "str", "required": True},
        "asked": {"type": "str", "default": ""},
        "observe": {"type": "bool", "default": False},
        "window": {"type": "float", "default": 2.0},
    }
).merge(pair_options(), journal_options(), state_options())


def work(module: AnsibleModule) -> Result:
    """Observe and decide."""
    return residence(module.params)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

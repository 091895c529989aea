#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the lists of Streams Replication Manager flows, and the positions that they translated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: srm_allowlist_info
short_description: Read the lists and translated positions of Streams Replication Manager flows
version_added: 1.0.0
description:
  - Returns the lists of O(kinds) of each of O(flows) as C(srm-control --list) shows them, one row each.
  - Can also return the positions of consumer groups as C(srm-control offsets --export) translates them.
  - A list that cannot be read is V(null), never empty. One failure does not hide the other rows.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  kinds:
    description:
      - The lists. V(reverse_checkpointed_topics) needs Cloudera Runtime 7.3.2 or later.
    type: list
    elements: str
    choices: [topics, groups, reverse_checkpointed_topics]
    default: [topics, groups, reverse_checkpointed_topics]
  offsets_of:
    description:
      - Consumer groups whose translated positions are read too, for each flow. Works while the source is down.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - switchback.kafka_dr.srm
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
seealso:
  - module: switchback.kafka_dr.srm_allowlist
"""

EXAMPLES = r"""
- name: All lists that the SRM beside B serves
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}]
    secret: "{{ vault_srm_secure_store }}"
  register: lists

- name: Both directions, of a release without reverse checkpointing
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}, {source: B, target: P}]
    kinds: [topics, groups]

- name: Where settlement would go on on B, also while P is down (fails if the export cannot be read)
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}]
    kinds: []
    offsets_of: [settlement]
"""

RETURN = r"""
lists:
  description: One row for each of O(kinds) of each flow.
  returned: unless a fault that would meet every call ended the task
  type: list
  elements: dict
  contains:
    kind:
      description: The list.
      type: str
      returned: always
    source:
      description: Alias of the flow's source.
      type: str
      returned: always
    target:
      description: Alias of the flow's target.
      type: str
      returned: always
    known:
      description: Whether the list was read.
      type: bool
      returned: always
    allowed:
      description: Entries of the allowlist, V(null) if unknown.
      type: list
      elements: str
      returned: always
    denied:
      description: Entries of the denylist, V(null) if unknown.
      type: list
      elements: str
      returned: always
    error:
      description:
        - What went wrong, V(null) if nothing did. A reverse list that the tool does not show is unknown and does not
          fail the task.
      type: dict
      returned: always
  sample:
    - {kind: topics, source: P, target: B, known: true, allowed: [Payments], denied: [], error: null}
offsets:
  description: One row for each of O(offsets_of) of each flow.
  returned: unless a fault that would meet every call ended the task
  type: list
  elements: dict
  contains:
    source:
      description: Alias of the flow's source.
      type: str
      returned: always
    target:
      description: Alias of the flow's target.
      type: str
      returned: always
    group:
      description: The group.
      type: str
      returned: always
    committed_offsets:
      description:
        - Positions as C(topic) (its name on the target), C(partition) and C(offset). V(null) if unknown, empty if SRM
          has no checkpoint of the group.
      type: list
      elements: dict
      returned: always
    error:
      description: What went wrong, V(null) if nothing did.
      type: dict
      returned: always
  sample:
    - source: P
      target: B
      group: settlement
      committed_offsets: [{topic: P.Payments, partition: 0, offset: 4711}]
      error: null
requests:
  description: Calls of the tool, with their exit code, V(null) if it was ended for taking too long.
  returned: when the tool was found
  type: list
  elements: dict
  sample: [{argv: [srm-control, topics, --source, P, --target, B, --list], rc: 0}]
error:
  description: What stopped the task, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._module import ArgumentSpec, Result, run
from ..module_utils._pair.options import flow_options
from ..module_utils._srm.control import SrmControl, Tool
from ..module_utils._srm.listing import KINDS
from ..module_utils._srm.observation import observe
from ..module_utils._srm.options import srm_options


def options() -> ArgumentSpec:
    """The argument spec, from its parts."""
    own = ArgumentSpec(
        {
            "kinds": {"type": "list", "elements": "str", "choices": list(KINDS), "default": list(KINDS)},
            "offsets_of": {"type": "list", "elements": "str", "default": []},
        }
    )
    return srm_options().merge(flow_options(), own)


def work(module: AnsibleModule) -> Result:
    """Read and tell."""
    params = module.params
    flows = [(flow["source"], flow["target"]) for flow in params["flows"]]
    return observe(SrmControl(Tool.from_params(params)), flows, params["kinds"], params["offsets_of"])


def main() -> None:
    """Entry point."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

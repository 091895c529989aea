#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the lists of Streams Replication Manager flows and the offsets that it translated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: srm_allowlist_info
short_description: Read the lists and translated offsets of Streams Replication Manager flows
version_added: 1.0.0
description:
  - Returns one row for each list of O(kinds) of each flow in O(flows), as C(srm-control --list) shows it.
  - Can also return the offsets of consumer groups as C(srm-control offsets --export) translates them.
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
      - Consumer groups whose translated offsets the module also reads, for each flow. This works while the source is
        down.
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
  - module: switchback.kafka_dr.cm_config_info
"""

EXAMPLES = r"""
- name: Read all lists of the flow from P to B
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}]
    secret: "{{ vault_srm_secure_store }}"
  register: lists

- name: Read the lists of both flows of a release without reverse checkpointing
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}, {source: B, target: P}]
    kinds: [topics, groups]

- name: Read where settlement would continue on B, even while P is down
  switchback.kafka_dr.srm_allowlist_info:
    flows: [{source: P, target: B}]
    kinds: []
    offsets_of: [settlement]
"""

RETURN = r"""
lists:
  description: One row for each list of O(kinds) of each flow.
  returned: unless an error that affects every call stopped the task
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
      description: Entries of the allowlist. V(null) if they are unknown.
      type: list
      elements: str
      returned: always
    denied:
      description: Entries of the denylist. V(null) if they are unknown.
      type: list
      elements: str
      returned: always
    error:
      description:
        - Why the list could not be read. V(null) if it was read. A reverse list that C(srm-control) cannot show is
          unknown and does not fail the task.
      type: dict
      returned: always
  sample:
    - {kind: topics, source: P, target: B, known: true, allowed: [Payments], denied: [], error: null}
offsets:
  description: One row for each group of O(offsets_of) of each flow.
  returned: unless an error that affects every call stopped the task
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
      description: Name of the group.
      type: str
      returned: always
    committed_offsets:
      description:
        - Translated offsets as C(topic) (its name on the target), C(partition) and C(offset). V(null) if they are
          unknown. Empty if SRM has no checkpoint of the group.
      type: list
      elements: dict
      returned: always
    error:
      description: Why the offsets could not be read. V(null) if they were read.
      type: dict
      returned: always
  sample:
    - source: P
      target: B
      group: settlement
      committed_offsets: [{topic: P.Payments, partition: 0, offset: 4711}]
      error: null
requests:
  description: Calls of C(srm-control) with their exit codes. C(rc) is V(null) if the module killed the call.
  returned: when the module has found srm-control
  type: list
  elements: dict
  sample: [{argv: [srm-control, topics, --source, P, --target, B, --list], rc: 0}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: srm_control_missing
    message: '"srm-control" is not on this host, neither in PATH nor in /opt/cloudera/parcels/CDH/bin.'
    hint: Run the task on a host with an SRM role or gateway of the flow's target cluster, or set command.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._module import ArgumentSpec, Result, run
from ..module_utils._pair.options import flow_options
from ..module_utils._srm.control import SrmControl, Tool
from ..module_utils._srm.listing import KINDS
from ..module_utils._srm.observation import observe
from ..module_utils._srm.options import srm_options


def options() -> ArgumentSpec:
    """Build the argument spec."""
    own = ArgumentSpec(
        {
            "kinds": {"type": "list", "elements": "str", "choices": list(KINDS), "default": list(KINDS)},
            "offsets_of": {"type": "list", "elements": "str", "default": []},
        }
    )
    return srm_options().merge(flow_options(), own)


def work(module: AnsibleModule) -> Result:
    """Read the lists and the translated offsets."""
    params = module.params
    flows = [(flow["source"], flow["target"]) for flow in params["flows"]]
    return observe(SrmControl(Tool.from_params(params)), flows, params["kinds"], params["offsets_of"])


def main() -> None:
    """Run the module."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the topics and groups of a pair whose inventory has patterns."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_pattern_info
short_description: Find the topics and groups that the patterns of the inventory take (internal step)
version_added: 1.0.0
description:
  - C(roles/kafka_dr/tasks/resolve.yml) calls this module. The role then derives the pair with explicit names.
  - The journal names the topics and groups that joined the pair when it was enabled. C(enable) and C(rebuild) list the
    cluster on which the applications live instead, as do all playbooks before the first C(enable).
  - Fails if a pattern takes nothing on the cluster that is listed.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  source:
    description:
      - V(journal) returns what has joined the pair. V(clusters) returns what exists now. V(survivor) is like
        V(journal), but contacts only the cluster in O(to), because the other one may be lost.
    type: str
    choices: [journal, clusters, survivor]
    default: journal
  to:
    description: Alias of the surviving cluster. By default the one that is not the home.
    type: str
    default: ""
  asked:
    description: Alias on which the applications live, as the operator states it. By default as the journal states it.
    type: str
    default: ""
seealso:
  - module: switchback.kafka_dr.dr_journal
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Find the topics of the patterns
  switchback.kafka_dr.dr_pattern_info:
    pair: "{{ kafka_dr_pair.spec }}"
    source: clusters
  register: names
"""

RETURN = r"""
resolved:
  description:
    - C(topics) holds partition counts by name, of the topics that patterns take and of those that the inventory names.
      C(groups) holds the groups that patterns take. C(listed) is the alias of the cluster that was listed, null if the
      names are from the journal.
  returned: success
  type: dict
  sample: {topics: {orders.eu: 12, orders.us: 12}, groups: [settlement], listed: P}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.patterns import (
    SOURCES,
    PatternRequest,
    find_names,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec(
    {
        "source": {"type": "str", "choices": list(SOURCES), "default": "journal"},
        "to": {"type": "str", "default": ""},
        "asked": {"type": "str", "default": ""},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Find the names."""
    params = module.params
    return find_names(
        PatternRequest(
            pair=pair_spec(params),
            source=params["source"],
            to=params["to"],
            asked=params["asked"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

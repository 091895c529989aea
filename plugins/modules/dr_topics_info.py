#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the topics of a pair on both clusters with the inventory and with the journal."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_topics_info
short_description: Compare the topics of a pair with the inventory and the journal (internal step)
version_added: 1.0.0
description:
  - Finds topics whose partition counts do not fit, replicas that are larger than their originals, and topics that were
    deleted and created again since the journal recorded their ids.
  - With O(hold), plans which retention settings to record and to set.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
options:
  declared:
    description: The topics of the inventory, each with C(name), C(partitions) and C(config).
    type: list
    elements: dict
    required: true
  names:
    description: Topics to observe, by alias. Originals and replicas.
    type: dict
    required: true
  offset_syncs:
    description: By flow, the alias (C(on)) and the name (C(topic)) of its offset-syncs topic.
    type: dict
    default: {}
  state:
    description: State of the journal, as M(switchback.kafka_dr.dr_journal) returns it.
    type: dict
    default: {}
  hold:
    description: Whether the topics are to keep all records (V(true)) or get back the retention that they had.
    type: bool
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Compare the topics with the inventory
  switchback.kafka_dr.dr_topics_info:
    pair: "{{ kafka_dr_pair.spec }}"
    declared: "{{ kafka_dr_pair.topics }}"
    names: "{{ kafka_dr_pair.names }}"
  register: pair_topics

- name: Require equal partition counts
  ansible.builtin.assert:
    that: pair_topics.unequal | length == 0
"""

RETURN = r"""
cluster_ids:
  description: Ids of the clusters by alias, as they report them.
  returned: success
  type: dict
existing:
  description: By alias, those of the observed topics that exist.
  returned: success
  type: dict
topic_ids:
  description: By alias and topic, the ids of the observed topics.
  returned: success
  type: dict
unequal:
  description: Topics whose partition counts differ from the inventory's or between the clusters, in words.
  returned: success
  type: list
  elements: str
larger_replicas:
  description: Replicas with more partitions than their originals, in words.
  returned: success
  type: list
  elements: str
recreated:
  description: Topics whose id is not the journaled one, in words.
  returned: with O(state)
  type: list
  elements: str
joined:
  description: Topics that the journal does not know by their present ids.
  returned: with O(state)
  type: list
  elements: str
known:
  description: Whether the journal knows each of the observed topics by its present id.
  returned: with O(state)
  type: bool
syncs_since:
  description: By flow and topic, the first offset-sync that is about the present topics.
  returned: with O(state)
  type: dict
retention:
  description:
    - C(held), what the journal has to record before settings are changed, or after they are given back, and C(topics)
      by alias, as M(switchback.kafka_dr.kafka_topic) takes them.
  returned: with O(hold)
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.topics import (
    TopicsRequest,
    compare_topics,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec(
    {
        "declared": {"type": "list", "elements": "dict", "required": True},
        "names": {"type": "dict", "required": True},
        "offset_syncs": {"type": "dict", "default": {}},
        "state": {"type": "dict", "default": {}},
        "hold": {"type": "bool"},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Observe and compare."""
    params = module.params
    return compare_topics(
        TopicsRequest(
            pair=pair_spec(params),
            declared=params["declared"],
            names=params["names"],
            offset_syncs=params["offset_syncs"],
            state=params["state"],
            hold=params["hold"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

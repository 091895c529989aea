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
  - C(roles/topics/tasks/main.yml), C(roles/replication/tasks/enable_journal.yml),
    C(roles/replication/tasks/enable_record.yml) and C(roles/replication/tasks/hold.yml) call this module.
  - Finds topics with more partitions than in the inventory, replicas that are larger than their originals, and topics
    that were deleted and created again since the journal recorded their ids.
  - With O(hold), returns which retention settings to record and to set.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  declared:
    description: The topics of the inventory, each with C(name), C(partitions) and C(config).
    type: list
    elements: dict
    required: true
  names:
    description: Names of the originals and replicas to observe, by alias.
    type: dict
    required: true
  flow_topics:
    description:
      - By alias, the topics that the flows create, in the form of O(switchback.kafka_dr.kafka_topic#module:topics).
    type: dict
    default: {}
  offset_syncs:
    description: By flow, the alias (C(on)) and the name (C(topic)) of its offset-syncs topic.
    type: dict
    default: {}
  state:
    description: State of the journal, RV(switchback.kafka_dr.dr_journal#module:state).
    type: dict
    default: {}
  hold:
    description: Whether the topics are to keep all records (V(true)) or get back their former retention (V(false)).
    type: bool
seealso:
  - module: switchback.kafka_dr.kafka_topic
  - module: switchback.kafka_dr.kafka_topic_info
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

- name: Require that no topic has more partitions than in the inventory
  ansible.builtin.assert:
    that: pair_topics.unequal | length == 0
"""

RETURN = r"""
cluster_ids:
  description: Ids of the clusters by alias, as the clusters report them.
  returned: success
  type: dict
  sample: {P: 4L6g3nShT-eMCtK--X86sw, B: 7QmXW0aLSgqeGrIHwGVbyA}
missing:
  description: By alias, those of O(flow_topics) that do not exist.
  returned: success
  type: dict
  sample: {P: [], B: [{name: P.Payments, partitions: 12, replication_factor: 3}]}
topic_ids:
  description: By alias and topic, the ids of the observed topics.
  returned: success
  type: dict
  sample: {P: {Payments: 1cXtYB3QQDuJ4ABiLBn6cA}, B: {P.Payments: 9kzq6cN6Rnm0fGmC2mCLTg}}
unequal:
  description: Topics with more partitions than in the inventory, and the count to declare, in words.
  returned: success
  type: list
  elements: str
  sample: []
larger_replicas:
  description: Replicas with more partitions than their originals, in words.
  returned: success
  type: list
  elements: str
  sample: []
recreated:
  description: Topics whose id is not the journaled one, in words.
  returned: with O(state)
  type: list
  elements: str
  sample: ['"Payments" on P (id 1cXtYB3QQDuJ4ABiLBn6cA, journaled 0aB1rYrzS7iYmV3l0cJZ0w)']
joined:
  description: Topics that the journal does not know by their present ids.
  returned: with O(state)
  type: list
  elements: str
  sample: [Payments]
known:
  description: Whether the journal knows each of the observed topics by its present id.
  returned: with O(state)
  type: bool
  sample: false
offset_syncs_start:
  description: By flow and topic, the first offset-sync that is about the present topics.
  returned: with O(state)
  type: dict
  sample: {P->B: {Payments: 0}}
checkpoints_start:
  description:
    - By flow and topic, where the topic with MirrorMaker 2's checkpoints ended when the present topic joined the pair
      (log end and topic id). Earlier checkpoints may be about another topic.
  returned: with O(state)
  type: dict
  sample: {P->B: {Payments: [0, ""]}}
checkpoints:
  description:
    - By alias, the log end and the id of the topic with MirrorMaker 2's checkpoints of the other cluster. Only of
      clusters that were lost when the applications left them, if the journal does not know it yet.
  returned: with O(state)
  type: dict
  sample: {P: [410, 2cXtYB3QQDuJ4ABiLBn6cA]}
retention:
  description:
    - C(held) is what the journal must record before the settings change, or after they are restored. C(topics) holds by
      alias the topics in the form of O(switchback.kafka_dr.kafka_topic#module:topics).
  returned: with O(hold)
  type: dict
  sample:
    held: {P: {Payments: {retention.bytes: null, retention.ms: "604800000"}}}
    topics: {P: [{name: Payments, config: {retention.bytes: "-1", retention.ms: "-1"}}]}
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
        "flow_topics": {"type": "dict", "default": {}},
        "offset_syncs": {"type": "dict", "default": {}},
        "state": {"type": "dict", "default": {}},
        "hold": {"type": "bool"},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Compare the topics of both clusters with the inventory and the journal."""
    params = module.params
    return compare_topics(
        TopicsRequest(
            pair=pair_spec(params),
            declared=params["declared"],
            names=params["names"],
            flow_topics=params["flow_topics"],
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

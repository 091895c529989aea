#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""See that flows start from offsets that fit their replicas."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_flow_start
short_description: See that flows start from offsets that fit their replicas
version_added: 1.0.0
description:
  - A source connector without stored offsets replicates everything again. Fails with C(offsets_do_not_fit) if a flow
    would start on a replica partition that holds or held records, and its connector stores no offset for it, or one
    whose record is not the last record of the replica. Nothing is asked of a connector that already replicates the
    topic.
  - Replicas that the journal knows by their topic id were filled by this pair; of them, the offset must be there.
  - The offsets of a connector survive its deletion. If meanwhile the original or the replica of a topic was created
    again, the flow would go on behind them and leave out what lies below.
  - With O(forget), also fails if a flow has a stored offset for a topic that is not the journaled one, for a partition
    whose replica does not exist or was never written, or past the source's end. Of a topic in O(copy_again) such
    offsets are forgotten and read back instead, if its replica is empty; then the flow copies it from its beginning.
  - A connector must exist for its offsets to be seen, and be STOPPED without tasks for them to be forgotten.
extends_documentation_fragment:
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  topic_ids:
    description: Ids of the topics from the journal, as a dictionary from alias to topic to id.
    type: dict
    default: {}
  only_here:
    description: What the journal says of a cluster that was replaced, as M(switchback.kafka_dr.dr_journal) returns it.
    type: dict
    default: {}
  forget:
    description:
      - V(false) only compares stored offsets with replicas, before any connector is created. The offsets of a connector
        that does not exist cannot be read; if the journal knows its replicas, RV(unseen) names the flow.
    type: bool
    default: false
  adopting:
    description: Flows whose offsets are about to be taken over by M(switchback.kafka_dr.dr_adopt); not compared.
    type: list
    elements: str
    default: []
  copy_again:
    description: Topics that are copied from their beginning. Only with Kafka Connect.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: See that the flows may go on, and let one topic begin anew
  switchback.kafka_dr.dr_flow_start:
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments, Orders]
    flows: [{source: P, target: B}]
    topic_ids: "{{ journal.state.topic_ids }}"
    forget: true
    copy_again: [Payments]
"""

RETURN = r"""
unseen:
  description: Flows without a source connector whose replicas hold records. Their stored offsets are not known yet.
  returned: success
  type: list
  elements: str
changes:
  description: The offsets that were forgotten.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.restart import flow_start
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    flow_options,
    guard_options,
    pair_options,
)

SPEC = ArgumentSpec(
    {
        "topic_ids": {"type": "dict", "default": {}},
        "only_here": {"type": "dict", "default": {}},
        "forget": {"type": "bool", "default": False},
        "adopting": {"type": "list", "elements": "str", "default": []},
        "copy_again": {"type": "list", "elements": "str", "default": []},
    }
).merge(pair_options(), flow_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Look, refuse or forget."""
    return flow_start(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

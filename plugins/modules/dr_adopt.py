#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take over the stored offsets of connectors that have filled the replicas until now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_adopt
short_description: Take over a MirrorMaker 2 flow that exists already
version_added: 1.0.0
description:
  - A flow that another connector or a dedicated MirrorMaker 2 has run must go on under the name of the pair's connector
    from where it was. From the beginning, every record would be replicated a second time.
  - With O(apply), stops the old connectors, waits until they have no tasks, reads their stored offsets, compares with
    both logs that the record at each offset is the last one of its replica, stores the offsets under the name of the
    pair's source connector, which must exist, and reads them back. The old connectors stay STOPPED.
  - Fails with C(adoption_refused) if the old connector gives replicas another name or content, replicates topics that
    neither O(topics) nor C(leave_topics) names, or stores offsets that do not fit; connectors that were stopped for it
    are resumed then. Fails with C(adoption_running) if a dedicated MirrorMaker 2 still runs.
  - Each step may be repeated. Flows whose own connector replicates the topics already are left alone.
extends_documentation_fragment:
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  adopt:
    description:
      - What is taken over, by flow, as C(kafka_dr_pair.adopt) has it.
      - Either C(connectors) (names by part), C(connect_url) and C(connect_client); or C(offsets_topic) and C(group) of
        a dedicated MirrorMaker 2. C(leave_topics) lists topics that are no longer replicated afterwards.
    type: dict
    required: true
  apply:
    description: V(false) only refuses what can be refused now, and tells which flows are pending.
    type: bool
    default: true
  topic_ids:
    description: Ids of the topics from the journal, as a dictionary from alias to topic to id.
    type: dict
    default: {}
  only_here:
    description: What the journal says of a cluster that was replaced, as M(switchback.kafka_dr.dr_journal) returns it.
    type: dict
    default: {}
  wait_timeout:
    description: Seconds until stopped connectors must have no tasks.
    type: float
    default: 60.0
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
- name: Take over the flow that the connector legacy-mirror has run
  switchback.kafka_dr.dr_adopt:
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments, Orders]
    flows: [{source: P, target: B}]
    adopt:
      P->B:
        connectors: {source: legacy-mirror}
        connect_url: http://b1:8083
        connect_client: {}
        offsets_topic: null
        group: null
        leave_topics: []
"""

RETURN = r"""
pending:
  description: Flows that have something left to take over.
  returned: success
  type: list
  elements: str
adopted:
  description: By flow, what was adopted and the offsets that it had stored, for the journal.
  returned: success
  type: dict
changes:
  description: Connectors that were stopped, and offsets that were set.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.adoption import adopt
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    flow_options,
    guard_options,
    pair_options,
)

SPEC = ArgumentSpec(
    {
        "adopt": {"type": "dict", "required": True},
        "apply": {"type": "bool", "default": True},
        "topic_ids": {"type": "dict", "default": {}},
        "only_here": {"type": "dict", "default": {}},
        "wait_timeout": {"type": "float", "default": 60.0},
    }
).merge(pair_options(), flow_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Refuse, or take over."""
    return adopt(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

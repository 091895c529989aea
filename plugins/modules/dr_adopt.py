#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take over the stored offsets of connectors that have replicated a flow until now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_adopt
short_description: Take over a MirrorMaker 2 flow that exists already (internal step)
version_added: 1.0.0
description:
  - A step of the roles of this collection. Its options may change in any release.
  - A flow that another connector or a dedicated MirrorMaker 2 has run must continue under the name of the pair's
    connector from where it was. From the beginning, every record would be replicated a second time.
  - With O(apply), stops the old connectors, waits until they have no tasks, reads their stored offsets, compares in
    both logs that the record at each offset is the last one of its replica, stores the offsets under the name of the
    pair's source connector, which must exist, and reads them back. The old connectors stay STOPPED.
  - Fails with C(adoption_refused) if the old connector gives replicas another name or content, replicates topics that
    neither the pair nor C(leave_topics) names, or stores offsets that do not fit. Connectors that this module has
    stopped are resumed then. Fails with C(adoption_running) if a dedicated MirrorMaker 2 still runs.
  - Each step may be repeated. Flows whose own connector replicates the topics already are not changed.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  adopt:
    description:
      - What is taken over, by the name of the flow. The roles pass C(kafka_dr_pair.adopt).
      - Either C(connectors) (names by part), C(connect_url) and C(connect_client); or C(offsets_topic) and C(group) of
        a dedicated MirrorMaker 2. C(leave_topics) lists topics that are no longer replicated afterwards.
    type: dict
    required: true
  apply:
    description: V(false) only refuses what can be refused now, and returns which flows are pending.
    type: bool
    default: true
  wait_timeout:
    description: Seconds within which stopped connectors must have no tasks.
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
    pair: "{{ kafka_dr_pair.spec }}"
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
  description: Flows whose offsets are still to be taken over.
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

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.adoption import (
    AdoptRequest,
    FormerReplicator,
    adopt,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    flow_options,
    flows_of,
    guard_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "adopt": {"type": "dict", "required": True},
        "apply": {"type": "bool", "default": True},
        "wait_timeout": {"type": "float", "default": 60.0},
    }
).merge(pair_option(), flow_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Refuse, or take over."""
    params = module.params
    request = AdoptRequest(
        pair=pair_spec(params),
        flows=flows_of(params),
        former={flow: FormerReplicator.of(option) for flow, option in params["adopt"].items()},
        apply=params["apply"],
        stop_bounds=Bounds(params["wait_timeout"]),
        request_timeout=params["request_timeout"],
    )
    return adopt(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

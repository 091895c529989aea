#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take over the stored offsets of the connectors that have replicated a flow until now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_adopt
short_description: Take over a MirrorMaker 2 flow that already exists (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/enable_check_start.yml) calls this module to check what it can take over, and
    C(roles/replication/tasks/adopt.yml) to take it over.
  - Another connector or a dedicated MirrorMaker 2 has run the flow until now. The pair's connector must continue from
    the offset that it has reached. From the beginning, it would replicate every record a second time.
  - With O(apply), the module stops the old connectors, waits until they have no tasks, and reads their stored offsets.
    It compares both logs. The record at each offset must be the last record of its replica. Then the module stores the
    offsets under the name of the pair's source connector, which must exist, and reads them back. The old connectors
    stay STOPPED.
  - Fails with C(adoption_refused) if the old connector gives replicas another name or content, or if its stored offsets
    do not fit. Also fails if it replicates topics that neither the pair nor C(leave_topics) names. The module then
    resumes the connectors that it has stopped. Fails with C(adoption_running) if a dedicated MirrorMaker 2 still runs.
  - You can repeat each step. The module does not change a flow whose own connector already replicates the topics.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  adopt:
    description:
      - By name of the flow, what the module takes over. The roles pass C(kafka_dr_pair.adopt).
      - Either C(connectors) (names by part), C(connect_url) and C(connect_client), or C(offsets_topic) and C(group) of
        a dedicated MirrorMaker 2. C(leave_topics) lists topics that are no longer replicated afterwards.
    type: dict
    required: true
  apply:
    description: V(false) only refuses what can be refused now, and returns which flows are pending.
    type: bool
    default: true
  wait_timeout:
    description: Seconds within which the stopped connectors must have no tasks.
    type: float
    default: 60.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.connect_mirror
  - module: switchback.kafka_dr.dr_flow_start
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
        connect_url: http://b-connect.example.com:8083
        connect_client: {}
        offsets_topic: null
        group: null
        leave_topics: []
"""

RETURN = r"""
pending:
  description: Flows whose offsets the module still has to take over.
  returned: success
  type: list
  elements: str
  sample: [P->B]
adopted:
  description: By flow, the adopted connectors and the offsets that they had stored, for the journal.
  returned: success
  type: dict
  sample: {P->B: {flow: P->B, connectors: {source: legacy-mirror}, offsets: {Payments: {"0": 1200}}}}
changes:
  description: Connectors that were stopped, and offsets that were set.
  returned: success
  type: list
  elements: dict
  sample:
    - kind: connector
      name: legacy-mirror
      action: stop
      before: {state: RUNNING}
      after: {state: STOPPED}
      status: done
      error: null
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
    """Take over the stored offsets, or refuse."""
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

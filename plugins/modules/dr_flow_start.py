#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that flows start from offsets that fit their replicas."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_flow_start
short_description: Check that flows start from offsets that fit their replicas (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/enable_check_start.yml) and C(roles/replication/tasks/enable_stored_offsets.yml) call this
    module.
  - A source connector without stored offsets replicates everything again. For each replica partition that holds or held
    records, the connector must store an offset whose record is the last record of the replica. Otherwise the task fails
    with C(offsets_do_not_fit). The module does not check a connector that already replicates the topic.
  - If the journal of the pair holds the topic id of a replica, the pair itself has filled it. The stored offset must
    exist then. The module does not compare its record.
  - The offsets of a connector survive its deletion. If a topic was created again in the meantime, the flow would
    continue after these offsets and skip the records before them.
  - With O(forget), the task also fails if a stored offset is about records that no longer exist. Either the topic id is
    not the journaled one, or the replica partition does not exist or was never written, or the offset is past the
    source's log end. For a topic in O(copy_again) whose replica is empty, the module deletes these offsets and reads
    them back. The flow then replicates the topic from its beginning.
  - A connector must exist for its offsets to be read, and be STOPPED without tasks for them to be deleted.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  forget:
    description:
      - V(false) only compares stored offsets with replicas, before any connector is created. The offsets of a connector
        that does not exist cannot be read. If the journal knows its replicas, RV(unseen) lists the flow.
    type: bool
    default: false
  adopting:
    description:
      - Flows whose stored offsets M(switchback.kafka_dr.dr_adopt) is about to set. The module does not compare them.
    type: list
    elements: str
    default: []
  copy_again:
    description: Topics that are replicated again from their beginning. Works with Kafka Connect only.
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
seealso:
  - module: switchback.kafka_dr.dr_adopt
  - module: switchback.kafka_dr.connect_mirror_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Check that the flows can continue, and replicate one topic from its beginning
  switchback.kafka_dr.dr_flow_start:
    pair: "{{ kafka_dr_pair.spec }}"
    flows: [{source: P, target: B}]
    forget: true
    copy_again: [Payments]
"""

RETURN = r"""
unseen:
  description: Flows without a source connector whose replicas hold records. Their stored offsets are unknown.
  returned: success
  type: list
  elements: str
  sample: []
changes:
  description: The stored offsets that were deleted.
  returned: success
  type: list
  elements: dict
  sample:
    - kind: offsets
      name: P->B.MirrorSourceConnector
      action: delete
      before: {Payments: {"0": 1200}}
      after: null
      status: done
      error: null
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.restart import (
    FlowStartRequest,
    flow_start,
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
        "forget": {"type": "bool", "default": False},
        "adopting": {"type": "list", "elements": "str", "default": []},
        "copy_again": {"type": "list", "elements": "str", "default": []},
    }
).merge(pair_option(), flow_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Compare stored offsets with replicas. Refuse or delete those that do not fit."""
    params = module.params
    request = FlowStartRequest(
        pair=pair_spec(params),
        flows=flows_of(params),
        forget=params["forget"],
        adopting=params["adopting"],
        copy_again=params["copy_again"],
        request_timeout=params["request_timeout"],
    )
    return flow_start(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

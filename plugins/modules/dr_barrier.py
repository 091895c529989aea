#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop a flow so that its progress is final, translate the committed offsets, and journal both."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_barrier
short_description: Stop the flow, translate committed offsets and journal the barrier of a cutover (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/barrier.yml) calls this module. O(guard.run) is the id of the run. The journal names the
    clusters that this run leaves and enters.
  - Stops the checkpoint connector of the flow between them and, with O(final), its source connector. Waits until they
    are STOPPED without tasks.
  - Then translates the committed offsets of all groups, as M(switchback.kafka_dr.dr_translation_info) does. Appends
    what cannot be read again later to the journal, as the phase C(barrier) of the run.
  - In O(record), preflight has noted which groups had no members, and when it read their committed offsets. The
    application of such a group may read with C(assign()) and commits every 5 s by default, so its committed offsets
    must be unchanged since then, or for 6 s. If the committed offsets are still those that the drain has noted,
    O(waits.settle) counts from the drain.
  - If the flow is not drained or an offset cannot be found, the module fails and journals nothing. The connectors stay
    stopped, and the caller must start them again.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.translation
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  final:
    description:
      - Whether to stop the source connector too, so that its progress is final.
      - With V(false), the flow continues, and the module waits until everything that the groups have read is
        replicated.
    type: bool
    default: true
  waits:
    description: Bounds of the waits of this module, in seconds.
    type: dict
    suboptions:
      stop_timeout:
        description: Until the connectors are stopped.
        type: float
        default: 60.0
      restart_timeout:
        description: Until the flow is stopped, if its engine restarts a service for that.
        type: float
        default: 900.0
      member_timeout:
        description:
          - Until the groups have no members. A static member, or a consumer that was killed, remains a member until its
            C(session.timeout.ms) has passed. With V(0), the module checks once.
        type: float
        default: 0.0
      settle:
        description: How long committed offsets must not change for a group to count as idle.
        type: float
        default: 1.0
      wait_timeout:
        description: Until everything that the groups have read is replicated, and no transaction is open.
        type: float
        default: 120.0
attributes:
  check_mode:
    support: partial
    details:
      - Reports which connectors would stop. Offsets at the barrier cannot be found before the connectors have stopped.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: Stopped connectors stay stopped. The journal gets a new entry each time.
seealso:
  - module: switchback.kafka_dr.dr_translation_info
  - module: switchback.kafka_dr.dr_disaster
    description: The same without the cluster being left.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Set the barrier
  switchback.kafka_dr.dr_barrier:
    pair: "{{ kafka_dr_pair.spec }}"
    guard: "{{ kafka_dr_guard }}"
    record: "{{ cutover_record }}"
  register: barrier
"""

RETURN = r"""
committed_offsets:
  description: The offsets by group, in the form of O(switchback.kafka_dr.kafka_group#module:groups).
  returned: success
  type: list
  elements: dict
  sample: [{group: settlement, committed_offsets: [{topic: P.Payments, partition: 0, offset: 1181}]}]
details:
  description: Rows in the form of RV(switchback.kafka_dr.dr_translation_info#module:details).
  returned: success
  type: list
  elements: dict
  sample: [{group: settlement, topic: P.Payments, partition: 0, offset: 1181, method: content, quality: exact}]
records_read:
  description: Number of records and offset-syncs that the module read on both clusters.
  returned: success
  type: int
  sample: 412
rereads:
  description: Upper bound of records that all groups together read again. Null if it is unknown.
  returned: success
  type: int
  sample: 0
barrier:
  description:
    - What was journaled. RV(switchback.kafka_dr.dr_translation_info#module:barrier) with C(entered) (the offsets found)
      and C(preexisting_higher_offsets) (where the group had already committed a higher offset, in words).
  returned: success
  type: dict
  sample:
    last_replicated_offset: {Payments: {"0": 1212}}
    starts: {Payments: {"0": 0}}
    ends: {Payments: {"0": 1213}}
    cut: {Payments: {"0": 0}}
    committed_offsets: {settlement: {Payments: {"0": 1182}}}
    skips: []
    entered: [{group: settlement, committed_offsets: [{topic: P.Payments, partition: 0, offset: 1181}]}]
    preexisting_higher_offsets: []
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.commits_seen import (
    CommitsSeen,
    IdleGroups,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.barrier import barrier
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import BarrierRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    acceptance_options,
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import required_run

LOCAL_RUN = {"fast": True, "repeatable": True}
WAITS = {
    "stop_timeout": {"type": "float", "default": 60.0},
    "restart_timeout": {"type": "float", "default": 900.0},
    "member_timeout": {"type": "float", "default": 0.0},
    "settle": {"type": "float", "default": 1.0},
    "wait_timeout": {"type": "float", "default": 120.0},
}
SPEC = ArgumentSpec(
    {
        "final": {"type": "bool", "default": True},
        "waits": {"type": "dict", "options": WAITS, "apply_defaults": True},
    }
).merge(pair_option(), acceptance_options(), guard_options(), record_options())
# Return values to compress.
ROWS = ("committed_offsets", "details", "barrier.*")


def work(module: AnsibleModule) -> Result:
    """Stop the flow, translate the committed offsets and journal them."""
    params = module.params
    claim, waits, moved = claim_of(params), params["waits"], required_run(params)
    if claim is None or not claim.run:
        raise DrError("bad_option", "The option guard has no run.", "Set guard.run: the barrier is a phase of a run.")
    if moved.idle_groups is None:
        raise DrError(
            "bad_option", "The record has not noted which groups had no members.", "Pass the record of the preflight."
        )
    request = BarrierRequest(
        pair=pair_spec(params),
        claim=claim,
        final=params["final"],
        group_lag=params["group_lag"],
        accept_skips=params["accept_skips"],
        settle=waits["settle"],
        members=Bounds(waits["member_timeout"]),
        replicated=Bounds(waits["wait_timeout"]),
        stop_timeout=waits["stop_timeout"],
        restart_timeout=waits["restart_timeout"],
        request_timeout=params["request_timeout"],
        commits_seen=CommitsSeen.parsed(moved.commits_seen),
        idle_groups=IdleGroups.parsed(moved.idle_groups),
    )
    return barrier(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work), ROWS)


if __name__ == "__main__":
    main()

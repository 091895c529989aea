#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the barrier of a disaster on the surviving cluster, and find the groups' offsets there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_disaster
short_description: Find committed offsets on the surviving cluster and journal the barrier of a disaster (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/preflight_disaster.yml) and C(roles/cutover/tasks/phase_survey.yml) call this module.
    It needs nothing from O(leave).
  - Stops the flow from O(leave) to O(enter) on the workers of O(enter). Finds an offset for every group and partition
    from the data on O(enter). Appends the offsets to the journal there, as the phase C(barrier) of O(guard.run). Reads
    only the copy of the journal on O(enter).
  - The offset of a group is the highest of MirrorMaker 2's newest checkpoint (with the later offset-syncs), the
    presynced offset, and the group's own offset from an earlier tenure. Without them it is the log start offset. None
    of them is higher than what the group has processed.
  - MirrorMaker 2 may have been sending records a second time when it ended. Offsets then move down to the first copy,
    because not all records were sent a second time.
  - With the policy V(identity), the task fails unless the flow has no tasks. With the policy V(default), the flow may
    still replicate. C(last_replicated_offset) is a lower bound then.
  - In check mode, the module stops and journals nothing, and probes whether O(leave) still responds.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  leave:
    description: Alias of the lost cluster.
    type: str
    required: true
  enter:
    description: Alias of the surviving cluster.
    type: str
    required: true
  stop_timeout:
    description: Seconds that the connectors may take to stop.
    type: float
    default: 10.0
  restart_timeout:
    description: Seconds that the flow may take to stop if its engine restarts a service for that.
    type: float
    default: 900.0
  member_timeout:
    description:
      - Seconds to wait until the groups have no members. A static member, or a consumer that was killed, remains a
        member until its C(session.timeout.ms) has passed. With V(0), the module checks once. Not used in check mode.
    type: float
    default: 0.0
  probe_timeout:
    description: In check mode, seconds for the probe of O(leave). The module probes again only if O(leave) responds.
    type: float
    default: 3.0
attributes:
  check_mode:
    support: partial
    details: Offsets and loss are as of now, while the flow still runs.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: Stopped connectors stay stopped. The journal gets a new entry each time.
seealso:
  - module: switchback.kafka_dr.dr_probe_info
  - module: switchback.kafka_dr.dr_barrier
    description: The same while both clusters respond.
  - module: switchback.kafka_dr.dr_salvage
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Find out what would be lost if P failed now
  switchback.kafka_dr.dr_disaster:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
  check_mode: true
  register: survey
"""

RETURN = r"""
committed_offsets:
  description: The offsets by group, in the form of O(switchback.kafka_dr.kafka_group#module:groups).
  returned: success
  type: list
  elements: dict
  sample: [{group: settlement, committed_offsets: [{topic: P.Payments, partition: 0, offset: 1099}]}]
details:
  description:
    - One row for each group and partition. C(method) is C(checkpoint), C(presynced), C(tenure), C(first_copy), C(start)
      or C(empty). C(quality) is C(exact), C(safe), C(skips) or C(unproven). C(left) and C(checkpoint) are both offsets
      of MirrorMaker 2's checkpoint, and C(as_of) is the time of the evidence (epoch seconds). The other keys are those
      of RV(switchback.kafka_dr.dr_translation_info#module:details).
  returned: success
  type: list
  elements: dict
  sample:
    - group: settlement
      topic: P.Payments
      partition: 0
      offset: 1099
      method: checkpoint
      quality: safe
      rereads: 102
      skips: {at_least: 0, at_most: 0}
      reason: MirrorMaker 2's newest checkpoint of the group
      hazards: []
      existing: 1040
      left: 1100
      checkpoint: 1099
      as_of: 1764148490.2
rereads:
  description: Upper bound of records that all groups together read again.
  returned: success
  type: int
  sample: 102
skips:
  description: Number of records that the groups never process, in the form of RV(ignore:skips) of the translation.
  returned: success
  type: dict
  sample: {at_least: 0, at_most: 0}
settle:
  description:
    - Seconds for which the offsets should be watched after they are committed, see
      O(switchback.kafka_dr.kafka_group#module:settle). 0 unless one is below MirrorMaker 2's own checkpoint.
  returned: success
  type: float
  sample: 0.0
ages:
  description:
    - By group, the age of the oldest evidence for its offsets in seconds, by the clock of the machine that wrote it.
      Null if one of them is unknown or lies in the future.
  returned: success
  type: dict
  sample: {settlement: 12.4}
loss:
  description:
    - What O(leave) may have acknowledged and O(enter) does not have. C(records_at_least) is 0, and C(records_at_most)
      and C(seconds_at_most) are null, because only O(leave) knows its log ends and when it wrote these records.
    - C(offsets_to_committed) counts the offsets after the last replicated records up to the committed offsets of the
      groups. They belong to records, transaction markers or gaps.
    - C(heartbeat_age) is an estimate of when replication ended, by the clock of the worker that wrote the newest
      replicated heartbeat. Null if it is unknown or lies in the future.
    - C(partitions) has the last replicated offset, and C(last_event_time), the timestamp of the last replicated record
      in epoch seconds. Its producer set it, so it is no age.
  returned: success
  type: dict
  sample:
    verdict: UNKNOWN
    records_at_least: 0
    records_at_most: null
    offsets_to_committed: 0
    seconds_at_most: null
    heartbeat_age: 0.9
    partitions: []
loss_lines:
  description: The loss in words, line by line.
  returned: success
  type: list
  elements: str
  sample: ["an unknown number of records, because only the lost cluster knows its log ends"]
out_of_scope:
  description: Topics of the pair that a group uses although C(group_topics) leaves them out, each with its evidence.
  returned: success
  type: list
  elements: dict
  sample: []
active_members:
  description: By group that has members on O(enter), client id and host of the first members.
  returned: success
  type: dict
  sample: {}
unsafe_settings:
  description: Settings of the flow that may skip records, one sentence each. Empty if the engine reports no settings.
  returned: success
  type: list
  elements: str
  sample: []
active_groups:
  description: Groups that have members on O(enter).
  returned: success
  type: list
  elements: str
  sample: []
probes:
  description:
    - Whether O(leave) responded, in the form of the return values of M(switchback.kafka_dr.dr_probe_info). There is a
      second row only if it responded the first time.
  returned: in check mode
  type: list
  elements: dict
  sample: [{answers: false, reachable: false, locked_out: false, reason: "no broker listens at p1:9092", seconds: 0.3}]
barrier:
  description:
    - What was journaled, by topic and partition. C(entered) holds the offsets found, and C(precautions) the topics by
      group on which an offset was found although nothing shows that the group reads them.
  returned: success
  type: dict
  sample:
    disaster: true
    last_replicated_offset: {Payments: {"0": 1200}}
    starts: {}
    ends: {Payments: {"0": 1201}}
    cut: {Payments: {"0": 0}}
    committed_offsets: {}
    entered: [{group: settlement, committed_offsets: [{topic: P.Payments, partition: 0, offset: 1099}]}]
    precautions: {}
    preexisting_higher_offsets: []
    skips: []
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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.disaster_barrier import disaster
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import DisasterRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec(
    {
        "leave": {"type": "str", "required": True},
        "enter": {"type": "str", "required": True},
        "stop_timeout": {"type": "float", "default": 10.0},
        "restart_timeout": {"type": "float", "default": 900.0},
        "member_timeout": {"type": "float", "default": 0.0},
        "probe_timeout": {"type": "float", "default": 3.0},
    }
).merge(pair_option(), guard_options(), record_options())
# Return values to compress.
ROWS = ("committed_offsets", "details", "barrier.*")


def work(module: AnsibleModule) -> Result:
    """Stop the flow, find the offsets and journal them."""
    params = module.params
    claim = claim_of(params)
    if not module.check_mode and (claim is None or not claim.run):
        raise DrError("bad_option", "The option guard has no run.", "Set guard.run: the barrier is a phase of a run.")
    request = DisasterRequest(
        pair=pair_spec(params),
        leave=params["leave"],
        enter=params["enter"],
        claim=claim,
        stop_timeout=params["stop_timeout"],
        restart_timeout=params["restart_timeout"],
        members=Bounds(params["member_timeout"]),
        probe_timeout=params["probe_timeout"],
        request_timeout=params["request_timeout"],
    )
    return disaster(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work), ROWS)


if __name__ == "__main__":
    main()

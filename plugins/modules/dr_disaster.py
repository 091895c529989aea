#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put up the barrier of a disaster on the surviving side, and find the groups' positions there."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_disaster
short_description: Find committed offsets on the surviving cluster and journal the barrier of a disaster (internal step)
version_added: 1.0.0
description:
  - Needs nothing from O(leave). Stops the flow from O(leave) to O(enter) on the workers of O(enter), finds a position
    for every group and partition from what lies on O(enter), and appends it to the journal there, as the phase
    C(barrier) of O(guard.run). Only the copy of the journal on O(enter) is read.
  - A position is the highest of MirrorMaker 2's newest checkpoint (with the offset-syncs that came later), what the
    scheduled job has prepared, and the group's own of an earlier stay; else the log start. None is ahead of what the
    group has processed. Where MirrorMaker 2 was sending records a second time when it ended, positions move down to the
    first copy, since not all of them came a second time.
  - With the policy C(identity) it fails unless the flow has no tasks any more. With the other policy the flow may still
    be replicating; then C(copied) is a lower bound.
  - In check mode it stops and journals nothing, and asks O(leave) whether it still answers.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  leave:
    description: Alias of the cluster that is lost.
    type: str
    required: true
  enter:
    description: Alias of the cluster that survives.
    type: str
    required: true
  stop_timeout:
    description: Seconds that the connectors may take to stop.
    type: float
    default: 10.0
  restart_timeout:
    description: Seconds that the flow may take to stop where its engine restarts a service for that.
    type: float
    default: 900.0
  member_timeout:
    description:
      - Seconds to wait until the groups have no members. A static member, or a consumer that was killed, stays one
        until its C(session.timeout.ms) has passed. V(0) looks once. Not used in check mode.
    type: float
    default: 0.0
  probe_timeout:
    description: Check mode. Seconds for the question whether O(leave) responds; asked again only if it does.
    type: float
    default: 3.0
attributes:
  check_mode:
    support: partial
    details: Positions and loss are as of now, with the flow still running.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: Connectors that are stopped stay so; the journal gets a new entry each time.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: What would be lost if P were gone now?
  switchback.kafka_dr.dr_disaster:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
  check_mode: true
  register: look
"""

RETURN = r"""
committed_offsets:
  description: Positions by group, in the shape that M(switchback.kafka_dr.kafka_group) takes.
  returned: success
  type: list
  elements: dict
details:
  description:
    - One row for each position with C(method) (C(end), C(checkpoint), C(prepared), C(stay), C(first_copy), C(start),
      C(empty)), C(quality) (C(exact), C(safe), C(unproven)), C(rereads), C(reason), C(hazards), C(existing), and
      C(as_of), the time from which the evidence is.
  returned: success
  type: list
  elements: dict
rereads:
  description: Upper bound of records that all groups together read again.
  returned: success
  type: int
settle:
  description:
    - Seconds that the positions should be watched once they are committed, see
      O(switchback.kafka_dr.kafka_group#module:settle). 0 unless one lies below MirrorMaker 2's own checkpoint.
  returned: success
  type: float
ages:
  description: By group, how many seconds ago its oldest position was true; null if nothing is known of one.
  returned: success
  type: dict
loss:
  description:
    - What may have been acknowledged on O(leave) and is not here. C(offsets_at_least), C(records_at_most) (null, since
      only O(leave) knows its end), C(seconds_at_most), C(heartbeat_age), and C(partitions) with the last copied offset.
  returned: success
  type: dict
loss_lines:
  description: The same for a person.
  returned: success
  type: list
  elements: str
out_of_scope:
  description: Topics of the pair that a group uses although its declaration leaves them out, each with its evidence.
  returned: success
  type: list
  elements: dict
active_members:
  description: By group that has members on O(enter), client id and host of the first members.
  returned: success
  type: dict
active_groups:
  description: Groups that have members on O(enter).
  returned: success
  type: list
  elements: str
probes:
  description:
    - Whether O(leave) answered, with C(answers), C(reachable), C(locked_out), C(reason) and C(seconds). A second row
      only if the first did.
  returned: in check mode
  type: list
  elements: dict
barrier:
  description: What was journaled, by topic and partition; C(entered) holds the positions.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.disaster_barrier import disaster
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import DisasterRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "leave": {"type": "str", "required": True},
        "enter": {"type": "str", "required": True},
        "stop_timeout": {"type": "float", "default": 10.0},
        "restart_timeout": {"type": "float", "default": 900.0},
        "member_timeout": {"type": "float", "default": 0.0},
        "probe_timeout": {"type": "float", "default": 3.0},
    }
).merge(pair_option(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Stop, find, journal."""
    params = module.params
    claim = claim_of(params)
    if not module.check_mode and (claim is None or not claim.run):
        raise DrError("bad_option", "guard names no run: what is found belongs into the journal.")
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
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

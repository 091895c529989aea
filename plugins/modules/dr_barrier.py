#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the progress of a flow final, find the groups' positions behind it, and journal both."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_barrier
short_description: Stop the flow, translate committed offsets and journal the barrier of a cutover (internal step)
version_added: 1.0.0
description:
  - O(guard.run) is the id of a run. The journal names the clusters that this run leaves and enters.
  - Stops the checkpoint connector and, if O(final), the source connector of the flow between them, and waits until they
    are STOPPED without tasks.
  - Then translates the committed offsets of all groups as M(switchback.kafka_dr.dr_translation_info) does, and appends
    what cannot be read again later to the journal, as the phase C(barrier) of the run.
  - Fails, and journals nothing, when the flow is not drained or a position cannot be found. The connectors stay stopped
    then; the caller brings them back.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.translation
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  final:
    description:
      - Whether the source connector stops too, so that its progress is final.
      - Otherwise records go on being replicated, and the module waits until everything that the groups have read is.
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
        description: Until the flow is stopped, where its engine restarts a service for that.
        type: float
        default: 900.0
      member_timeout:
        description:
          - Until the groups have no members. A static member, or a consumer that was killed, stays one until its
            C(session.timeout.ms) has passed. V(0) looks once.
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
    details: Tells which connectors would stop; positions behind a barrier cannot be found before it is up.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: Connectors that are stopped stay so; the journal gets a new entry each time.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Put up the barrier
  switchback.kafka_dr.dr_barrier:
    pair: "{{ kafka_dr_pair.spec }}"
    guard: "{{ kafka_dr_guard }}"
  register: barrier
"""

RETURN = r"""
committed_offsets:
  description: Positions by group, in the shape that M(switchback.kafka_dr.kafka_group) takes.
  returned: success
  type: list
  elements: dict
details:
  description: The rows of M(switchback.kafka_dr.dr_translation_info).
  returned: success
  type: list
  elements: dict
records_read:
  description: Records and offset-syncs that were read on both sides to find the positions.
  returned: always
  type: int
rereads:
  description: Upper bound of records read again by all groups; null when it is not known.
  returned: success
  type: int
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
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.barrier import barrier
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import BarrierRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    acceptance_options,
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)

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
).merge(pair_option(), acceptance_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Stop, translate, journal."""
    params = module.params
    claim, waits = claim_of(params), params["waits"]
    if claim is None or not claim.run:
        raise DrError("bad_option", "guard names no run.", "The barrier is a phase of a run in the journal.")
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
    )
    return barrier(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the progress of a flow final, find the groups' positions behind it, and journal both."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_barrier
short_description: Put up the barrier of a cutover
version_added: 1.0.0
description:
  - Stops the checkpoint connector and, if O(final), the source connector of the flow from O(leave) to O(enter), and
    waits until they are STOPPED without tasks.
  - Then translates the positions of all groups as M(switchback.kafka_dr.dr_translation_info) does, and appends what
    cannot be read again later to the journal of the run, as its phase C(barrier).
  - Fails, and journals nothing, when the flow is not drained or a position cannot be found. The connectors stay stopped
    then; the caller brings them back.
extends_documentation_fragment:
  - switchback.kafka_dr.journal
  - switchback.kafka_dr.journal.turn
  - switchback.kafka_dr.journal.state
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.translation
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  final:
    description:
      - Whether the source connector stops too, so that its progress is final.
      - Otherwise records go on being copied, and the module waits until the groups' positions are.
    type: bool
    default: true
  stop_timeout:
    description: Seconds that the connectors may take to stop.
    type: float
    default: 60.0
  restart_timeout:
    description: Seconds that the flow may take to stop where its engine restarts a service for that.
    type: float
    default: 900.0
  run:
    description: Id of the run in the journal.
    type: str
    required: true
  ahead:
    description:
      - Of a run that goes on, the positions that were found higher on O(enter) when it first got here, as it journaled
        them. They are journaled again. If not set, those that are higher now.
    type: list
    elements: str
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
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments]
    groups: [settlement]
    leave: P
    enter: B
    pair: B-P
    run: "{{ journal.run_id }}"
  register: barrier
"""

RETURN = r"""
positions:
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

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run, wait_options
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.barrier import barrier
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    journal_options,
    pair_options,
    state_options,
    translation_options,
    turn_options,
)

SPEC = ArgumentSpec(
    {
        "final": {"type": "bool", "default": True},
        "stop_timeout": {"type": "float", "default": 60.0},
        "restart_timeout": {"type": "float", "default": 900.0},
        "run": {"type": "str", "required": True},
        "ahead": {"type": "list", "elements": "str"},
    }
).merge(
    pair_options(),
    wait_options(),
    translation_options(),
    journal_options(),
    state_options(),
    turn_options(),
    guard_options(),
)


def work(module: AnsibleModule) -> Result:
    """Stop, translate, journal."""
    return barrier(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

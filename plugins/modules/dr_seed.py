#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set where a flow of a pair with the policy identity begins to copy."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_seed
short_description: Set the offsets at which a flow begins, with the policy identity (internal step)
version_added: 1.0.0
description:
  - With the policy C(identity) the two sides hold the same topics, and one flow copies at a time. After a cutover the
    flow back must begin at the cut. Earlier, it would copy records to where they came from; later, it would leave out
    what producers wrote meanwhile.
  - Requires the source connector to be STOPPED without tasks and no flow in the other direction. Forgets the offsets
    of earlier rounds, writes the wanted ones and reads them back.
  - Journals them as the phase C(armed) of O(guard.run). Without O(guard.run), O(cut) is journaled for the last run of
    the journal if that was a disaster failover, which cannot seed the flow back itself.
  - Reads the topic ids from the journal. With O(cut), a topic with another id fails. Without O(cut), records of a topic
    with another id, or without an id, count as unknown history.
  - Without O(cut), as when a pair is enabled, a partition keeps the offset that the connector has if it fits both logs,
    and begins at 0 if the target was never written. Else its cut is found by content, behind the only record on the
    source that equals the last one on the target, or the module fails and says what is missing. A connector that
    runs is left alone where the journal knows all topics and nobody has moved the applications by hand.
  - Does not start the connector.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  source:
    description: Alias of the side where applications live.
    type: str
    required: true
  target:
    description: Alias of the other side; the flow's workers stand beside it.
    type: str
    required: true
  cut:
    description: The first offset to copy, as a dictionary from topic to partition to offset.
    type: dict
  ends:
    description:
      - The ends of O(target) at the barrier of the cutover, in the same shape. Data records behind them were written
        behind the cut, exist there only, and are refused.
    type: dict
    default: {}
  accept_tail:
    description: Topics for which records behind O(ends) are accepted; they stay on O(target) only.
    type: list
    elements: str
    default: []
  moved:
    description: Whether somebody has moved the applications by hand, so that every partition has a cut to be found.
    type: bool
    default: false
attributes:
  check_mode:
    support: partial
    details: Changes nothing and tells nothing, because the connector may not exist yet.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: Offsets that are as wanted are left alone; of a run, the journal gets an entry each time.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Let the flow back begin at the cut
  switchback.kafka_dr.dr_seed:
    pair: "{{ kafka_dr_pair.spec }}"
    source: B
    target: P
    cut: "{{ barrier.barrier.cut }}"
    ends: "{{ barrier.barrier.ends }}"
    guard: "{{ kafka_dr_guard }}"
"""

RETURN = r"""
seeded:
  description: Whether the connector was found stopped and its offsets are as wanted now.
  returned: success
  type: bool
partitions:
  description:
    - One row for each partition, with the first offset to copy (C(cut)) and the offsets behind O(ends) that hold
      records (C(tail)).
  returned: success
  type: list
  elements: dict
late_writes:
  description: What was written behind O(ends) and accepted, in words.
  returned: success
  type: list
  elements: str
cut_record:
  description:
    - The cuts that the journal does not know yet, in its shape; null if it knows all of them. C(joined) names the
      topics that are new to it.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import SeedRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.seeding import seed
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    claim_of,
    guard_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "source": {"type": "str", "required": True},
        "target": {"type": "str", "required": True},
        "cut": {"type": "dict"},
        "ends": {"type": "dict", "default": {}},
        "accept_tail": {"type": "list", "elements": "str", "default": []},
        "moved": {"type": "bool", "default": False},
    }
).merge(pair_option(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Look, set, read back, journal."""
    params = module.params
    request = SeedRequest(
        pair=pair_spec(params),
        source=params["source"],
        target=params["target"],
        cut=params["cut"],
        ends=params["ends"],
        accept_tail=params["accept_tail"],
        moved=params["moved"],
        claim=claim_of(params),
        request_timeout=params["request_timeout"],
    )
    return seed(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate the positions of groups from the side that they leave to the side that they enter."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_translation_info
short_description: Find the positions of groups on the side that they enter
version_added: 1.0.0
description:
  - For every group, topic and partition, finds the start on the side being entered, on the replica topic (from the
    position on the original) and on the original topic (from the position on its replica).
  - A group that has read everything that was copied starts at the end. For one that has not, the records around its
    position are compared on both sides, so that it goes on with the very next record, also behind transactions,
    aborted records and copies that MirrorMaker 2 has sent twice.
  - Where nothing proves the next record (records that cannot be told apart, compaction), the position is the highest
    one that skips nothing, with the records that are read again counted as an upper bound.
  - Reads from the journal of the pair what no log shows, such as topic ids and the cuts of earlier moves. O(pair) names
    the pair and its journal topic. Without that topic a group that has not read everything starts at the log start.
  - Commits nothing. Pass RV(positions) to M(switchback.kafka_dr.kafka_group).
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.translation
  - switchback.kafka_dr.attributes.info_module
options:
  leave:
    description: Alias of the cluster being left. The groups' committed offsets there are the truth.
    type: str
    required: true
  enter:
    description: Alias of the cluster being entered.
    type: str
    required: true
  settle:
    description: Seconds over which committed offsets on O(leave) must not change for a group to count as idle.
    type: float
    default: 1.0
  member_timeout:
    description:
      - Seconds to wait until the groups have no members. A static member, or a consumer that was killed, stays one
        until its C(session.timeout.ms) has passed. V(0) looks once.
    type: float
    default: 0.0
  barrier:
    description:
      - Whether the flow from O(leave) to O(enter) is stopped, so that its progress is final. This is checked.
      - Without a barrier the module waits until every position of a group has been copied.
    type: bool
    default: true
  forecast:
    description:
      - Whether to find the positions as of now, with flows and applications at work, instead of after a barrier.
      - Fails then only for what a barrier would refuse whatever the applications do until then. A committed offset past
        the log end is one; another is a group without members whose next record on the other side cannot be proven.
        Records that a group has not read and that are gone from O(enter) are refused whether it is reading or not.
      - O(barrier), O(settle) and O(member_timeout) have no effect then.
    type: bool
    default: false
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Positions on B after the barrier
  switchback.kafka_dr.dr_translation_info:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
  register: translation

- name: Commit them
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: "b1:9092"
    groups: "{{ translation.committed_offsets }}"
"""

RETURN = r"""
committed_offsets:
  description: Positions by group, in the shape that M(switchback.kafka_dr.kafka_group) takes.
  returned: always
  type: list
  elements: dict
details:
  description:
    - One row for each group, topic and partition of the side being entered, with C(offset), C(method), C(quality)
      (exact, safe, skips or none), C(rereads) (upper bound of records read again), C(skips) (C(at_least) and
      C(at_most) of the records that the group has not read and that are no longer there), C(reason), the verified
      offset-sync that was used (C(anchor), offsets on source and replica), C(hazards), the C(existing) commit, and for
      comparison C(checkpoint), the position that MirrorMaker 2's own checkpoint gives a group that lags.
  returned: always
  type: list
  elements: dict
records_read:
  description: Records and offset-syncs that were read on both sides to find the positions.
  returned: always
  type: int
rereads:
  description: Upper bound of records read again by all groups; null when it is not known.
  returned: always
  type: int
skips:
  description:
    - How many records the groups never process after the move, because they are no longer in the topics being
      entered, as C(at_least) and C(at_most); a null C(at_most) means that no upper bound is known.
  returned: always
  type: dict
barrier:
  description:
    - What cannot be read again later, by topic and partition. C(copied) is the last copied offset, C(starts) and
      C(ends) bound the log being left, C(cut) is the end of the originals on the side being entered, C(positions) are
      the groups' positions on the side being left.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run, wait_options
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.forecast import forecast
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import TranslationRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.translation import translate
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    acceptance_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "leave": {"type": "str", "required": True},
        "enter": {"type": "str", "required": True},
        "settle": {"type": "float", "default": 1.0},
        "member_timeout": {"type": "float", "default": 0.0},
        "barrier": {"type": "bool", "default": True},
        "forecast": {"type": "bool", "default": False},
    }
).merge(pair_option(), wait_options(), acceptance_options())


def work(module: AnsibleModule) -> Result:
    """Translate and report."""
    params = module.params
    request = TranslationRequest(
        pair=pair_spec(params),
        leave=params["leave"],
        enter=params["enter"],
        group_lag=params["group_lag"],
        accept_skips=params["accept_skips"],
        settle=params["settle"],
        members=Bounds(params["member_timeout"], params["wait_sleep"]),
        replicated=Bounds(params["wait_timeout"], params["wait_sleep"]),
        final=params["barrier"],
        request_timeout=params["request_timeout"],
    )
    return forecast(request) if params["forecast"] else translate(request)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

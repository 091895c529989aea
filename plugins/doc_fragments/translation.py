# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a translation of positions."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of the modules that translate positions."""

    DOCUMENTATION = r"""
options:
  leave:
    description: Alias of the side being left. The groups' positions there are the truth.
    type: str
    required: true
  enter:
    description: Alias of the side being entered.
    type: str
    required: true
  group_lag:
    description:
      - What to do with a position that is not proven to be exact. V(refuse) fails and names it; V(reread) takes the one
        that skips nothing, with the records that are read again counted as an upper bound.
    type: str
    choices: [refuse, reread]
    default: refuse
  accept_skips:
    description:
      - Groups that may move although records that they have not read are no longer in the topic on O(enter), because
        retention, a deletion or compaction has removed them there. Each other group of which that is so, or may be so,
        fails with RV(ignore:error.code) C(records_gone). O(group_lag=reread) does not accept it.
      - The group never processes those records. The number is RV(ignore:skips).
    type: list
    elements: str
    default: []
  vouched:
    description:
      - The groups' own earlier positions on the original topics of O(enter), from the journal, as a dictionary from
        group to topic to partition to offset. Only these are trusted as an earlier position.
    type: dict
    default: {}
  topic_ids:
    description:
      - Ids of originals and replicas from the time when the flows were set up, as a dictionary from alias to topic to
        id. A topic with another id fails; of one without an id nothing but the log start is safe.
    type: dict
    default: {}
  syncs_since:
    description:
      - From which record of its offset-syncs topic on a flow is believed, as a dictionary from flow to topic to offset.
        What lies below was written for an earlier topic of the same name.
    type: dict
    default: {}
  seams:
    description:
      - With O(policy=identity), the cuts of all cutovers so far, as RV(switchback.kafka_dr.dr_journal#module:state) has
        them. A position is translated within the stay in which it lies.
    type: list
    elements: dict
    default: []
  only_here:
    description:
      - With O(policy=default), the offsets below which a replica holds what no other side has, as
        RV(switchback.kafka_dr.dr_journal#module:state) has them. A group that has not read them is not moved away.
    type: dict
    default: {}
  settle:
    description: Seconds over which the positions on O(leave) must not move for a group to count as idle.
    type: float
    default: 1.0
  member_timeout:
    description:
      - Seconds to wait until the groups have no members. A static member, or a consumer that was killed, stays one
        until its C(session.timeout.ms) has passed. 0 looks once.
    type: float
    default: 0.0
"""

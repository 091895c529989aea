#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate the committed offsets of groups from the cluster being left to the cluster being entered."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_translation_info
short_description: Translate the committed offsets of groups to the other cluster of a pair
version_added: 1.0.0
description:
  - For every group, topic and partition, finds the offset from which the group continues on the cluster being entered.
    Two topics there count. The offset on a replica comes from the committed offset on its original. The offset on an
    original comes from the committed offset on its replica.
  - A group that has read everything that was replicated starts at the end. For any other group, the module compares the
    records around its committed offset on both clusters. The group then continues with exactly the next record. This
    also works after transactions, aborted records and records that MirrorMaker 2 sent twice.
  - If nothing proves the next record, because records are identical or a topic is compacted, the module takes the
    highest offset that skips no record. It then returns an upper bound of the records that the group reads again.
  - Reads from the journal of the pair what the logs do not show, such as topic ids and the cuts of earlier moves.
    O(pair) names the pair and its journal topic. Without a journal topic, a group that has not read everything starts
    at the log start offset.
  - Commits nothing. Pass RV(committed_offsets) to M(switchback.kafka_dr.kafka_group).
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.compress
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.translation
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
options:
  leave:
    description: Alias of the cluster being left. The module translates the offsets that the groups committed there.
    type: str
    required: true
  enter:
    description: Alias of the cluster being entered.
    type: str
    required: true
  settle:
    description: Seconds during which committed offsets on O(leave) must not change for a group to count as idle.
    type: float
    default: 1.0
  member_timeout:
    description:
      - Seconds to wait until the groups have no members. A static member, or a consumer that was killed, remains a
        member until its C(session.timeout.ms) has passed. With V(0), the module checks once.
    type: float
    default: 0.0
  barrier:
    description:
      - Whether the flow from O(leave) to O(enter) is stopped, so that its progress is final. The module checks this.
      - With V(false), the module waits until every record below a committed offset is replicated.
    type: bool
    default: true
  forecast:
    description:
      - Whether to translate the committed offsets as of now, while flows and applications run, instead of after a
        barrier.
      - The task fails only for problems that remain when the applications stop. One of them is a committed offset past
        the log end. Another is a group without members whose next record on O(enter) cannot be proven. A third is a
        record that a group has not read and that is gone from O(enter), even if the group is still reading.
      - A fourth is a higher offset that a group has committed on O(enter), see O(lower).
      - O(barrier), O(settle) and O(member_timeout) have no effect with V(true).
    type: bool
    default: false
  lower:
    description:
      - What M(switchback.kafka_dr.kafka_group) will do about a committed offset on O(enter) that is higher than the
        translated one. MirrorMaker 2's group sync leaves such offsets if a group was set back on O(leave).
      - With V(fail), a O(forecast) fails and names them, except those that the group is going to pass because it reads
        on. With V(lower) and V(keep), it does not.
    type: str
    choices: [fail, lower, keep]
    default: fail
seealso:
  - module: switchback.kafka_dr.kafka_group
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_readiness
  - name: Geo-replication with MirrorMaker 2
    description: What MirrorMaker 2 itself replicates and synchronizes.
    link: https://kafka.apache.org/documentation/#georeplication
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Translate the committed offsets of settlement after its consumers and the flow have stopped
  switchback.kafka_dr.dr_translation_info:
    pair: &pair
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
      topics: [Payments]
      groups: [settlement]
    leave: P
    enter: B
  register: translation

- name: Commit the offsets on B
  switchback.kafka_dr.kafka_group:
    bootstrap_servers: b1.example.com:9092
    groups: "{{ translation.committed_offsets }}"

- name: Find out now, with everything running, whether a later move would be refused
  switchback.kafka_dr.dr_translation_info:
    pair: *pair
    leave: P
    enter: B
    forecast: true
"""

RETURN = r"""
committed_offsets:
  description: The offsets by group, in the form of O(switchback.kafka_dr.kafka_group#module:groups).
  returned: when the module has translated the offsets
  type: list
  elements: dict
  sample:
    - group: settlement
      committed_offsets: [{topic: P.Payments, partition: 0, offset: 1181}]
details:
  description:
    - One row for each group, topic and partition of the cluster being entered. C(offset) is the offset found (null if
      none was found), C(method) how it was found, and C(reason) why it is right.
    - C(quality) is C(exact), C(safe), C(skips) or C(none). C(rereads) is an upper bound of the records that the group
      reads again. C(skips) counts, as C(at_least) and C(at_most), the records that the group has not read and that no
      longer exist.
    - C(anchor) is the verified offset-sync that was used, as offsets on source and replica. C(hazards) lists what made
      the offset less precise. C(left) is the committed offset on the cluster being left, and C(existing) the one that
      the group already has on the cluster being entered. C(checkpoint), for comparison, is the offset of MirrorMaker
      2's own checkpoint for a group that lags.
    - C(metadata) is the text to commit with the offset (null keeps what is there), and C(metadata_dropped) why the
      metadata of the committed offset do not go along (empty if they do, or if there are none). A forecast has neither.
  returned: when the module has translated the offsets
  type: list
  elements: dict
  sample:
    - group: settlement
      topic: P.Payments
      partition: 0
      offset: 1181
      method: content
      quality: exact
      rereads: 0
      skips: {at_least: 0, at_most: 0}
      reason: the records on both clusters were compared
      anchor: [1100, 1099]
      hazards: []
      existing: 1040
      left: 1182
      checkpoint: 1099
records_read:
  description: Number of records and offset-syncs that the module read on both clusters.
  returned: when the module has translated the offsets
  type: int
  sample: 412
rereads:
  description: Upper bound of records that all groups together read again. Null if it is unknown.
  returned: when the module has translated the offsets
  type: int
  sample: 0
skips:
  description:
    - Number of records that the groups never process after the move, because the topics being entered no longer hold
      them, as C(at_least) and C(at_most). A null C(at_most) means that no upper bound is known.
  returned: when the module has translated the offsets
  type: dict
  sample: {at_least: 0, at_most: 0}
barrier:
  description:
    - What cannot be read again later, by topic and partition. C(last_replicated_offset) is the flow's progress.
      C(starts) and C(ends) are the log start offsets and last stable offsets on the cluster being left. C(cut) is the
      log end of the originals on the cluster being entered. C(committed_offsets) are those of the groups on the cluster
      being left. C(skips) lists the rows that skip records. Empty with O(forecast).
  returned: when the module has translated the offsets
  type: dict
  sample:
    last_replicated_offset: {Payments: {"0": 1212}}
    starts: {Payments: {"0": 0}}
    ends: {Payments: {"0": 1213}}
    cut: {Payments: {"0": 0}}
    committed_offsets: {settlement: {Payments: {"0": 1182}}}
    skips: []
requests:
  description: Requests that the module sent, without secrets.
  returned: when the module has translated the offsets
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: group_active
    message: "1 groups still have members on P: settlement (settlement-1 at 10.0.0.7)."
    hint: Stop their consumers first. Nothing was committed.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    compress_options,
    record_options,
    run,
    wait_options,
)
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
        "lower": {"type": "str", "choices": ["fail", "lower", "keep"], "default": "fail"},
    }
).merge(pair_option(), wait_options(), acceptance_options(), compress_options(), record_options())
# Return values to compress.
ROWS = ("committed_offsets", "details", "barrier.*")


def work(module: AnsibleModule) -> Result:
    """Translate the committed offsets, at a barrier or as a forecast."""
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
        lower=params["lower"],
        request_timeout=params["request_timeout"],
    )
    return forecast(request) if params["forecast"] else translate(request)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work, ROWS)


if __name__ == "__main__":
    main()

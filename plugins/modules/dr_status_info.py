#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report what the flows of a pair have replicated and what its groups have read; wait for either."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_status_info
short_description: Report what the flows of a pair have replicated and what its groups have read
version_added: 1.0.0
description:
  - For each flow, topic and partition, returns the source's last stable offset, the last replicated offset, the lag and
    the replica's log end. For each group, returns its committed offsets on both clusters. For each flow, returns a
    verdict with its reason.
  - A flow is C(PROVEN) if records arrive, or if everything is replicated and a recent heartbeat has arrived. The state
    RUNNING alone proves nothing, because a connector stays RUNNING while its brokers are dead.
  - Transactions that are open are observed for up to 10 s. Nothing is C(PROVEN) while one of them stays open.
  - Can wait until flows run or until everything is replicated.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.compress
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
options:
  wait_for:
    description:
      - V(none) observes the pair once. If only movement can prove a flow, the module observes it again for a few
        seconds.
      - V(flowing) waits until every flow is C(PROVEN) and every replica topic exists with as many partitions as its
        original.
      - V(replicated) waits until every partition of the flows is replicated and no transaction is open. A partition
        counts as replicated by its offset or by its last record. The last record is only a hint, which the barrier of a
        cutover proves. Then the module waits for groups, see O(groups_on).
    type: str
    choices: [none, flowing, replicated]
    default: none
  restart_timeout:
    description: Replaces O(stall_timeout) if the engine of the pair restarts a service to change a flow.
    type: float
  groups_on:
    description:
      - Alias of the cluster on which O(wait_for=replicated) also waits until the groups with members have read
        everything.
      - A group without members cannot read, so the module does not wait for it and does not return it.
    type: str
  groups_timeout:
    description:
      - Seconds that O(wait_for=replicated) waits for the groups after the flows have replicated everything. Groups that
        need longer are listed in C(status.missing). The task does not fail because of them.
    type: float
    default: 60.0
  groups_stall:
    description:
      - Seconds without a newly committed offset after which O(wait_for=replicated) no longer waits for the groups that
        have not read everything, even within O(groups_timeout). Use a value longer than the commit interval of the
        consumers. With V(0), only O(groups_timeout) applies.
    type: float
    default: 10.0
  stored_timeout:
    description:
      - Seconds that O(wait_for=replicated) waits, after everything is replicated, until the flows have stored the
        offsets of the last records. Only these offsets prove that a partition is drained. The task does not fail
        without them.
    type: float
    default: 0.0
  barrier_ends:
    description:
      - Log ends at a barrier, by topic and partition, for RV(written_after). In the step C(settled) of O(record), those
        after which no record may have been written.
    type: dict
    default: {}
  undeclared_on:
    description:
      - Alias of the cluster on which the module observes groups outside the inventory, for C(status.undeclared_groups).
        It looks twice, at least 6 s apart, if such a group may be a reader that is no member.
      - Only with O(wait_for=none).
    type: str
    default: ""
  idle_on:
    description:
      - Alias of the cluster whose groups without members the module returns in RV(idle_groups).
      - Only with O(wait_for=none).
    type: str
    default: ""
  partial:
    description:
      - Whether a flow whose workers do not respond is C(UNKNOWN) with the reason. If V(false), such a flow is an error.
        With V(true), the module still returns what is known of the clusters and groups.
      - Use V(true) to show the status to a person. Do not use it in a playbook that acts on the result.
    type: bool
    default: false
    version_added: 1.0.0
seealso:
  - module: switchback.kafka_dr.dr_readiness
  - module: switchback.kafka_dr.connect_mirror_info
  - module: switchback.kafka_dr.kafka_group_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Report the status of both flows and of one group
  switchback.kafka_dr.dr_status_info:
    pair: &pair
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
      topics: [Payments]
      groups: [settlement]
    flows:
      - {source: P, target: B}
      - {source: B, target: P}
  register: pair_status

- name: Show what is not as wanted
  ansible.builtin.debug:
    var: pair_status.status.missing

- name: After the producers have stopped, wait until everything is replicated and read
  switchback.kafka_dr.dr_status_info:
    pair: *pair
    flows: [{source: P, target: B}]
    wait_for: replicated
    groups_on: P
    wait_timeout: 60
    stall_timeout: 20
"""

RETURN = r"""
verdict:
  description: C(PROVEN), C(REFUTED) or C(UNKNOWN) for all flows together.
  returned: when the module has observed the pair
  type: str
  sample: PROVEN
waited_s:
  description: Seconds waited.
  returned: when the module has observed the pair
  type: float
  sample: 2.3
unfit:
  description:
    - Partitions on which a flow must not continue, in words, because its stored offset is not known to be inside the
      source's log. MirrorMaker 2 would silently continue from a wrong offset or from the start.
  returned: when the module has observed the pair
  type: list
  elements: str
  sample: []
initial_offsets:
  description:
    - By alias, the groups without members that have no committed offset on partitions that were never written. Their
      offset is 0, in the form of O(switchback.kafka_dr.kafka_group#module:groups).
  returned: when the module has observed the pair
  type: dict
  sample:
    P: []
    B: [{group: settlement, committed_offsets: [{topic: Payments, partition: 0, offset: 0}]}]
written_after:
  description: Source partitions whose log end has changed since O(barrier_ends), in words.
  returned: when the module has observed the pair
  type: list
  elements: str
  sample: []
status:
  description:
    - C(flows) holds one row for each flow, with C(verdict), C(reason), C(lag) (source offsets, null if unknown),
      C(heartbeat_age_s) (by the clock of the worker that wrote it, so nothing depends on it), C(connectors) and
      C(partitions). In a partition, C(taken) is whether the connector's own filters take the topic (null if unknown),
      and C(drained) whether everything is replicated.
    - C(groups) holds one row for each group, cluster, topic and partition. C(commit) is the committed offset, and
      C(read_to_end) whether the group has read everything. Both are null if unknown. C(members) names client id and
      host of the first members.
    - C(missing) lists in words what is not (yet) as wanted, and C(not_observed) the part of it that could not be
      observed. C(undeclared_topics) lists topics outside the pair on which a group has committed offsets or members.
      C(out_of_scope) lists topics of the pair that a group uses although C(group_topics) leaves them out, each with
      its evidence. C(unassigned) lists topics with unread records that no member of a group is assigned, although the
      group has members. C(unjoined) lists topics and groups that a pattern of the inventory takes on the source of a
      flow and that are not in the pair, each with C(alias), C(kind) and C(name). C(undeclared_groups) lists the groups
      of every type that do not move and use topics of the pair, or may use them, with C(at_work) (null without
      O(undeclared_on)). C(competing_flows) names other flows that run and replicate topics of the pair, such as those
      of a KafkaMirrorMaker2 resource. C(open_transactions) lists the transactions on the sources of the flows that stay
      open, each with C(alias), C(topic), C(partition), the C(offset) of its first record, the number of offsets that it
      holds back (C(held)), the C(seconds) for which it was observed to be open, and all of it in words (C(text)). All
      three are null after a wait, C(competing_flows) also if workers do not respond.
  returned: when the module has observed the pair
  type: dict
  sample:
    verdict: PROVEN
    missing: []
    not_observed: []
    unjoined: []
    undeclared_groups: []
    competing_flows: []
    open_transactions: []
    undeclared_topics: []
    out_of_scope: []
    unassigned: []
    flows:
      - name: P->B
        source: P
        target: B
        verdict: PROVEN
        reason: records arrive on the target
        final: false
        lag: 12
        heartbeat_age_s: 0.7
        connectors:
          - name: P->B.MirrorSourceConnector
            part: source
            state: RUNNING
            tasks: [RUNNING]
            failures: []
            largest_record: 1048576
        partitions:
          - topic: Payments
            partition: 0
            taken: true
            start: 0
            end: 1213
            last_replicated_offset: 1200
            lag: 12
            replica_end: 1201
            drained: UNKNOWN
            reason: 12 offsets are not replicated yet
            fits: PROVEN
            fits_reason: the stored offset is inside the log
    groups:
      - group: settlement
        alias: P
        state: STABLE
        members: settlement-1 at /10.0.0.7
        topic: Payments
        partition: 0
        commit: 1213
        read_to_end: true
idle_groups:
  description:
    - The groups without members on O(idle_on), when their committed offsets were read, and a digest of them. The
      barrier of the same run compares.
  returned: with O(idle_on)
  type: dict
  sample: {groups: [archive], at: 41230.5, digest: 5f2c}
requests:
  description: Requests that the module sent, without secrets.
  returned: when the module has observed the pair
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: not_replicated
    message: 'Waited 60 s for "replicated": P->B Payments-4: 12 offsets are not replicated.'
    hint: Check the named connectors, partitions and groups. Then start the same playbook again.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    compress_options,
    record_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.status import StatusRequest, status
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    flow_options,
    flows_of,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import run_of

LOCAL_RUN = {"fast": True, "progress": "status "}
SPEC = ArgumentSpec(
    {
        "wait_for": {"type": "str", "choices": ["none", "flowing", "replicated"], "default": "none"},
        "restart_timeout": {"type": "float"},
        "groups_on": {"type": "str"},
        "groups_timeout": {"type": "float", "default": 60.0},
        "groups_stall": {"type": "float", "default": 10.0},
        "stored_timeout": {"type": "float", "default": 0.0},
        "barrier_ends": {"type": "dict", "default": {}},
        "undeclared_on": {"type": "str", "default": ""},
        "idle_on": {"type": "str", "default": ""},
        "partial": {"type": "bool", "default": False},
    }
).merge(pair_option(), flow_options(), wait_options(), compress_options(), record_options())
# Return values to compress.
ROWS = ("status.flows.*.partitions", "status.groups", "initial_offsets.*")


def work(module: AnsibleModule) -> Result:
    """Observe the pair and, with ``wait_for``, wait."""
    params = module.params
    moved = run_of(params) if params["step"] == "settled" else None
    ends = params["barrier_ends"] if moved is None else moved.last_ends or {}
    return status(
        StatusRequest(
            pair=pair_spec(params),
            flows=flows_of(params),
            wait_for=params["wait_for"],
            bounds=bounds_of(params),
            restart_timeout=params["restart_timeout"],
            groups_on=params["groups_on"] or "",
            groups_timeout=params["groups_timeout"],
            groups_stall=params["groups_stall"],
            stored_timeout=params["stored_timeout"],
            partial=params["partial"],
            barrier_ends=ends,
            undeclared_on=params["undeclared_on"],
            idle_on=params["idle_on"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work, ROWS)


if __name__ == "__main__":
    main()

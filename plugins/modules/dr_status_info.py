#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the flows and groups of a pair, and wait by evidence."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_status_info
short_description: Tell what the flows of a pair have copied and where its groups stand
version_added: 1.0.0
description:
  - For each flow, topic and partition, tells the source end, the last copied offset, the lag and the replica's end;
    for each group its positions on both sides; and a verdict with its reason.
  - A flow is V(PROVEN) when records arrive, or everything is copied and a fresh heartbeat came through. The state
    RUNNING alone proves nothing, because a connector stays RUNNING while its brokers are dead.
  - Can wait for evidence instead of sleeping, with a bound and a stall report.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes.info_module
options:
  wait_for:
    description:
      - V(none) looks once (twice, a second apart, where movement is the evidence).
      - V(flowing) waits until every flow is PROVEN and every replica topic exists with as many partitions as its
        original.
      - V(replicated) waits until every partition of the flows is copied, by offset or by its last record, and no
        transaction is open. The last record is a hint; a barrier proves it. Then it waits for groups, see
        O(groups_on).
    type: str
    choices: [none, flowing, replicated]
    default: none
  restart_timeout:
    description: The same as O(wait_timeout), used instead of it where the engine restarts a service to change a flow.
    type: float
  groups_on:
    description:
      - Alias on which O(wait_for=replicated) also waits until the groups that have members have read everything.
      - A group without members cannot read and is not waited for.
    type: str
  groups_timeout:
    description:
      - Seconds that O(wait_for=replicated) waits for the groups once the flows have copied everything. Groups that need
        longer are listed in C(status.missing); they are no failure here.
    type: float
    default: 60.0
  groups_stall:
    description:
      - Seconds without a newly committed offset after which O(wait_for=replicated) no longer waits for the groups
        that have
        not read everything, even within O(groups_timeout). Longer than the commit interval of the consumers. With C(0)
        only O(groups_timeout) counts.
    type: float
    default: 10.0
  barrier_ends:
    description: Log ends at a barrier, by topic and partition, for RV(written_after).
    type: dict
    default: {}
  partial:
    description:
      - Whether a flow of which nothing can be seen, as its workers do not answer, is UNKNOWN with the reason; else that
        is an error. What is known of clusters and groups is shown all the same.
      - Such a flow has no proof of anything. So this is for people; a playbook that goes on from here asks without it.
    type: bool
    default: false
    version_added: 1.0.0
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Look at both flows
  switchback.kafka_dr.dr_status_info:
    pair:
      clusters:
        P: {bootstrap_servers: "kafka-p:9092", connect_url: "http://connect-p:8083"}
        B: {bootstrap_servers: "kafka-b:9092", connect_url: "http://connect-b:8083"}
      topics: [Payments]
      groups: [settlement]
    flows:
      - {source: P, target: B}
      - {source: B, target: P}
  register: pair_status

- name: Producers are stopped, wait until everything is copied and read
  switchback.kafka_dr.dr_status_info:
    pair: "{{ kafka_dr_pair.spec }}"
    flows: [{source: P, target: B}]
    wait_for: replicated
    groups_on: P
    wait_timeout: 60
    stall_timeout: 20
"""

RETURN = r"""
verdict:
  description: PROVEN, REFUTED or UNKNOWN for all flows together.
  returned: always
  type: str
waited_s:
  description: Seconds waited.
  returned: always
  type: float
unfit:
  description:
    - Partitions on which a flow must not go on, because its position is not known to be inside the source's log, in
      words. MirrorMaker 2 would go on silently, from the wrong place or from the start.
  returned: always
  type: list
  elements: str
initial_offsets:
  description:
    - By alias, offset 0 for groups without members that have none on partitions that were never written, as
      M(switchback.kafka_dr.kafka_group) takes them.
  returned: always
  type: dict
written_after:
  description: Source partitions whose log ends moved since O(barrier_ends), in words.
  returned: always
  type: list
  elements: str
status:
  description:
    - C(flows) with verdict, reason, lag (source offsets, null when unknown), heartbeat age, connectors and partitions
      (C(taken), whether the connector's own filters take the topic, null when unknown).
    - C(groups), one row for each group, side, topic and partition, with C(commit) and C(read_to_end) (null when
      unknown), and C(members), client id and host of the first members of the group.
    - C(missing), what is not (yet) as wanted, in words. C(unlisted), topics outside the pair that a group reads
      (committed offsets or members). C(out_of_scope), topics of the pair that a group uses although its declaration
      leaves them out, each with its evidence.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
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

SPEC = ArgumentSpec(
    {
        "wait_for": {"type": "str", "choices": ["none", "flowing", "replicated"], "default": "none"},
        "restart_timeout": {"type": "float"},
        "groups_on": {"type": "str"},
        "groups_timeout": {"type": "float", "default": 60.0},
        "groups_stall": {"type": "float", "default": 10.0},
        "barrier_ends": {"type": "dict", "default": {}},
        "partial": {"type": "bool", "default": False},
    }
).merge(pair_option(), flow_options(), wait_options())


def work(module: AnsibleModule) -> Result:
    """Observe, wait, report."""
    params = module.params
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
            partial=params["partial"],
            barrier_ends=params["barrier_ends"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

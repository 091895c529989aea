#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the journal of a pair and append an event to it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_journal
short_description: Read and append the journal of a pair's runs in Kafka
version_added: 1.0.0
description:
  - Reads the journal of a pair from each of its clusters, merges the copies, and appends one event to each copy.
  - The journal records where the applications live and which phases of a run have finished. It also records facts that
    cannot be read again later, such as the log ends at the barrier. An interrupted run resumes from the journal.
  - The module uses one C(transactional.id) per pair. It fences all earlier writers before it decides which event to
    append. If another process appends at the same time, the module decides again. Between two writers, the first
    cluster by name decides.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.holder_generation
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
options:
  copies:
    description:
      - Aliases of the clusters whose copies the module reads and writes. By default all. After a disaster, only the
        surviving cluster has a copy.
      - Each of these clusters must respond. A planned run does not continue with half a journal.
    type: list
    elements: str
    default: []
  event:
    description:
      - V(read) only reads. V(enabled) and V(disabled) record that the pair was set up or taken down.
      - V(held) records the retention settings that topics had before they were set to keep all records.
      - V(adopted) records whose stored offsets a flow took over; see M(switchback.kafka_dr.dr_adopt).
      - V(replayed) records that M(switchback.kafka_dr.dr_salvage) begins to replay the tail of partitions.
      - V(replaced) records that an empty cluster has replaced a lost one; see M(switchback.kafka_dr.dr_rebuild).
      - V(started) opens a run, or resumes an interrupted run of the same type and direction.
      - V(resumed) resumes an interrupted run in order to take it back.
      - The module never takes over a run while its Ansible process still exists. If that process was killed, the module
        waits for the child processes that it left.
      - V(phase) records that a phase of a run has finished, with its facts. V(pnr) records the point of no return.
      - V(undoing) records that a run is taken back, before its applications start again. It voids a V(pnr) that was
        written to one cluster only. For V(undoing) and the V(ended) after it, one responding cluster is enough.
      - V(ended) closes a run.
    type: str
    choices: [read, enabled, disabled, replaced, held, adopted, replayed, started, resumed, phase, pnr, undoing, ended]
    default: read
  run:
    description: Id of the run for V(resumed), V(phase), V(pnr), V(undoing) and V(ended).
    type: str
  take_over:
    description:
      - Id of an interrupted run or of a lease. Set it only after you have verified that its process on another machine
        has ended.
      - Without it, the module never takes over such a run, even if its last event is old. The task fails with
        C(run_undecided).
    type: str
  lease:
    description:
      - With O(event=read), name of a lease for a playbook that changes flows. While it holds the lease, a run that
        starts waits up to ten minutes. Another playbook that requests a lease fails with C(lease_held).
      - The lease ends with V(enabled) or V(disabled) of the same playbook, with O(give_back), or with its process. If a
        run cannot see that process, it ends the lease after ten minutes without a change, by its own clock.
    type: str
  held:
    description: Id of the lease that this playbook already holds, see RV(owner).
    type: str
  give_back:
    description: Whether O(event=read) ends the lease that this playbook took with O(lease).
    type: bool
    default: false
  data:
    description: Facts of the event, such as C(type), C(from) and C(to) of a run, or C(phase) and C(facts) of a phase.
    type: dict
    default: {}
  lower:
    description: What to do about higher committed offsets, for RV(on_higher). With V(auto), it depends on the run.
    type: str
    choices: [auto, fail, lower, keep]
    default: auto
  run_on:
    description: Inventory host of the playbook, for RV(resume_command) and RV(unfinished_run).
    type: str
    default: localhost
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - The module appends V(enabled), V(disabled), V(held) and V(adopted) only if they change the state. It always
        appends the events of a run.
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_readiness
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Read where the applications live and whether a run was interrupted
  switchback.kafka_dr.dr_journal:
    pair: &pair
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092"}
        B: {bootstrap_servers: "b1.example.com:9092"}
      topics: [Payments]
  register: journal

- name: Stop while a run is unfinished
  ansible.builtin.assert:
    that: journal.unfinished_run | length == 0
    fail_msg: "{{ journal.unfinished_run }}"

- name: Record the facts of a finished phase
  switchback.kafka_dr.dr_journal:
    pair: *pair
    event: phase
    run: "{{ journal.state.run.id }}"
    holder_generation: "{{ journal.state.run.resumed }}"
    data:
      phase: drain
      facts: {lag: 0}
"""

RETURN = r"""
owner:
  description:
    - What this playbook holds after O(event=started), O(event=resumed) or O(lease). Pass it to each module that changes
      something, in its option C(guard). Empty if the playbook holds nothing.
    - For a run, C(run), C(holder_generation), C(token) and C(on) (aliases of the clusters). For a lease, C(lease).
  returned: success
  type: dict
  sample:
    run: 20261126T091500Z-4f2a1c
    holder_generation: 0
    token: {journal: 1764100000.5, epoch: 3, holder_generation: 0}
    "on": [B, P]
state:
  description:
    - The state of the journal, with the event of this task. C(active) is the alias where the applications live (null
      before the pair was enabled). C(enabled) is whether the pair is set up. C(policy) is the replication policy of its
      replicas. C(epoch) counts the runs, and C(born) is the time of the first event.
    - C(run) is the newest run with its finished phases and the name of its C(pair). C(interrupted) is whether it has
      not ended.
    - C(topics) holds the partition counts of the topics that the pair had when it was enabled, by name (null if an
      older release enabled it), and C(groups) its groups. C(cluster_ids) holds the ids of both clusters, C(topic_ids)
      the topic ids by alias.
    - C(left) holds, by alias, the facts of the barrier when the applications last left that cluster. C(cuts) holds the
      cuts of a pair with the policy identity, oldest first. Facts of phases and in C(left) are compressed, and every
      module of this collection accepts them so.
    - C(offset_syncs_start) holds, by flow and topic, the first offset-sync that is about the present topics, and
      C(checkpoints_start) where the checkpoints ended before.
      C(unreplicated_below) holds, by alias and replica, the offsets below which no other cluster has the records.
      C(held) holds the former
      retention settings of topics that are set to keep all records. C(adopted) holds, by flow, whose stored offsets it
      took over.
  returned: success
  type: dict
  sample:
    active: P
    enabled: true
    policy: default
    epoch: 3
    born: 1764100000.5
    interrupted: true
    run:
      id: 20261126T091500Z-4f2a1c
      epoch: 3
      type: cutoff
      from: P
      to: B
      pair: B-P
      policy: default
      resumed: 0
      started: 1764148500.2
      replaces_passed_run: false
      phases: {drain: {time: 1764148503.1}}
      drop: []
      options: {lower: auto, group_lag: reread}
      pnr: null
      pnr_holder_generation: null
      left_at: null
      ended: null
      result: null
    topics: {Payments: 12}
    groups: [settlement]
    cluster_ids: {P: Mk3OEYBSD34fcwNTJENDM2, B: 4L6g3nShT-eMCtK--X86sw}
    topic_ids: {P: {Payments: 1cXtYB3QQDuJ4ABiLBn6cA}}
    left: {}
    cuts: []
    offset_syncs_start: {P->B: {Payments: 0}}
    checkpoints_start: {P->B: {Payments: [0, ""]}}
    unreplicated_below: {}
    held: {}
    adopted: {}
run_id:
  description: Id of the run of this event.
  returned: for events of a run
  type: str
  sample: 20261126T091500Z-4f2a1c
resumed:
  description: Whether V(started) found an interrupted run and resumes it.
  returned: for O(event=started)
  type: bool
  sample: false
events:
  description: Number of events of the pair.
  returned: success
  type: int
  sample: 12
leases:
  description:
    - The latest lease of each kind. C(kind) names the playbook that holds or held it, and C(run) is its id. C(since),
      C(until) and C(ended) are epoch seconds (C(ended) is null until it has ended). C(outcome) is its result.
  returned: for O(event=read) and O(event=started)
  type: list
  elements: dict
  sample:
    - schema: 1
      pair: B-P
      kind: checkpoint
      to: B
      run: checkpoint-9c01de
      since: 1764148000.1
      until: 1764148060.1
      ended: 1764148004.8
      outcome: done
      counts: {committed: 4}
      holder: null
      number: 17
durations:
  description:
    - By type of cutover, C(last) and C(median) duration in seconds of the C(runs) that completed without an
      interruption, and C(phases), the median duration of each phase. A type without such a run is missing.
  returned: for O(event=read)
  type: dict
  sample: {cutoff: {last: 9.4, median: 9.1, runs: 3, phases: {drain: 2.9, barrier: 2.2}}}
leaving:
  description:
    - Topics and groups that the journal has and the option O(pair) omits, each with the clusters on which it is or may
      be. Empty if O(pair) names the whole pair. What its C(drop) names, and what exists on no cluster, is left out and
      causes a warning.
    - Also an alias that stands for another cluster than in the journal.
  returned: for O(event=read)
  type: list
  elements: str
  sample: []
leaving_problem:
  description: The same as a sentence with the next step. Empty if RV(leaving) is empty.
  returned: for O(event=read)
  type: str
  sample: ""
unfinished_replays:
  description: Partitions whose tail M(switchback.kafka_dr.dr_salvage) has begun to replay and not finished.
  returned: for O(event=read)
  type: list
  elements: str
  sample: []
phases_left:
  description: Phases of the newest run that have not finished.
  returned: success
  type: list
  elements: str
  sample: [barrier, commit_offsets]
on_higher:
  description: What the newest run does about higher committed offsets, V(fail), V(lower) or V(keep). Empty if no run.
  returned: success
  type: str
  sample: fail
resume_command:
  description: The command that resumes the newest run. Empty without a run.
  returned: success
  type: str
  sample: ansible-playbook switchback.kafka_dr.failover_cutoff -i INVENTORY -e kafka_dr_to=B -e kafka_dr_confirm=B
unfinished_run:
  description: Which run must end first, and how to end it. Empty unless a run is interrupted.
  returned: success
  type: str
  sample: The cutoff run 20261126T091500Z-4f2a1c to B has not ended. Start it again to resume it.
missing_on:
  description: Aliases of the clusters without a journal topic.
  returned: success
  type: list
  elements: str
  sample: []
changes:
  description: The event that was appended. In check mode, the one that would be.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: journal
      name: B-P
      action: phase
      before: {active: P, enabled: true, run: 20261126T091500Z-4f2a1c, resumed: 0, phases: [], ended: null}
      after: {active: P, enabled: true, run: 20261126T091500Z-4f2a1c, resumed: 0, phases: [drain], ended: null}
      status: done
      error: null
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: run_undecided
    message: The cutoff run 20261126T091500Z-4f2a1c has not ended, and it runs on another host.
    hint: Make sure that its process there has ended, then start again with take_over.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import run_outlook
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import KINDS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    record_options,
    run,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.events import note
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.request import JournalRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    generation_options,
    pair_option,
    pair_spec,
)

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec(
    {
        "copies": {"type": "list", "elements": "str", "default": []},
        "event": {
            "type": "str",
            "default": "read",
            "choices": ["read", *KINDS],
        },
        "run": {"type": "str"},
        "take_over": {"type": "str"},
        "lease": {"type": "str"},
        "give_back": {"type": "bool", "default": False},
        "held": {"type": "str"},
        "data": {"type": "dict", "default": {}},
        "lower": {"type": "str", "choices": ["auto", "fail", "lower", "keep"], "default": "auto"},
        "run_on": {"type": "str", "default": "localhost"},
    },
    required_if=[
        *(("event", kind, ("run",)) for kind in ("resumed", "phase")),
        *(("event", kind, ("run", "holder_generation")) for kind in ("pnr", "undoing", "ended")),
    ],
).merge(pair_option(), generation_options(), record_options())
# Return values to compress.
ROWS = ("state.run.phases.*.*", "state.left.*.*")


def work(module: AnsibleModule) -> Result:
    """Read the journal, append the event and return how the newest run continues."""
    params = module.params
    result = note(JournalRequest.of(pair_spec(params), params), module.check_mode)
    result.extra |= run_outlook(result.extra["state"]["run"], params["lower"], params["run_on"])
    return result


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work, ROWS)


if __name__ == "__main__":
    main()

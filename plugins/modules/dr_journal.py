#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and append the journal of a pair."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_journal
short_description: Keep the record of a pair's runs in Kafka
version_added: 1.0.0
description:
  - Reads the journal of a pair from each of its clusters, merges the copies, and appends one event to each of them.
  - The journal records where the applications live, which phases of a run have finished, and what cannot be read again
    later, such as log ends at the barrier. An interrupted run is resumed from it.
  - The writer uses one fixed C(transactional.id) per pair. An event is decided after every earlier writer was fenced.
    If another process writes meanwhile, it is decided again. The first cluster by name decides between two writers.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.holder_generation
  - switchback.kafka_dr.attributes
options:
  copies:
    description:
      - Aliases of the clusters whose copies are read and written, by default all. After a disaster only the surviving
        cluster has one.
      - Each of them must respond; a planned run does not continue with half a journal.
    type: list
    elements: str
    default: []
  event:
    description:
      - V(read) only reads. V(enabled) and V(disabled) note that the pair was set up or taken down.
      - V(adopted) notes whose stored offsets a flow took over; see M(switchback.kafka_dr.dr_adopt).
      - V(replaced) notes that another, empty cluster stands at one side; see M(switchback.kafka_dr.dr_rebuild).
      - V(started) opens a run, or goes on with an interrupted run of the same type and direction.
      - V(resumed) takes an interrupted run over, as V(started) does, to take it back.
      - A run whose Ansible process still exists is never taken over. Children that a killed one has left behind are
        waited for.
      - V(phase) notes that a phase of a run has finished, with its facts. V(pnr) notes the point of no return.
      - V(undoing) notes that a run is taken back, before its clients start again; a V(pnr) that was written in part is
        void from then on. Together with the V(ended) behind it, it does with one of the clusters.
      - V(ended) closes a run.
    type: str
    choices: [read, enabled, disabled, replaced, held, adopted, started, resumed, phase, pnr, undoing, ended]
    default: read
  run:
    description: Id of the run for V(resumed), V(phase), V(pnr), V(undoing) and V(ended).
    type: str
  take_over:
    description:
      - Id of an interrupted run, or of a lease, whose process on another machine is known to have ended.
      - Without it, such a run is never taken over, however old its last event is; see C(run_undecided).
    type: str
  lease:
    description:
      - For a playbook that touches flows, with O(event=read), the name by which others are told of it. A run that
        begins meanwhile waits, up to ten minutes; a playbook that wants this too is refused with C(lease_held).
      - It ends with V(enabled) or V(disabled) of the same playbook, with O(give_back), or with its process. Where that
        cannot be seen, a run ends it after it was unchanged for ten minutes by its own clock.
    type: str
  held:
    description: Id of the lease that this playbook holds already (RV(owner)).
    type: str
  give_back:
    description: With O(event=read), ends what this playbook has taken by O(lease).
    type: bool
    default: false
  data:
    description: Facts of the event, such as C(type), C(from), C(to) of a run, or C(phase) and C(facts) of a phase.
    type: dict
    default: {}
  lower:
    description: What to do about higher committed offsets, for RV(on_higher). With V(auto) the run decides.
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
    details: V(enabled), V(disabled), V(held), V(adopted) are appended only if they change the state; a run's always.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Where do the applications live, and was a run interrupted?
  switchback.kafka_dr.dr_journal:
    pair:
      clusters:
        P: {bootstrap_servers: "p1:9092"}
        B: {bootstrap_servers: "b1:9092"}
      topics: [Payments]
  register: journal

- name: Note a finished phase with what cannot be read again later
  switchback.kafka_dr.dr_journal:
    pair: "{{ kafka_dr_pair.spec }}"
    event: phase
    run: "{{ journal.run_id }}"
    data:
      phase: barrier
      facts: {cut: "{{ translation.cut }}"}
"""

RETURN = r"""
owner:
  description:
    - What this playbook holds from now on, with O(event=started), O(event=resumed) or O(lease). To be passed on to each
      module with an effect, in its option C(guard). Empty if it holds nothing.
  returned: always
  type: dict
state:
  description:
    - What the journal says, with the event of this task. C(active) is the alias where the applications live (null
      before the pair was enabled), C(run) the last run with its finished phases and the name of its C(pair),
      C(interrupted) whether it has not ended, C(topic_ids) per alias, C(left) the facts of the last barrier per alias,
      C(seams) the cuts of a pair with the policy identity, C(syncs_since) from where offset-syncs are about the present
      topics, C(only_here) below which offsets a replica holds what no other side has, C(adopted) by flow whose stored
      offsets it took over.
  returned: always
  type: dict
run_id:
  description: Id of the run of this event.
  returned: for events of a run
  type: str
resumed:
  description: Whether V(started) found an interrupted run and goes on with it.
  returned: for O(event=started)
  type: bool
events:
  description: Number of events of the pair.
  returned: always
  type: int
leases:
  description: Who is or was last at work on the pair beside runs, and what came of it.
  returned: for O(event=read) and O(event=started)
  type: list
  elements: dict
durations:
  description:
    - By type of cutover, C(last) and C(median) seconds of the C(runs) that were completed without an interruption, and
      C(phases), the median of each phase. A type without such a run is missing.
  returned: for O(event=read)
  type: dict
unfinished_replays:
  description: Partitions whose tail M(switchback.kafka_dr.dr_salvage) has begun to bring over, and not ended.
  returned: for O(event=read)
  type: list
  elements: str
phases_left:
  description: Phases that the last run still has to go through.
  returned: always
  type: list
  elements: str
on_higher:
  description: What the last run does about higher committed offsets, V(fail), V(lower) or V(keep). Empty without a run.
  returned: always
  type: str
resume_command:
  description: The command that resumes the last run. Empty without a run.
  returned: always
  type: str
unfinished_run:
  description: Which run has to end first, and how. Empty unless a run is interrupted.
  returned: always
  type: str
missing_on:
  description: Aliases without a journal topic.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.preflight import run_outlook
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import KINDS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.events import note
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.request import JournalRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    generation_options,
    pair_option,
    pair_spec,
)

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
).merge(pair_option(), generation_options())


def work(module: AnsibleModule) -> Result:
    """Read the journal, append the event, and say how the last run goes on."""
    params = module.params
    result = note(JournalRequest.of(pair_spec(params), params), module.check_mode)
    result.extra |= run_outlook(result.extra["state"]["run"], params["lower"], params["run_on"])
    return result


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record what happens in a run of a cutover."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_run
short_description: Record what happens in a run, and decide what follows (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/main.yml), C(roles/cutover/tasks/move.yml) and C(roles/cutover/tasks/report.yml) call this
    module between the steps of a run.
  - Appends an event to the record of the run, and for some events to the journal of the pair. What the run is like then
    follows from its events.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  event:
    description:
      - V(begin) makes the record. V(judge) decides from the results of the steps.
      - V(open) opens the run in the journal or resumes an interrupted one, V(take_over) resumes one in order to take it
        back, V(pass) journals the point of no return, V(start_consumers) that consumers start before it, V(undoing) and
        V(undone) the undo, and V(close) the end.
      - V(open), V(arrived) and V(advise) return RV(text) for the operator, and so does a hook that failed.
      - V(phase) begins a phase or ends the last one, V(hook_began) and V(hook_ended) are about hooks, V(not_stopped) is
        an application that could not be stopped, V(failed) and V(undo_failed) are failures, V(restarted) is that an
        undo has started the applications, and V(audited) has the result of the audit.
      - V(report) builds the report. If it is the final one, the run has ended. V(amend) builds that of a run that has
        ended, with the result of a later audit. Both write it if C(here) in O(data) says that this host is the
        controller.
    type: str
    choices:
      - begin
      - amend
      - judge
      - open
      - take_over
      - pass
      - start_consumers
      - undoing
      - undone
      - close
      - arrived
      - advise
      - report
      - hook_ended
      - undo_failed
      - audited
      - phase
      - hook_began
      - not_stopped
      - failed
      - restarted
    required: true
  record:
    description: Folder of the run's record, as V(begin) returned it.
    type: path
  reports:
    description: Folder of the reports, for V(begin) and V(amend).
    type: path
  data:
    description: Facts of the event. The keys depend on O(event).
    type: dict
    default: {}
  take_over:
    description: As of M(switchback.kafka_dr.dr_journal).
    type: str
attributes:
  check_mode:
    support: full
    details: The module writes the record, and appends nothing to the journal.
  diff_mode:
    support: full
  idempotent:
    support: none
seealso:
  - module: switchback.kafka_dr.dr_journal
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Begin the phase drain
  switchback.kafka_dr.dr_run:
    event: phase
    pair: &pair
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092"}
        B: {bootstrap_servers: "b1.example.com:9092"}
      topics: [Payments]
    record: /var/lib/kafka_dr/reports/runs/20261126T091500Z-4f2a1c
    data: {phase: drain}
"""

RETURN = r"""
run:
  description: What the tasks decide by, such as C(id), C(passed), C(already), C(outcome) and C(owner).
  returned: for all values of O(event) but V(amend)
  type: dict
  sample: {id: 20261126T091500Z-4f2a1c, passed: false, already: false, outcome: failed, owner: {}}
record:
  description: Folder of the run's record. O(event=open) may change it, because an interrupted run has one already.
  returned: for all values of O(event) but V(amend)
  type: str
  sample: /var/lib/kafka_dr/reports/runs/20261126T091500Z-4f2a1c
text:
  description: Text for the operator. Empty for most events.
  returned: for all values of O(event) but V(amend)
  type: str
  sample: ""
problems:
  description: With O(event=judge), why the run must not go on.
  returned: for O(event=judge)
  type: list
  elements: str
  sample: []
report:
  description: The report. If it was written here, only C(verdict), C(outcome) and C(run), and all of a rehearsal's.
  returned: for O(event=report) and O(event=amend)
  type: dict
  sample: {verdict: PROVEN}
lines:
  description: The report in words, line by line.
  returned: for O(event=report) and O(event=amend)
  type: list
  elements: str
  sample: []
paths:
  description: The files of the report that the module has written.
  returned: for O(event=report) and O(event=amend) on the controller
  type: list
  elements: str
  sample: [/var/lib/kafka_dr/reports/runs/20261126T091500Z-4f2a1c/report.json]
pages:
  description: The pages of the report that the module has written.
  returned: for O(event=report) and O(event=amend) on the controller
  type: list
  elements: str
  sample: [/var/lib/kafka_dr/reports/runs/20261126T091500Z-4f2a1c/page.html]
made:
  description:
    - Where the report belongs. C(folder) is the folder of the run in C(runs), C(start) that of this start within it,
      and empty for the first one. C(newest) is false if another controller has taken the run over.
    - Null if the module has written it, or with O(event=amend) if the report stays as it is.
  returned: for O(event=report) and O(event=amend)
  type: dict
  sample: {folder: 20261126T091500Z-4f2a1c, start: start-2, newest: true}
changes:
  description: The event that was appended to the journal.
  returned: always
  type: list
  elements: dict
  sample: []
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.parameters import remove_values

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run, unformed
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._run.events import EVENTS, EventRequest, happened

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec(
    {
        "event": {"type": "str", "choices": ["begin", "amend", *EVENTS], "required": True},
        "record": {"type": "path"},
        "reports": {"type": "path"},
        "data": {"type": "dict", "default": {}},
        "take_over": {"type": "str"},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Record the event."""
    params = module.params
    return happened(
        EventRequest(
            event=params["event"],
            pair=pair_spec(params),
            record=None if params["record"] is None else Path(params["record"]),
            reports=None if params["reports"] is None else Path(params["reports"]).resolve(),
            # What a task reports of a failure may repeat a value of the inventory.
            data=unformed(remove_values(params["data"], module.no_log_values)),
            take_over=params["take_over"],
            check=module.check_mode,
            timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add and remove entries of the lists of Streams Replication Manager flows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: srm_allowlist
short_description: Add and remove topics, groups and reverse checkpointed topics of a Streams Replication Manager flow
version_added: 1.0.0
description:
  - Adds and removes entries of the lists of flows with C(srm-control), and verifies them with C(--list).
  - One call adds all missing entries of a list, and another call removes all surplus entries. If nothing differs, the
    module changes nothing.
  - The module retries an addition within O(wait_timeout), because SRM accepts a new topic only after it has discovered
    it.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  lists:
    description:
      - The lists. Each list may occur once. The module handles several lists at the same time, because C(srm-control)
        takes seconds to start.
    type: list
    elements: dict
    required: true
    suboptions:
      kind:
        description:
          - The list. V(topics) are replicated. V(groups) have their offsets checkpointed.
          - V(reverse_checkpointed_topics) (Cloudera Runtime 7.3.2 and later) are replicas on O(lists[].source). Their
            offsets are translated back to the original on O(lists[].target). An example is V(P.Payments) in the list of
            C(B->P).
        type: str
        choices: [topics, groups, reverse_checkpointed_topics]
        required: true
      source:
        description: Alias of the cluster that the flow reads from, in the letter case of the SRM configuration.
        type: str
        required: true
      target:
        description: Alias of the cluster that the flow writes to, in the letter case of the SRM configuration.
        type: str
        required: true
      entries:
        description:
          - Entries of the allowlist, as names or as regular expressions that match the whole name. The module compares
            them as text.
          - An entry with a comma or a space is refused.
          - Replica names are refused in the list V(topics). All other names are refused in the list
            V(reverse_checkpointed_topics). SRM accepts such entries without an error and then ignores them.
          - If not set, the allowlist stays unchanged.
        type: list
        elements: str
      denied:
        description:
          - Entries of the denylist, which takes precedence over the allowlist.
          - If not set, the denylist stays unchanged. A wanted entry that it denies is an error.
        type: list
        elements: str
  state:
    description:
      - V(merge) adds missing entries.
      - V(exact) also removes entries that are not listed. It keeps entries of the denylist that exclude internal names.
      - V(absent) removes the listed entries.
    type: str
    choices: [merge, exact, absent]
    default: merge
  covered:
    description:
      - What to do with a name that another pattern of the list already matches. V(add) adds it. V(accept) does not add
        it. With both, RV(lists[].covered) lists it.
    type: str
    choices: [add, accept]
    default: add
  separator:
    description: Separator between alias and topic in replica names, C(replication.policy.separator).
    type: str
    default: "."
  wait_timeout:
    description:
      - Seconds after which the module no longer retries and the task fails. The default is one minute longer than SRM's
        default interval for the discovery of new topics.
    type: float
    default: 660.0
  wait_sleep:
    description:
      - Seconds between two attempts.
    type: float
    default: 10.0
extends_documentation_fragment:
  - switchback.kafka_dr.srm
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
    details:
      - Check mode reads the lists only. SRM has no way to validate an entry.
  diff_mode:
    support: full
    details:
      - Shows each entry.
  idempotent:
    support: partial
    details:
      - If C(srm-control) cannot show a reverse list, the module sends its entries every time and RV(verified) is
        V(false).
seealso:
  - module: switchback.kafka_dr.srm_allowlist_info
  - module: switchback.kafka_dr.cm_config
  - module: switchback.kafka_dr.connect_mirror
    description: The same for a flow that Kafka Connect runs.
"""

EXAMPLES = r"""
- name: Replicate Payments from P to B, with checkpoints for its group
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: topics, source: P, target: B, entries: [Payments]}
      - {kind: groups, source: P, target: B, entries: [settlement]}
    secret: "{{ vault_srm_secure_store }}"

- name: Translate offsets of the replica on B back to P (fails unless the list shows it)
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: reverse_checkpointed_topics, source: B, target: P, entries: [P.Payments]}
  register: reverse
  failed_when: reverse is failed or not reverse.verified

- name: Show what would change if these were the only groups
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: groups, source: P, target: B, entries: [settlement, fraud]}
    state: exact
  check_mode: true
  diff: true

- name: Add a new topic (fails if SRM has not discovered it after two minutes)
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: topics, source: P, target: B, entries: [Refunds]}
    command: [/opt/cloudera/parcels/CDH/bin/srm-control]
    wait_timeout: 120
"""

RETURN = r"""
verified:
  description:
    - Whether C(srm-control --list) shows the wanted entries of all lists after the last change.
  returned: when the module has found srm-control
  type: bool
  sample: true
lists:
  description:
    - One row for each list, in the order of O(lists).
  returned: when the module has found srm-control
  type: list
  elements: dict
  contains:
    kind:
      description: The list.
      returned: always
      type: str
    source:
      description: Alias of the flow's source.
      returned: always
      type: str
    target:
      description: Alias of the flow's target.
      returned: always
      type: str
    verified:
      description:
        - Whether this list shows the wanted entries after the last change. V(false) also if C(srm-control) cannot show
          the list.
      returned: always
      type: bool
    before:
      description:
        - The list before the task. V(null) if C(srm-control) cannot show it. C(denied) is V(null) if only the denylist
          is not shown.
      returned: always
      type: dict
    after:
      description:
        - The last known list. In check mode, the list as it would be.
      returned: always
      type: dict
    added:
      description: Entries added to the allowlist. In check mode, those that would be added.
      returned: always
      type: list
      elements: str
    removed:
      description: Entries removed from the allowlist. In check mode, those that would be removed.
      returned: always
      type: list
      elements: str
    denied_added:
      description: Entries added to the denylist. In check mode, those that would be added.
      returned: always
      type: list
      elements: str
    denied_removed:
      description: Entries removed from the denylist. In check mode, those that would be removed.
      returned: always
      type: list
      elements: str
    covered:
      description: Wanted names that another pattern of the list matches, as C(entry) and C(by).
      returned: always
      type: list
      elements: dict
    kept:
      description: Entries of the denylist that O(state=exact) kept because they exclude internal names.
      returned: always
      type: list
      elements: str
    error:
      description: Why this list failed. V(null) if it did not fail.
      returned: always
      type: dict
  sample:
    - kind: topics
      source: P
      target: B
      verified: true
      before: {allowed: ["Pay.*"], denied: []}
      after: {allowed: ["Pay.*", Payments, Refunds], denied: []}
      added: [Payments, Refunds]
      removed: []
      denied_added: []
      denied_removed: []
      covered: [{entry: Payments, by: "Pay.*"}]
      kept: []
      error: null
changes:
  description:
    - What the module did, or would do in check mode, by entry. Entries that need no change are not listed.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: topics allowlist
      name: P->B Refunds
      action: add
      before: {present: false}
      after: {present: true}
      status: done
      error: null
requests:
  description: Calls of C(srm-control) with their exit codes. C(rc) is V(null) if the module killed the call.
  returned: when the module has found srm-control
  type: list
  elements: dict
  sample: [{argv: [srm-control, topics, --source, P, --target, B, --list], rc: 0}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: srm_control_missing
    message: '"srm-control" is not on this host, neither in PATH nor in /opt/cloudera/parcels/CDH/bin.'
    hint: Run the task on a host with an SRM role or gateway of the flow's target cluster, or set command.
    endpoint: ""
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, run
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options
from ..module_utils._srm.control import Tool
from ..module_utils._srm.listing import KINDS, FlowList
from ..module_utils._srm.options import srm_options
from ..module_utils._srm.planning import DesiredLists
from ..module_utils._srm.reconcile import reconcile

_LIST = {
    "kind": {"type": "str", "choices": list(KINDS), "required": True},
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "entries": {"type": "list", "elements": "str"},
    "denied": {"type": "list", "elements": "str"},
}
_EITHER = {"required_one_of": [("entries", "denied")]}


def options() -> ArgumentSpec:
    """Build the argument spec."""
    own = ArgumentSpec(
        {
            "lists": {"type": "list", "elements": "dict", "required": True, "options": _LIST, **_EITHER},
            "state": {"type": "str", "choices": ["merge", "exact", "absent"], "default": "merge"},
            "covered": {"type": "str", "choices": ["add", "accept"], "default": "add"},
            "separator": {"type": "str", "default": "."},
            "wait_timeout": {"type": "float", "default": 660.0},
            "wait_sleep": {"type": "float", "default": 10.0},
        }
    )
    return srm_options().merge(own, guard_options())


def work(module: AnsibleModule) -> Result:
    """Bring the lists into the wanted state and verify them."""
    params: dict[str, Any] = module.params
    all_desired = [
        DesiredLists(
            where=FlowList(one["kind"], one["source"], one["target"]),
            entries=_names(one["entries"]),
            denied=_names(one["denied"]),
            state=params["state"],
            accept_covered=params["covered"] == "accept",
            separator=params["separator"],
        )
        for one in params["lists"]
    ]
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"])
    return reconcile(Tool.from_params(params), all_desired, bounds, module.check_mode)


def _names(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(dict.fromkeys(given))


def main() -> None:
    """Run the module."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

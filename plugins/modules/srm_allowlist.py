#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of lists of Streams Replication Manager flows."""

from __future__ import annotations

DOCUMENTATION = r"""
module: srm_allowlist
short_description: Add and remove topics, groups and reverse checkpointed topics of a Streams Replication Manager flow
version_added: 1.0.0
description:
  - Makes lists of flows be as declared, with C(srm-control), and believes it only when C(--list) shows it.
  - All missing entries of a list go into one call, all surplus ones into another, and none is made if nothing
    differs.
  - Adding is repeated within O(wait_timeout), because a new topic is accepted only after SRM has discovered it.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  lists:
    description:
      - The lists, each at most once. Some are worked on at the same time, because the tool takes seconds to start.
    type: list
    elements: dict
    required: true
    suboptions:
      kind:
        description:
          - The list. V(topics) are copied, V(groups) have their offsets checkpointed.
          - V(reverse_checkpointed_topics) (Cloudera Runtime 7.3.2 and later) are replicas on O(lists[].source) whose
            offsets are translated back to the original on O(lists[].target), for example V(P.Payments) in the list of
            C(B->P).
        type: str
        choices: [topics, groups, reverse_checkpointed_topics]
        required: true
      source:
        description: Alias of the cluster that the flow reads, in the letter case of the configuration.
        type: str
        required: true
      target:
        description: Alias of the cluster that the flow writes.
        type: str
        required: true
      entries:
        description:
          - Entries of the allowlist, names or regular expressions on the whole name. They are compared as text.
          - A comma or a blank in an entry is refused.
          - In the list of V(topics) names of replicas are refused, in that of V(reverse_checkpointed_topics) everything
            else is, because SRM takes either without a word and then does nothing.
          - If not set, the allowlist is left alone.
        type: list
        elements: str
      denied:
        description:
          - Entries of the denylist, which wins over the allowlist.
          - If not set, the denylist is left alone; but a wanted entry that it denies is an error.
        type: list
        elements: str
  state:
    description:
      - V(merge) adds what is missing.
      - V(exact) also removes what is not named. Entries of the denylist that keep internal names out stay.
      - V(absent) removes what is named.
    type: str
    choices: [merge, exact, absent]
    default: merge
  covered:
    description:
      - What to do with a name that another pattern of the list matches already. V(add) adds it all the same, V(accept)
        leaves it out. RV(lists[].covered) names it either way.
    type: str
    choices: [add, accept]
    default: add
  separator:
    description: Separator between alias and topic in replica names, C(replication.policy.separator).
    type: str
    default: "."
  wait_timeout:
    description:
      - Seconds after which no further try begins and the task fails. The default is a minute longer than SRM takes to
        discover a new topic by default.
    type: float
    default: 660.0
  wait_sleep:
    description:
      - Seconds between two tries.
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
      - Only lists. Whether SRM would accept an entry cannot be asked.
  diff_mode:
    support: full
    details:
      - Entry by entry.
  idempotent:
    support: partial
    details:
      - A reverse list that the tool cannot show is sent each time, with RV(verified) V(false).
seealso:
  - module: switchback.kafka_dr.srm_allowlist_info
"""

EXAMPLES = r"""
- name: Copy Payments from P to B, with the positions of its group
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: topics, source: P, target: B, entries: [Payments]}
      - {kind: groups, source: P, target: B, entries: [settlement]}
    secret: "{{ vault_srm_secure_store }}"

- name: Let offsets of the replica on B go back to P, and fail unless the list shows it
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: reverse_checkpointed_topics, source: B, target: P, entries: [P.Payments]}
  register: reverse
  failed_when: reverse is failed or not reverse.verified

- name: What would change if these were the only groups
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: groups, source: P, target: B, entries: [settlement, fraud]}
    state: exact
  check_mode: true
  diff: true

- name: Add a topic that was created a moment ago (fails if SRM has not discovered it after two minutes)
  switchback.kafka_dr.srm_allowlist:
    lists:
      - {kind: topics, source: P, target: B, entries: [Refunds]}
    command: [/opt/cloudera/parcels/CDH/bin/srm-control]
    wait_timeout: 120
"""

RETURN = r"""
verified:
  description:
    - Whether all lists themselves showed what was wanted, after the last change.
  returned: when the tool was found
  type: bool
lists:
  description:
    - One row for each list, in the order of O(lists).
  returned: when the tool was found
  type: list
  elements: dict
  contains:
    kind:
      description: The list, with C(source) and C(target).
      returned: always
      type: str
    verified:
      description:
        - Whether this list showed what was wanted, after the last change. V(false) also where it cannot be shown.
      returned: always
      type: bool
    before:
      description:
        - The list before, V(null) if srm-control cannot show it. C(denied) is V(null) if only that half is not shown.
      returned: always
      type: dict
      sample: {allowed: [Payments], denied: []}
    after:
      description:
        - The list as last seen; in check mode as it would be.
      returned: always
      type: dict
      sample: {allowed: [Payments, Refunds], denied: []}
    added:
      description: Entries added to the allowlist. In check mode those that would be.
      returned: always
      type: list
      elements: str
    removed:
      description: Entries removed from the allowlist.
      returned: always
      type: list
      elements: str
    denied_added:
      description: Entries added to the denylist.
      returned: always
      type: list
      elements: str
    denied_removed:
      description: Entries removed from the denylist.
      returned: always
      type: list
      elements: str
    covered:
      description: Wanted names that another pattern of the list matches, as C(entry) and C(by).
      returned: always
      type: list
      elements: dict
      sample: [{entry: Payments, by: "Pay.*"}]
    kept:
      description: Entries of the denylist that O(state=exact) left there, because they keep internal names out.
      returned: always
      type: list
      elements: str
    error:
      description: What is wrong with this list, V(null) if nothing is.
      returned: always
      type: dict
changes:
  description:
    - What was done, or in check mode would be done, entry by entry; entries that are as wanted are not listed.
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
  description: Calls of the tool, with their exit code, V(null) if it was ended for taking too long.
  returned: when the tool was found
  type: list
  elements: dict
  sample: [{argv: [srm-control, topics, --source, P, --target, B, --list], rc: 0}]
error:
  description: What stopped the task, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
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
    """The argument spec, from its parts."""
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
    """List, decide, send, list again."""
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
    """Entry point."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Could the applications of a pair move now, and what would it cost?"""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_readiness
short_description: Tell whether the applications of a pair could move now, and what it would cost
version_added: 1.0.0
description:
  - Two verdicts, for a controlled cutover and for a disaster, C(YES), C(NO) or C(UNKNOWN) each, for the direction that
    would be used; every check with its answer, what it was answered from, and what to do.
  - A check that rests on another one is C(SKIPPED) where that one is not C(YES), so that what is broken is named once.
    A verdict is C(YES) only if each of its checks is.
  - Changes nothing of a pair. Flows are judged by what moves, never by the state RUNNING.
  - Each look is kept in the state topic on the sides that answer (O(history)), so that the next one can tell a trend.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
options:
  to:
    description: Alias to which the applications would move. If not set, the one where they do not live.
    type: str
    default: ""
  local_groups:
    description: Groups of the inventory that stay where they are.
    type: list
    elements: str
    default: []
  clients:
    description: The applications, each with C(name), C(role), C(group) and C(principal), whose rights are looked for.
    type: list
    elements: dict
    default: []
  endpoints:
    description: By alias and client, the C(topics) that it writes and those that it reads as C(subscribe).
    type: dict
    default: {}
  unreachable:
    description:
      - Hosts of the clients that do not answer, in words; an empty list if all of them do.
      - Without it, nobody has asked the hosts, and the check C(clients) is unknown.
    type: list
    elements: str
  lists:
    description:
      - With the engine C(srm), RV(switchback.kafka_dr.srm_allowlist_info#module:lists) of both flows. What is not among
        them is not known.
    type: list
    elements: dict
    default: []
  lists_errors:
    description: Why lists could not be read, in words.
    type: list
    elements: str
    default: []
  accept:
    description: Names of checks whose C(NO) is known and accepted. They count as C(YES), and are told as C(ACCEPTED).
    type: list
    elements: str
    default: []
  history:
    description:
      - Whether to keep this look. In check mode it is not kept.
      - The task is not C(changed) by it. The latest 400 looks of a pair are kept.
    type: bool
    default: true
  lag_limit:
    description: Seconds that the first record that is not copied may have waited.
    type: float
    default: 60.0
  expiry_limit:
    description: Seconds that it must still be kept on the source.
    type: float
    default: 3600.0
  age_limit:
    description: Seconds that the positions which a disaster would start from may be old.
    type: float
    default: 900.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Could we move now?
  switchback.kafka_dr.dr_readiness:
    pair: "{{ kafka_dr_pair.spec }}"
  register: ready

- name: Not today
  ansible.builtin.fail:
    msg: "{{ ready.lines | join(' ') }}"
  when: ready.controlled != 'YES'
"""

RETURN = r"""
controlled:
  description: C(YES), C(NO) or C(UNKNOWN) for a cutover while both sides answer.
  returned: success
  type: str
disaster:
  description: The same for a failover that asks nothing of the side being left.
  returned: success
  type: str
readiness:
  description:
    - C(from), C(to), both verdicts, and C(checks), each with C(name), C(asks), C(answer), C(found), C(remedy) and
      C(counts), the verdicts that it is part of.
    - C(rereads), by type and group, how many records would be read again at most (null if not known); C(loss), what a
      disaster would lose, see RV(switchback.kafka_dr.dr_disaster#module:loss); C(cost), the same in words.
    - C(uncopied), what only the side being left has, counted from the records of both sides, as C(at_least), C(at_most)
      and C(seconds) since the first of them was written, and C(partitions); null where it was not counted.
    - C(durations), by type of cutover what completed runs took that were not interrupted, as C(last), C(median) and
      C(runs), in seconds; C(looks), the latest ones with this one last; C(trend), the same in words; C(rehearsal),
      the last
      rehearsal that is kept.
    - C(not_carried), what applications may need that Kafka does not carry, by names; C(lag_s), how long the record that
      is not copied has waited, null if not known; C(at), when this was, in UTC.
  returned: success
  type: dict
lines:
  description: The same for a person.
  returned: success
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Limits
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.request import ReadinessRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.workflow import readiness

NAMES = {"type": "list", "elements": "str", "default": []}
SPEC = ArgumentSpec(
    {
        "to": {"type": "str", "default": ""},
        "local_groups": NAMES,
        "clients": {"type": "list", "elements": "dict", "default": []},
        "endpoints": {"type": "dict", "default": {}},
        "unreachable": {"type": "list", "elements": "str"},
        "lists": {"type": "list", "elements": "dict", "default": []},
        "lists_errors": NAMES,
        "accept": NAMES,
        "history": {"type": "bool", "default": True},
        "lag_limit": {"type": "float", "default": 60.0},
        "expiry_limit": {"type": "float", "default": 3600.0},
        "age_limit": {"type": "float", "default": 900.0},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Look, judge, keep."""
    params = module.params
    request = ReadinessRequest(
        pair=pair_spec(params),
        to=params["to"],
        local_groups=params["local_groups"],
        applications=params["clients"],
        endpoints=params["endpoints"],
        unreachable=params["unreachable"],
        lists=params["lists"],
        list_errors=params["lists_errors"],
        accept=params["accept"],
        keep=params["history"],
        limits=Limits(params["lag_limit"], params["expiry_limit"], params["age_limit"]),
        request_timeout=params["request_timeout"],
    )
    return readiness(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

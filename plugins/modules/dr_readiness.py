#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report whether the applications of a pair could move now, and what the move would cost."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_readiness
short_description: Report whether the applications of a pair could move now, and what it would cost
version_added: 1.0.0
description:
  - Returns two verdicts, one for a controlled cutover and one for a disaster. Each is C(YES), C(NO) or C(UNKNOWN). The
    module also returns every check with its answer, its evidence and a remedy.
  - A check that depends on another check is C(SKIPPED) if that check is not C(YES). A fault is therefore named once. A
    verdict is C(YES) only if all its checks are.
  - The module changes nothing on the pair. It judges a flow by the records that it replicates, never by the state
    RUNNING alone.
  - With O(before_stop), it asks only what a planned move asks before it stops the first application.
  - It stores each result in the state topic of every cluster that responds (see O(history)), to show a trend next time.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
options:
  to:
    description: Alias of the cluster that the applications would enter. If not set, the one where they do not live.
    type: str
    default: ""
  before_stop:
    description:
      - V(true) asks the checks that do not depend on the stop of the applications, and that no other task of a planned
        move asks. The task fails if the answer of one of them is C(NO), or C(UNKNOWN), and remains so for 10 s. It
        stores nothing. RV(refusals), RV(requests) and RV(error) are all that it returns.
    type: bool
    default: false
  clients:
    description: The applications, each with C(name), C(role), C(group) and C(principal), whose rights are checked.
    type: list
    elements: dict
    default: []
  endpoints:
    description: By alias and application, the topics that it writes (C(topics)) and reads (C(subscribe)).
    type: dict
    default: {}
  other_applications:
    description:
      - C(topics) that no application in the inventory writes, and C(groups) that move and that none of them reads as.
        Their applications must have stopped, or a cutover must wait for them. Other keys are ignored.
      - If empty, the module does not watch whether other applications are at work.
    type: dict
    default: {}
  wait_for_applications:
    description: Seconds for which a cutover waits for these applications. With V(0) they must have stopped by now.
    type: float
    default: 0.0
  topics_settle:
    description: Seconds in which their topics must receive no record.
    type: float
    default: 10.0
  idle_settle:
    description: Seconds in which their groups must commit no offset.
    type: float
    default: 1.0
  unreachable:
    description:
      - Hosts of the applications that do not respond, and workloads that cannot be started, in words. An empty list
        means that there are none.
      - If not set, the check C(clients) is C(UNKNOWN).
    type: list
    elements: str
  lists:
    description:
      - With Streams Replication Manager, RV(switchback.kafka_dr.srm_allowlist_info#module:lists) of both flows. A list
        that is not included is unknown.
    type: list
    elements: dict
    default: []
  lists_errors:
    description: Why lists could not be read, in words.
    type: list
    elements: str
    default: []
  accept:
    description: Names of checks whose C(NO) you accept. They are reported as C(ACCEPTED) and count as C(YES).
    type: list
    elements: str
    default: []
  history:
    description:
      - Whether to store this result. Check mode does not store it.
      - Storing does not make the task C(changed). The latest 400 results of a pair are kept.
    type: bool
    default: true
  lag_limit:
    description: Maximum age of the oldest record that is not replicated, in seconds.
    type: float
    default: 60.0
  expiry_limit:
    description: Minimum time for which the source must still retain that record, in seconds.
    type: float
    default: 3600.0
  age_limit:
    description: Maximum age of the offsets from which the groups would start after a disaster, in seconds.
    type: float
    default: 900.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.dr_translation_info
  - module: switchback.kafka_dr.dr_probe_info
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Report whether the applications could move now
  switchback.kafka_dr.dr_readiness:
    pair:
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092", connect_url: "http://p-connect.example.com:8083"}
        B: {bootstrap_servers: "b1.example.com:9092", connect_url: "http://b-connect.example.com:8083"}
      topics: [Payments]
      groups: [settlement]
    clients:
      - {name: payments-api, role: producer, principal: "User:payments-api"}
      - {name: settlement, role: consumer, group: settlement, principal: "User:settlement"}
  register: ready

- name: Stop unless a controlled cutover is possible
  ansible.builtin.fail:
    msg: "{{ ready.lines | join(' ') }}"
  when: ready.controlled != 'YES'
"""

RETURN = r"""
controlled:
  description: C(YES), C(NO) or C(UNKNOWN) for a cutover while both clusters respond.
  returned: success
  type: str
  sample: "YES"
disaster:
  description: C(YES), C(NO) or C(UNKNOWN) for a failover that reads nothing from the cluster being left.
  returned: success
  type: str
  sample: "NO"
readiness:
  description:
    - C(from), C(to), both verdicts, and C(checks). Each check has C(name), C(asks) (the question), C(answer), C(found)
      (the evidence), C(remedy), and C(counts) (the verdicts to which it contributes).
    - C(rereads) is the upper bound of records that are read again, by verdict and group (null if unknown). C(loss) is
      what a disaster would lose, see RV(switchback.kafka_dr.dr_disaster#module:loss). C(cost) is both in words.
    - C(unreplicated) counts the records that only the cluster being left has, as C(at_least) and C(at_most). They
      were committed within C(seconds_at_most), which two observations show (null if unknown). C(partitions) holds one
      row each, with C(event_time), the timestamp of the first of them, which its producer set. Null if the module did
      not count them.
    - C(durations) holds, by type of cutover, the C(last) and C(median) duration in seconds of the C(runs) that
      completed without an interruption. C(observations) holds the stored results, this one last. C(trend) is the same
      in words. C(rehearsal) is the last stored rehearsal.
    - C(not_carried) names what the applications may need and Kafka does not carry. C(lag_s) is how long the oldest
      unreplicated record has waited at most, or at least if that exceeds O(lag_limit) (null if unknown). C(at) is the
      time of the observation in UTC.
  returned: success
  type: dict
  sample:
    from: P
    to: B
    controlled: "YES"
    disaster: "NO"
    checks:
      - name: journal
        asks: Does the journal of the pair exist on both clusters?
        answer: "YES"
        found: 12 events on both clusters
        remedy: ""
        counts: [controlled, disaster]
    rereads: {controlled: {settlement: 0}, disaster: {settlement: 480}}
    cost: ["a controlled cutover now: read again at most settlement 0"]
    unreplicated: {at_least: 12, at_most: 12, seconds_at_most: 0.8, partitions: []}
    durations: {cutoff: {last: 9.4, median: 9.1, runs: 3, phases: {barrier: 2.2}}}
    trend: []
    rehearsal: null
    not_carried: []
    lag_s: 0.8
    at: "2026-11-26T09:15:00.000000"
lines:
  description: The result in words, line by line.
  returned: success
  type: list
  elements: str
  sample: ["P -> B: ready for a controlled cutover: YES, for a disaster: NO"]
refusals:
  description: The checks that refuse the move, in words.
  returned: with O(before_stop)
  type: list
  elements: str
  sample: []
requests:
  description: Requests that the module sent, without secrets.
  returned: success
  type: list
  elements: dict
  sample: [{api: describe_cluster}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: bad_option
    message: 'to is "C", expected one of the clusters P, B.'
    hint: Correct it.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import Limits
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.other_applications import (
    OtherApplications,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.request import ReadinessRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.readiness.workflow import (
    before_stop,
    readiness,
)

NAMES = {"type": "list", "elements": "str", "default": []}
SPEC = ArgumentSpec(
    {
        "to": {"type": "str", "default": ""},
        "before_stop": {"type": "bool", "default": False},
        "clients": {"type": "list", "elements": "dict", "default": []},
        "endpoints": {"type": "dict", "default": {}},
        "other_applications": {"type": "dict", "default": {}},
        "wait_for_applications": {"type": "float", "default": 0.0},
        "topics_settle": {"type": "float", "default": 10.0},
        "idle_settle": {"type": "float", "default": 1.0},
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
    """Observe the pair, judge it and store the result."""
    params = module.params
    request = ReadinessRequest(
        pair=pair_spec(params),
        to=params["to"],
        applications=params["clients"],
        endpoints=params["endpoints"],
        other_applications=OtherApplications.of(params["other_applications"]),
        wait_for_applications=params["wait_for_applications"],
        settles=(params["topics_settle"], params["idle_settle"]),
        unreachable=params["unreachable"],
        lists=params["lists"],
        list_errors=params["lists_errors"],
        accept=params["accept"],
        keep=params["history"],
        limits=Limits(params["lag_limit"], params["expiry_limit"], params["age_limit"]),
        request_timeout=params["request_timeout"],
    )
    return before_stop(request) if params["before_stop"] else readiness(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

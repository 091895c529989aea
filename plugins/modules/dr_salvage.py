#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List, export or replay the records of a lost cluster that were never replicated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_salvage
short_description: List, export or replay what a lost cluster had not replicated (internal step)
version_added: 1.0.0
description:
  - C(roles/salvage/tasks/main.yml) calls this module.
  - The tail is the set of records on O(source) that O(target) does not have. It starts after the last replicated record
    and after the records of an earlier replay. The module compares both logs, to leave out records that a worker had
    replicated before it died without storing their offsets.
  - Needs the flow from O(source) to O(target) STOPPED without tasks. A running flow replicates the tail itself.
  - Refuses a cluster or a topic that is not the journaled one, and a tail whose beginning has expired.
  - A replay writes each record exactly once, even if it is killed and started again. Each transaction contains records
    and the progress of the replay. With the policy V(default), the module first sets the stored offsets of the flow to
    the end of the tail.
  - Reads with C(read_committed). Offsets after the start of an open transaction are counted as C(undecided).
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  source:
    description: Alias of the cluster that was lost.
    type: str
    required: true
  target:
    description: Alias of the cluster where the applications live.
    type: str
    required: true
  mode:
    description: V(list) only reads. V(export) writes files on this host. V(replay) writes records on O(target).
    type: str
    choices: [list, export, replay]
    default: list
  into:
    description:
      - V(salvage) replays into C(<topic>.salvage), which must exist with as many partitions. V(original) replays into
        the topic itself.
    type: str
    choices: [salvage, original]
    default: salvage
  folder:
    description:
      - Folder of the exported files, one C(<topic>-<partition>.jsonl) each, and C(index.json). If that name would have
        more than 255 characters, a digest replaces the end of the topic. C(index.json) names every file.
    type: path
  accept_expired:
    description: Topics whose tail may lack its beginning.
    type: list
    elements: str
    default: []
  accept_newer_keys:
    description:
      - Topics into which records may be replayed although their keys have been written there since. For
        O(into=original).
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.dr_disaster
  - module: switchback.kafka_dr.dr_drain
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: List what P never replicated
  switchback.kafka_dr.dr_salvage:
    pair: "{{ kafka_dr_pair.spec }}"
    source: P
    target: B
  register: tail
"""

RETURN = r"""
partitions:
  description:
    - One row for each partition with a tail. C(begin) and C(end) bound its offsets, and C(records) counts its records.
      C(first_time) and C(last_time) are their timestamps (epoch milliseconds). C(after_failover) counts those with a
      timestamp after the failover, which producers set, and C(already_replicated) those that the replica has although
      the flow did not store them. C(copies_lost) counts those that the flow had stored and the replica has lost since.
    - C(missing) are offsets before the tail, as first and last plus one, and C(missing_records) counts the records
      there that the replica lacks (null and 0 if there are none).
    - C(expired) are the offsets that retention has deleted, and C(truncated) those that the log no longer has (null if
      there are none). C(undecided) counts the offsets after the start of an open transaction. C(file) is the exported
      file, and C(replayed) counts the replayed records.
  returned: success
  type: list
  elements: dict
  sample:
    - topic: Payments
      partition: 0
      begin: 1201
      end: 1213
      records: 12
      first_time: 1764148511900
      last_time: 1764148512345
      after_failover: 0
      already_replicated: 0
      copies_lost: 0
      missing: null
      missing_records: 0
      expired: null
      truncated: null
      undecided: 0
      file: null
      replayed: 0
records:
  description:
    - Number of records in all tails before the task changed anything. For a resumed replay, those that were left.
  returned: success
  type: int
  sample: 12
after_failover:
  description: Number of records with a later timestamp than the point of no return of the last run.
  returned: success
  type: int
  sample: 0
newer_keys:
  description: Keys of the tail that have been written on O(target) since.
  returned: success
  type: list
  elements: str
  sample: []
lines:
  description: The result in words, line by line.
  returned: success
  type: list
  elements: str
  sample: ["12 records on P were never replicated to B", "  Payments-0: 12 records in [1201, 1213)"]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.request import SalvageRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.workflow import salvage

SPEC = ArgumentSpec(
    {
        "source": {"type": "str", "required": True},
        "target": {"type": "str", "required": True},
        "mode": {"type": "str", "choices": ["list", "export", "replay"], "default": "list"},
        "into": {"type": "str", "choices": ["salvage", "original"], "default": "salvage"},
        "folder": {"type": "path"},
        "accept_expired": {"type": "list", "elements": "str", "default": []},
        # Not a secret: names of topics.
        "accept_newer_keys": {"type": "list", "elements": "str", "default": [], "no_log": False},
    },
    required_if=[("mode", "export", ("folder",))],
).merge(pair_option(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Find the tail, then list, export or replay it."""
    return salvage(SalvageRequest.of(pair_spec(module.params), module.params), module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

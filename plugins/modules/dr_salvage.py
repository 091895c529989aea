#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List, export or replay what a lost side had acknowledged and never sent."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_salvage
short_description: List, export or replay what a lost cluster had not replicated (internal step)
version_added: 1.0.0
description:
  - The tail is the records on O(source) that O(target) does not have. It begins after the last replicated record, and
    after the records of an earlier replay. Records that a worker had replicated before it died, without storing their
    offsets, are found by comparison and left out.
  - Needs the flow from O(source) to O(target) STOPPED without tasks. While it runs it replicates the tail itself.
  - Refuses a cluster or a topic that is not the journaled one, and a tail of which the beginning has expired.
  - A replay is exactly once, also when it is killed and started again. Each transaction contains records and the
    progress of the replay. With the policy V(default) the flow's offsets are set after the tail first.
  - Reads with C(read_committed); offsets behind an open transaction are counted as C(undecided).
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  source:
    description: Alias of the side that was lost.
    type: str
    required: true
  target:
    description: Alias of the side where the applications live.
    type: str
    required: true
  mode:
    description: V(list) only reads, V(export) writes files on this host, V(replay) writes records on O(target).
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
    description: Folder of the exported files. One C(<topic>-<partition>.jsonl) each, and C(index.json).
    type: path
  accept_expired:
    description: Topics of which the beginning of the tail may be gone.
    type: list
    elements: str
    default: []
  accept_newer_keys:
    description:
      - Topics into which records may be replayed although their keys were written there since. For O(into=original).
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
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: What did P never send?
  switchback.kafka_dr.dr_salvage:
    pair: "{{ kafka_dr_pair.spec }}"
    source: P
    target: B
  register: tail
"""

RETURN = r"""
partitions:
  description:
    - One row for each partition with a tail. C(begin), C(end), C(records), C(first_time), C(last_time) (epoch
      milliseconds), C(after_failover), C(already_replicated), C(expired), C(truncated),
      C(undecided), C(file), C(replayed).
  returned: success
  type: list
  elements: dict
records:
  description: Number of records in all tails, at first sight; of a replay that goes on, those that were left.
  returned: success
  type: int
after_failover:
  description: Records with a later timestamp than the point of no return of the last run.
  returned: success
  type: int
newer_keys:
  description: Keys of the tail that were written on O(target) since.
  returned: success
  type: list
  elements: str
lines:
  description: The same for a person.
  returned: success
  type: list
  elements: str
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

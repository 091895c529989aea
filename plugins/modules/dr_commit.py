#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commit the offsets that the barrier of a run has translated, and read them back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_commit
short_description: Commit the offsets of a run's barrier on the cluster being entered (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/phase_commit_offsets.yml) calls this module after the barrier.
  - Does what M(switchback.kafka_dr.kafka_group) does, with the offsets in the record of the run. Every partition that a
    group will read gets a committed offset, so that C(auto.offset.reset) never decides.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.kafka_group
  - module: switchback.kafka_dr.dr_barrier
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Commit the offsets and read them back
  switchback.kafka_dr.dr_commit:
    pair: "{{ kafka_dr_pair.spec }}"
    guard: "{{ kafka_dr_guard }}"
    record: "{{ cutover_record }}"
    step: commit
"""

RETURN = r"""
lowered:
  description: Number of higher committed offsets that were lowered.
  returned: success
  type: int
  sample: 0
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import (
    own_offsets,
    wanted_metadata,
    wanted_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.committing import commit_offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, record_options, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.connections.clusters import connect_one
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    pair_option,
    pair_spec,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import run_of

LOCAL_RUN = {"fast": True, "repeatable": True}
SPEC = pair_option().merge(guard_options(), record_options())


def work(module: AnsibleModule) -> Result:
    """Commit the offsets that differ and read them back."""
    params = module.params
    moved, pair = run_of(params), pair_spec(params)
    translated = {} if moved is None else moved.result("barrier")
    if moved is None or "committed_offsets" not in translated:
        raise DrError(
            "bad_option",
            "The record of the run has no translated offsets.",
            "Call dr_barrier or dr_disaster with the same record first.",
        )
    groups = translated["committed_offsets"]
    entered = moved.move.target
    return commit_offsets(
        connect_one(entered, pair.connections[entered], params["request_timeout"]),
        wanted_offsets(groups),
        moved.result("opened").get("on_higher") or "fail",
        module.check_mode,
        float(translated.get("settle") or 0),
        own_offsets(groups),
        wanted_metadata(groups),
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work), ("committed_offsets", "changes"))


if __name__ == "__main__":
    main()

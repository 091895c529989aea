#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove that this controller still holds its run or its lease."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_guard_info
short_description: Prove that this controller still holds its run or its lease
version_added: 1.0.0
description:
  - C(roles/clients/tasks/owned.yml), C(roles/rehearsal/tasks/clean.yml) and
    C(roles/replication/tasks/engine_srm_lists.yml) call this module. You can also call it in a hook.
  - Reads the journal or the leases and fails with C(run_superseded) if another controller has taken over.
  - Use it immediately before a task whose effect this collection cannot guard itself.
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
attributes:
  check_mode:
    support: full
    details: In check mode the controller holds nothing, so the module reads nothing.
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.dr_journal
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Prove that this controller still holds the run
  switchback.kafka_dr.dr_guard_info:
    guard:
      clusters:
        P: {bootstrap_servers: "p1.example.com:9092"}
        B: {bootstrap_servers: "b1.example.com:9092"}
      pair: B-P
      run: 20261126T091500Z-4f2a1c
      holder_generation: 0
"""

RETURN = r"""
held:
  description: Whether the module checked a run or a lease, and this controller holds it.
  returned: success
  type: bool
  sample: true
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._guard import require_ownership
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import Held, guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

LOCAL_RUN = {"fast": True}


def work(module: AnsibleModule) -> Result:
    """Prove ownership once."""
    require_ownership()
    return Result(extra={"held": Held.of(module.params["guard"]) is not None and not module.check_mode})


def main() -> None:
    """Run the module."""
    run(guard_options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

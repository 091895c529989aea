#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does this controller still hold its run or its lease?"""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_guard_info
short_description: Prove that this controller still holds its run or its lease (internal step)
version_added: 1.0.0
description:
  - Reads the journal or the leases and fails with C(run_superseded) if another controller has taken over.
  - For tasks whose effect this collection cannot guard itself, such as those of a hook. Put it immediately before them.
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
    details: In check mode nothing is held, so nothing is asked.
  diff_mode:
    support: none
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Prove that this controller still holds the run
  switchback.kafka_dr.dr_guard_info:
    guard:
      clusters:
        P: {bootstrap_servers: "p1:9092"}
        B: {bootstrap_servers: "b1:9092"}
      pair: payments
      run: 20260101T000000Z-abc123
      holder_generation: 0
"""

RETURN = r"""
held:
  description: Whether anything was asked, and this controller holds it.
  returned: success
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._guard import require_ownership
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import Held, guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options


def work(module: AnsibleModule) -> Result:
    """Prove it once."""
    require_ownership()
    return Result(extra={"held": Held.of(module.params["guard"]) is not None and not module.check_mode})


def main() -> None:
    """Run the module."""
    run(guard_options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

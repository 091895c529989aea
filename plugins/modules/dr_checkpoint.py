#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the positions of live groups ready on the side where they do not live."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_checkpoint
short_description: Presync committed offsets to the other cluster (internal step)
version_added: 1.0.0
description:
  - Translates the positions of all groups from O(leave), where the applications live and go on working, to O(enter),
    as M(switchback.kafka_dr.dr_translation_info) does, and commits them there. Exact, where MirrorMaker 2's own
    checkpoints may lie far behind, and in both directions, where MirrorMaker 2 has one only.
  - Writes upward only, to groups without members, and only while the journal says that the applications live on
    O(leave) and no run is under way. While it works it holds a lease; a run that starts meanwhile waits for it.
  - A position that is not known, or that is already higher, is left alone and listed.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
options:
  leave:
    description: Alias of the side where the applications live.
    type: str
    required: true
  enter:
    description: Alias of the side whose positions are written.
    type: str
    required: true
  wait_timeout:
    description: Seconds for everything. Behind them nothing is committed any more.
    type: float
    default: 60.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    details: Changes something only where a group has gone on since.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Have B ready for every group, should P be lost
  switchback.kafka_dr.dr_checkpoint:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
"""

RETURN = r"""
outcome:
  description: V(done), V(skipped) with a O(ignore:reason) if nothing may be written now, or V(failed).
  returned: success
  type: str
reason:
  description: Why it was skipped.
  returned: success
  type: str
committed:
  description: Number of positions that were, or in check mode would be, raised.
  returned: success
  type: int
preexisting_higher_offsets:
  description: Positions on O(enter) that are higher than they should be; a cutover will refuse them by default.
  returned: success
  type: list
  elements: str
left_out:
  description: Positions that are not known, and why.
  returned: success
  type: list
  elements: str
rereads:
  description:
    - Upper bound of records that all groups together would read again if they moved now; null if a position is missing.
  returned: success
  type: int
details:
  description: The rows of M(switchback.kafka_dr.dr_translation_info).
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.presync import checkpoint
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.requests import PresyncRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec(
    {
        "leave": {"type": "str", "required": True},
        "enter": {"type": "str", "required": True},
        "wait_timeout": {"type": "float", "default": 60.0},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Translate and commit, under a lease."""
    params = module.params
    request = PresyncRequest(
        pair=pair_spec(params),
        leave=params["leave"],
        enter=params["enter"],
        seconds=params["wait_timeout"],
        request_timeout=params["request_timeout"],
    )
    return checkpoint(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

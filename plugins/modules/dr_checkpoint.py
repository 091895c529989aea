#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Presync the committed offsets of running groups to the other cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_checkpoint
short_description: Presync committed offsets to the other cluster (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/checkpoint.yml) calls this module.
  - Translates the committed offsets of all groups from O(leave), where the applications keep running, to O(enter), as
    M(switchback.kafka_dr.dr_translation_info) does, and commits them there. These offsets are exact, while MirrorMaker
    2's own checkpoints can lag far behind. They cover both directions, while MirrorMaker 2 covers one.
  - Only raises offsets, only for groups without members, and only while the journal names O(leave) as the active
    cluster and no run is in progress. The module holds a lease meanwhile, and a run that starts waits for it.
  - An offset that is unknown or already higher stays unchanged and is listed.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  leave:
    description: Alias of the cluster where the applications live.
    type: str
    required: true
  enter:
    description: Alias of the cluster on which the module commits.
    type: str
    required: true
  wait_timeout:
    description: Seconds for the whole task. After that, the module commits nothing more.
    type: float
    default: 60.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    details: Changes something only if a group has read further since the last time.
seealso:
  - module: switchback.kafka_dr.dr_translation_info
  - module: switchback.kafka_dr.kafka_group
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Prepare B for the loss of P
  switchback.kafka_dr.dr_checkpoint:
    pair: "{{ kafka_dr_pair.spec }}"
    leave: P
    enter: B
"""

RETURN = r"""
outcome:
  description: V(done), V(failed), or V(skipped) with RV(reason) if the module must not commit now.
  returned: success
  type: str
  sample: done
reason:
  description: Why it was skipped.
  returned: success
  type: str
  sample: ""
committed:
  description: Number of offsets that were raised. In check mode, that would be.
  returned: success
  type: int
  sample: 4
preexisting_higher_offsets:
  description: Committed offsets on O(enter) that are higher than they should be. By default, a cutover refuses them.
  returned: success
  type: list
  elements: str
  sample: []
left_out:
  description: Offsets that are unknown or that would skip records, and why.
  returned: success
  type: list
  elements: str
  sample: []
rereads:
  description:
    - Upper bound of records that all groups together would read again if they moved now. Null if an offset is missing.
  returned: success
  type: int
  sample: 480
records_read:
  description: Number of records and offset-syncs that the module read on both clusters.
  returned: unless it was skipped
  type: int
  sample: 412
details:
  description: Rows in the form of RV(switchback.kafka_dr.dr_translation_info#module:details).
  returned: success
  type: list
  elements: dict
  sample: [{group: settlement, topic: P.Payments, partition: 0, offset: 1181, method: content, quality: exact}]
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
# Return values to compress.
ROWS = ("details", "changes")


def work(module: AnsibleModule) -> Result:
    """Translate the committed offsets and commit them under a lease."""
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
    run(SPEC.create_module(), work, ROWS)


if __name__ == "__main__":
    main()

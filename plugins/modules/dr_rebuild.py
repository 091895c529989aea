#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace a cluster of the pair that is permanently lost by an empty one."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rebuild
short_description: Replace a permanently lost cluster of the pair by an empty one (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/rebuild.yml) calls this module.
  - Refuses a cluster that holds records or a journal of the pair. Then copies the rights of the applications from the
    surviving cluster, resets the offsets of both flows, and deletes presynced offsets. Finally journals that the alias
    is another cluster now. You must enable the pair afterwards.
  - Journals which records only the surviving cluster has, because they came from the lost one. No group moves to the
    new cluster before it has read them.
options:
  replaced:
    description: Alias of the lost cluster, now that of the empty one. The applications must live on the other cluster.
    type: str
    required: true
  principals:
    description: Principals whose rights the module copies from the surviving cluster, such as V(User:payments-api).
    type: list
    elements: str
    default: []
  take_over:
    description: A lease whose process has ended, as you have verified. Any other held lease is refused.
    type: str
extends_documentation_fragment:
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
    details: Until the pair is enabled, a second call changes nothing. After that, the module refuses it.
notes:
  - The source connectors of both flows must exist and be STOPPED. With Streams Replication Manager, the service of the
    surviving cluster must be STOPPED. The module deletes its progress with tombstones in C(mm2-offsets.ALIAS.internal),
    and it deletes the topics C(mm2-offset-syncs.ALIAS.internal) of the pair.
seealso:
  - module: switchback.kafka_dr.dr_journal
  - module: switchback.kafka_dr.dr_salvage
    description: For a lost cluster that has come back with its records.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Take the empty cluster P into the pair
  switchback.kafka_dr.dr_rebuild:
    pair: "{{ kafka_dr_pair.spec }}"
    replaced: P
"""

RETURN = r"""
replaced:
  description: Whether this task has replaced the cluster. V(false) if an earlier task did.
  returned: success
  type: bool
  sample: true
lost:
  description:
    - What the disaster failover reported about records that the lost cluster had not replicated. They cannot be
      recovered.
  returned: success
  type: list
  elements: str
  sample: ["an unknown number of records, because only the lost cluster knows its log ends"]
unreplicated_below:
  description: By alias, topic and partition, the offset below which only that cluster has the records.
  returned: success
  type: dict
  sample: {B: {P.Payments: {"0": 1201}}}
rights:
  description: Number of ACLs that the module added. In check mode, that it would add.
  returned: success
  type: int
  sample: 3
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.rebuild import (
    RebuildRequest,
    rebuild,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    pair_option,
    pair_spec,
)

SPEC = ArgumentSpec(
    {
        "replaced": {"type": "str", "required": True},
        "principals": {"type": "list", "elements": "str", "default": []},
        "take_over": {"type": "str"},
    }
).merge(pair_option(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Reset the pair for the empty cluster and journal it, or refuse."""
    params = module.params
    request = RebuildRequest(
        pair=pair_spec(params),
        replaced=params["replaced"],
        principals=params["principals"],
        take_over=params["take_over"] or "",
        lease=(params["guard"] or {}).get("lease") or "",
        request_timeout=params["request_timeout"],
    )
    return rebuild(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace a cluster of the pair that is lost for good by an empty one."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rebuild
short_description: Replace a cluster of the pair that is lost for good by an empty one (internal step)
version_added: 1.0.0
description:
  - A step of the roles of this collection. Its options may change in any release.
  - Refuses a cluster that holds records or topics of the pair. Then resets the offsets of both flows, copies the rights
    of the applications from the surviving cluster, deletes presynced offsets, and journals that the alias is another
    cluster now. The pair must be enabled afterwards.
  - Journals which records only the surviving cluster has, because they came from the lost one. No group is moved to the
    new cluster before it has read them.
options:
  replaced:
    description: Alias of the lost cluster, now that of the empty one. The applications must live on the other cluster.
    type: str
    required: true
  principals:
    description: Principals whose rights are copied from the surviving cluster, such as V(User:payments-api).
    type: list
    elements: str
    default: []
  take_over:
    description: A lease whose process has ended, as you have verified. Any other lease that is held is refused.
    type: str
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    details: Until the pair is enabled, a second call changes nothing. After that it is refused.
notes:
  - The source connectors of both flows must exist and be STOPPED. With Streams Replication Manager, the service that
    runs beside the surviving cluster must be STOPPED. Its progress is deleted by tombstones in
    C(mm2-offsets.ALIAS.internal), and the topics C(mm2-offset-syncs.ALIAS.internal) of the pair are deleted.
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
  description: Whether this task has replaced the cluster. V(false) if that was done before.
  returned: success
  type: bool
lost:
  description:
    - What the disaster failover reported about records that the lost cluster had not sent. They cannot be recovered.
  returned: success
  type: list
  elements: str
only_here:
  description: By alias, topic and partition, the offset below which only that cluster has the records.
  returned: success
  type: dict
rights:
  description: Number of rights that were copied.
  returned: success
  type: int
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
    """Refuse, reset, journal."""
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

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deny applications to write on the cluster that they have left."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_fence
short_description: Deny applications to write on the cluster that they have left (internal step)
version_added: 1.0.0
description:
  - C(roles/cutover/tasks/fence.yml), C(roles/cutover/tasks/at_rest.yml) and C(roles/cutover/tasks/preflight.yml) call
    this module.
  - Adds an ACL that denies WRITE on each topic of O(pair) to each of O(principals), or deletes exactly these ACLs. Then
    reads back the ACLs.
  - The engine of the pair decides where ACLs are changed. Most engines change them over Kafka.
  - Such an ACL takes precedence over every right of its principal, but a super user can still write. The module
    therefore logs in as each principal in O(logins) and asks the broker whether it may write.
  - The module writes no record to prove this.
extends_documentation_fragment:
  - switchback.kafka_dr.record
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  at:
    description: Alias of the cluster.
    type: str
    required: true
  principals:
    description: Principals of the applications, for example V(User:payments-api).
    type: list
    elements: str
    required: true
  state:
    description:
      - V(fenced) adds the ACLs. V(open) deletes them, even if another client has added them in the same form.
      - V(open) keeps every other ACL that denies writing on the topics, and warns about it.
    type: str
    choices: [fenced, open]
    default: fenced
  logins:
    description:
      - By principal, the librdkafka properties of its login. They take precedence over those of the cluster's client.
        The module uses them only to ask the broker what the principal may do.
    type: dict
    default: {}
  required:
    description:
      - Whether the task fails if the cluster takes no ACLs, or if a principal may write in spite of its ACL. With
        O(state=open), also if this account may not list ACLs.
    type: bool
    default: false
  log_ends:
    description:
      - Whether O(state=fenced) returns the log ends of the topics after the fence is in force. A later record is one
        that the fence did not keep out.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - Over Kafka, the principal of the task needs DESCRIBE and ALTER on the cluster.
seealso:
  - module: switchback.kafka_dr.kafka_acl
  - name: Authorization and ACLs
    description: How Kafka evaluates ACLs and super users.
    link: https://kafka.apache.org/documentation/#security_authz
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Deny the payments API to write on P
  switchback.kafka_dr.dr_fence:
    pair: "{{ kafka_dr_pair.spec }}"
    at: P
    principals: ["User:payments-api"]
"""

RETURN = r"""
fenced:
  description: Whether the ACL of every principal and topic was read back.
  returned: when the module has read the cluster
  type: bool
  sample: true
proven:
  description: Whether the broker confirmed to every principal itself that it may not write.
  returned: when the module has read the cluster
  type: bool
  sample: true
reason:
  description: The result in words.
  returned: when the module has read the cluster
  type: str
  sample: writing is denied to 1 principals on 1 topics, verified by the broker for 1 of them
bans:
  description: Number of ACLs that deny writing.
  returned: when the module has read the cluster
  type: int
  sample: 1
ends:
  description:
    - Log ends of the topics, read after the fence was in force. A partition with an open transaction is missing,
      because its end moves without a new record.
  returned: with O(log_ends=true), when writing is denied
  type: dict
  sample: {Payments: {"0": 1213}}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    record_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.fence import FenceRequest, fence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    pair_option,
    pair_spec,
)

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec(
    {
        "at": {"type": "str", "required": True},
        "principals": {"type": "list", "elements": "str", "required": True},
        "state": {"type": "str", "choices": ["fenced", "open"], "default": "fenced"},
        "logins": {"type": "dict", "default": {}},
        "required": {"type": "bool", "default": False},
        "log_ends": {"type": "bool", "default": False},
    }
).merge(pair_option(), wait_options(), guard_options(), record_options())


def work(module: AnsibleModule) -> Result:
    """Add or delete the ACLs that deny writing."""
    params = module.params
    request = FenceRequest(
        pair=pair_spec(params),
        at=params["at"],
        principals=params["principals"],
        logins=params["logins"],
        required=params["required"],
        log_ends=params["log_ends"],
        request_timeout=params["request_timeout"],
        bounds=bounds_of(params),
    )
    return fence(request, params["state"], module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

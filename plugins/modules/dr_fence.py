#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep applications from writing on the side that they have left."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_fence
short_description: Deny applications to write on the cluster that they have left (internal step)
version_added: 1.0.0
description:
  - Denies WRITE on O(topics) to O(principals), or takes exactly these bans away, and reads back what the broker says.
  - A ban outranks every right of its principal, but not that of a super user. So each principal of O(logins) is asked
    of the broker, as itself, whether it may still write.
  - Nothing is written to the topics to prove it.
extends_documentation_fragment:
  - switchback.kafka_dr.kafka
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  topics:
    description: Originals that the applications write.
    type: list
    elements: str
    required: true
  principals:
    description: Whom to ban, such as V(User:payments-api).
    type: list
    elements: str
    required: true
  state:
    description:
      - V(fenced) denies writing, V(open) takes the bans away. Bans of that form made by others go as well.
      - Whatever else denies writing on O(topics), to whom ever, is left by V(open) and told as a warning.
    type: str
    choices: [fenced, open]
    default: fenced
  logins:
    description:
      - By principal, librdkafka properties with which it logs in, over those of O(client). Only to ask what it may do.
    type: dict
    default: {}
  required:
    description:
      - Whether it is an error that no authorizer runs, that a principal may write in spite of its ban, or, with
        O(state=open), that this account may not look at ACLs.
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
  - The principal of the playbooks needs DESCRIBE and ALTER on the cluster.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: The payments API writes on P no more
  switchback.kafka_dr.dr_fence:
    bootstrap_servers: p1.example.com:9093
    client: "{{ kafka_dr_clusters.P.admin_client }}"
    topics: [Payments]
    principals: ["User:payments-api"]
"""

RETURN = r"""
fenced:
  description: Whether every ban is up, as the broker tells it.
  returned: when the cluster was looked at
  type: bool
proven:
  description: Whether every principal was asked as itself, and may not write.
  returned: when the cluster was looked at
  type: bool
reason:
  description: What was found, in words.
  returned: when the cluster was looked at
  type: str
bans:
  description: Number of bans that are up.
  returned: when the cluster was looked at
  type: int
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import connect
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import (
    ArgumentSpec,
    Result,
    bounds_of,
    kafka_options,
    run,
    wait_options,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.fence import FenceRequest, fence
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

SPEC = ArgumentSpec(
    {
        "topics": {"type": "list", "elements": "str", "required": True},
        "principals": {"type": "list", "elements": "str", "required": True},
        "state": {"type": "str", "choices": ["fenced", "open"], "default": "fenced"},
        "logins": {"type": "dict", "default": {}},
        "required": {"type": "bool", "default": False},
    }
).merge(kafka_options(), wait_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Fence or open."""
    params = module.params
    request = FenceRequest(
        topics=params["topics"],
        principals=params["principals"],
        logins=params["logins"],
        required=params["required"],
        client=params["client"],
        bounds=bounds_of(params),
    )
    return fence(connect(params), request, params["state"], module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

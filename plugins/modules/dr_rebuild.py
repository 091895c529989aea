#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take an empty cluster for a side of the pair that is lost for good."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_rebuild
short_description: Take an empty cluster for a side of the pair that is lost for good
version_added: 1.0.0
description:
  - Refuses a cluster that holds records or topics of before. Then resets the offsets of both flows, copies the rights
    of the applications from the surviving side, forgets prepared positions, and journals that the side is another
    cluster now. The pair is then to be enabled.
  - Records that only the surviving side has, because they came from the lost cluster, are journaled. No group is moved
    to the new cluster before it has read them.
options:
  clusters:
    description:
      - Both clusters by alias, each with C(bootstrap_servers), C(client), C(cluster_id), and C(connect_url) or C(srm).
    type: dict
    required: true
  replaced:
    description: Alias of the side at which another cluster stands now. Applications must live on the other one.
    type: str
    required: true
  topics:
    description: Originals of the pair.
    type: list
    elements: str
    required: true
  principals:
    description: Whose rights are copied from the surviving side, such as V(User:payments-api).
    type: list
    elements: str
    default: []
  policy:
    description: Replication policy of the pair.
    type: str
    choices: [default, identity]
    default: default
  separator:
    description: What stands between the alias and the topic in the names of replicas.
    type: str
    default: .
  take_over:
    description: A lease whose process has ended, as you have made sure. Any other lease that is held is refused.
    type: str
  request_timeout:
    description: Bound of each request, in seconds.
    type: float
    default: 15.0
extends_documentation_fragment:
  - switchback.kafka_dr.journal
  - switchback.kafka_dr.journal.state
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
    details: Until the pair is enabled, a second call changes nothing; afterwards it is refused.
notes:
  - The source connectors of both flows must exist and be STOPPED. With Streams Replication Manager its service beside
    the surviving side must be STOPPED; its progress is forgotten by tombstones in C(mm2-offsets.ALIAS.internal), and
    the topics C(mm2-offset-syncs.ALIAS.internal) of the pair are deleted.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: P is a new cluster
  switchback.kafka_dr.dr_rebuild:
    clusters: "{{ kafka_dr_pair.clusters }}"
    replaced: P
    topics: [Payments]
    pair: B-P
"""

RETURN = r"""
replaced:
  description: Whether this task has done it; V(false) where it was done before.
  returned: success
  type: bool
lost:
  description: What the disaster said of records that the lost cluster had never sent. Nothing brings them back.
  returned: success
  type: list
  elements: str
only_here:
  description: By alias, topic and partition, the offset below which only that side has the records.
  returned: success
  type: dict
rights:
  description: Number of rights that were copied.
  returned: success
  type: int
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.rebuild import rebuild
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    guard_options,
    journal_options,
    state_options,
)

SPEC = ArgumentSpec(
    {
        "clusters": {"type": "dict", "required": True},
        "replaced": {"type": "str", "required": True},
        "topics": {"type": "list", "elements": "str", "required": True},
        "principals": {"type": "list", "elements": "str", "default": []},
        "policy": {"type": "str", "choices": ["default", "identity"], "default": "default"},
        "separator": {"type": "str", "default": "."},
        "take_over": {"type": "str"},
        "request_timeout": {"type": "float", "default": 15.0},
    }
).merge(journal_options(), state_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Look, reset, journal."""
    return rebuild(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

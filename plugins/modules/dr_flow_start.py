#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""See that flows that stood still may go on where they were."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_flow_start
short_description: See that flows that stood still may go on where they were
version_added: 1.0.0
description:
  - The offsets of a connector survive its deletion. If meanwhile the original or the replica of a topic was created
    again, the flow would go on behind them and leave out what lies below.
  - Fails if a flow has a stored offset for a topic that is not the journaled one, for a partition whose replica does
    not exist or was never written, or past the source's end. Of a topic in O(copy_again) such offsets are forgotten
    and read back instead, if its replica is empty; then the flow copies it from its beginning.
  - A connector must exist for its offsets to be seen, and be STOPPED without tasks for them to be forgotten.
extends_documentation_fragment:
  - switchback.kafka_dr.pair
  - switchback.kafka_dr.pair.flows
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  topic_ids:
    description: Ids of the topics from the journal, as a dictionary from alias to topic to id.
    type: dict
    default: {}
  copy_again:
    description: Topics that are copied from their beginning. Only with Kafka Connect.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: See that the flows may go on, and let one topic begin anew
  switchback.kafka_dr.dr_flow_start:
    clusters: "{{ kafka_dr_pair.clusters }}"
    topics: [Payments, Orders]
    flows: [{source: P, target: B}]
    topic_ids: "{{ journal.state.topic_ids }}"
    copy_again: [Payments]
"""

RETURN = r"""
changes:
  description: The offsets that were forgotten.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flow_start import flow_start
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import (
    flow_options,
    guard_options,
    pair_options,
)

SPEC = ArgumentSpec(
    {
        "topic_ids": {"type": "dict", "default": {}},
        "copy_again": {"type": "list", "elements": "str", "default": []},
    }
).merge(pair_options(), flow_options(), guard_options())


def work(module: AnsibleModule) -> Result:
    """Look, refuse or forget."""
    return flow_start(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out on which cluster the applications of a pair live, from the journal and from observations."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_active_info
short_description: Find out on which cluster the applications of a pair live (internal step)
version_added: 1.0.0
description:
  - C(roles/replication/tasks/enable.yml) and C(roles/cutover/tasks/at_rest.yml) call this module.
  - Reads the journal, observes both clusters, and returns the alias on which the applications live.
  - If there is no journal or it is empty, members of the groups and growing originals decide. If nothing runs on either
    cluster and the pair is not new, the task fails and asks for O(asked).
  - Fails if the journal, the observations and O(asked) contradict each other, if the journal topic can lose events, or
    if events are missing in it. Also fails if a group has committed offsets or members on a topic of the pair that
    C(group_topics) leaves out.
extends_documentation_fragment:
  - switchback.kafka_dr.pair.spec
  - switchback.kafka_dr.attributes.info_module
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  asked:
    description: Alias on which the applications live, as the operator states it. Evidence against it fails the task.
    type: str
    default: ""
  observe:
    description: Whether to observe which originals grow even if the journal names the active cluster.
    type: bool
    default: false
  engine:
    description:
      - Whether to require that what runs the flows responds and has a supported version. Kafka Connect workers must run
        Kafka 3.7 or later.
    type: bool
    default: false
  window:
    description: Seconds between the two observations that show whether originals grow.
    type: float
    default: 2.0
seealso:
  - module: switchback.kafka_dr.dr_journal
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Find out where the applications live
  switchback.kafka_dr.dr_active_info:
    pair: "{{ kafka_dr_pair.spec }}"
"""

RETURN = r"""
active:
  description: Alias of the cluster on which the applications live.
  returned: success
  type: str
  sample: P
reason:
  description: The evidence in words.
  returned: success
  type: str
  sample: named by the journal
grown:
  description:
    - By alias, originals that grew between the two observations, in words. Empty if they were not observed.
    - With the policy identity, flows write originals too.
  returned: success
  type: dict
  sample: {P: ['a producer of "Payments-0" (its log end on P increased)'], B: []}
moved:
  description: Whether the applications live on another cluster than the journal names, or than the home of a new pair.
  returned: success
  type: bool
  sample: false
returning_flows:
  description: The flow of a cluster that a disaster failover left, if it is stopped until the cluster returns.
  returned: success
  type: list
  elements: dict
  sample: [{source: P, target: B}]
journaled:
  description: The alias that the journal names. Null if the journal is missing or empty.
  returned: success
  type: str
  sample: P
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.residence import (
    ResidenceRequest,
    residence,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import pair_option, pair_spec

SPEC = ArgumentSpec(
    {
        "asked": {"type": "str", "default": ""},
        "observe": {"type": "bool", "default": False},
        "engine": {"type": "bool", "default": False},
        "window": {"type": "float", "default": 2.0},
    }
).merge(pair_option())


def work(module: AnsibleModule) -> Result:
    """Observe both clusters and decide where the applications live."""
    params = module.params
    return residence(
        ResidenceRequest(
            pair=pair_spec(params),
            asked=params["asked"],
            observe=params["observe"],
            engine=params["engine"],
            window=params["window"],
            request_timeout=params["request_timeout"],
        )
    )


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

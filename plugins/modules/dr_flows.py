#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the flows of a pair into one of its states."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dr_flows
short_description: Bring the flows of a pair into a state (internal step)
version_added: 1.0.0
description:
  - C(roles/flow/tasks/main.yml) calls this module.
  - Determines the goal of each flow of O(pair) in O(state), applies it through the engine of the pair, and waits until
    it is reached.
  - If one flow fails, the module still handles the other flows. The task then fails with the first failure.
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.confluent_kafka
  - switchback.kafka_dr.internal
options:
  pair:
    description: The pair, C(kafka_dr_pair.spec) of the role C(kafka_dr).
    type: dict
    required: true
  state:
    description:
      - V(live), the applications live on the cluster O(at). V(live_elsewhere), they live on the other cluster. This
        changes only the flow toward O(at).
      - V(absent), no flow exists.
      - V(exist), the stored offsets of both flows can be read. V(rebuild), they can be reset.
      - V(adopt), the flows that take over the offsets of other connectors are stopped.
      - V(replicate), the flow O(at) replicates records.
      - V(seed), no record moves toward the cluster O(at), and the offsets of the other flow can be set. V(hold), that
        other flow is stopped.
      - V(survive), the other cluster is lost, and no record moves toward the cluster O(at).
    type: str
    choices: [absent, adopt, exist, hold, live, live_elsewhere, rebuild, replicate, seed, survive]
    required: true
  at:
    description: An alias, or for V(replicate) the name of a flow.
    type: str
    default: ""
  cluster_ids:
    description: Cluster ids by alias, as the clusters reported them. The module refuses workers of another cluster.
    type: dict
    default: {}
  properties:
    description: Further properties of the service that runs the flows toward a cluster, by alias.
    type: dict
    default: {}
  reason:
    description: Reason for the change, for the history of Cloudera Manager.
    type: str
    default: ""
  wait_timeout:
    description: Seconds within which each flow must reach its goal.
    type: float
    default: 120.0
  restart_timeout:
    description: Replaces O(wait_timeout) if a change restarts a service in Cloudera Manager.
    type: float
    default: 600.0
  request_timeout:
    description: Bound of each request, in seconds.
    type: float
    default: 15.0
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.connect_mirror
  - module: switchback.kafka_dr.cm_config
  - module: switchback.kafka_dr.cm_service
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Bring the flows into the state in which the applications live on B
  switchback.kafka_dr.dr_flows:
    pair: "{{ kafka_dr_pair.spec }}"
    state: live
    at: B
"""

RETURN = r"""
changes:
  description: In the form of RV(switchback.kafka_dr.connect_mirror#module:changes).
  returned: always
  type: list
  elements: dict
  sample:
    - kind: connector
      name: P->B.MirrorCheckpointConnector
      action: stop
      before: {state: RUNNING}
      after: {state: STOPPED}
      status: done
      error: null
connectors:
  description: The connectors that the module handled, see RV(switchback.kafka_dr.connect_mirror#module:connectors).
  returned: when the flows are connectors
  type: list
  elements: dict
  sample:
    - name: P->B.MirrorCheckpointConnector
      part: checkpoint
      exists: true
      state: STOPPED
      tasks: []
      final: true
      kept: []
      offsets_survive: false
not_compared:
  description: Settings that affect what a flow replicates and that the module did not read, in words.
  returned: when there are such settings
  type: list
  elements: str
  sample: [the lists of srm-control were not compared]
requests:
  description: Requests that the module sent, without their bodies.
  returned: always
  type: list
  elements: dict
  sample: [{method: GET, path: "/connectors?expand=status&expand=info"}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: connect_unreachable
    message: The worker at "http://b-connect.example.com:8083" did not respond within 15 s.
    hint: Check that the worker runs and that this host reaches it.
    endpoint: http://b-connect.example.com:8083
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import STATES
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import SiteSettings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows.goals import FlowsRequest, bring_flows
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec(
    {
        "pair": {"type": "dict", "required": True},
        "state": {"type": "str", "choices": sorted(STATES), "required": True},
        "at": {"type": "str", "default": ""},
        "cluster_ids": {"type": "dict", "default": {}},
        "properties": {"type": "dict", "default": {}},
        "reason": {"type": "str", "default": ""},
        "wait_timeout": {"type": "float", "default": 120.0},
        "restart_timeout": {"type": "float", "default": 600.0},
        "request_timeout": {"type": "float", "default": 15.0},
    }
).merge(guard_options())


def work(module: AnsibleModule) -> Result:
    """Apply the goal of each flow in the wanted state."""
    params = module.params
    request = FlowsRequest(
        pair=PairSpec.of(params["pair"], params["cluster_ids"]),
        state=params["state"],
        at=params["at"],
        settings=SiteSettings(params["properties"], params["reason"]),
        wait_timeout=params["wait_timeout"],
        restart_timeout=params["restart_timeout"],
        request_timeout=params["request_timeout"],
    )
    return bring_flows(request, module.check_mode)


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the MirrorMaker 2 connectors of a Kafka Connect cluster and what they have replicated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: connect_mirror_info
short_description: Read MirrorMaker 2 connectors and what they have replicated
version_added: 1.0.0
description:
  - Returns the MirrorMaker 2 connectors of a Kafka Connect cluster with their states, tasks and settings. For source
    connectors, it also returns the last replicated offset of each source partition.
  - Can wait until the connectors run, or until they are stopped without tasks.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  source_alias:
    description: Return only connectors that read from this alias.
    type: str
  target_alias:
    description: Return only connectors that write to this alias.
    type: str
  parts:
    description: Return only these connectors of a flow.
    type: list
    elements: str
    choices: [source, checkpoint, heartbeat]
    default: [source, checkpoint, heartbeat]
  offsets:
    description: Whether to read the offsets of source connectors. This takes one request for each of them.
    type: bool
    default: true
  wait_for:
    description:
      - V(running) waits until every connector found and all its tasks are RUNNING.
      - V(stopped) waits until every connector found is STOPPED without tasks.
      - With both, the task fails if there is no such connector.
    type: str
    choices: [none, running, stopped]
    default: none
extends_documentation_fragment:
  - switchback.kafka_dr.connect
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
seealso:
  - module: switchback.kafka_dr.connect_mirror
  - module: switchback.kafka_dr.dr_status_info
  - name: Kafka Connect REST interface
    description: The requests that this module sends.
    link: https://kafka.apache.org/documentation/#connect_rest
"""

EXAMPLES = r"""
- name: Read every connector of the workers of B
  switchback.kafka_dr.connect_mirror_info:
    connect_url: http://b-connect.example.com:8083
  register: mirror

- name: Wait until the flow from P has stopped, then read its final offsets
  switchback.kafka_dr.connect_mirror_info:
    connect_url: http://b-connect.example.com:8083
    source_alias: P
    target_alias: B
    parts: [source]
    wait_for: stopped
    wait_timeout: 30

- name: Require that the flow from P runs (fails if there is no such flow)
  switchback.kafka_dr.connect_mirror_info:
    connect_url: http://b-connect.example.com:8083
    source_alias: P
    wait_for: running
    offsets: false
"""

RETURN = r"""
connectors:
  description: The connectors found, sorted by name.
  returned: when the worker responded
  type: list
  elements: dict
  contains:
    name:
      description: Name of the connector.
      type: str
      returned: always
    part:
      description: V(source), V(checkpoint) or V(heartbeat).
      type: str
      returned: always
    source:
      description: Alias of the source.
      type: str
      returned: always
    target:
      description: Alias of the target.
      type: str
      returned: always
    state:
      description: State of the connector. V(null) while the worker reports none.
      type: str
      returned: always
    trace:
      description: First lines of the trace if the connector FAILED, otherwise empty.
      type: str
      returned: always
    tasks:
      description: Tasks of the connector, each with C(id), C(state) and the first lines of the C(trace) of a failure.
      type: list
      elements: dict
      returned: always
    final:
      description: Whether the connector is STOPPED without tasks. Its offsets are final then, otherwise lower bounds.
      type: bool
      returned: always
    config:
      description: Settings of the connector. Secrets are masked.
      type: dict
      returned: always
    offsets:
      description:
        - Last replicated source offset of each partition that has one, as C(topic), C(partition) and C(offset).
          V(null) if the offsets were not read or could not be read.
        - The offset of a partition that is not listed is unknown. It is not 0.
      type: list
      elements: dict
      returned: always
  sample:
    - name: P->B.MirrorSourceConnector
      part: source
      source: P
      target: B
      state: STOPPED
      trace: ""
      tasks: []
      final: true
      config: {topics: Payments, source.cluster.alias: P}
      offsets: [{topic: Payments, partition: 0, offset: 4711}]
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

from ..module_utils._connect.observation import Filter, observe
from ..module_utils._connect.rest import ConnectClient
from ..module_utils._core.names import CONNECTORS
from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, connect_options, run, wait_options


def options() -> ArgumentSpec:
    """Build the argument spec."""
    parts = {"type": "list", "elements": "str", "choices": list(CONNECTORS), "default": list(CONNECTORS)}
    own = ArgumentSpec(
        {
            "source_alias": {"type": "str"},
            "target_alias": {"type": "str"},
            "parts": parts,
            "offsets": {"type": "bool", "default": True},
            "wait_for": {"type": "str", "choices": ["none", "running", "stopped"], "default": "none"},
        }
    )
    return connect_options().merge(wait_options(), own)


def work(module: AnsibleModule) -> Result:
    """Observe the connectors and, with ``wait_for``, wait for their state."""
    params = module.params
    rest = ConnectClient(params["connect_url"], params["connect_client"] or {}, params["request_timeout"])
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
    wanted = Filter(params["source_alias"], params["target_alias"], tuple(params["parts"]))
    return observe(rest, wanted, params["wait_for"], params["offsets"], bounds)


def main() -> None:
    """Run the module."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the MirrorMaker 2 connectors of a worker group, and what they have copied."""

from __future__ import annotations

DOCUMENTATION = r"""
module: connect_mirror_info
short_description: Read MirrorMaker 2 connectors and what they have copied
version_added: 1.0.0
description:
  - Returns the MirrorMaker 2 connectors of a Kafka Connect worker group with states, tasks, settings and, for source
    connectors, the last copied offset of each source partition.
  - Can wait until they run, or until they are stopped without tasks.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  source_alias:
    description: Only connectors that read from this alias.
    type: str
  target_alias:
    description: Only connectors that write to this alias.
    type: str
  parts:
    description: Only these connectors of a flow.
    type: list
    elements: str
    choices: [source, checkpoint, heartbeat]
    default: [source, checkpoint, heartbeat]
  offsets:
    description: Whether to read the offsets of source connectors, one call for each.
    type: bool
    default: true
  wait_for:
    description:
      - V(running) waits until every connector found and all of its tasks are RUNNING.
      - V(stopped) waits until every connector found is STOPPED without tasks.
      - Finding none at all is an error with either, because nothing would have been proven.
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
"""

EXAMPLES = r"""
- name: Everything that runs beside B
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

- name: Do tasks run (fails if there is no such flow)
  switchback.kafka_dr.connect_mirror_info:
    connect_url: http://b-connect.example.com:8083
    source_alias: P
    wait_for: running
    offsets: false
"""

RETURN = r"""
connectors:
  description: The connectors found, sorted by name.
  returned: when the worker answered
  type: list
  elements: dict
  contains:
    name:
      description: Name of the connector.
      type: str
      returned: always
    part:
      description: One of V(source), V(checkpoint), V(heartbeat).
      type: str
      returned: always
    source:
      description: Alias of its source.
      type: str
      returned: always
    target:
      description: Alias of its target.
      type: str
      returned: always
    state:
      description: Its state, V(null) while the worker shows none.
      type: str
      returned: always
    trace:
      description: Head of the trace if it FAILED, else empty.
      type: str
      returned: always
    tasks:
      description: Its tasks, each with C(id), C(state) and the head of the C(trace) of a failure.
      type: list
      elements: dict
      returned: always
    final:
      description: Whether it is STOPPED without tasks. Only then its offsets are final, else they are lower bounds.
      type: bool
      returned: always
    config:
      description: Its settings. Secrets are masked.
      type: dict
      returned: always
    offsets:
      description:
        - Last copied source offset of each partition that has one, as C(topic), C(partition) and C(offset). V(null) if
          they were not read, or could not be.
        - A partition that is missing is unknown, not at 0.
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
  description: Calls that were sent, without their bodies.
  returned: always
  type: list
  elements: dict
  sample: [{method: GET, path: "/connectors?expand=status&expand=info"}]
error:
  description: What stopped the task, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._connect.observation import Filter, observe
from ..module_utils._connect.rest import ConnectClient
from ..module_utils._core.names import CONNECTORS
from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, connect_options, run, wait_options


def options() -> ArgumentSpec:
    """The argument spec, from its parts."""
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
    """Look, wait if asked to, and tell."""
    params = module.params
    rest = ConnectClient(params["connect_url"], params["connect_client"] or {}, params["request_timeout"])
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
    wanted = Filter(params["source_alias"], params["target_alias"], tuple(params["parts"]))
    return observe(rest, wanted, params["wait_for"], params["offsets"], bounds)


def main() -> None:
    """Entry point."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

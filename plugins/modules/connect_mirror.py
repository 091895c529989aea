#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run, stop and configure the three MirrorMaker 2 connectors of one flow."""

from __future__ import annotations

DOCUMENTATION = r"""
module: connect_mirror
short_description: Run, stop and configure the MirrorMaker 2 connectors of one flow
version_added: 1.0.0
description:
  - Makes the source, checkpoint and heartbeat connector of one flow be as declared, through the REST interface of Kafka
    Connect, and waits until the worker shows it.
  - The connectors are named as Strimzi names them, for example C(P->B.MirrorSourceConnector).
  - Settings that a connector has and this task does not mention are kept and named in RV(connectors[].kept). Those that
    would make a cutover unsound are refused.
  - Before anything is written, the worker validates every configuration that is to be created or changed.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  source:
    description: The cluster that is read.
    type: dict
    required: true
    suboptions: &cluster
      alias:
        description: Its replication alias. It must not contain O(separator).
        type: str
        required: true
      bootstrap_servers:
        description:
          - Its brokers as the Kafka Connect worker reaches them. Needed where O(state) is V(present) or V(running).
        type: str
        default: ''
      client:
        description:
          - Client properties for the worker's connection, as librdkafka names them; they are translated for Java.
          - A key with the prefix C(java.) is passed on without that prefix. It wins over a translated one.
        type: dict
        default: {}
      cluster_id:
        description:
          - Its cluster id. If set, the worker's own cluster is compared with it, because a source connector writes to
            its workers' cluster whatever O(target.bootstrap_servers) says.
        type: str
  target:
    description: The cluster that is written, beside which the Kafka Connect workers of O(connect_url) run.
    type: dict
    required: true
    suboptions: *cluster
  topics:
    description:
      - Names of the topics to copy. They are taken literally, a dot is a dot.
      - Needed where O(state) is V(present) or V(running).
    type: list
    elements: str
    default: []
  groups:
    description: Names of the consumer groups of which checkpoints are written, taken literally.
    type: list
    elements: str
    default: []
  policy:
    description:
      - Replication policy. With V(default) replicas are named after their source, with V(identity) like their original.
    type: str
    choices: [default, identity]
    default: default
  separator:
    description: What stands between the alias and the topic in the names of replicas and internal topics.
    type: str
    default: .
  application:
    description:
      - The application out of many whose flow this is. Its connectors have names of their own, for example
        C(P->B.payments.MirrorSourceConnector); the heartbeat connector is everybody's.
    type: str
  adopted:
    description:
      - Names of connectors that run the same flow until M(switchback.kafka_dr.dr_adopt) stops them. In check mode,
        where they were not stopped, they are no reason to refuse.
    type: list
    elements: str
    default: []
  replication_factor:
    description:
      - Number of replicas of the topics that MirrorMaker 2 creates, its internal topics included.
      - If not set, MirrorMaker 2 uses 2 for replicas and 3 for internal topics.
    type: int
  offset_syncs_location:
    description: Where offset-syncs are kept. On the V(target) they survive the loss of the source.
    type: str
    choices: [source, target]
    default: target
  tasks_max:
    description: Most tasks of each connector.
    type: int
    default: 4
  settings:
    description:
      - Settings for all three connectors. They win over this collection's defaults. V(null) removes a setting.
      - Settings that follow from another option, other converters, transforms, reading of aborted records, more than
        one request under way, and V(errors.tolerance=all) are refused, because positions could then not be proven.
    type: dict
    default: {}
  source_settings:
    description: Settings for the source connector. They win over O(settings).
    type: dict
    default: {}
  checkpoint_settings:
    description: Settings for the checkpoint connector. They win over O(settings).
    type: dict
    default: {}
  heartbeat_settings:
    description: Settings for the heartbeat connector. They win over O(settings).
    type: dict
    default: {}
  parts:
    description: Which connectors of the flow this task is about. The others are left alone.
    type: list
    elements: str
    choices: [source, checkpoint, heartbeat]
    default: [source, checkpoint, heartbeat]
  state:
    description:
      - V(present) gives the connectors this configuration and leaves alone whether they run. New ones are created
        stopped.
      - V(running) also resumes them and waits until they and their tasks are RUNNING. What failed is restarted once.
      - V(stopped) stops them and waits until they are STOPPED without tasks; only then their offsets are final. Their
        configuration is left alone, and connectors that do not exist count as stopped.
      - V(absent) stops them in the same way and then deletes them.
    type: str
    choices: [present, running, stopped, absent]
    default: running
extends_documentation_fragment:
  - switchback.kafka_dr.connect
  - switchback.kafka_dr.wait
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
    details:
      - The worker validates the configurations that would be written. The waits are left out.
  diff_mode:
    support: full
    details:
      - Setting by setting; secrets are masked.
  idempotent:
    support: full
notes:
  - Offsets of a deleted connector survive in the worker. A connector of the same name and group goes on from there.
  - A source connector that finds none of its topics has no task, and a checkpoint connector without one of its groups
    has none either. The first gets a warning, the second is normal.
  - A stop takes about 3 seconds while the source is down, 6 to 8 while it is frozen, because the worker gives each task
    C(task.shutdown.graceful.timeout.ms) (5 seconds). On a fast link V(source.consumer.request.timeout.ms=4000) in
    O(source_settings) makes the second as short as the first.
  - RUNNING says that tasks were started, not that records arrive. M(switchback.kafka_dr.dr_status_info) tells that.
seealso:
  - module: switchback.kafka_dr.connect_mirror_info
  - module: switchback.kafka_dr.dr_status_info
"""

EXAMPLES = r"""
- name: Copy Payments from P to B, with checkpoints for two groups
  switchback.kafka_dr.connect_mirror:
    connect_url: http://b-connect.example.com:8083
    source:
      alias: P
      bootstrap_servers: p1.example.com:9092,p2.example.com:9092
    target:
      alias: B
      bootstrap_servers: b1.example.com:9092
      cluster_id: 4L6g3nShT-eMCtK--X86sw
    topics: [Payments]
    groups: [settlement, fraud]
    replication_factor: 3
    state: running

- name: Ask the worker whether it would accept another interval
  switchback.kafka_dr.connect_mirror:
    connect_url: https://connect.example.com/b
    connect_client:
      url_username: dr
      url_password: "{{ vault_connect_password }}"
      ca_path: /etc/ssl/company.pem
    source: {alias: P, bootstrap_servers: "p1.example.com:9092"}
    target: {alias: B, bootstrap_servers: "b1.example.com:9092"}
    topics: [Payments]
    groups: [settlement]
    checkpoint_settings:
      emit.checkpoints.interval.seconds: 1
  check_mode: true
  diff: true

- name: Write no more checkpoints toward B, because applications live there now
  switchback.kafka_dr.connect_mirror:
    connect_url: http://b-connect.example.com:8083
    source: {alias: P}
    target: {alias: B}
    parts: [checkpoint]
    state: stopped

- name: Stop copying, also when P is gone (fails if tasks are left after 30 seconds)
  switchback.kafka_dr.connect_mirror:
    connect_url: http://b-connect.example.com:8083
    source: {alias: P}
    target: {alias: B}
    parts: [source]
    state: stopped
    wait_timeout: 30
"""

RETURN = r"""
changes:
  description:
    - What was done, or in check mode would be done, step by step; connectors that are as wanted are not listed.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: connector
      name: P->B.MirrorSourceConnector
      action: resume
      before: {state: STOPPED}
      after: {state: RUNNING}
      status: done
      error: null
connectors:
  description: The connectors of O(parts), as the worker showed them last.
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
    exists:
      description: Whether it exists.
      type: bool
      returned: always
    state:
      description: Its state, V(null) while it is unknown or if it does not exist.
      type: str
      returned: always
    tasks:
      description: Its tasks, each with C(id), C(state) and the head of the C(trace) of a failure.
      type: list
      elements: dict
      returned: always
    final:
      description: Whether it is STOPPED without tasks, so that its offsets are final.
      type: bool
      returned: always
    kept:
      description: Settings that it has and this task does not mention.
      type: list
      elements: str
      returned: always
    offsets_survive:
      description: Whether this task deleted it, and left its offsets in the worker under its name.
      type: bool
      returned: always
  sample:
    - name: P->B.MirrorSourceConnector
      part: source
      exists: true
      state: RUNNING
      tasks: [{id: 0, state: RUNNING, trace: ""}]
      final: false
      kept: []
      offsets_survive: false
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

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._connect.flow import flow_options, flow_spec, reconcile_flow
from ..module_utils._connect.rest import ConnectClient
from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, connect_options, run, wait_options
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options


def options() -> ArgumentSpec:
    """The argument spec, from its parts."""
    return connect_options().merge(wait_options(), ArgumentSpec(flow_options()), guard_options())


def work(module: AnsibleModule) -> Result:
    """Connect, decide, do, wait."""
    params: dict[str, Any] = module.params
    rest = ConnectClient(params["connect_url"], params["connect_client"] or {}, params["request_timeout"])
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
    parts, state, adopted = params["parts"], params["state"], params["adopted"]
    return reconcile_flow(rest, flow_spec(params), parts, state, bounds, module.check_mode, adopted=adopted)


def main() -> None:
    """Entry point."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configure, start, stop and delete the three MirrorMaker 2 connectors of one flow."""

from __future__ import annotations

DOCUMENTATION = r"""
module: connect_mirror
short_description: Configure, start and stop the MirrorMaker 2 connectors of one flow
version_added: 1.0.0
description:
  - Brings the source, checkpoint and heartbeat connector of one flow into the declared state, and waits until the
    worker reports that state. The module uses the REST interface of Kafka Connect.
  - The connectors have the names that Strimzi uses, for example C(P->B.MirrorSourceConnector).
  - Settings that a connector has and this task does not mention are kept. RV(connectors[].kept) lists them. Settings
    that could make a cutover lose or repeat records are refused.
  - Before the module writes anything, the worker validates every configuration that is to be created or changed.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  source:
    description: The cluster that the flow reads from.
    type: dict
    required: true
    suboptions: &cluster
      alias:
        description: Replication alias of the cluster. It must not contain O(separator).
        type: str
        required: true
      bootstrap_servers:
        description:
          - Brokers of the cluster, as the Kafka Connect worker reaches them. Required if O(state) is V(present) or
            V(running).
        type: str
        default: ''
      client:
        description:
          - Client properties for the worker's connection, with their librdkafka names. The module translates them for
            Java.
          - A key with the prefix C(java.) is passed on without that prefix. It takes precedence over a translated key.
        type: dict
        default: {}
      cluster_id:
        description:
          - Id of the cluster. A source connector writes to the cluster of its worker and ignores
            O(target.bootstrap_servers). The module therefore compares the id of the worker's cluster. It must equal
            that of O(target) and differ from that of O(source).
        type: str
  target:
    description: The cluster that the flow writes to. The Kafka Connect workers of O(connect_url) belong to it.
    type: dict
    required: true
    suboptions: *cluster
  topics:
    description:
      - Names of the topics to replicate. They are literal names, so a dot matches only a dot.
      - Required if O(state) is V(present) or V(running).
    type: list
    elements: str
    default: []
  groups:
    description: Names of the consumer groups whose checkpoints are written. They are literal names.
    type: list
    elements: str
    default: []
  policy:
    description:
      - Replication policy. With V(default), the name of a replica starts with the source alias. With V(identity), a
        replica has the name of its original.
    type: str
    choices: [default, identity]
    default: default
  separator:
    description: Separator between the alias and the topic in the names of replicas and internal topics.
    type: str
    default: .
  application:
    description:
      - Name of the application that this flow replicates, if several applications share the clusters. It becomes part
        of the connector names, for example C(P->B.payments.MirrorSourceConnector). All applications share the heartbeat
        connector.
    type: str
  adopted:
    description:
      - Names of connectors that run the same flow until M(switchback.kafka_dr.dr_adopt) stops them. In check mode they
        still run, and the module does not refuse them.
    type: list
    elements: str
    default: []
  replication_factor:
    description:
      - Number of replicas of the topics that MirrorMaker 2 creates, its internal topics included.
      - If not set, MirrorMaker 2 uses 2 for replicas and 3 for internal topics.
    type: int
  offset_syncs_location:
    description: Cluster that holds the offset-syncs topic. On the V(target), it survives the loss of the source.
    type: str
    choices: [source, target]
    default: target
  tasks_max:
    description: Maximum number of tasks of each connector.
    type: int
    default: 4
  settings:
    description:
      - Settings for all three connectors. They take precedence over the defaults of this collection. V(null) removes a
        setting.
      - The module refuses settings that another option determines. It also refuses settings with which committed
        offsets cannot be translated exactly. These are other converters, transforms, reading of aborted records, a
        producer that may lose or reorder records, and V(errors.tolerance=all).
      - The module writes the safe values into the connectors, because the own file of the workers could have others.
    type: dict
    default: {}
  source_settings:
    description: Settings for the source connector. They take precedence over O(settings).
    type: dict
    default: {}
  checkpoint_settings:
    description: Settings for the checkpoint connector. They take precedence over O(settings).
    type: dict
    default: {}
  heartbeat_settings:
    description: Settings for the heartbeat connector. They take precedence over O(settings).
    type: dict
    default: {}
  parts:
    description: The connectors of the flow that this task manages. The others stay unchanged.
    type: list
    elements: str
    choices: [source, checkpoint, heartbeat]
    default: [source, checkpoint, heartbeat]
  state:
    description:
      - V(present) writes the configuration and does not start or stop anything. New connectors are created in state
        STOPPED.
      - V(running) also resumes the connectors and waits until they and their tasks are RUNNING. It restarts a failed
        connector or task once.
      - V(stopped) stops the connectors and waits until they are STOPPED without tasks. Only then are their offsets
        final. It does not change their configuration. A connector that does not exist counts as stopped.
      - V(absent) stops the connectors in the same way and then deletes them.
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
      - The worker validates the configurations that the module would write. The module does not wait.
  diff_mode:
    support: full
    details:
      - Shows each setting. Secrets are masked.
  idempotent:
    support: full
notes:
  - The offsets of a deleted connector remain in the worker's offsets topic. A new connector with the same name and
    Connect group continues from them.
  - A source connector that finds none of its topics has no task. The module warns about it. A checkpoint connector that
    finds none of its groups has no task either. This is normal.
  - A stop takes about 3 seconds while the source is down, and 6 to 8 seconds while it hangs. The worker gives each task
    C(task.shutdown.graceful.timeout.ms) (5 seconds). On a fast network,
    V(source.consumer.request.timeout.ms=4000) in O(source_settings) makes the second case as short as the first.
  - The state RUNNING proves that tasks were started. It does not prove that records arrive. Use
    M(switchback.kafka_dr.dr_status_info) for that.
seealso:
  - module: switchback.kafka_dr.connect_mirror_info
  - module: switchback.kafka_dr.dr_status_info
  - module: switchback.kafka_dr.srm_allowlist
    description: The same for a flow that Streams Replication Manager runs.
  - name: Geo-replication with MirrorMaker 2
    description: The connectors and their settings.
    link: https://kafka.apache.org/documentation/#georeplication
  - name: Kafka Connect REST interface
    description: The requests that this module sends.
    link: https://kafka.apache.org/documentation/#connect_rest
"""

EXAMPLES = r"""
- name: Replicate Payments from P to B, with checkpoints for two groups
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

- name: Ask the worker whether it would accept another checkpoint interval
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

- name: Stop the checkpoints toward B because the applications live there now
  switchback.kafka_dr.connect_mirror:
    connect_url: http://b-connect.example.com:8083
    source: {alias: P}
    target: {alias: B}
    parts: [checkpoint]
    state: stopped

- name: Stop the replication, even if P is lost (fails if tasks remain after 30 seconds)
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
    - The steps that the module did, or would do in check mode. Connectors that need no change are not listed.
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
  description: The connectors of O(parts), as the worker last reported them.
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
    exists:
      description: Whether the connector exists.
      type: bool
      returned: always
    state:
      description: State of the connector. V(null) while it is unknown or if the connector does not exist.
      type: str
      returned: always
    tasks:
      description: Tasks of the connector, each with C(id), C(state) and the first lines of the C(trace) of a failure.
      type: list
      elements: dict
      returned: always
    final:
      description: Whether the connector is STOPPED without tasks. Only then are its offsets final.
      type: bool
      returned: always
    kept:
      description: Settings that the connector has and this task does not mention.
      type: list
      elements: str
      returned: always
    offsets_survive:
      description: Whether this task deleted the connector. Its offsets then remain in the worker under its name.
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

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._connect.flow import flow_options, flow_spec, reconcile_flow
from ..module_utils._connect.rest import ConnectClient
from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, connect_options, run, wait_options
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options


def options() -> ArgumentSpec:
    """Build the argument spec."""
    return connect_options().merge(wait_options(), ArgumentSpec(flow_options()), guard_options())


def work(module: AnsibleModule) -> Result:
    """Bring the connectors into the wanted state and wait for it."""
    params: dict[str, Any] = module.params
    rest = ConnectClient(params["connect_url"], params["connect_client"] or {}, params["request_timeout"])
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
    parts, state, adopted = params["parts"], params["state"], params["adopted"]
    return reconcile_flow(rest, flow_spec(params), parts, state, bounds, module.check_mode, adopted=adopted)


def main() -> None:
    """Run the module."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, stop and restart Streams Replication Manager through Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_service
short_description: Start, stop and restart Streams Replication Manager through Cloudera Manager
version_added: 1.0.0
description:
  - Starts, stops or restarts one service with its current configuration, and waits until Cloudera Manager reports the
    wanted state.
  - If the configuration is stale, the module first deploys the client configuration and then restarts the service. If
    it is fresh and unchanged, the module does nothing.
  - If a command of the same kind is already active, the module waits for that command and does not send a second one.
    It sends a command once. If the response is lost, it finds the command in the list of active commands.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  state:
    description:
      - V(started) starts a service that is stopped.
      - V(present) leaves a stopped service stopped.
      - V(restarted) always restarts the service.
      - V(stopped) stops the service and waits until none of its roles has a process. It deploys nothing.
    type: str
    choices: [present, started, stopped, restarted]
    default: started
  deploy_client_config:
    description:
      - Whether to deploy the client configuration, which C(srm-control) reads. V(stale) deploys it if Cloudera Manager
        reports that it is not fresh, or with O(changed=true).
    type: str
    choices: [stale, always, never]
    default: stale
  restart:
    description:
      - Whether to restart a running service. V(stale) restarts it if Cloudera Manager reports that its configuration is
        not fresh, or with O(changed=true).
    type: str
    choices: [stale, always, never]
    default: stale
  changed:
    description:
      - Whether an earlier task has just changed a property. Cloudera Manager computes staleness in the background and
        can report FRESH for a while after a change.
    type: bool
    default: false
  rolling:
    description:
      - Whether to restart one role after the other. If Cloudera Manager refuses this, the module restarts all roles at
        once and warns.
    type: bool
    default: false
extends_documentation_fragment:
  - switchback.kafka_dr.cm
  - switchback.kafka_dr.cm.bounds
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
    details:
      - Check mode cannot see staleness that only an earlier task of the same play would cause. Set O(changed) for that.
  diff_mode:
    support: full
  idempotent:
    support: full
    details:
      - Except with O(state=restarted), with O(changed=true), and with V(always) in O(restart) or
        O(deploy_client_config).
seealso:
  - module: switchback.kafka_dr.cm_config
  - module: switchback.kafka_dr.cm_config_info
  - module: switchback.kafka_dr.srm_allowlist
"""

EXAMPLES = r"""
- name: Run the service with its current configuration
  switchback.kafka_dr.cm_service:
    cm_url: https://cm-b.example.com:7183
    cm_client: {url_username: dr, url_password: "{{ vault_cm_password }}"}
    cluster: Cluster 1

- name: Add a setting of the flow toward B
  switchback.kafka_dr.cm_config:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
    lines:
      streams.replication.manager.config:
        P->B.tasks.max: 8
  register: config

- name: Deploy and restart directly after the change
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
    changed: "{{ config.changed }}"

- name: Find out whether the service would be restarted
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
  check_mode: true

- name: Stop all flows toward B (fails if a process remains after two minutes)
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
    service: streams_replication_manager
    state: stopped
    wait_timeout: 120
"""

RETURN = r"""
changes:
  description: The steps that the module did, or would do in check mode.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: service
      name: streams_replication_manager
      action: restart
      before: {state: STARTED, config: STALE}
      after: {state: STARTED, config: FRESH}
      status: done
      error: null
cluster:
  description: Name of the cluster.
  returned: when the module has found the service
  type: str
  sample: Cluster 1
service:
  description: Name of the service.
  returned: when the module has found the service
  type: str
  sample: streams_replication_manager
state:
  description: Last known state of the service. V(null) if Cloudera Manager did not report it.
  returned: when the module has found the service
  type: str
  sample: STARTED
health:
  description: Health of the service. V(null) if Cloudera Manager did not report it. The module does not wait for it.
  returned: when the module has found the service
  type: str
  sample: GOOD
health_checks:
  description: Health tests whose result is not good.
  returned: when the module has found the service
  type: list
  elements: str
  sample: [DISTRIBUTED_HERDER_STATUS BAD]
maintenance_mode:
  description: Whether the service is in maintenance mode.
  returned: when the module has found the service
  type: bool
  sample: false
staleness:
  description:
    - Staleness of the configuration and of the client configuration, C(before) and C(after) the task. V(FRESH),
      V(STALE_REFRESHABLE) or V(STALE). V(null) if Cloudera Manager did not report it.
  returned: when the module has found the service
  type: dict
  sample: {before: {config: STALE, client_config: STALE}, after: {config: FRESH, client_config: FRESH}}
commands:
  description:
    - The commands with C(how) the module came to them. V(issued) means that it sent the command. V(joined) means that
      the command was already active. V(adopted) means that the response was lost and the module found the command.
      V(awaited) means that the command blocked another one.
    - C(name), C(id) and C(success) are V(null) if they are unknown.
  returned: when the module has found the service
  type: list
  elements: dict
  sample:
    - {verb: restart, how: issued, id: 4711, name: Restart, success: true, message: Done., seconds: 61.5}
seconds:
  description: Duration of the task.
  returned: when the module has found the service
  type: float
  sample: 70.1
requests:
  description: Requests that the module sent, without their bodies.
  returned: always
  type: list
  elements: dict
  sample: [{method: GET, path: "/version"}]
error:
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: cm_unreachable
    message: Cloudera Manager at "https://cm-b.example.com:7183" did not respond within 30 s.
    hint: Check that it runs and that this host reaches it.
    endpoint: https://cm-b.example.com:7183
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._cm.control import DesiredService, reconcile_service
from ..module_utils._cm.service import open_service
from ..module_utils._core.waiting import Bounds
from ..module_utils._module import ArgumentSpec, Result, cm_options, run, wait_options
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options


def options() -> ArgumentSpec:
    """Build the argument spec."""
    when = {"type": "str", "choices": ["stale", "always", "never"], "default": "stale"}
    states = ["present", "started", "stopped", "restarted"]
    own = ArgumentSpec(
        {
            "state": {"type": "str", "choices": states, "default": "started"},
            "deploy_client_config": when,
            "restart": when,
            "changed": {"type": "bool", "default": False},
            "rolling": {"type": "bool", "default": False},
        }
    )
    return cm_options().merge(wait_options(timeout=600.0, sleep=1.0), own, guard_options())


def work(module: AnsibleModule) -> Result:
    """Bring the service into the wanted state and wait for it."""
    params: dict[str, Any] = module.params
    desired = DesiredService(
        state=params["state"],
        deploy=params["deploy_client_config"],
        restart=params["restart"],
        changed=params["changed"],
        rolling=params["rolling"],
    )
    bounds = Bounds(params["wait_timeout"], params["wait_sleep"], params["stall_timeout"])
    return reconcile_service(open_service(params), desired, bounds, module.check_mode)


def main() -> None:
    """Run the module."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run, stop and restart a Streams Replication Manager through Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_service
short_description: Run, stop and restart Streams Replication Manager through Cloudera Manager
version_added: 1.0.0
description:
  - Makes one service run, or stand still, with its present configuration, and waits until Cloudera Manager shows it.
  - Where something is stale, client configuration is deployed first, then the service is restarted. What is fresh and
    unchanged is left alone.
  - A command of the same kind that is active already, whoever started it, is joined instead of sending a second one.
    A command is sent once. If its answer is lost, the list of active commands tells what became of it.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  state:
    description:
      - V(started) starts a service that is stopped.
      - V(present) leaves a stopped service stopped.
      - V(restarted) restarts it in any case.
      - V(stopped) stops it and waits until none of its roles has a process. Nothing is deployed.
    type: str
    choices: [present, started, stopped, restarted]
    default: started
  deploy_client_config:
    description:
      - Whether to deploy the client configuration, which C(srm-control) reads. V(stale) does where Cloudera Manager
        shows that it is not fresh, or with O(changed).
    type: str
    choices: [stale, always, never]
    default: stale
  restart:
    description:
      - Whether to restart a service that runs. V(stale) does where Cloudera Manager shows that it is not fresh, or with
        O(changed).
    type: str
    choices: [stale, always, never]
    default: stale
  changed:
    description:
      - Whether something was changed just before. Cloudera Manager computes staleness in the background, so that for a
        while it shows FRESH for what is not.
    type: bool
    default: false
  rolling:
    description:
      - Whether to restart role by role. Where Cloudera Manager refuses that, all roles are restarted at once, with a
        warning.
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
      - Staleness that only a change of this play would cause does not show; give O(changed).
  diff_mode:
    support: full
  idempotent:
    support: full
    details:
      - Except with O(state=restarted), O(changed=true), V(always) in O(restart) or O(deploy_client_config).
seealso:
  - module: switchback.kafka_dr.cm_config
"""

EXAMPLES = r"""
- name: Runs, with the configuration that Cloudera Manager has
  switchback.kafka_dr.cm_service:
    cm_url: https://cm-b.example.com:7183
    cm_client: {url_username: dr, url_password: "{{ vault_cm_password }}"}
    cluster: Cluster 1

- name: Deploy and restart just after a change
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
    changed: "{{ config.changed }}"

- name: Would it be restarted
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
  check_mode: true

- name: No flow toward B runs any more (fails if a process is left after two minutes)
  switchback.kafka_dr.cm_service:
    cm_url: cm-b.example.com:7180
    cluster: Cluster 1
    service: streams_replication_manager
    state: stopped
    wait_timeout: 120
"""

RETURN = r"""
changes:
  description: What was done, or in check mode would be done, step by step.
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
  returned: when the service was found
  type: str
  sample: Cluster 1
service:
  description: Name of the service.
  returned: when the service was found
  type: str
  sample: streams_replication_manager
state:
  description: Its state as last seen, V(null) if Cloudera Manager did not tell.
  returned: when the service was found
  type: str
  sample: STARTED
health:
  description: Its health, V(null) if Cloudera Manager did not tell. It is not waited for.
  returned: when the service was found
  type: str
  sample: GOOD
health_checks:
  description: Health tests that are not good.
  returned: when the service was found
  type: list
  elements: str
  sample: [DISTRIBUTED_HERDER_STATUS BAD]
maintenance_mode:
  description: Whether it is in maintenance mode.
  returned: when the service was found
  type: bool
  sample: false
staleness:
  description:
    - Of configuration and client configuration, C(before) and C(after); each V(FRESH), V(STALE_REFRESHABLE), V(STALE),
      or V(null) if Cloudera Manager did not tell.
  returned: when the service was found
  type: dict
  sample: {before: {config: STALE, client_config: STALE}, after: {config: FRESH, client_config: FRESH}}
commands:
  description:
    - Commands that were V(issued), V(joined) because they were active already, V(adopted) because their answer was
      lost, or V(awaited) because they stood in the way. C(name), C(id) and C(success) are V(null) where unknown.
  returned: when the service was found
  type: list
  elements: dict
  sample:
    - {verb: restart, how: issued, id: 4711, name: Restart, success: true, message: Done., seconds: 61.5}
seconds:
  description: How long it took.
  returned: when the service was found
  type: float
  sample: 70.1
requests:
  description: Calls that were sent, without their bodies.
  returned: always
  type: list
  elements: dict
  sample: [{method: GET, path: "/version"}]
error:
  description: What stopped the task, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
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
    """The argument spec, from its parts."""
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
    """Look, decide, do, wait."""
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
    """Entry point."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

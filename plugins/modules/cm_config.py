#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set properties of Streams Replication Manager in Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_config
short_description: Set properties of Streams Replication Manager in Cloudera Manager
version_added: 1.0.0
description:
  - Sets properties of one service and of its role groups, and reads them back.
  - You can use the name of a property in the API, in the underlying project or in the UI.
  - The module compares the meaning of values. V(True) equals V(true), and V(030) equals V(30).
  - It sends one request for the service and one for each role group, with the properties that differ. Other properties
    stay unchanged.
  - It neither deploys client configuration nor restarts anything. Use M(switchback.kafka_dr.cm_service) for that.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  properties:
    description:
      - Values by property name. V(null) resets a property to its default. A list is joined with commas.
    type: dict
    default: {}
  lines:
    description:
      - Lines of a property whose text holds many C(key=value) lines, for example C(Streams Replication Manager's
        Replication Configs). The dictionary maps a property name to keys and values. V(null) removes a line.
      - Lines that are not mentioned stay unchanged and in order. A line is replaced in place. A new line is appended.
      - A value that contains C(|) is refused, because that character ends the line.
    type: dict
    default: {}
  role_group:
    description:
      - Where the properties are, as the name of a role group or as a role type. A role type stands for its base group.
      - If not set, the module searches the service first and then all role groups. A property that several groups have
        is an error then.
    type: str
  aliases:
    description:
      - The cluster aliases of the pair. If set, the module warns about lines that name another alias or an alias in
        another letter case.
    type: list
    elements: str
    default: []
  update_secrets:
    description:
      - When to write a property that Cloudera Manager keeps secret. The module cannot compare its value.
      - V(on_create) writes the property only if it is not set yet. V(always) writes it every time, and the task is then
        always changed.
    type: str
    choices: [on_create, always]
    default: on_create
  reason:
    description:
      - Reason for the change. Cloudera Manager keeps it in its history.
    type: str
    default: Changed by the Ansible collection switchback.kafka_dr
extends_documentation_fragment:
  - switchback.kafka_dr.cm
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
attributes:
  check_mode:
    support: full
    details:
      - Cloudera Manager validates values only when they are written.
  diff_mode:
    support: full
    details:
      - Shows each property and each line. Secrets are masked.
  idempotent:
    support: full
    details:
      - Except for secrets with O(update_secrets=always).
notes:
  - The module warns about lines that Streams Replication Manager accepts but ignores, for example C(P->B=true), which
    Cloudera's own pages show. If you set such a line, the module also writes the line that works
    (C(P->B.enabled=true)).
seealso:
  - module: switchback.kafka_dr.cm_config_info
  - module: switchback.kafka_dr.cm_service
  - module: switchback.kafka_dr.srm_allowlist
  - name: Geo-replication with MirrorMaker 2
    description: The settings that the lines of a replication flow contain.
    link: https://kafka.apache.org/documentation/#georeplication
"""

EXAMPLES = r"""
- name: Enable both flows and group offset sync
  switchback.kafka_dr.cm_config:
    cm_url: https://cm-p.example.com:7183
    cm_client:
      url_username: dr
      url_password: "{{ vault_cm_password }}"
      ca_path: /etc/ssl/company.pem
    cluster: Cluster 1
    properties:
      Reverse Checkpointing Enabled: true
    lines:
      Streams Replication Manager's Replication Configs:
        P->B.enabled: true
        B->P.enabled: true
        sync.group.offsets.enabled: true
        sync.group.offsets.interval.seconds: 60
    aliases: [P, B]
    reason: Both directions for the failback of Payments
  register: config

- name: Deploy the client configuration and restart if a property was changed
  switchback.kafka_dr.cm_service:
    cm_url: https://cm-p.example.com:7183
    cm_client:
      url_username: dr
      url_password: "{{ vault_cm_password }}"
      ca_path: /etc/ssl/company.pem
    cluster: Cluster 1
    changed: "{{ config.changed }}"

- name: Show what would change in the properties of the Driver
  switchback.kafka_dr.cm_config:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1
    service: streams_replication_manager
    role_group: STREAMS_REPLICATION_MANAGER_DRIVER
    properties:
      streams.replication.manager.driver.target.cluster: P
  check_mode: true
  diff: true

- name: Reset an interval and remove the line of one flow (fails if the account may only read)
  switchback.kafka_dr.cm_config:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1
    properties:
      refresh.topics.interval.seconds:
    lines:
      streams.replication.manager.config:
        B->P.enabled:
"""

RETURN = r"""
changes:
  description:
    - What the module did, or would do in check mode, by property. For O(lines), each key is a line.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: property
      name: streams.replication.manager.config
      action: update
      before: {P->B.enabled: null}
      after: {P->B.enabled: "true"}
      status: done
      error: null
cluster:
  description: Name of the cluster.
  returned: when the module has found the properties
  type: str
  sample: Cluster 1
service:
  description: Name of the service.
  returned: when the module has found the properties
  type: str
  sample: streams_replication_manager
properties:
  description: The properties after the task, in the form of RV(switchback.kafka_dr.cm_config_info#module:properties).
  returned: when the module has found the properties
  type: list
  elements: dict
  sample:
    - asked: Reverse Checkpointing Enabled
      exists: true
      name: cloudera.reverse.checkpointing.enabled
      display_name: Reverse Checkpointing Enabled
      level: service
      value: "true"
      default: "false"
      effective: "true"
      sensitive: false
      validation: OK
      validation_message: ""
      lines: null
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
    message: Cloudera Manager at "https://cm-p.example.com:7183" did not respond within 30 s.
    hint: Check that it runs and that this host reaches it.
    endpoint: https://cm-p.example.com:7183
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._cm.config import REASON, Declared, reconcile_config
from ..module_utils._cm.service import open_service
from ..module_utils._core.errors import DrError
from ..module_utils._module import ArgumentSpec, Result, cm_options, run
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options


def options() -> ArgumentSpec:
    """Build the argument spec."""
    own = ArgumentSpec(
        {
            "properties": {"type": "dict", "default": {}},
            "lines": {"type": "dict", "default": {}},
            "role_group": {"type": "str"},
            "aliases": {"type": "list", "elements": "str", "default": []},
            "update_secrets": {
                "type": "str",
                "choices": ["on_create", "always"],
                "default": "on_create",
                "no_log": False,
            },
            "reason": {"type": "str", "default": REASON},
        }
    )
    return cm_options().merge(own, guard_options())


def work(module: AnsibleModule) -> Result:
    """Read the properties, write those that differ and read them again."""
    params = module.params
    lines = params["lines"] or {}
    for name, given in lines.items():
        if not isinstance(given, dict):
            raise DrError(
                "bad_option",
                f'lines["{name}"] is of type {type(given).__name__}, wanted a dictionary.',
                "Set lines to a dictionary from property name to keys and values.",
            )
    wanted = Declared(
        properties=params["properties"] or {},
        lines=lines,
        role_group=params["role_group"],
        aliases=params["aliases"],
        update_secrets=params["update_secrets"],
        reason=params["reason"],
    )
    return reconcile_config(open_service(params), wanted, module.check_mode, module.no_log_values.add)


def main() -> None:
    """Run the module."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

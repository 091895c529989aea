#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set properties of a Streams Replication Manager in Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_config
short_description: Set properties of Streams Replication Manager in Cloudera Manager
version_added: 1.0.0
description:
  - Makes properties of one service, and of its role groups, be as declared, and reads them again to prove it.
  - Properties may be named as the API, the underlying project or the UI names them.
  - Values are compared by what they mean, so that V(True) and V(true), or V(030) and V(30), are no change.
  - What differs is written with one request for the service and one for each role group. Properties that are not named
    stay as they are.
  - It neither deploys client configuration nor restarts anything. M(switchback.kafka_dr.cm_service) does.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  properties:
    description:
      - Values by name of the property. V(null) resets one to its default. A list is joined by commas.
    type: dict
    default: {}
  lines:
    description:
      - Lines of a property whose text holds many C(key=value) lines, as C(Streams Replication Manager's Replication
        Configs) does, as a dictionary from name of the property to key to value. V(null) removes a line.
      - Lines that are not named stay, in their order. A line is replaced where it is, or appended.
      - A value that contains C(|) is refused, because it would end the line.
    type: dict
    default: {}
  role_group:
    description:
      - Where to look for the properties, as name of a role group or as role type, which means its base group.
      - If not set, they are looked for on the service first, then in all role groups. A property that several groups
        have is then an error.
    type: str
  aliases:
    description:
      - The cluster aliases of the pair. If they are given, lines that name another one, or one in the wrong case, are
        warned about.
    type: list
    elements: str
    default: []
  update_secrets:
    description:
      - When to write a property that Cloudera Manager keeps secret. Its value cannot be compared.
      - V(on_create) writes it only where it is not set yet, V(always) with each run, which is then always a change.
    type: str
    choices: [on_create, always]
    default: on_create
  reason:
    description:
      - Reason for the change, as Cloudera Manager keeps it in its history.
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
      - Property by property, line by line; secrets are masked.
  idempotent:
    support: full
    details:
      - Except for secrets with O(update_secrets=always).
notes:
  - Lines that Streams Replication Manager takes and ignores get a warning, such as C(P->B=true), which Cloudera's own
    pages show. Where such a line is asked for, the one that works (C(P->B.enabled=true)) is written beside it.
seealso:
  - module: switchback.kafka_dr.cm_config_info
  - module: switchback.kafka_dr.cm_service
"""

EXAMPLES = r"""
- name: Both flows, and group offsets on both sides
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

- name: Deploy and restart, because something was changed
  switchback.kafka_dr.cm_service:
    cm_url: https://cm-p.example.com:7183
    cluster: Cluster 1
    changed: "{{ config.changed }}"

- name: What would be changed in the Driver's own properties
  switchback.kafka_dr.cm_config:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1
    service: streams_replication_manager
    role_group: STREAMS_REPLICATION_MANAGER_DRIVER
    properties:
      streams.replication.manager.driver.target.cluster: P
  check_mode: true
  diff: true

- name: Back to the default interval, without the line that switched a flow off (fails if the account may only read)
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
    - What was done, or in check mode would be done, property by property. For O(lines) each key is a line.
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
  returned: when the properties were found
  type: str
  sample: Cluster 1
service:
  description: Name of the service.
  returned: when the properties were found
  type: str
  sample: streams_replication_manager
properties:
  description: The named properties as they are now, as M(switchback.kafka_dr.cm_config_info) returns them.
  returned: when the properties were found
  type: list
  elements: dict
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

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._cm.config import REASON, Declared, reconcile_config
from ..module_utils._cm.service import open_service
from ..module_utils._core.errors import DrError
from ..module_utils._module import ArgumentSpec, Result, cm_options, run
from ..module_utils._pair.journal.guard import guarded
from ..module_utils._pair.options import guard_options


def options() -> ArgumentSpec:
    """The argument spec, from its parts."""
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
    """Look, decide, write, look again."""
    params = module.params
    lines = params["lines"] or {}
    for name, given in lines.items():
        if not isinstance(given, dict):
            raise DrError(
                "bad_option", f'lines["{name}"] is no dictionary.', "Give name of the property, then key, then value."
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
    """Entry point."""
    run(options().create_module(), guarded(work))


if __name__ == "__main__":
    main()

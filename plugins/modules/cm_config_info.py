#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read properties of a Streams Replication Manager from Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_config_info
short_description: Read properties of Streams Replication Manager from Cloudera Manager
version_added: 1.0.0
description:
  - Returns properties of one service and of its role groups with value, default, level and Cloudera Manager's own
    judgement, and the Runtime version of the cluster.
  - A property that does not exist is no error. Its row says so, and in C(hint) what is near it.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  properties:
    description:
      - Names of the properties, as the API, the underlying project or the UI names them.
      - If empty, every property that is set.
    type: list
    elements: str
    default: []
  role_group:
    description:
      - Where to look, as name of a role group or as role type, which means its base group. If not set, the service
        first, then all role groups.
    type: str
extends_documentation_fragment:
  - switchback.kafka_dr.cm
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
seealso:
  - module: switchback.kafka_dr.cm_config
"""

EXAMPLES = r"""
- name: Which flows are switched on, and is there reverse checkpointing
  switchback.kafka_dr.cm_config_info:
    cm_url: https://cm-p.example.com:7183
    cm_client: {url_username: dr, url_password: "{{ vault_cm_password }}"}
    cluster: Cluster 1
    properties: [streams.replication.manager.config, Reverse Checkpointing Enabled]
  register: config

- name: Everything that somebody set
  switchback.kafka_dr.cm_config_info:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1

- name: The Driver's properties (fails if there is no such role group)
  switchback.kafka_dr.cm_config_info:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1
    role_group: STREAMS_REPLICATION_MANAGER_DRIVER
"""

RETURN = r"""
properties:
  description: One row for each name that was asked for, or for each property that is set.
  returned: success
  type: list
  elements: dict
  contains:
    asked:
      description: The name that was asked for.
      type: str
      returned: always
    exists:
      description: Whether there is such a property.
      type: bool
      returned: always
    hint:
      description: Near names, or why there is none.
      type: str
      returned: if it does not exist
    name:
      description: Name in the API.
      type: str
      returned: if it exists
    display_name:
      description: Name in the UI.
      type: str
      returned: if it exists
    level:
      description: V(service), or the name of a role group.
      type: str
      returned: if it exists
    value:
      description: The value that was set, V(null) if none was. Secrets are masked.
      type: str
      returned: if it exists
    default:
      description: The default, V(null) if there is none.
      type: str
      returned: if it exists
    effective:
      description: The value, else the default. Secrets are masked.
      type: str
      returned: if it exists
    sensitive:
      description: Whether the value is kept secret.
      type: bool
      returned: if it exists
    validation:
      description: Cloudera Manager's judgement, V(OK), V(WARNING) or V(ERROR); V(null) if it told none.
      type: str
      returned: if it exists
    validation_message:
      description: Its reason.
      type: str
      returned: if it exists
    lines:
      description:
        - The lines of C(streams.replication.manager.config) by key; of one that is there twice the last. V(null) for
          every other property.
      type: dict
      returned: if it exists
  sample:
    - asked: streams.replication.manager.config
      exists: true
      name: streams.replication.manager.config
      display_name: Streams Replication Manager's Replication Configs
      level: service
      value: P->B.enabled=true|B->P.enabled=true
      default: ""
      effective: P->B.enabled=true|B->P.enabled=true
      sensitive: false
      validation: OK
      validation_message: ""
      lines: {P->B.enabled: "true", B->P.enabled: "true"}
url:
  description: Base of the API of this Cloudera Manager, with its version; as O(cm_url) it saves the question for it.
  returned: success
  type: str
runtime_version:
  description: Version of the cluster's Runtime, V(null) if Cloudera Manager does not tell.
  returned: success
  type: str
  sample: 7.3.2
cluster:
  description: Name of the cluster.
  returned: success
  type: str
  sample: Cluster 1
service:
  description: Name of the service.
  returned: success
  type: str
  sample: streams_replication_manager
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

from ..module_utils._cm.config import read_properties
from ..module_utils._cm.service import open_service
from ..module_utils._module import ArgumentSpec, Result, cm_options, run


def options() -> ArgumentSpec:
    """The argument spec, from its parts."""
    own = ArgumentSpec(
        {"properties": {"type": "list", "elements": "str", "default": []}, "role_group": {"type": "str"}}
    )
    return cm_options().merge(own)


def work(module: AnsibleModule) -> Result:
    """Look, and tell."""
    params = module.params
    return read_properties(open_service(params), params["properties"], params["role_group"])


def main() -> None:
    """Entry point."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

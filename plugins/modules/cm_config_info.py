#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read properties of Streams Replication Manager from Cloudera Manager."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cm_config_info
short_description: Read properties of Streams Replication Manager from Cloudera Manager
version_added: 1.0.0
description:
  - Returns properties of one service and of its role groups with value, default, level and Cloudera Manager's
    validation. It also returns the Runtime version of the cluster.
  - A property that does not exist is not an error. In its row C(exists) is V(false), and C(hint) lists similar names.
author:
  - switchback.kafka_dr contributors (@switchback)
options:
  properties:
    description:
      - Names of the properties in the API, in the underlying project or in the UI.
      - If empty, the module returns every property that is set.
    type: list
    elements: str
    default: []
  role_group:
    description:
      - Where to search, as the name of a role group or as a role type. A role type stands for its base group. If not
        set, the module searches the service first and then all role groups.
    type: str
extends_documentation_fragment:
  - switchback.kafka_dr.cm
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.attributes.info_module
seealso:
  - module: switchback.kafka_dr.cm_config
  - module: switchback.kafka_dr.cm_service
"""

EXAMPLES = r"""
- name: Read which flows are enabled and whether reverse checkpointing is on
  switchback.kafka_dr.cm_config_info:
    cm_url: https://cm-p.example.com:7183
    cm_client: {url_username: dr, url_password: "{{ vault_cm_password }}"}
    cluster: Cluster 1
    properties: [streams.replication.manager.config, Reverse Checkpointing Enabled]
  register: config

- name: Read every property that is set
  switchback.kafka_dr.cm_config_info:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1

- name: Read the properties of the Driver (fails if there is no such role group)
  switchback.kafka_dr.cm_config_info:
    cm_url: cm-p.example.com:7180
    cluster: Cluster 1
    role_group: STREAMS_REPLICATION_MANAGER_DRIVER
"""

RETURN = r"""
properties:
  description: One row for each name in O(properties). If O(properties) is empty, one row for each property that is set.
  returned: success
  type: list
  elements: dict
  contains:
    asked:
      description: The name as given in O(properties).
      type: str
      returned: always
    exists:
      description: Whether there is such a property.
      type: bool
      returned: always
    hint:
      description: Similar names, or why there are none.
      type: str
      returned: if the property does not exist
    name:
      description: Name in the API.
      type: str
      returned: if the property exists
    display_name:
      description: Name in the UI.
      type: str
      returned: if the property exists
    level:
      description: V(service), or the name of a role group.
      type: str
      returned: if the property exists
    value:
      description: The value that is set. V(null) if none is set. Secrets are masked.
      type: str
      returned: if the property exists
    default:
      description: The default. V(null) if there is none.
      type: str
      returned: if the property exists
    effective:
      description: The value, or the default if no value is set. Secrets are masked.
      type: str
      returned: if the property exists
    sensitive:
      description: Whether Cloudera Manager keeps the value secret.
      type: bool
      returned: if the property exists
    validation:
      description: Cloudera Manager's validation, V(OK), V(WARNING) or V(ERROR). V(null) if it reports none.
      type: str
      returned: if the property exists
    validation_message:
      description: The reason of the validation.
      type: str
      returned: if the property exists
    lines:
      description:
        - The lines of C(streams.replication.manager.config) by key. If a key occurs twice, its last line. V(null) for
          every other property.
      type: dict
      returned: if the property exists
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
  description:
    - Base address of the API of this Cloudera Manager, with the API version. As O(cm_url), it saves the request for the
      version.
  returned: success
  type: str
  sample: https://cm-p.example.com:7183/api/v54
runtime_version:
  description: Runtime version of the cluster. V(null) if Cloudera Manager does not report it.
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

from ..module_utils._cm.config import read_properties
from ..module_utils._cm.service import open_service
from ..module_utils._module import ArgumentSpec, Result, cm_options, run


def options() -> ArgumentSpec:
    """Build the argument spec."""
    own = ArgumentSpec(
        {"properties": {"type": "list", "elements": "str", "default": []}, "role_group": {"type": "str"}}
    )
    return cm_options().merge(own)


def work(module: AnsibleModule) -> Result:
    """Read the properties."""
    params = module.params
    return read_properties(open_service(params), params["properties"], params["role_group"])


def main() -> None:
    """Run the module."""
    run(options().create_module(), work)


if __name__ == "__main__":
    main()

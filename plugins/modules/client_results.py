#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for the commands of applications on several hosts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: client_results
short_description: Wait for the commands of applications on several hosts (internal step)
version_added: 1.0.0
description:
  - C(roles/clients/tasks/command.yml) begins the commands on all hosts with a loop, and then calls this module.
  - Waits until each command has ended, and fails if one of them failed or a host is unreachable.
  - Runs on the controller, where the loop has noted the results.
options:
  started:
    description: Results of the loop.
    type: list
    elements: dict
    required: true
extends_documentation_fragment:
  - switchback.kafka_dr.attributes
  - switchback.kafka_dr.internal
attributes:
  check_mode:
    support: full
    details: In check mode the commands did not run, and the module returns what would change.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: switchback.kafka_dr.client_control
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Wait until the commands have ended on all hosts
  switchback.kafka_dr.client_results:
    started: "{{ clients_started.results }}"
  delegate_to: localhost
"""

RETURN = r"""
clients:
  description: RV(switchback.kafka_dr.client_control#module:clients) of all hosts.
  returned: always
  type: list
  elements: dict
  sample:
    - {name: settlement, changed: true, rc: 0, seconds: 1.2, error: null}
failed_hosts:
  description: The hosts that are unreachable, or on which an application failed.
  returned: always
  type: list
  elements: str
  sample: []
changes:
  description: RV(switchback.kafka_dr.client_control#module:changes) of all hosts.
  returned: always
  type: list
  elements: dict
  sample:
    - kind: command
      name: settlement
      action: run
      before: null
      after: {argv: [/opt/settlement/ctl, stop]}
      status: done
      error: null
error:
  description: Why the first application failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: client_failed
    message: '1 of 2 applications failed (fraud): "/opt/fraud/ctl stop" exited with 1, wanted 0.'
    hint: Look at the log of that application.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._client_results import collect, together
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run

LOCAL_RUN = {"fast": True}
SPEC = ArgumentSpec({"started": {"type": "list", "elements": "dict", "required": True}})


def work(module: AnsibleModule) -> Result:
    """Collect every result before a failure is reported."""
    return together([(item["clients_place"]["host"], collect(item)) for item in module.params["started"]])


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), work)


if __name__ == "__main__":
    main()

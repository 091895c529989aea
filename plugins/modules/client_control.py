#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Point applications of one host at a cluster, stop them and start them, all at the same time."""

from __future__ import annotations

DOCUMENTATION = r"""
module: client_control
short_description: Point, stop or start the applications of one host by their own commands
version_added: 1.0.0
description:
  - Writes the endpoint file of each application, if one is given. Then runs the command of each application, if one is
    given.
  - The module handles all applications of one task at the same time, to keep the downtime of a cutover short. If the
    order matters, use one task for each step.
  - A command must exit with 0 only if the application has really stopped (and flushed its records) or started. Any
    other exit code is a failure, and so is a command that takes longer than O(timeout).
extends_documentation_fragment:
  - switchback.kafka_dr.journal.guard
  - switchback.kafka_dr.attributes
options:
  clients:
    description: The applications.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the application, for the result.
        type: str
        required: true
      argv:
        description: The command as a list. The module does not use a shell.
        type: list
        elements: str
      path:
        description: Path of the endpoint file.
        type: path
      content:
        description: Content of the endpoint file. The module writes the file only if its content or mode differs.
        type: str
      mode:
        description: Mode of the endpoint file, octal.
        type: str
        default: "0640"
      token_file:
        description:
          - File in which this host keeps the highest O(guard.token) of the application. If a task has a lower token, it
            fails with C(run_superseded) before it writes the file or starts the command.
          - If not set, a file below C($XDG_STATE_HOME/kafka-dr) of the user that runs the task.
        type: path
  timeout:
    description: Seconds that one command may take.
    type: float
    default: 60.0
attributes:
  check_mode:
    support: full
    details: The module compares files. It does not run commands and reports each of them as a change.
  diff_mode:
    support: partial
    details: Shows which files differ, but not their content, because it may hold secrets.
  idempotent:
    support: partial
    details: A command counts as unchanged only if its last line of output is JSON with C(changed) V(false).
seealso:
  - module: switchback.kafka_dr.dr_fence
  - module: switchback.kafka_dr.kafka_group_info
  - module: ansible.builtin.systemd_service
    description: For applications that are systemd units.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Stop the consumers of this host
  switchback.kafka_dr.client_control:
    clients:
      - {name: settlement, argv: [/opt/settlement/ctl, stop]}
      - {name: fraud, argv: [/opt/fraud/ctl, stop]}
    timeout: 60

- name: Point a producer at B and start it
  switchback.kafka_dr.client_control:
    clients:
      - name: payments-api
        path: /etc/payments/kafka.env
        content: "KAFKA_BOOTSTRAP_SERVERS=b1.example.com:9092\n"
        argv: [/opt/payments/ctl, start]

- name: Show which endpoint files would change
  switchback.kafka_dr.client_control:
    clients:
      - name: payments-api
        path: /etc/payments/kafka.env
        content: "KAFKA_BOOTSTRAP_SERVERS=b1.example.com:9092\n"
  check_mode: true
  diff: true
"""

RETURN = r"""
clients:
  description:
    - One row for each application with C(name), C(changed), C(rc) (exit code, null without a command), C(seconds) and
      C(error) (null if it did not fail).
  returned: always
  type: list
  elements: dict
  sample:
    - {name: settlement, changed: true, rc: 0, seconds: 1.2, error: null}
changes:
  description: The files written and the commands run. In check mode, those that would be.
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
  description: Why the task failed, with C(code), C(message), C(hint) and C(endpoint).
  returned: failure
  type: dict
  sample:
    code: client_failed
    message: '1 of 2 applications failed (fraud): "/opt/fraud/ctl stop" exited with 1, wanted 0.'
    hint: Look at the log of that application.
    endpoint: ""
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._clients import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

LOCAL_RUN = {"fast": True}
CLIENT = {
    "name": {"type": "str", "required": True},
    "argv": {"type": "list", "elements": "str"},
    "path": {"type": "path"},
    # An endpoint file can contain passwords.
    "content": {"type": "str", "no_log": True},
    "mode": {"type": "str", "default": "0640"},
    # Not a secret: the path of a file with a number that grows with the pair's runs.
    "token_file": {"type": "path", "no_log": False},
}
SPEC = ArgumentSpec(
    {
        "clients": {
            "type": "list",
            "elements": "dict",
            "required": True,
            "options": CLIENT,
            "required_together": [("path", "content")],
        },
        "timeout": {"type": "float", "default": 60.0},
    }
).merge(guard_options())


def work(module: AnsibleModule) -> Result:
    """Write the endpoint files, run the commands and return the result."""
    params = module.params
    return control(module, params["clients"], float(params["timeout"]), params["guard"] or {})


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Point applications at a cluster, stop and start them: several at once on one host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: client_control
short_description: Point, stop or start the applications of one host by their own commands
version_added: 1.0.0
description:
  - Writes the endpoint file of each application, if one is given, and then runs its command, if one is given.
  - All applications of one task are handled at the same time, because every second of a cutover counts; put those
    whose order matters into tasks of their own.
  - A command must end with 0 only when the application really stopped (flushed) or started. Every other end is a
    failure, and so is a command that needs longer than O(timeout).
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
        description: The command as a list; no shell is involved.
        type: list
        elements: str
      path:
        description: The endpoint file.
        type: path
      content:
        description: What the endpoint file must contain. It is written only if it differs.
        type: str
      mode:
        description: Mode of the endpoint file, octal.
        type: str
        default: "0640"
      token_file:
        description:
          - Where this host keeps the highest O(guard.token) that it has seen for the application. A task with a lower
            one is refused with C(run_superseded) before the file is written and before the command is started.
          - If not set, a file below C($XDG_STATE_HOME/kafka-dr) of the user that runs the task.
        type: path
  timeout:
    description: Seconds that one command may take.
    type: float
    default: 60.0
attributes:
  check_mode:
    support: full
    details: Files are compared, commands are not run and count as changes.
  diff_mode:
    support: partial
    details: Tells which files differ; their content may hold secrets and is not shown.
  idempotent:
    support: partial
    details: A command whose last line is JSON with C(changed) false counts as unchanged, every other as changed.
author:
  - switchback.kafka_dr contributors (@switchback)
"""

EXAMPLES = r"""
- name: Stop the consumers of this host, flushed
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
        content: "KAFKA_BOOTSTRAP_SERVERS=b1:9092\n"
        argv: [/opt/payments/ctl, start]
"""

RETURN = r"""
clients:
  description: For each application C(name), C(changed), C(rc) (null without a command), C(seconds) and C(error).
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.switchback.kafka_dr.plugins.module_utils._clients import control
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import ArgumentSpec, Result, run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal.guard import guarded
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.options import guard_options

CLIENT = {
    "name": {"type": "str", "required": True},
    "argv": {"type": "list", "elements": "str"},
    "path": {"type": "path"},
    # It holds whatever an application is told, passwords included.
    "content": {"type": "str", "no_log": True},
    "mode": {"type": "str", "default": "0640"},
    # Not a secret: a number that grows with the pair's runs.
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
    """Write, run, report."""
    params = module.params
    return control(module, params["clients"], float(params["timeout"]), params["guard"] or {})


def main() -> None:
    """Run the module."""
    run(SPEC.create_module(), guarded(work))


if __name__ == "__main__":
    main()

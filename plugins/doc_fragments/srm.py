# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a call of srm-control. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the options of ``srm_options()`` in plugins/module_utils/_srm/options.py."""

    DOCUMENTATION = r"""
options:
  command:
    description:
      - The command as a list, with arguments that precede all others. The module does not use a shell.
      - The module searches for a name without a slash in E(PATH) and in C(/opt/cloudera/parcels/CDH/bin).
    type: list
    elements: str
    default: [srm-control]
  config:
    description:
      - Properties file that the module passes with C(--config). Without it, srm-control reads the client configuration
        that Cloudera Manager has deployed to the host.
    type: path
  bootstrap_servers:
    description:
      - Brokers that the module passes with C(--bootstrap-servers).
    type: str
  secret_env:
    description:
      - Name of the environment variable from which srm-control reads the password of SRM's secure store.
    type: str
    default: SECURESTOREPASS
  secret:
    description:
      - The password of SRM's secure store. The module passes it only in the environment.
    type: str
  timeout:
    description:
      - Seconds that one call may take. If a call takes longer, the module kills it with all its processes and the task
        fails.
    type: float
    default: 60.0
requirements:
  - srm-control and its deployed client configuration, on the host that runs the task
notes:
  - Run the task on a host with a role or gateway of the SRM that replicates to the flow's target. For C(P->B), this is
    the SRM of cluster B. After every change in Cloudera Manager, deploy the client configuration before this task.
  - Follows the manual of Streams Replication Manager 7.2 to 7.3.2. The output of C(--list) is known from one release
    only. Output that cannot be parsed as a list is an error.
"""

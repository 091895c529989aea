# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a call of srm-control. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``srm_options()`` of plugins/module_utils/_srm/options.py defines."""

    DOCUMENTATION = r"""
options:
  command:
    description:
      - The tool as a list, with arguments that come before all others; no shell is involved.
      - A name without a slash is looked for in E(PATH) and in C(/opt/cloudera/parcels/CDH/bin).
    type: list
    elements: str
    default: [srm-control]
  config:
    description:
      - Properties file handed to the tool with C(--config). Without it the tool reads the client configuration that
        Cloudera Manager deployed to the host.
    type: path
  bootstrap_servers:
    description:
      - Brokers handed to the tool with C(--bootstrap-servers).
    type: str
  secret_env:
    description:
      - Name of the environment variable in which the tool looks for the password of SRM's secure store.
    type: str
    default: SECURESTOREPASS
  secret:
    description:
      - The password of SRM's secure store. It is handed over in the environment only.
    type: str
  timeout:
    description:
      - Seconds that one call may take. A call that takes longer is ended with all of its processes, and the task fails.
    type: float
    default: 60.0
requirements:
  - srm-control and its deployed client configuration, on the host that runs the task
notes:
  - Run the task on a host with a role or gateway of the SRM that replicates to the flow's target; for C(P->B) that is
    the SRM beside B. Deploy the client configuration in Cloudera Manager after every change there, before this.
  - Follows the manual of Streams Replication Manager 7.2 to 7.3.2. The text that C(--list) prints is known from one
    release only, so anything that cannot be read as a list is an error.
"""

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to one Kafka cluster. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the options of ``kafka_options()`` in plugins/module_utils/_module.py."""

    DOCUMENTATION = r"""
options:
  bootstrap_servers:
    description:
      - Bootstrap brokers of the cluster, as C(host:port), separated by commas.
    type: str
    required: true
  client:
    description:
      - Further client properties with their librdkafka names, for example V(security.protocol), V(sasl.mechanisms),
        V(sasl.username), V(sasl.password) and V(ssl.ca.location).
      - Keys that start with C(java.) are for Java clients. The module ignores them.
      - Passwords and other secrets are masked in all output.
    type: dict
    default: {}
  expected_cluster_id:
    description:
      - Id of the cluster that this task is meant for. If the brokers report another id, the task fails before it
        changes anything.
    type: str
  request_timeout:
    description:
      - Seconds within which a single request must be answered.
    type: float
    default: 15.0
notes:
  - Works with Apache Kafka 2.4 and later. Tested with 4.3.
"""

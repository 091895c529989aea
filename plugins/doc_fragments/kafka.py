# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to one Kafka cluster. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``kafka_options()`` of plugins/module_utils/_module.py defines."""

    DOCUMENTATION = r"""
options:
  bootstrap_servers:
    description:
      - Brokers of the cluster to connect to first, as C(host:port), several separated by commas.
    type: str
    required: true
  client:
    description:
      - Further client properties, as librdkafka names them, for example V(security.protocol), V(sasl.mechanisms),
        V(sasl.username), V(sasl.password) and V(ssl.ca.location).
      - Keys beginning with C(java.) are for Java clients only and are left out here.
      - The values of passwords and other secrets are masked in all output.
    type: dict
    default: {}
  expected_cluster_id:
    description:
      - The id of the cluster this task is meant for. On any other cluster the task fails before doing anything.
    type: str
  request_timeout:
    description:
      - Seconds within which a single request must be answered.
    type: float
    default: 15.0
requirements:
  - confluent-kafka >= 2.6, < 3 (Python library, on the host that runs the task)
notes:
  - Works with Apache Kafka 2.4 and later, tested on 4.3.
"""

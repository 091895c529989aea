# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to Kafka Connect. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``connect_options()`` of plugins/module_utils/_module.py defines."""

    DOCUMENTATION = r"""
options:
  connect_url:
    description:
      - Address of the REST interface of one Kafka Connect worker, as C(http://host:8083) or C(https://host/prefix).
      - Several workers of one group are separated by commas. If one does not answer, the next one is asked.
    type: str
    required: true
  connect_client:
    description:
      - How to connect to it. Known keys are V(url_username), V(url_password), V(ca_path), V(client_cert),
        V(client_key), V(validate_certs) (default V(true)) and V(use_proxy) (default V(true), except for this host).
      - The values of passwords and other secrets are masked in all output.
    type: dict
    default: {}
  request_timeout:
    description:
      - Seconds within which a single call must be answered, repetitions included. Calls are repeated while the worker
        refuses connections, answers without JSON because it is still starting, or is busy with another change.
    type: float
    default: 15.0
notes:
  - Works with Kafka Connect 3.7 and later, tested on 4.3.
"""

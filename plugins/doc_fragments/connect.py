# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to Kafka Connect. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents the options of ``connect_options()`` in plugins/module_utils/_module.py."""

    DOCUMENTATION = r"""
options:
  connect_url:
    description:
      - Address of the REST interface of a Kafka Connect worker, for example V(http://host:8083) or
        V(https://host/prefix).
      - To name several workers of one Connect cluster, separate them with commas. If one does not respond, the module
        tries the next one.
    type: str
    required: true
  connect_client:
    description:
      - Connection settings for the worker. The known keys are V(url_username), V(url_password), V(ca_path),
        V(client_cert), V(client_key), V(validate_certs) (default V(true)) and V(use_proxy) (default V(true), except for
        the local host).
      - Passwords and other secrets are masked in all output.
    type: dict
    default: {}
  request_timeout:
    description:
      - Seconds within which a single call must be answered, retries included. The module retries a call while the
        worker refuses connections, responds without JSON because it is still starting, or is busy with another change.
    type: float
    default: 15.0
notes:
  - Works with Kafka Connect 3.7 and later. Tested with 4.3.
"""

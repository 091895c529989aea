# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to Cloudera Manager. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """``cm`` documents ``cm_options()`` of plugins/module_utils/_module.py, ``cm.bounds`` documents its waits."""

    DOCUMENTATION = r"""
options:
  cm_url:
    description:
      - Address of Cloudera Manager, for example V(https://host:7183) or V(host:7180). Without a scheme, port 7180 is
        plain HTTP and every other port is TLS.
      - An address that ends in an API version is used unchanged, for example
        V(https://host:8443/gateway/cdp-proxy-api/cm-api/v54) for a connection through Knox.
    type: str
    required: true
  cm_client:
    description:
      - Connection settings for Cloudera Manager. The known keys are V(url_username), V(url_password), V(ca_path),
        V(client_cert), V(client_key), V(validate_certs) (default V(true)) and V(use_proxy) (default V(true), except for
        the local host).
      - Passwords and other secrets are masked in all output.
    type: dict
    default: {}
  cm_api_version:
    description:
      - API version to use, for example V(v54). If not set, the module uses the highest version that Cloudera Manager
        supports.
    type: str
  cluster:
    description:
      - Name of the cluster in Cloudera Manager, with the same spaces and letter case.
    type: str
    required: true
  service:
    description:
      - Name of the service. If not set, the module uses the only service of type C(STREAMS_REPLICATION_MANAGER) in
        O(cluster).
    type: str
  request_timeout:
    description:
      - Seconds within which a single call must be answered, retries included. The module retries reading and writing
        properties while Cloudera Manager refuses connections or is not ready. It never sends a command twice.
    type: float
    default: 30.0
notes:
  - Written for Cloudera Manager 7.x. Tested with an emulator of its API only, never with the product.
"""

    BOUNDS = r"""
options:
  wait_timeout:
    description:
      - Seconds to wait for a command, and for the service to show its effect. After that, the task fails.
    type: float
    default: 600.0
  wait_sleep:
    description:
      - Seconds between two checks.
    type: float
    default: 1.0
  stall_timeout:
    description:
      - Seconds without any progress after which the task fails, even before O(wait_timeout).
      - With V(0), only O(wait_timeout) applies.
    type: float
    default: 0.0
"""

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a connection to Cloudera Manager. Private to this collection: may change in any release."""

from __future__ import annotations


class ModuleDocFragment:
    """Documents what ``cm_options()`` of plugins/module_utils/_module.py defines; ``cm.bounds`` its waits."""

    DOCUMENTATION = r"""
options:
  cm_url:
    description:
      - Address of Cloudera Manager, as V(https://host:7183) or V(host:7180). Without a scheme, port 7180 is plain HTTP
        and everything else is TLS.
      - An address that ends in the version of the API is taken as it is, for example
        V(https://host:8443/gateway/cdp-proxy-api/cm-api/v54) behind Knox.
    type: str
    required: true
  cm_client:
    description:
      - How to connect to it. Known keys are V(url_username), V(url_password), V(ca_path), V(client_cert),
        V(client_key), V(validate_certs) (default V(true)) and V(use_proxy) (default V(true), except for this host).
      - The values of passwords and other secrets are masked in all output.
    type: dict
    default: {}
  cm_api_version:
    description:
      - Version of its API, for example V(v54). If not set, Cloudera Manager is asked for the highest it speaks.
    type: str
  cluster:
    description:
      - Name of the cluster in Cloudera Manager, with its blanks and in its case.
    type: str
    required: true
  service:
    description:
      - Name of the service. If not set, the only service of type C(STREAMS_REPLICATION_MANAGER) in O(cluster).
    type: str
  request_timeout:
    description:
      - Seconds within which a single call must be answered, repetitions included. Reading and writing properties is
        repeated while Cloudera Manager refuses connections or is not ready. A command is never sent twice.
    type: float
    default: 30.0
notes:
  - Written for Cloudera Manager 7.x. It is tested on an emulator of its API only, never on the product.
"""

    BOUNDS = r"""
options:
  wait_timeout:
    description:
      - Seconds after which waiting for a command, or for what the service shows after it, ends with an error.
    type: float
    default: 600.0
  wait_sleep:
    description:
      - Seconds between two looks.
    type: float
    default: 1.0
  stall_timeout:
    description:
      - Seconds without any progress after which waiting ends with an error, also before O(wait_timeout).
      - With V(0) only O(wait_timeout) counts.
    type: float
    default: 0.0
"""

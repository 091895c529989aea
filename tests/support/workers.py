# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The REST interface of a lab's worker, open or secured, as a user with curl would call it."""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import Transport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.resources import resource_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from lab.lab import Lab


def worker(lab: Lab, alias: str) -> Transport:
    """The worker beside the cluster ``alias``: flows to that cluster run on it."""
    return Transport(lab.info()["clusters"][alias]["connect_url"], lab.connect_client(), 30.0)


def control_connector(lab: Lab, connector: str, verb: str) -> None:
    """Send ``pause``, ``resume`` or ``stop`` to a connector such as P->B.MirrorSourceConnector."""
    target = connector.partition("->")[2].partition(".")[0]
    here = worker(lab, target)
    # An operator makes other names, because Kubernetes allows few characters.
    name = connector if connector in here.call("GET", quoted("connectors")) else resource_name(connector)
    here.call("PUT", quoted("connectors", name, verb))

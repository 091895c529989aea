# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The REST interface of a lab's worker, open or secured, as somebody with curl would use it."""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import Transport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._http import quoted
from lab.lab import Lab


def worker(lab: Lab, alias: str) -> Transport:
    """Beside the cluster ``alias``: the flows that end there run on it."""
    return Transport(lab.info()["clusters"][alias]["connect_url"], lab.connect_client(), 30.0)


def tell(lab: Lab, connector: str, verb: str) -> None:
    """``pause``, ``resume`` or ``stop`` for a connector such as P->B.MirrorSourceConnector."""
    target = connector.partition("->")[2].partition(".")[0]
    worker(lab, target).call("PUT", quoted("connectors", connector, verb))

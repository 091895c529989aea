# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory part of the engine ``connect``. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...schema import Key, check_mapping, check_url, one_line
from ..inventory import Capabilities, Check, EngineInventory, Refusals

__all__ = ["CAPABILITIES", "INVENTORY"]

CAPABILITIES = Capabilities(
    offset_syncs_on_source=False,
    offsets_writable=True,
    offsets_outlive_flow=False,
    separate_lists=False,
    changes_restart=False,
    parts_have_states=True,
)
_CLUSTER_KEYS = {"connect_url": Key(), "connect_client": Key("dict", default={})}
# MirrorSourceConfig, MirrorCheckpointConfig and MirrorHeartbeatConfig of Kafka 4.3.
_FACTORS = {"source": 2, "checkpoint": 3, "heartbeat": 3}
_CLIENT_KEYS = {
    **dict.fromkeys(("url_username", "url_password", "ca_path", "client_cert", "client_key"), Key()),
    **dict.fromkeys(("validate_certs", "use_proxy"), Key("flag")),
}


class ConnectInventory(EngineInventory):
    """Each cluster has its own Kafka Connect workers, which run the flow to this cluster."""

    capabilities = CAPABILITIES
    refusals = Refusals(adoption="", applications="", copy_again="", identity="", rehearsal="", rebuild="")
    cluster_keys = _CLUSTER_KEYS
    usual_factors = _FACTORS

    def value_checks(self) -> Sequence[Check]:
        """Check the addresses and logins of workers."""
        return (("", _check_addresses),)

    def pair_checks(self) -> Sequence[Check]:
        """Check that each cluster has its own workers."""
        return (("", _check_missing), ("", _check_workers))


def _check_addresses(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for alias, cluster in pair["clusters"].items():
        where = f"kafka_dr_clusters.{alias}"
        if cluster["connect_url"]:
            for url in _workers(cluster["connect_url"]):
                problems += check_url(f"{where}.connect_url", url)
        problems += check_mapping(f"{where}.connect_client", cluster["connect_client"], _CLIENT_KEYS)[1]
    return problems


def _check_missing(pair: Mapping[str, Any]) -> list[str]:
    return [
        f'kafka_dr_clusters.{alias} needs the key "connect_url" with kafka_dr_engine "connect".'
        for alias, cluster in pair["clusters"].items()
        if not cluster["connect_url"]
    ]


def _check_workers(pair: Mapping[str, Any]) -> list[str]:
    """Source connectors write to the cluster of their workers, so each flow needs the workers of its target."""
    urls = [_workers(cluster["connect_url"]) for cluster in pair["clusters"].values() if cluster["connect_url"]]
    shared = set.intersection(*({url.lower() for url in one} for one in urls)) if len(urls) > 1 else set()
    if not shared:
        return []
    return [
        f'Both clusters have the same connect_url "{one_line(min(shared))}". A source connector writes only to the'
        " cluster of its workers, so each cluster needs its own workers: set the connect_url of the workers of each"
        " cluster."
    ]


def _workers(urls: str) -> list[str]:
    """The addresses of a worker group, one or several with commas between them."""
    return [url.strip().rstrip("/") for url in urls.split(",")]


INVENTORY = ConnectInventory()

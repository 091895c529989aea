# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory part of the engine ``strimzi``. Opens no connection.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...resources.kubernetes_api import API_KEYS, api_problems, name_problems
from ...schema import Key, nearest
from ..inventory import Capabilities, Check, EngineInventory, Refusals

__all__ = ["CAPABILITIES", "INVENTORY"]

CAPABILITIES = Capabilities(
    offset_syncs_on_source=False,
    offsets_writable=True,
    offsets_outlive_flow=True,
    separate_lists=False,
    changes_restart=False,
    parts_have_states=True,
)
_SITE_KEYS = {**API_KEYS, "namespace": Key(required=True), "connect": Key(required=True)}
# MirrorSourceConfig, MirrorCheckpointConfig and MirrorHeartbeatConfig of Kafka 4.3.
_FACTORS = {"source": 2, "checkpoint": 3, "heartbeat": 3}


class StrimziInventory(EngineInventory):
    """Each cluster has its own KafkaConnect resource, whose workers run the flow to this cluster."""

    capabilities = CAPABILITIES
    refusals = Refusals(
        adoption="",
        applications="",
        copy_again="",
        identity="",
        rebuild="",
        rehearsal="",
    )
    site_keys = _SITE_KEYS
    usual_factors = _FACTORS

    def value_checks(self) -> Sequence[Check]:
        """Check API servers, logins and names. Refuse sites beside another engine."""
        return (("", _check_values), ("engine", _check_engine))

    def pair_checks(self) -> Sequence[Check]:
        """Check that each cluster has a site of its own."""
        return (("clusters strimzi", _check_sites),)


def _check_values(pair: Mapping[str, Any]) -> list[str]:
    problems = []
    for alias, site in pair["strimzi"].items():
        where = f"kafka_dr_strimzi.{alias}"
        problems += api_problems(where, site)
        for key in ("namespace", "connect"):
            problems += name_problems(f"{where}.{key}", site[key])
    return problems


def _check_engine(pair: Mapping[str, Any]) -> list[str]:
    """The operator deletes connectors without a resource, such as those of another engine, within 120 s (Strimzi)."""
    if not pair["strimzi"] or pair["engine"] == "strimzi":
        return []
    site = next(iter(pair["strimzi"]))
    return [
        f'kafka_dr_strimzi.{site} names workers that an operator owns, but kafka_dr_engine is "{pair["engine"]}": the'
        ' operator would delete its connectors. Set kafka_dr_engine to "strimzi", or remove kafka_dr_strimzi.'
    ]


def _check_sites(pair: Mapping[str, Any]) -> list[str]:
    sites, clusters = pair["strimzi"], pair["clusters"]
    problems = [
        f'kafka_dr_strimzi needs the site "{alias}" with kafka_dr_engine "strimzi".'
        for alias in clusters
        if alias not in sites
    ]
    problems += [
        f'kafka_dr_strimzi names "{alias}", which is not in kafka_dr_clusters.{nearest(alias, clusters)}'
        for alias in sites
        if alias not in clusters
    ]
    places = [
        (site["url"] or (site["kubeconfig"], site["context"]), site["namespace"], site["connect"])
        for site in sites.values()
    ]
    if len(set(places)) < len(places):
        problems.append(
            f'All sites of kafka_dr_strimzi name the KafkaConnect "{places[0][2]}" in one namespace. A source connector'
            " writes only to the cluster of its workers, so each cluster needs its own KafkaConnect."
        )
    return problems


INVENTORY = StrimziInventory()

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services of a pair by alias: those of MirrorMaker 2 with their last observed state, and those of Kafka.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._aiven.acls import AivenAcls
from ..._aiven.http import AivenTransport, open_transport
from ..._aiven.service import Aiven, Flows, Service, open_service
from ..._core.errors import DrError
from ..._kafka.acls import AclStore, KafkaAcls
from ..._kafka.client import Kafka

__all__ = ["Observed", "Sites"]

# A wait polls several times per second, and the API limits the number of requests. Progress is observed in Kafka.
_OBSERVATION_SECONDS = 5.0


@dataclass(frozen=True)
class Observed:
    """One observation of a service."""

    service: Service
    flows: Flows
    #: When it was made (``time.monotonic``).
    at: float


class Sites:
    """The service that runs the flow to each cluster. Two aliases may name one service, which is then read once."""

    def __init__(self, clusters: Mapping[str, Mapping[str, Any]], timeout: float) -> None:
        self._clusters, self._timeout = clusters, timeout
        self._sites: dict[str, Aiven] = {}
        #: One for each store of ACLs: the Kafka service of a site may need the token of that site.
        self._transports: list[AivenTransport] = []
        known: dict[tuple[str, str, str], Aiven] = {}
        for alias, cluster in clusters.items():
            site = cluster.get("aiven")
            if site:
                place = (site["url"], site["project"], site["service"])
                # Each site may have its own token, but one service needs only one of them.
                known.setdefault(place, open_service(site, timeout))
                self._sites[alias] = known[place]
        self._seen: dict[int, Observed] = {}

    @property
    def requests(self) -> list[dict[str, Any]]:
        """All requests sent so far, without secrets."""
        clients = [site.client for site in dict.fromkeys(self._sites.values())] + self._transports
        return [request for client in clients for request in client.requests]

    def acls(self, alias: str, kafka: Kafka) -> AclStore:
        """The API if the inventory names the Kafka service of the cluster; else Kafka, which may refuse all ACLs."""
        site = self._clusters[alias].get("aiven") or {}
        service = site.get("kafka_service")
        if not service:
            return KafkaAcls(kafka, may_refuse=True)
        self._transports.append(open_transport(site, self._timeout))
        return AivenAcls(self._transports[-1], site.get("kafka_project") or site["project"], service, kafka)

    def site(self, target: str) -> Aiven:
        """The service that runs the flow to ``target``. Raises ``no_aiven_site``."""
        site = self._sites.get(target)
        if site is None:
            raise DrError(
                "no_aiven_site",
                f'The cluster "{target}" has no MirrorMaker 2 service at Aiven, but a flow to it runs there.',
                f"Add the site kafka_dr_aiven.{target} to the inventory.",
            )
        return site

    def observe(self, target: str, anew: bool = False) -> Observed:
        """Read the service and its flows, at most once in ``_OBSERVATION_SECONDS`` unless ``anew``."""
        site = self.site(target)
        seen = self._seen.get(id(site))
        if anew or seen is None or time.monotonic() - seen.at >= _OBSERVATION_SECONDS:
            seen = Observed(site.read_service(), site.read_flows(), time.monotonic())
            self._seen[id(site)] = seen
        return seen

    def require_ready(self, source: str, target: str) -> None:
        """Raise unless the service runs and is integrated with both clusters under the aliases of the pair."""
        site, service = self.site(target), self.observe(target).service
        require_working(site, service)
        aliases = site.read_aliases()
        missing = [alias for alias in (source, target) if alias not in aliases]
        if missing:
            named = ", ".join(f'"{alias}"' for alias in aliases) or "none"
            raise DrError(
                "aiven_alias_unknown",
                f'The service {site.full_name} has no integration with the cluster alias "{missing[0]}". Aliases of its'
                f" enabled integrations: {named}.",
                "Use the same aliases in kafka_dr_clusters and in the integrations (cluster_alias, case-sensitive), or"
                " create the missing integration at Aiven.",
                site.client.url,
            )


def require_working(site: Aiven, service: Service) -> None:
    """Raise ``aiven_service_off`` unless the workers of the service run."""
    if not service.works:
        raise DrError(
            "aiven_service_off",
            f"The service {site.full_name} is in state {service.state}, wanted RUNNING.",
            "The flow was not changed. Power it on at Aiven, or wait until it is RUNNING, then start again.",
            site.client.url,
            retriable=service.state == "REBUILDING",
        )

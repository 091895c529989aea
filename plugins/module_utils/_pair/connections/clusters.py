# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open Kafka connections to the clusters of a pair, at the same time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..._core.errors import DrError, Unreachable
from ..._kafka.client import Kafka, connect

__all__ = ["both", "connect_answering", "connect_one", "connect_pair", "on_each", "refuse_same_cluster"]

T = TypeVar("T")
K = TypeVar("K")


def on_each(items: Mapping[K, Any], work: Callable[[K], T]) -> dict[K, T]:
    """Call ``work(key)`` for every key at the same time, and return the results; raise the first error."""
    with ThreadPoolExecutor(max_workers=max(1, len(items))) as pool:
        futures = {key: pool.submit(work, key) for key in items}
        return {key: future.result() for key, future in futures.items()}


def both(first: Callable[[], T], second: Callable[[], K]) -> tuple[T, K]:
    """Call both functions at the same time, and return both results."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        one, two = pool.submit(first), pool.submit(second)
        return one.result(), two.result()


def connect_pair(clusters: Mapping[str, Any], timeout: float) -> dict[str, Kafka]:
    """Connect to each cluster by alias; raise if two aliases are the same cluster."""
    opened = on_each(clusters, lambda alias: connect_one(alias, clusters[alias], timeout))
    refuse_same_cluster(opened)
    return opened


def connect_answering(clusters: Mapping[str, Any], timeout: float) -> dict[str, Kafka]:
    """Connect like :func:`connect_pair` to the clusters that respond; raise if none does."""
    tried = on_each(clusters, lambda alias: _answers(clusters, alias, timeout))
    there = {alias: clusters[alias] for alias, answers in tried.items() if answers}
    return connect_pair(there or clusters, timeout)


def _answers(clusters: Mapping[str, Any], alias: str, timeout: float) -> bool:
    try:
        connect_one(alias, clusters[alias], timeout)
    except Unreachable:
        return False
    return True


def connect_one(alias: str, cluster: Any, timeout: float) -> Kafka:
    """Connect to one cluster: ``{bootstrap_servers, client or admin_client, cluster_id}``."""
    if not isinstance(cluster, Mapping) or not cluster.get("bootstrap_servers"):
        raise DrError("bad_option", f'The cluster "{alias}" needs bootstrap_servers.')
    return connect(
        {
            "bootstrap_servers": cluster["bootstrap_servers"],
            "client": cluster.get("admin_client") or cluster.get("client") or {},
            "expected_cluster_id": cluster.get("cluster_id"),
            "request_timeout": timeout,
        }
    )


def refuse_same_cluster(opened: Mapping[str, Kafka]) -> None:
    """Raise if two aliases are the same cluster."""
    ids: dict[str, str] = {}
    for alias, kafka in opened.items():
        if kafka.cluster_id in ids:
            raise DrError(
                "same_cluster",
                f'"{ids[kafka.cluster_id]}" and "{alias}" are the same cluster "{kafka.cluster_id}".',
                "Correct bootstrap_servers. Replication from a cluster to itself would never end.",
            )
        ids[kafka.cluster_id] = alias

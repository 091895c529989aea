# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect the facts for a support bundle from both clusters, each part by itself, so that one may fail.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from .._connect.observation import Filter, observe
from .._connect.rest import ConnectClient
from .._core.errors import DrError
from .._core.flows.pair_spec import PairSpec
from .._core.names import CONNECTORS
from .._core.version import VERSION
from .._core.waiting import Bounds
from .._kafka.brokers import brokers
from .._module import Result
from .connections.clusters import connect_one, on_each
from .journal.copies import read_copy

__all__ = ["support"]

_JAVA_SECONDS = 10.0


def support(pair: PairSpec, timeout: float, ansible_core: str) -> Result:
    """Return brokers, journal and connectors by cluster, and the versions of local software."""
    clusters, requests = pair.connections, []

    def of_side(alias: str) -> dict[str, Any]:
        cluster = clusters[alias]
        kafka = _reported(lambda: connect_one(alias, cluster, timeout))
        parts = {"brokers": kafka, "journal": kafka}
        if "found" in kafka:
            connected = kafka["found"]
            parts["brokers"] = _reported(lambda: brokers(connected))
            parts["journal"] = _reported(lambda: _events(read_copy(connected, pair.journal_topic, pair.name)))
            requests.extend(connected.requests)
        if cluster.get("connect_url"):
            rest = ConnectClient(cluster["connect_url"], cluster.get("connect_client") or {}, timeout)
            parts["connectors"] = _reported(lambda: _workers(rest))
            # A separate part, because a worker whose own cluster is dead returns states and settings, but no offsets.
            parts["offsets"] = _reported(lambda: _replicated(rest))
            requests.extend(rest.requests)
        return parts

    found = on_each(clusters, of_side)
    return Result(extra={"sides": found, "versions": _versions(ansible_core)}, requests=requests)


def _reported(work: Callable[[], Any]) -> dict[str, Any]:
    """Return the result of ``work`` as ``found``, or the text of its error as ``error``."""
    try:
        return {"found": work()}
    except DrError as error:
        return {"error": error.sentence()}


def _events(copy: list[Any] | None) -> list[dict[str, Any]]:
    if copy is None:
        raise DrError("journal_missing", "The journal topic does not exist on this cluster.")
    return [asdict(event) for event in copy]


def _workers(rest: ConnectClient) -> dict[str, Any]:
    return {"kafka": rest.about()[1], "connectors": _connectors(rest, tuple(CONNECTORS), False)}


def _replicated(rest: ConnectClient) -> dict[str, Any]:
    return {row["name"]: row["offsets"] for row in _connectors(rest, ("source",), True)}


def _connectors(rest: ConnectClient, kinds: tuple[str, ...], offsets: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = observe(rest, Filter(None, None, kinds), "none", offsets, Bounds(0.0)).extra[
        "connectors"
    ]
    return found


def _versions(ansible_core: str) -> dict[str, str | None]:
    client: dict[str, str | None] = {"confluent_kafka": None, "librdkafka": None}
    with suppress(ImportError):
        import confluent_kafka

        found = confluent_kafka.__version__, confluent_kafka.libversion()[0]
        client = {"confluent_kafka": str(found[0]), "librdkafka": str(found[1])}
    return {
        "collection": VERSION,
        "ansible_core": ansible_core,
        "python": platform.python_version(),
        **client,
        "java": _java(),
        "system": platform.platform(),
    }


def _java() -> str | None:
    """Return the version of the local Java that would run the audit; None: Java is not installed."""
    try:
        reported = subprocess.run(
            ["java", "-version"], capture_output=True, text=True, timeout=_JAVA_SECONDS, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next(iter(reported.splitlines()), None)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect offsets of a MirrorMaker 2 source connector: the last source record that was copied.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .http import RefusedError
from .rest import ConnectClient

__all__ = ["copied_offsets", "parse_offsets"]


def copied_offsets(rest: ConnectClient, connector: str, source_alias: str | None = None) -> dict[tuple[str, int], int]:
    """Last copied source offset by (topic, partition). A partition that is not in the result is unknown, not 0.

    Final only if the connector is STOPPED without tasks, else a lower bound that is as old as the worker's last flush.
    A connector that does not exist has no readable offsets (they survive in the worker): an empty result.
    ``source_alias``: leave out entries that were written under another alias; the connector does not use them.
    """
    try:
        answer = rest.offsets(connector)
    except RefusedError as error:
        if error.status == 404:
            return {}
        raise
    return parse_offsets(answer, source_alias)


def parse_offsets(answer: Any, source_alias: str | None = None) -> dict[tuple[str, int], int]:
    """The answer of ``GET /connectors/X/offsets``; entries without an offset are left out."""
    found: dict[tuple[str, int], int] = {}
    for entry in answer.get("offsets", []) if isinstance(answer, Mapping) else []:
        partition, offset = entry.get("partition") or {}, (entry.get("offset") or {}).get("offset")
        topic, index = partition.get("topic"), partition.get("partition")
        ours = source_alias is None or partition.get("cluster") == source_alias
        if ours and isinstance(topic, str) and isinstance(index, int) and isinstance(offset, int):
            found[topic, index] = offset
    return found

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and change the stored offsets of a MirrorMaker 2 source connector: the offset of the last replicated record.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._core.errors import DrError
from .._core.partition import Partition
from .._core.waiting import Bounds, wait_until
from .connector_client import ConnectorClient
from .http import RefusedError

__all__ = [
    "change_offsets",
    "parse_offsets",
    "read_back",
    "replicated_offsets",
    "require_gone",
    "reset_offsets",
    "set_offsets",
]

# A worker reports changed offsets at once. On an overloaded machine it took longer.
_SHOWN = Bounds(timeout=20.0)


def replicated_offsets(rest: ConnectorClient, connector: str, source_alias: str | None = None) -> dict[Partition, int]:
    """Return the offset of the last replicated record by source partition.

    A partition that is missing from the result is unknown, not 0. The offsets are final only if the connector is
    STOPPED without tasks. Otherwise they are lower bounds, as old as the worker's last flush. Empty if the connector
    does not exist: its offsets survive in the worker but cannot be read. ``source_alias``: leave out entries that were
    written under another alias, which the connector does not use.
    """
    try:
        answer = rest.offsets(connector)
    except RefusedError as error:
        if error.status == 404:
            return {}
        raise
    return parse_offsets(answer, source_alias)


def read_back(
    rest: ConnectorClient, connector: str, source_alias: str | None, agrees: Callable[[dict[Partition, int]], bool]
) -> dict[Partition, int]:
    """Read offsets that were just written until they ``agree``, and return what the worker reported last.

    A new partition may be missing for a moment. The worker takes the list of partitions from what it has read of its
    offsets topic so far, and reads to the end of the topic only for their offsets (Worker.sourceConnectorOffsets,
    observed with 4.3.1).
    """
    return wait_until(lambda: replicated_offsets(rest, connector, source_alias), agrees, _SHOWN).state


def parse_offsets(answer: Any, source_alias: str | None = None) -> dict[Partition, int]:
    """Parse the response of ``GET /connectors/X/offsets``. Entries without an offset are left out."""
    offsets: dict[Partition, int] = {}
    for entry in answer.get("offsets", []) if isinstance(answer, Mapping) else []:
        partition, offset = entry.get("partition") or {}, (entry.get("offset") or {}).get("offset")
        topic, index = partition.get("topic"), partition.get("partition")
        ours = source_alias is None or partition.get("cluster") == source_alias
        if ours and isinstance(topic, str) and isinstance(index, int) and isinstance(offset, int):
            offsets[Partition(topic, index)] = offset
    return offsets


def set_offsets(rest: ConnectorClient, connector: str, source_alias: str, wanted: Mapping[Partition, int]) -> None:
    """Replace all stored offsets of a STOPPED connector with ``wanted``, and read them back.

    Offsets survive the deletion of a connector, so older ones are removed first (R22). Kafka Connect checks neither
    alias nor offset: it accepts a partition that does not exist, or an offset after the end of the log. Raises
    ``offsets_not_set``.
    """
    if replicated_offsets(rest, connector):
        rest.reset_offsets(connector)
    change_offsets(rest, connector, source_alias, wanted)
    stored = read_back(rest, connector, None, lambda shown: shown == dict(wanted))
    if stored != dict(wanted):
        wrong = sorted(key for key in {*stored, *wanted} if stored.get(key) != wanted.get(key))
        raise DrError(
            "offsets_not_set",
            f'The connector "{connector}" has wrong stored offsets on {len(wrong)} partitions:'
            f" {wrong[0]}: wanted {wanted.get(wrong[0])}, found {stored.get(wrong[0])}.",
            "The connector is stopped and replicates nothing. Start the same playbook again.",
            rest.url,
        )


def reset_offsets(rest: ConnectorClient, connector: str) -> None:
    """Remove all stored offsets of a STOPPED source connector. Raises ``offsets_not_set`` if one is left."""
    rest.reset_offsets(connector)
    require_gone(rest, connector)


def require_gone(
    rest: ConnectorClient, connector: str, source_alias: str | None = None, topics: Collection[str] | None = None
) -> None:
    """Raise ``offsets_not_set`` if the worker keeps reporting a stored offset. ``topics`` None: of any topic."""

    def held(shown: Mapping[Partition, int]) -> list[Partition]:
        return [key for key in shown if topics is None or key[0] in topics]

    left = read_back(rest, connector, source_alias, lambda shown: not held(shown))
    if held(left):
        first = min(held(left))
        raise DrError(
            "offsets_not_set",
            f'The connector "{connector}" has a stored offset for {first} after its removal: {left[first]}.',
            "The connector is stopped and replicates nothing. Start the same playbook again.",
            rest.url,
        )


def change_offsets(rest: ConnectorClient, connector: str, source_alias: str, wanted: Mapping[Partition, int]) -> None:
    """Set these stored offsets of a STOPPED connector, and keep the others. A value below 0 removes an offset.

    The caller reads the offsets back.
    """
    entries = [
        {
            "partition": {"cluster": source_alias, "partition": index, "topic": topic},
            "offset": {"offset": offset} if offset >= 0 else None,
        }
        for (topic, index), offset in sorted(wanted.items())
    ]
    if entries:
        rest.alter_offsets(connector, entries)

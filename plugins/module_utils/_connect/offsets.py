# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect offsets of a MirrorMaker 2 source connector: the last source record that was copied.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._core.errors import DrError
from .._core.waiting import Bounds, wait_until
from .http import RefusedError
from .rest import ConnectClient

__all__ = [
    "change_offsets",
    "parse_offsets",
    "read_back",
    "replicated_offsets",
    "require_gone",
    "reset_offsets",
    "set_offsets",
]

# A worker shows at once what was changed; on a machine that was overloaded it took longer.
_SHOWN = Bounds(timeout=20.0)


def replicated_offsets(
    rest: ConnectClient, connector: str, source_alias: str | None = None
) -> dict[tuple[str, int], int]:
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


def read_back(
    rest: ConnectClient, connector: str, source_alias: str | None, agrees: Callable[[dict[tuple[str, int], int]], bool]
) -> dict[tuple[str, int], int]:
    """What a worker shows of offsets that were just set: as soon as that ``agrees``, or in the end.

    It names the partitions that it has read of its own topic so far, and only what they hold is read to the end first:
    a partition that is new may be missing for a moment (Worker.sourceConnectorOffsets, seen on 4.3.1).
    """
    return wait_until(lambda: replicated_offsets(rest, connector, source_alias), agrees, _SHOWN).state


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


def set_offsets(rest: ConnectClient, connector: str, source_alias: str, wanted: Mapping[tuple[str, int], int]) -> None:
    """Make ``wanted`` (last copied offset by partition) all that a STOPPED connector knows, and read it back.

    Offsets survive the deletion of a connector, so what an earlier round left must go first (R22). Kafka
    Connect checks neither alias nor offset: a partition that is not there, or an offset past the end, is accepted.
    """
    if replicated_offsets(rest, connector):
        rest.reset_offsets(connector)
    change_offsets(rest, connector, source_alias, wanted)
    found = read_back(rest, connector, None, lambda shown: shown == dict(wanted))
    if found != dict(wanted):
        differ = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))
        topic, index = differ[0]
        raise DrError(
            "offsets_not_set",
            f'The connector "{connector}" has other offsets than it was given for {len(differ)} partitions;'
            f" {topic}-{index}: wanted {wanted.get(differ[0])}, found {found.get(differ[0])}.",
            "It is stopped and copies nothing. Start the same playbook again.",
            rest.url,
        )


def reset_offsets(rest: ConnectClient, connector: str) -> None:
    """A STOPPED source connector knows of nothing any more; read back (``offsets_not_set``)."""
    rest.reset_offsets(connector)
    require_gone(rest, connector)


def require_gone(
    rest: ConnectClient, connector: str, source_alias: str | None = None, topics: Collection[str] | None = None
) -> None:
    """Raise ``offsets_not_set`` if a worker still shows an offset in the end, of any topic or of these."""

    def held(shown: Mapping[tuple[str, int], int]) -> list[tuple[str, int]]:
        return [key for key in shown if topics is None or key[0] in topics]

    left = read_back(rest, connector, source_alias, lambda shown: not held(shown))
    if held(left):
        topic, index = min(held(left))
        raise DrError(
            "offsets_not_set",
            f'The connector "{connector}" still has an offset for {topic}-{index}: {left[topic, index]}.',
            "It is stopped and copies nothing. Start the same playbook again.",
            rest.url,
        )


def change_offsets(
    rest: ConnectClient, connector: str, source_alias: str, wanted: Mapping[tuple[str, int], int]
) -> None:
    """Set these of a STOPPED connector and leave the others; below 0 forgets one. Not read back here."""
    entries = [
        {
            "partition": {"cluster": source_alias, "partition": index, "topic": topic},
            "offset": {"offset": offset} if offset >= 0 else None,
        }
        for (topic, index), offset in sorted(wanted.items())
    ]
    if entries:
        rest.alter_offsets(connector, entries)

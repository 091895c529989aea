# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the output of ``srm-control offsets --export`` tolerantly.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import csv
import re
from typing import Any

from .._core.errors import DrError
from .._core.partition import Partition

__all__ = ["parse_export"]

_COLUMNS = ("topic", "partition", "offset")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


def parse_export(output: str, group: str) -> list[dict[str, Any]]:
    """Return rows ``{topic, partition, offset}`` in the order of the output. An unknown group has no rows.

    Accepts a header, a leading column with the group, and lines that are not CSV. Raises ``srm_export_unreadable`` for
    a malformed row, for two different offsets of one partition, and for a row of another group.
    """
    found: dict[Partition, int] = {}
    for line in (raw.strip().lstrip("\ufeff") for raw in output.splitlines()):
        cells = _cells(line)
        if cells is None or [cell.lower() for cell in cells[-3:]] == list(_COLUMNS):
            continue
        topic, partition, offset = _row(cells, line, group)
        if found.setdefault(Partition(topic, partition), offset) != offset:
            raise _unreadable(line, f"an earlier row has another offset of {topic}-{partition}")
    return [{"topic": key[0], "partition": key[1], "offset": offset} for key, offset in found.items()]


def _cells(line: str) -> list[str] | None:
    """Split a line into cells. None: not a row, because it has no comma, or blanks outside quotes as a log line has."""
    if "," not in line or re.search(r"\s", re.sub(r'"[^"]*"', "", line)):
        return None
    return next(csv.reader([line]))


def _row(cells: list[str], line: str, group: str) -> tuple[str, int, int]:
    if len(cells) < 3 or not all(re.fullmatch(r"[0-9]{1,19}", cell) for cell in cells[-2:]):
        raise _unreadable(line, "wanted topic,partition,offset")
    topic, partition, offset = cells[-3:]
    # The name of a group may contain commas.
    before = ",".join(cells[:-3])
    if len(cells) > 3 and before != group:
        raise _unreadable(line, f'it belongs to the group "{before}"')
    if not _TOPIC.fullmatch(topic):
        raise _unreadable(line, f'"{topic}" is not a valid topic name')
    return topic, int(partition), int(offset)


def _unreadable(line: str, reason: str) -> DrError:
    return DrError(
        "srm_export_unreadable",
        f'The offsets that srm-control exported cannot be parsed at the line "{line}": {reason}.',
        "Run the same command by hand and check its output; its arguments are in the result.",
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups without members: nothing shows that their committed offsets are what their applications have read (R6).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..listing import first_few
from ..resources.groups import IDLE_STATES

__all__ = ["idle_notes"]


def idle_notes(rows: Sequence[Mapping[str, Any]], alias: str) -> list[str]:
    """A note that names the groups that had no members on ``alias``; empty: every group had members.

    ``rows``: the groups, as in the result of ``dr_status_info``.
    """
    unread: dict[str, int] = {}
    for row in rows:
        if row["alias"] == alias and row["state"] in IDLE_STATES and row["commit"] is not None:
            unread[row["group"]] = unread.get(row["group"], 0) + (row["read_to_end"] is not True)
    if not unread:
        return []
    named = [f'"{group}"' + (f" ({count} partitions unread)" if count else "") for group, count in unread.items()]
    return [
        f"what applications have read if they keep offsets outside Kafka (Flink, Spark): {len(unread)} groups had no"
        f" members on {alias}: {first_few(named)}. Only committed offsets are moved"
    ]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the journal knows and no log shows: evidence of earlier moves, as offset translation needs it.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .state import JournalState

__all__ = ["JournalFacts"]


@dataclass(frozen=True)
class JournalFacts:
    """Evidence from the journal to translate offsets to one cluster."""

    #: Committed offsets of the groups on the originals of the cluster being entered, from when the applications last
    #: left it: group -> topic -> partition -> offset. Only these are trusted as earlier offsets.
    trusted_offsets: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    #: Topic ids from when the flows were set up: alias -> topic -> id.
    topic_ids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Offset of the first offset-sync that refers to the current topic: flow -> topic -> offset.
    offset_syncs_start: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Policy identity: the cuts between the tenures, oldest first.
    cuts: Sequence[Mapping[str, Any]] = ()
    #: Records below these offsets came from a cluster that is gone: alias -> replica -> partition -> offset.
    unreplicated_below: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    @classmethod
    def toward(cls, state: JournalState, entered: str) -> JournalFacts:
        """From the state of the journal, for a move to the alias ``entered``."""
        return cls(
            trusted_offsets=(state.left.get(entered) or {}).get("committed_offsets") or {},
            topic_ids=state.topic_ids,
            offset_syncs_start=state.offset_syncs_start,
            cuts=state.cuts,
            unreplicated_below=state.unreplicated_below,
        )

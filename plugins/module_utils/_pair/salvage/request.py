# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of ``dr_salvage``, parsed, and the journal's facts about the lost cluster.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.state import JournalState
from ..._core.names import flow_name, salvage_topic
from ..._core.offsets.tenures import flat, tenures
from ..._core.partition import Partition

__all__ = ["LossFacts", "SalvageRequest"]


@dataclass(frozen=True)
class SalvageRequest:
    """The options of ``dr_salvage``."""

    pair: PairSpec
    #: Alias of the cluster that was lost.
    source: str
    #: Alias of the cluster where the applications live.
    target: str
    #: ``list``, ``export`` or ``replay``.
    mode: str
    #: Replay into ``salvage`` (a separate topic) or into ``original``.
    into: str
    #: Folder of the exported files.
    folder: Path
    #: Topics whose tail may be incomplete.
    accept_expired: Collection[str]
    #: Topics into which records may be replayed even if newer records have their keys.
    accept_newer_keys: Collection[str]
    #: Timeout of each request, in seconds.
    timeout: float

    @classmethod
    def of(cls, pair: PairSpec, params: Mapping[str, Any]) -> SalvageRequest:
        """Parse the options of ``dr_salvage``."""
        return cls(
            pair,
            params["source"],
            params["target"],
            params["mode"],
            params["into"],
            Path(params["folder"] or ""),
            params["accept_expired"],
            params["accept_newer_keys"],
            params["request_timeout"],
        )

    def replay_topic(self, topic: str) -> str:
        """Return the topic on ``target`` into which the tail of ``topic`` is replayed."""
        return topic if self.into == "original" else salvage_topic(topic)


@dataclass(frozen=True)
class LossFacts:
    """The journal's facts about the lost cluster."""

    #: Topic ids from when the pair was enabled: alias -> topic -> id.
    topic_ids: Mapping[str, Mapping[str, str]]
    #: Log ends on the target when the applications moved there.
    cut: Mapping[Partition, int]
    #: Policy identity: log ends on the source when the flow back was started. Later records came from the target.
    flow_back_start: Mapping[Partition, int]
    #: Topic ids of the partitions whose tail was replayed before, finished or not.
    replayed: Mapping[Partition, str]
    #: Unix time in milliseconds when the applications left the source; None: unknown.
    failed_over_ms: int | None
    #: First offsets of the tenure in which the applications lived on the source: alias -> partition -> offset. Without
    #: an entry it began at 0.
    begin: Mapping[str, Mapping[Partition, int]]

    @classmethod
    def of(cls, state: JournalState, source: str, target: str) -> LossFacts:
        """Extract the facts from the state of the journal."""
        active = state.active or source
        idle = target if active == source else source
        begin = [tenure.begin for tenure in tenures(state.cuts, active, idle) if tenure.source == source]
        cuts = [cut for cut in state.cuts if cut["from"] == source]
        left_at = None if state.run is None else state.run.left_at
        return cls(
            state.topic_ids,
            flat((state.left.get(source) or {}).get("cut") or {}),
            flat((cuts[-1].get("resumed") if cuts else None) or {}),
            flat(state.replays.get(flow_name(source, target), {})),
            int(left_at * 1000) if left_at else None,
            begin[-1] if begin else {source: {}, target: {}},
        )

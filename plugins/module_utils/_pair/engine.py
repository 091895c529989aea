# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs the flows of a pair, seen alike whatever it is: what it reports, what it has copied, how it stops.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from .._core.changes import Outcome
from .._core.filters import Filter
from .._core.waiting import Bounds
from .._module import Result

__all__ = ["ConnectorLook", "Engine", "EngineLook"]

Partition = tuple[str, int]
#: max.request.size of a Kafka producer that sets none.
DEFAULT_LARGEST_RECORD = 1_048_576


@dataclass(frozen=True)
class ConnectorLook:
    """A connector as its engine reports it. ``tasks``: state of each; None state: it does not exist.

    ``unsound``: settings of a source connector on which no proof can rest, in words. ``filters``: what it takes of
    names, where it is asked itself; ``amiss``: what the inventory wants otherwise, in words.
    """

    part: str
    name: str
    state: str | None
    tasks: tuple[str, ...]
    unsound: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    amiss: tuple[str, ...] = ()
    #: What failed, each with the first line of its trace and its innermost cause.
    failures: tuple[str, ...] = ()
    #: Bytes of the largest record, uncompressed, that a source connector's producer sends.
    largest_record: int = DEFAULT_LARGEST_RECORD

    @property
    def failed(self) -> bool:
        """The connector or one of its tasks is FAILED: Kafka Connect restarts neither by itself."""
        return "FAILED" in (self.state, *self.tasks)

    @property
    def final(self) -> bool:
        """Stopped without tasks: only then its offsets are final (SOUNDNESS 20)."""
        return self.state == "STOPPED" and not self.tasks


@dataclass(frozen=True)
class EngineLook:
    """One flow: its connectors by part, and the last copied source offset by partition (absent: unknown).

    ``away``: why nothing of it could be seen; then nothing else of this is known.
    """

    connectors: dict[str, ConnectorLook]
    copied: dict[Partition, int]
    away: str = ""


class Engine(Protocol):
    """What a pair asks of its engine. ``syncs_on_source``: where its offset-syncs lie, else on the target.

    ``application``: the one out of many whose flows these are, if they are not those of the whole pair.
    """

    syncs_on_source: bool
    application: str | None

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Every request sent so far, without secrets."""

    def look(self, source: str, target: str) -> EngineLook:
        """One look at one flow."""

    def against(self, source: str, target: str, topics: Iterable[str]) -> list[str]:
        """What copies one of ``topics`` ``target`` -> ``source`` and runs, whatever it is called."""

    def stop(self, source: str, target: str, final: bool, bounds: Bounds, check: bool, awaited: bool = True) -> Result:
        """End the flow's group sync; ``final``: the copying too, so that its progress is final.

        Not ``awaited``: the copying is told to end, and only the group sync's end is waited for.
        """

    def forget(self, gone: str, here: str, check: bool) -> list[Outcome]:
        """Another cluster stands at ``gone``: no flow of the pair, all of which stand still, has copied anything."""

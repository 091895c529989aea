# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller wants from the journal.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.journal.events import missing_facts

__all__ = ["JournalRequest"]


@dataclass(frozen=True)
class JournalRequest:
    """The options of ``dr_journal``, and what other modules of the collection append."""

    pair: PairSpec
    #: ``read``, or the kind of the event to append.
    event: str = "read"
    #: Facts of the event.
    data: Mapping[str, Any] = field(default_factory=dict)
    #: Id of the run of the event.
    run: str | None = None
    #: Number of the run's holder that appends; None: the caller is none of its holders.
    generation: int | None = None
    #: Aliases of the clusters whose copies are read and written; empty: all.
    copies: tuple[str, ...] = ()
    #: Id of a run or lease of which a person has made sure that its process has ended.
    take_over: str | None = None
    #: Kind of the lease to take before the journal is read.
    lease: str | None = None
    #: Id of the lease that the calling playbook holds.
    held: str | None = None
    give_back: bool = False
    #: Bound of each request, in seconds.
    timeout: float = 15.0

    @classmethod
    def of(cls, pair: PairSpec, params: Mapping[str, Any]) -> JournalRequest:
        """From the options of ``dr_journal``; raises ``bad_option`` or ``unknown_alias``."""
        absent = missing_facts(params["event"], params["data"])
        if absent:
            text = f'The event "{params["event"]}" needs {", ".join(absent)} in data, found {sorted(params["data"])}.'
            raise DrError("bad_option", text)
        for alias in params["copies"]:
            pair.require_alias(alias)
        return cls(
            pair,
            params["event"],
            params["data"],
            params["run"],
            params["holder_generation"],
            tuple(params["copies"]),
            params["take_over"],
            params["lease"],
            params["held"],
            params["give_back"],
            params["request_timeout"],
        )

    @property
    def clusters(self) -> dict[str, Mapping[str, Any]]:
        """What to connect with, by alias of the clusters whose copies are read and written."""
        return {alias: one for alias, one in self.pair.connections.items() if not self.copies or alias in self.copies}

    @property
    def takes_run(self) -> bool:
        """Whether the caller becomes the holder of a run."""
        return self.event in ("started", "resumed")

    @property
    def takes_run_back(self) -> bool:
        """Whether the event undoes a run or ends one that was undone."""
        return self.event == "undoing" or (self.event, self.data.get("result")) == ("ended", "undone")

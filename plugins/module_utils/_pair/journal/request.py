# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a request to the journal, parsed.

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
    """The options of ``dr_journal``; other modules of the collection use it to append events."""

    pair: PairSpec
    #: ``read``, or the kind of the event to append.
    event: str = "read"
    #: Facts of the event.
    data: Mapping[str, Any] = field(default_factory=dict)
    #: Id of the run of the event.
    run: str | None = None
    #: Number of the run's holder that appends; None: the caller does not hold the run.
    generation: int | None = None
    #: Aliases of the clusters whose copies are read and written; empty: all.
    copies: tuple[str, ...] = ()
    #: Id of a run or lease whose process has ended, as the operator has verified.
    take_over: str | None = None
    #: Kind of the lease to take before the journal is read.
    lease: str | None = None
    #: Id of the lease that the calling playbook holds.
    held: str | None = None
    #: End the caller's lease after the event.
    give_back: bool = False
    #: Id of a run that ``started`` opens; empty: a new one.
    new_id: str = ""
    #: Timeout of each request, in seconds.
    timeout: float = 15.0

    @classmethod
    def of(cls, pair: PairSpec, params: Mapping[str, Any]) -> JournalRequest:
        """Parse the options of ``dr_journal``; raise ``bad_option`` or ``unknown_alias``."""
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
            timeout=params["request_timeout"],
        )

    @property
    def clusters(self) -> dict[str, Mapping[str, Any]]:
        """Return connection properties by alias of the clusters whose copies are read and written."""
        return {alias: one for alias, one in self.pair.connections.items() if not self.copies or alias in self.copies}

    @property
    def takes_run(self) -> bool:
        """Does the caller become the holder of a run?"""
        return self.event in ("started", "resumed")

    @property
    def takes_run_back(self) -> bool:
        """Does the event undo a run, or end a run that was undone?"""
        return self.event == "undoing" or (self.event, self.data.get("result")) == ("ended", "undone")

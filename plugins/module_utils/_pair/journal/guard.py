# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof that this controller still holds its run or its lease, read from the pair's clusters (R31).

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..._core.errors import DrError
from ..._core.journal.ownership import Claim
from ..._core.journal.state import JournalState
from ..._guard import owned
from ..._kafka.client import Kafka
from ..._module import Result
from ..connections.clusters import connect_answering, connect_pair
from .copies import Book, JournalCopies
from .leases import leases_of

__all__ = ["Guard", "Held", "guarded"]


@dataclass(frozen=True)
class Held:
    """The option ``guard``: what a controller holds, and where that is recorded."""

    claim: Claim
    #: Connection properties by alias of the clusters that keep the journal.
    clusters: Mapping[str, Any]
    #: Name of the pair in the journal.
    pair: str
    journal_topic: str
    state_topic: str
    #: One cluster that responds is enough proof, because a run is being undone.
    any_side: bool

    @classmethod
    def of(cls, option: Mapping[str, Any] | None) -> Held | None:
        """Parse the option; None if it names neither a run nor a lease."""
        claim = Claim.of(option or {})
        if option is None or claim is None:
            return None
        topics = (option["topic"], option["state_topic"])
        return cls(claim, option["clusters"], option["pair"], *topics, option["any_side"])


class Guard:
    """Reads the journal or the leases on each call. Connections are opened once for all calls of a module.

    A copy that cannot be read proves nothing, so it is an error, except while a run is being undone (``any_side``).
    """

    def __init__(self, held: Held, timeout: float) -> None:
        self._held, self._timeout = held, timeout
        self._kafkas: dict[str, Kafka] | None = None
        self._copies: JournalCopies | None = None
        self._book: Book | None = None
        self._lock = Lock()
        #: The error of the claim that was lost. A copy that could not be read is none: a wait may read it again (R35).
        self.lost: DrError | None = None

    def __call__(self) -> None:
        """Raise ``run_superseded`` if another controller has taken over."""
        with self._lock:
            kafkas = self._connected()
            held, claim = self._held, self._held.claim
            state = self._state(kafkas) if claim.run else JournalState()
            leases = leases_of(kafkas, held.state_topic, held.pair) if claim.lease else ()
            try:
                claim.require(state, leases)
            except DrError as error:
                self.lost = self.lost or error
                raise

    def _connected(self) -> dict[str, Kafka]:
        if self._kafkas is None:
            connect = connect_answering if self._held.any_side else connect_pair
            self._kafkas = connect(self._held.clusters, self._timeout)
        return self._kafkas

    def _state(self, kafkas: Mapping[str, Kafka]) -> JournalState:
        """Return the journal's state. Reads the journal again only if one of its copies has grown since."""
        if self._copies is None:
            self._copies = JournalCopies(kafkas, self._held.journal_topic, self._held.pair)
        if self._book is None or self._copies.moved(self._book):
            self._book = self._copies.observe()
        if self._book.missing:
            raise DrError(
                "journal_missing",
                f'The journal topic "{self._held.journal_topic}" does not exist on {", ".join(self._book.missing)}, so'
                " nothing shows whether another controller has taken over this run.",
                "Run the playbook enable: it creates the topic.",
            )
        return self._book.state


def guarded(work: Callable[[AnsibleModule], Result]) -> Callable[[AnsibleModule], Result]:
    """Wrap ``work`` so that it proves ownership before each effect, if the task passes the option ``guard``."""

    def proven(module: AnsibleModule) -> Result:
        held = Held.of(module.params["guard"])
        if held is None or module.check_mode:
            return work(module)
        guard = Guard(held, float(module.params.get("request_timeout") or 15.0))
        try:
            with owned(guard):
                result = work(module)
        except DrError as error:
            raise guard.lost or error from error
        # A reconciler reports each failed step as its own error. The cause of all of them is the lost ownership.
        result.failure = guard.lost or result.failure
        return result

    return proven

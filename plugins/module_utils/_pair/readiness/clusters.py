# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observe each cluster of a pair by itself: topics, journal, workers, rights.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from ..._core.checks.not_carried import not_carried
from ..._core.checks.readiness import SETTINGS
from ..._core.checks.undeclared_groups import UndeclaredGroup, undescribed_notes
from ..._core.errors import DrError
from ..._core.journal.events import Event, merge
from ..._core.journal.state import JournalState, fold
from ..._core.resources.acl import EVERYBODY, Acl, bans, client_acls, granted, wanted_acls
from ..._core.resources.topics import TopicState
from ..._engines.opening import open_engine
from ..._kafka import acls
from ..._kafka.client import Kafka
from ..._kafka.topics import describe, remember, require_all_visible
from ..._kafka.topics import names as topic_names
from ..connections.clusters import connect_one, on_each, refuse_same_cluster
from ..connections.engines import Opened
from ..journal.copies import read_copy
from .request import ReadinessRequest

__all__ = ["Clusters"]


class Clusters:
    """Connections to the clusters that respond."""

    def __init__(self, request: ReadinessRequest) -> None:
        self._request, self.pair = request, request.pair
        self.kafka: dict[str, Kafka] = {}
        #: By alias, why a cluster is not used; None: it is used.
        self.unreachable: dict[str, str | None] = on_each(dict.fromkeys(self.pair.clusters), self._open)
        self.unreachable |= self._same_cluster()
        on_each(self.kafka, self._remember)

    def _open(self, alias: str) -> str | None:
        try:
            self.kafka[alias] = connect_one(alias, self.pair.connections[alias], self._request.request_timeout)
        except DrError as error:
            return error.message
        return None

    def _same_cluster(self) -> dict[str, str | None]:
        """If both aliases are the same cluster, use neither, because either alias may be the wrong one."""
        try:
            refuse_same_cluster(self.kafka)
        except DrError as error:
            errors = dict.fromkeys(self.kafka, error.message)
            self.kafka.clear()
            return {**errors}
        return {}

    def _remember(self, alias: str) -> None:
        """Describe all topics of the observation in one request. If that fails, each part sends its own request."""
        heartbeats = self.pair.naming.heartbeats(self.other(alias))
        with suppress(DrError):
            remember(self.kafka[alias], [*self.replicated(alias), *self.internal(alias), heartbeats], SETTINGS)

    @cached_property
    def opened(self) -> Opened:
        """The connections, and the engine of the flows."""
        timeout = self._request.request_timeout
        return Opened(self.kafka, open_engine(self.pair.connections, self.pair.naming, self.kafka, timeout))

    def other(self, alias: str) -> str:
        """Return the alias of the other cluster."""
        return next(name for name in self.pair.clusters if name != alias)

    def internal(self, alias: str) -> list[str]:
        """Return the topics that a move needs in addition to those of the pair."""
        other, naming = self.other(alias), self.pair.naming
        return [self.pair.journal_topic, self.pair.state_topic, naming.checkpoints(other), naming.offset_syncs(other)]

    def replicated(self, alias: str) -> list[str]:
        """Return the names of originals and replicas on ``alias``."""
        replicas = [self.pair.naming.replica(self.other(alias), name) for name in self.pair.topics]
        return list(dict.fromkeys([*self.pair.topics, *replicas]))

    def topics(self, alias: str, names: Sequence[str]) -> dict[str, TopicState | None]:
        """Return topics with the settings that readiness checks; None: the topic does not exist."""
        return describe(self.kafka[alias], names, dict.fromkeys(names, SETTINGS))

    def journal(self) -> tuple[JournalState, list[Event], list[str]]:
        """Return state and events of the journal, and the aliases of clusters without its topic."""
        topic, name = self.pair.journal_topic, self.pair.name
        copies = on_each(self.kafka, lambda alias: read_copy(self.kafka[alias], topic, name))
        missing = sorted(alias for alias, copy in copies.items() if copy is None)
        events = merge(copy for copy in copies.values() if copy is not None)
        return fold(events), events, missing

    def workers(self, aliases: Sequence[str]) -> tuple[dict[str, str | None], dict[str, str | None]]:
        """Return by alias why the workers of the flow toward it do not respond (None: they do), and their version."""
        reasons: dict[str, str | None] = {}
        versions: dict[str, str | None] = {}
        for alias in aliases:
            try:
                reasons[alias], versions[alias] = self._worker(alias)
            except DrError as error:
                reasons[alias] = error.message
        return reasons, versions

    def _worker(self, alias: str) -> tuple[str | None, str | None]:
        served, version = self.opened.engine.about(self.other(alias), alias)
        known = self.kafka[alias].cluster_id if alias in self.kafka and served is not None else served
        wrong = f'they belong to the cluster "{served}", expected "{known}"'
        return None if served == known else wrong, version

    def rights(self, entered: str) -> tuple[list[str], list[str]]:
        """Return the ACLs that declared principals lack on ``entered``, and the applications without a principal.

        Both are empty without an authorizer. The fence of the cutover that left this cluster is ignored, because it is
        removed when the applications start here again.
        """
        wanted: list[Acl] = []
        nameless = [client["name"] for client in self._request.applications if not client.get("principal")]
        for client in self._request.applications:
            wanted += wanted_acls(client_acls(client, self._request.endpoints[entered][client["name"]]))
        try:
            principals = sorted({acl.principal for acl in wanted})
            existing = acls.describe(self.kafka[entered], [*principals, EVERYBODY])
            existing -= set(bans(self.pair.topics, principals))
        except DrError as error:
            if error.code == "no_authorizer":
                return [], []
            raise
        return [acl.sentence() for acl in dict.fromkeys(wanted) if not granted(acl, existing)], nameless

    def not_carried(self, left: str, others: Sequence[UndeclaredGroup]) -> list[str]:
        """Return what applications may need that Kafka does not replicate, from the names of all topics on ``left``.

        ``others``: the groups that do not move.
        """
        require_all_visible(self.kafka[left])
        names, pair = topic_names(self.kafka[left]), self.pair
        notes = not_carried(left, names, pair.groups, pair.topics, self.other(left), pair.naming)
        return notes + undescribed_notes(others)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the resources that a rehearsal created on both clusters and their workers, remove them, and verify that.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._connect.connector_client import ConnectorClient
from ..._connect.offsets import reset_offsets
from ..._connect.reconcile import Stopping
from ..._connect.rest import Connector
from ..._core.changes import Change, Outcome
from ..._core.checks.history import REHEARSAL, kept, kept_key, moment, superfluous
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._core.resources.acl import Acl, plan
from ..._core.resources.acl import failure_of as acl_failure
from ..._core.waiting import Bounds, wait_until
from ..._engines.base import workers_of
from ..._engines.opening import open_engine
from ..._kafka import acls, groups, topics
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..._module import Result
from ..connections.clusters import connect_pair, on_each
from .belongings import Belongings, Rehearsal

__all__ = ["note", "observe", "remove"]

# A killed member stays in its group until its session time-out.
_LEAVE = Bounds(60.0, 0.5)
_STOP = Bounds(60.0, 0.25)
# A broker reports a deleted ACL until it receives the change from the controller.
_GONE = Bounds(30.0, 0.5)


class _Side:
    """One cluster and its workers, with the resources that a rehearsal created there."""

    def __init__(
        self,
        kafka: Kafka,
        workers: ConnectorClient,
        belongings: Belongings,
        fingerprints: Sequence[str],
    ) -> None:
        self.kafka, self._own, self._fingerprints = kafka, belongings, fingerprints
        self.rest = workers

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Return every request sent so far, without secrets."""
        return [*self.kafka.requests, *self.rest.requests]

    def observe(self) -> dict[str, Any]:
        """Return what exists: ``left``, ``strays`` and ``rest``.

        ``left``: the rehearsal's own names, by kind. ``strays``: other names that contain its fingerprints, for example
        replicas that another flow created. ``rest``: a digest of everything else, by kind and name.
        """
        topics.require_all_visible(self.kafka)
        existing: dict[str, dict[str, Any]] = {
            "topic": dict.fromkeys(topics.names(self.kafka)),
            "group": dict.fromkeys(groups.names(self.kafka)),
            "connector": dict(self.rest.connectors()),
            "acl": {acl.sentence(): acl for acl in self._acls()},
        }
        left: dict[str, list[str]] = {}
        strays: list[str] = []
        rest: dict[str, str] = {}
        others: list[str] = []
        for kind, items in existing.items():
            for name, item in items.items():
                if self._is_own(kind, name, item):
                    left.setdefault(f"{kind}s", []).append(name)
                elif kind != "acl" and any(fingerprint in name for fingerprint in self._fingerprints):
                    strays.append(f"{kind} {name}")
                elif kind == "topic":
                    others.append(name)
                elif kind == "connector" and isinstance(item, Connector):
                    rest[f"connector {name}"] = _digest([sorted(item.config.items()), _health(item)])
                else:
                    rest[f"{kind} {name}"] = ""
        return {"left": left, "strays": strays, "rest": {**rest, **self._digests(others)}}

    def _is_own(self, kind: str, name: str, item: Any) -> bool:
        """Did the rehearsal create this? Only its principals' ACLs count: other principals may have permanent ACLs."""
        if isinstance(item, Acl):
            mine = item.principal in self._own.principals and item.pattern_type == "literal"
            return mine and item.name in self._own.names(item.resource_type)
        return name in self._own.names(kind)

    def _digests(self, names: Sequence[str]) -> dict[str, str]:
        states = topics.describe(self.kafka, names, dict.fromkeys(names, ()))
        return {
            f"topic {name}": _digest(
                [
                    state.topic_id,
                    state.partitions,
                    state.replication_factor,
                    sorted((key, value.value) for key, value in state.config.items()),
                ]
            )
            for name, state in states.items()
            if state is not None
        }

    def _acls(self) -> set[Acl]:
        """Return all ACLs; empty without an authorizer."""
        try:
            return acls.describe(self.kafka, None)
        except DrError as error:
            if error.code != "no_authorizer":
                raise
            return set()

    def remove_connectors(self, check: bool) -> list[Outcome]:
        """Stop and delete the connectors, on both clusters before anything else, or they would create topics again."""
        return [self._remove_connector(name, check) for name in self._stopped_connectors(check)]

    def remove(self, check: bool) -> list[Outcome]:
        """Delete groups, topics and ACLs."""
        present = [name for name in groups.names(self.kafka) if name in self._own.groups]
        if not check:
            self._require_empty(present)
            groups.delete(self.kafka, present)
        outcomes = [_outcome("group", name, check) for name in present]
        outcomes += topics.delete(self.kafka, self._own.topics, check)
        mine = [acl for acl in self._acls() if self._is_own("acl", acl.name, acl)]
        outcomes += acls.apply(self.kafka, plan(mine, mine, "absent"), check)
        failure = acl_failure(outcomes, self.kafka.bootstrap_servers)
        if failure is not None:
            raise failure
        return outcomes

    def _stopped_connectors(self, check: bool) -> list[str]:
        names = [name for name in self.rest.connectors() if name in self._own.connectors]
        if check or not names:
            return names
        for name in names:
            self.rest.stop(name)
        bounds = _STOP.longer(self.rest.patience)
        _await(Stopping(self.rest, names).running, bounds, "connector", "is not STOPPED without tasks", self.rest.url)
        return names

    def _remove_connector(self, name: str, check: bool) -> Outcome:
        """Delete the connector and its offsets. Offsets would survive it, and the next rehearsal would start there."""
        if not check:
            if name.endswith("MirrorSourceConnector"):
                reset_offsets(self.rest, name)
            else:
                self.rest.reset_offsets(name)
            self.rest.delete(name)
        return _outcome("connector", name, check)

    def _require_empty(self, names: Sequence[str]) -> None:
        def occupied() -> list[str]:
            states = groups.describe(self.kafka, names)
            return [name for name, state in states.items() if state.active]

        _await(occupied, _LEAVE, "group", "still has members", self.kafka.bootstrap_servers)


def observe(pair: PairSpec, rehearsal: Rehearsal, timeout: float) -> Result:
    """Return what :meth:`_Side.observe` finds, by alias, and the stored rehearsals of the pair (``earlier``)."""
    sides = _open(pair, rehearsal, timeout)
    observations = on_each(sides, lambda alias: sides[alias].observe())
    earlier = on_each(sides, lambda alias: read_latest(sides[alias].kafka, pair.state_topic) or {})
    return Result(
        requests=[request for side in sides.values() for request in side.requests],
        extra={
            "left": {alias: one["left"] for alias, one in observations.items()},
            "strays": [f"{text} on {alias}" for alias, one in observations.items() for text in one["strays"]],
            "rest": {alias: one["rest"] for alias, one in observations.items()},
            "earlier": kept((value for copy in earlier.values() for value in copy.values()), pair.name, REHEARSAL),
        },
    )


def note(pair: PairSpec, facts: Mapping[str, Any], timeout: float, check: bool) -> Result:
    """Store ``facts`` in the state topic of the pair, on both clusters, and delete the oldest rehearsal there."""
    kafka, topic = connect_pair(pair.connections, timeout), pair.state_topic
    copies = on_each(kafka, lambda alias: read_latest(kafka[alias], topic) or {})
    now = {**facts, "schema": 1, "pair": pair.name, "kind": REHEARSAL, "at": moment(time.time())}
    rehearsals = [*kept((value for copy in copies.values() for value in copy.values()), pair.name, REHEARSAL), now]
    values = {kept_key(pair.name, REHEARSAL, one["at"]): None for one in superfluous(rehearsals)} | {
        kept_key(pair.name, REHEARSAL, now["at"]): now
    }
    if not check:
        on_each(kafka, lambda alias: write_latest(kafka[alias], topic, values))
    return Result(requests=[request for one in kafka.values() for request in one.requests])


def remove(pair: PairSpec, rehearsal: Rehearsal, timeout: float, check: bool) -> Result:
    """Remove every resource that a rehearsal created and that still exists; raise if one is left."""
    sides = _open(pair, rehearsal, timeout)
    rounds = (
        on_each(sides, lambda alias: sides[alias].remove_connectors(check)),
        on_each(sides, lambda alias: sides[alias].remove(check)),
    )
    result = Result(outcomes=[outcome for done in rounds for outcomes in done.values() for outcome in outcomes])
    if not check:
        waited = wait_until(lambda: _left(sides), lambda left: not left, _GONE)
        if waited.state:
            text = f"{len(waited.state)} resources of the rehearsal still exist after {waited.seconds:.0f} s:"
            hint = "Check whether another rehearsal is running, then run the playbook rehearse_cleanup again."
            raise DrError("rehearsal_left", f"{text} {', '.join(waited.state[:5])}.", hint)
    result.requests = [request for side in sides.values() for request in side.requests]
    return result


def _left(sides: Mapping[str, _Side]) -> list[str]:
    observations = on_each(sides, lambda alias: sides[alias].observe())
    return [
        f"{kind[:-1]} {name} on {alias}"
        for alias, one in observations.items()
        for kind, names in one["left"].items()
        for name in names
    ]


def _open(pair: PairSpec, rehearsal: Rehearsal, timeout: float) -> dict[str, _Side]:
    kafka = connect_pair(rehearsal.clusters, timeout)
    engine = open_engine(rehearsal.clusters, pair.naming, kafka, timeout)
    return {
        alias: _Side(kafka[alias], workers_of(engine, alias, "a rehearsal"), belongings, rehearsal.fingerprints)
        for alias, belongings in rehearsal.belongings.items()
    }


def _await(pending: Callable[[], list[str]], bounds: Bounds, kind: str, text: str, endpoint: str) -> None:
    waited = wait_until(pending, lambda left: not left, bounds)
    if waited.state:
        raise DrError(
            "rehearsal_busy",
            f'The {kind} "{waited.state[0]}" of the rehearsal {text} after {waited.seconds:.0f} s.',
            "Stop the processes that use it, then run the playbook rehearse_cleanup.",
            endpoint,
        )


def _outcome(kind: str, name: str, check: bool) -> Outcome:
    return Outcome(Change(kind, name, "delete", {}, None), "planned" if check else "done")


def _health(connector: Connector) -> list[Any]:
    """Return the part of a connector's state that a rehearsal must not change. A rebalance of tasks is no change."""
    failed = [task.id for task in connector.tasks if task.state == "FAILED"]
    return [connector.state if connector.state in ("STOPPED", "PAUSED", "FAILED") else "RUNNING", failed]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]

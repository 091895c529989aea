# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read topics, groups, ACLs and connectors of both clusters, in batches. A part that cannot be read is reported.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from ..._core.discovery.observations import ClusterObservation, GroupUse, MirrorConnector, PairObservation
from ..._core.errors import DrError, Unreachable
from ..._core.flows.pair_spec import PairSpec
from ..._core.resources.acl import Acl
from ..._core.resources.topics import TopicState
from ..._engines.base import Engine
from ..._kafka import acls as kafka_acls
from ..._kafka import groups as kafka_groups
from ..._kafka import topics as kafka_topics
from ..._kafka.client import Kafka
from ..connections.clusters import on_each
from ..connections.engines import open_pair

__all__ = ["observe_pair"]

T = TypeVar("T")
# Effective settings that show what a topic is for.
_SETTINGS = ("cleanup.policy",)


def observe_pair(
    spec: PairSpec, hosts: Mapping[str, str], timeout: float
) -> tuple[PairObservation, list[dict[str, Any]]]:
    """Observe both clusters. Return the observation, and the requests that were sent.

    ``hosts``: hosts of the Ansible inventory by network address. Raises if a cluster cannot be reached.
    """
    opened = open_pair(spec.connections, spec.naming, timeout)
    observed = on_each(opened.kafka, lambda alias: _observe(alias, opened.kafka[alias], opened.engine))
    away = next(alias for alias in observed if alias != spec.home)
    return PairObservation(observed[spec.home], observed[away], hosts), opened.requests


def _observe(alias: str, kafka: Kafka, engine: Engine) -> ClusterObservation:
    unread: list[str] = []
    topics, without_settings = _topics(kafka)
    groups = _groups(alias, kafka, unread)
    acls, authorizer = _acls(alias, kafka, unread)
    connectors = _connectors(alias, engine, unread)
    return ClusterObservation(
        alias=alias,
        cluster_id=kafka.cluster_id,
        brokers=kafka.brokers,
        topics=topics,
        groups=groups,
        acls=acls,
        authorizer=authorizer,
        connectors=connectors,
        unread=tuple(unread),
        without_settings=without_settings,
    )


def _topics(kafka: Kafka) -> tuple[dict[str, TopicState], frozenset[str]]:
    """The topics with their settings, and the names of those whose settings could not be read."""
    described = kafka_topics.describe(kafka, kafka_topics.names(kafka))
    states = {name: state for name, state in described.items() if state is not None}

    def read(names: Collection[str]) -> dict[str, TopicState]:
        return kafka_topics.with_config(kafka, [states[name] for name in names], dict.fromkeys(names, _SETTINGS))

    complete, refused = _readable(read, states)
    return {**states, **complete}, frozenset(refused)


def _groups(alias: str, kafka: Kafka, unread: list[str]) -> dict[str, GroupUse]:
    try:
        names = kafka_groups.names(kafka)
    except DrError as error:
        unread.append(f"the groups of {alias} could not be read: {_reason(error)}")
        return {}
    described, refused = _readable(lambda listed: kafka_groups.describe(kafka, listed), names)
    committed, unknown = _readable(lambda listed: kafka_groups.committed_offsets(kafka, listed), names)
    for failures, what in ((refused, "the members"), (unknown, "the committed offsets")):
        if failures:
            first = next(iter(failures.values()))
            unread.append(f"{what} of {', '.join(failures)} on {alias} could not be read: {_reason(first)}")
    return {
        name: GroupUse(
            described.get(name),
            frozenset(partition.topic for partition in committed[name]) if name in committed else None,
        )
        for name in names
    }


def _acls(alias: str, kafka: Kafka, unread: list[str]) -> tuple[frozenset[Acl] | None, bool | None]:
    """The ACLs, and whether the cluster has an authorizer."""
    try:
        return frozenset(kafka_acls.describe(kafka, None)), True
    except DrError as error:
        if error.code == "no_authorizer":
            return None, False
        unread.append(f"the ACLs of {alias} could not be read: {_reason(error)}")
        return None, True if error.code == "not_authorized" else None


def _connectors(alias: str, engine: Engine, unread: list[str]) -> tuple[MirrorConnector, ...] | None:
    try:
        return tuple(engine.connectors_to(alias))
    except DrError as error:
        unread.append(f"the connectors of the workers of {alias} could not be read: {_reason(error)}")
        return None


def _readable(
    read: Callable[[Collection[str]], Mapping[str, T]], names: Collection[str]
) -> tuple[dict[str, T], dict[str, DrError]]:
    """The results of ``read``, and the error of each name that it refuses. One by one only if the batch fails."""
    try:
        return (dict(read(list(names))) if names else {}), {}
    except Unreachable:
        raise
    except DrError:
        results: dict[str, T] = {}
        refused: dict[str, DrError] = {}
        for name in names:
            try:
                results.update(read([name]))
            except Unreachable:
                raise
            except DrError as error:
                refused[name] = error
        return results, refused


def _reason(error: DrError) -> str:
    return error.sentence()

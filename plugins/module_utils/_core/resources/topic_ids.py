# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topic ids: they distinguish a topic from a recreated one of the same name.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..errors import DrError

__all__ = [
    "CheckpointsEnd",
    "checkpoints_start",
    "joined",
    "known_id",
    "log_ends",
    "no_topic_id",
    "offset_syncs_start",
    "recreated",
    "require_ids",
    "require_same",
    "topic_ids",
]

T = TypeVar("T")
#: What a client reads where the broker has no topic id: the UUID 0.
_ZERO = "A" * 22
_WHY = "its brokers run Kafka before 2.8, or their inter.broker.protocol.version is below 2.8"


class CheckpointsEnd(NamedTuple):
    """Where a topic with MirrorMaker 2's checkpoints ended at a moment: later checkpoints are newer (R43)."""

    end: int
    #: "": there was no such topic.
    topic_id: str

    def within(self, topic_id: str | None) -> int:
        """Return the offset of the first newer checkpoint in the topic ``topic_id``: 0 if it was created since."""
        return self.end if topic_id == self.topic_id else 0


def known_id(reported: str) -> str:
    """The topic id that a client reports, "" if the broker assigns none."""
    return "" if reported == _ZERO else reported


def no_topic_id(name: str, alias: str) -> str:
    """Why a topic of this cluster has no id."""
    return f'"{name}" on {alias} has no topic id: {_WHY}'


def require_ids(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Raise ``topic_ids_missing`` if an existing topic has no id. ``rows``: by alias, as ``topic_row`` returns them."""
    for alias, topics in rows.items():
        for topic in topics:
            if topic["exists"] and not topic["topic_id"]:
                raise DrError(
                    "topic_ids_missing",
                    f'The topic "{topic["name"]}" on {alias} has no topic id: {_WHY}.',
                    "A recreated topic would look like the original, and offsets would refer to other records. Upgrade"
                    " the brokers, and set inter.broker.protocol.version to their version.",
                )


def topic_ids(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, str]]:
    """Topic ids by alias and topic. ``rows``: by alias, as ``topic_row`` returns them."""
    return {
        alias: {topic["name"]: topic["topic_id"] for topic in topics if topic["topic_id"]}
        for alias, topics in rows.items()
    }


def recreated(journaled: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Topics whose id differs from the one in the journal: they were deleted and created again."""
    return [
        f'"{name}" on {alias} (id {found[alias][name]}, in the journal {known})'
        for alias, topics in journaled.items()
        for name, known in topics.items()
        if found.get(alias, {}).get(name, known) != known
    ]


def require_same(name: str, alias: str, found: str, journaled: str) -> None:
    """Raise if the topic's id differs from the one in the journal; called before offsets on it are translated."""
    if found != journaled:
        raise DrError(
            "topic_recreated",
            f'The topic "{name}" on {alias} was recreated: its id is {found}, the journal has {journaled}.',
            "Earlier offsets refer to other records. Nothing was committed. Follow the row topic_recreated in"
            " docs/troubleshooting.md.",
        )


def joined(journaled: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Topics that the journal lacks or has with another id on any cluster: their history is unknown."""
    return sorted(
        {
            name
            for alias, topics in found.items()
            for name, known in topics.items()
            if journaled.get(alias, {}).get(name) != known
        }
    )


def offset_syncs_start(
    state: Mapping[str, Any],
    flows: Mapping[str, Mapping[str, Any]],
    found: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, int],
) -> dict[str, dict[str, int]]:
    """Flow -> topic -> offset of the first offset-sync that refers to the current topic.

    ``state``: the journal's. ``found``: ids by alias and topic. ``ends``: end of the offset-syncs topic by flow, read
    before the flow runs. If the journal lacks an id, existing offset-syncs may refer to another topic of the same name.
    """
    return _since_joined(state, "offset_syncs_start", flows, found, ends, 0)


def checkpoints_start(
    state: Mapping[str, Any],
    flows: Mapping[str, Mapping[str, Any]],
    ids: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, CheckpointsEnd],
) -> dict[str, dict[str, CheckpointsEnd]]:
    """The same of checkpoints. ``ends``: end of the checkpoints topic by flow, as of :func:`offset_syncs_start`."""
    return _since_joined(state, "checkpoints_start", flows, ids, ends, CheckpointsEnd(0, ""))


def _since_joined(
    state: Mapping[str, Any],
    kind: str,
    flows: Mapping[str, Mapping[str, Any]],
    ids: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, T],
    first: T,
) -> dict[str, dict[str, T]]:
    """Flow -> topic -> what the journal has under ``kind`` if it knows the topic, otherwise the end of the flow."""
    known, earlier = state["topic_ids"], state.get(kind) or {}

    def as_known(alias: str, topic: str) -> bool:
        return topic in known.get(alias, {}) and known[alias][topic] == ids.get(alias, {}).get(topic)

    return {
        name: {
            topic: earlier.get(name, {}).get(topic, first)
            if as_known(flow["source"], topic) and as_known(flow["target"], replica)
            else ends.get(name, first)
            for topic, replica in flow["replicas"].items()
        }
        for name, flow in flows.items()
    }


def log_ends(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, int]:
    """Log end of the first partition, by flow. ``rows``: by flow, its offset-syncs topic with offsets."""
    return {
        flow: part["end"]
        for flow, topics in rows.items()
        for topic in topics
        for part in (topic.get("offsets") or [])[:1]
        if part["end"] is not None
    }

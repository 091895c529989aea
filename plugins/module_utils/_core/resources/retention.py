# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics of a pair that keep everything for a while, and get back what they had.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["RETENTION", "retention_plan", "without_retention"]

RETENTION = ("retention.bytes", "retention.ms")
Held = Mapping[str, Mapping[str, Mapping[str, Any]]]


def without_retention(topic: Mapping[str, Any]) -> dict[str, Any]:
    """A declared topic whose own retention has to wait until it is no longer held."""
    config = {key: value for key, value in topic["config"].items() if key not in RETENTION}
    return {**topic, "config": config}


def retention_plan(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], held: Held, declared: Sequence[Mapping[str, Any]], hold: bool
) -> dict[str, Any]:
    """What to write down, and what to set.

    ``rows``: by alias, the pair's topics and those in ``held``, with their own settings, as ``topic_row`` makes them.
    ``held``: what the journal says that they had before, by alias and topic; None: no value of
    their own. ``declared``: the topics of the inventory. Returns ``held``, as the journal has to say it before anything
    is set (``hold``) or afterwards, and ``topics`` by alias, as ``kafka_topic`` takes them.
    """
    there = {
        alias: {topic["name"]: topic["config"] for topic in topics if topic["exists"]} for alias, topics in rows.items()
    }
    if not hold:
        own = {topic["name"]: {key: topic["config"].get(key) for key in RETENTION} for topic in declared}
        # What the inventory says now, over what a topic had when it began to be held.
        topics = {
            alias: [
                {"name": name, "config": {**before, **_given(own.get(name, {}))}}
                for name, before in names.items()
                if name in there.get(alias, {})
            ]
            for alias, names in held.items()
        }
        return {"held": {}, "topics": _some(topics)}
    # A topic that left the inventory meanwhile is not forgotten: it is let go with the others.
    known = {
        alias: {**{name: _before(config) for name, config in names.items()}, **held.get(alias, {})}
        for alias, names in there.items()
    }
    endless = dict.fromkeys(RETENTION, "-1")
    topics = {alias: [{"name": name, "config": endless} for name in names] for alias, names in there.items()}
    return {"held": known, "topics": _some(topics)}


def _some(topics: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {alias: rows for alias, rows in topics.items() if rows}


def _before(config: Mapping[str, str]) -> dict[str, str | None]:
    return {key: config.get(key) for key in RETENTION}


def _given(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if value is not None}

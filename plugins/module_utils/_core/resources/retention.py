# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets topics of a pair to keep every record for a while, and restores their retention afterwards.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["RETENTION", "retention_plan", "without_retention"]

RETENTION = ("retention.bytes", "retention.ms")
Held = Mapping[str, Mapping[str, Mapping[str, Any]]]


def without_retention(topic: Mapping[str, Any]) -> dict[str, Any]:
    """A declared topic without its retention settings, which apply only when retention is not held any more."""
    config = {key: value for key, value in topic["config"].items() if key not in RETENTION}
    return {**topic, "config": config}


def retention_plan(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], held: Held, declared: Sequence[Mapping[str, Any]], hold: bool
) -> dict[str, Any]:
    """The settings to record in the journal, and the settings to change.

    ``rows``: by alias, the pair's topics and those in ``held``, with their overrides, as ``topic_row`` returns them.
    ``held``: their earlier settings in the journal, by alias and topic; None: no override. ``declared``: the topics in
    the inventory. Returns ``held``, which the journal must record before the change (``hold``) or after it, and
    ``topics`` by alias, as ``kafka_topic`` accepts them.
    """
    there = {
        alias: {topic["name"]: topic["config"] for topic in topics if topic["exists"]} for alias, topics in rows.items()
    }
    if not hold:
        own = {topic["name"]: {key: topic["config"].get(key) for key in RETENTION} for topic in declared}
        # The inventory's current settings override those from before the hold.
        topics = {
            alias: [
                {"name": name, "config": {**before, **_given(own.get(name, {}))}}
                for name, before in names.items()
                if name in there.get(alias, {})
            ]
            for alias, names in held.items()
        }
        return {"held": {}, "topics": _some(topics)}
    # A topic that left the inventory meanwhile is restored with the others.
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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Store readiness results in the state topic of each cluster that responds, and read the earlier ones.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._core.checks.history import READINESS, REHEARSAL, kept, kept_key, moment, superfluous, trend_entry
from ..._core.errors import DrError
from ..._core.flows.pair_spec import PairSpec
from ..._kafka.client import Kafka
from ..._kafka.latest import read_latest, write_latest
from ..connections.clusters import on_each

__all__ = ["History", "keep_observation"]

# How many observations a report shows.
_SHOWN = 100


@dataclass
class History:
    """The stored results of a pair."""

    #: Time of this observation.
    at: str
    #: The last rehearsal; None: there is none.
    rehearsal: dict[str, Any] | None = None
    #: The latest observations, this one last.
    observations: list[dict[str, Any]] = field(default_factory=list)
    #: Why results could not be read or stored.
    warnings: list[str] = field(default_factory=list)


def keep_observation(kafkas: Mapping[str, Kafka], pair: PairSpec, report: Mapping[str, Any], keep: bool) -> History:
    """Read the earlier observations. With ``keep``, store this one and delete the oldest. Errors become warnings."""
    topic = pair.state_topic
    result = History(moment(time.time()))
    copies = on_each(kafkas, lambda alias: _values(kafkas[alias], topic, result))
    now = trend_entry(pair.name, result.at, report)
    values = [value for copy in copies.values() for value in copy or ()]
    result.rehearsal = next(reversed(kept(values, pair.name, REHEARSAL)), None)
    observations = [*kept(values, pair.name, READINESS), now]
    result.observations = observations[-_SHOWN:]
    if keep:
        there = {alias: kafkas[alias] for alias, copy in copies.items() if copy is not None}
        changes = {_key(observation): None for observation in superfluous(observations)} | {_key(now): now}
        on_each(there, lambda alias: _write(there[alias], topic, changes, result))
    return result


def _key(observation: Mapping[str, Any]) -> str:
    return kept_key(observation["pair"], READINESS, observation["at"])


def _values(kafka: Kafka, topic: str, history: History) -> list[dict[str, Any]] | None:
    """Return the values of the state topic; None: it does not exist, or cannot be read."""
    try:
        values = read_latest(kafka, topic)
    except DrError as error:
        history.warnings.append(f"Earlier readiness results could not be read: {error.sentence()}")
        return None
    return None if values is None else list(values.values())


def _write(kafka: Kafka, topic: str, values: Mapping[str, Mapping[str, Any] | None], history: History) -> None:
    try:
        write_latest(kafka, topic, values)
    except DrError as error:
        history.warnings.append(f"This readiness result could not be stored: {error.sentence()}")

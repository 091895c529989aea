# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find transactions that stay open on the sources of flows, by several observations of the same log ends (R43).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..._core.offsets.open_transactions import WATCH_SECONDS, OpenTransaction, StableEnds, still_open
from ..._core.partition import Partition
from ..._core.waiting import Bounds, wait_until
from ..._kafka.client import Kafka
from ..._kafka.topics import log_ends
from ..connections.clusters import on_each
from .pair import ISOLATION, Pair

__all__ = ["open_transactions"]

# Seconds between two observations.
_STEP = 0.25


def open_transactions(pair: Pair, aliases: Iterable[str]) -> list[OpenTransaction]:
    """Return the transactions on originals of the clusters ``aliases`` that stay open.

    Ends as soon as each transaction of the first observation has ended, and after ``WATCH_SECONDS`` at the latest.
    """
    rows = on_each(dict.fromkeys(aliases), lambda alias: _on_one(pair, alias))
    return [row for transactions in rows.values() for row in transactions]


def _on_one(pair: Pair, alias: str) -> list[OpenTransaction]:
    kafka, observed = pair.kafka[alias], list[StableEnds]()

    def observe() -> list[OpenTransaction]:
        keys = (
            {transaction.key for transaction in still_open(alias, observed)}
            if observed
            else pair.existing(alias, pair.topics)
        )
        observed.append(_stable_ends(kafka, keys))
        return still_open(alias, observed)

    return wait_until(observe, lambda transactions: not transactions, Bounds(WATCH_SECONDS, _STEP)).state


def _stable_ends(kafka: Kafka, keys: Iterable[Partition]) -> StableEnds:
    """Read the high watermarks before the last stable offsets: a log that grows in between has no open transaction."""
    high = log_ends(kafka, keys)
    asked = time.monotonic()
    stable = log_ends(kafka, high, ISOLATION)
    return StableEnds(asked, time.monotonic(), {key: (stable[key], high[key]) for key in high})

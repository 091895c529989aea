# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List, export or replay the tail of a lost cluster that has come back.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from ..._module import Result
from ..journal.copies import read_state
from ..observation.pair import Pair
from .export import export
from .finding import Finder, require_whole
from .replay import Replay
from .request import LossFacts, SalvageRequest
from .tail import TailReader, lines

__all__ = ["salvage"]


def salvage(request: SalvageRequest, check: bool) -> Result:
    """Find the tail, and write it to files (``export``) or replay it once (``replay``)."""
    source, target = request.source, request.target
    pair = Pair(request.pair, [(source, target)], request.timeout)
    facts = LossFacts.of(read_state(pair.kafka, pair.spec), source, target)
    reader = TailReader(pair.kafka[source], source)
    finder = Finder(pair, (source, target), facts, reader)
    if request.mode == "replay":
        finder.require_known_replays(request.accept_expired)
    found = finder.find()
    result = Result()
    replay = Replay(pair, request, found, facts, reader)
    if request.mode != "list":
        require_whole(found.tails, source, request.accept_expired)
    if request.mode == "export":
        result.outcomes = export(request, found, facts, reader, pair.kafka[source].cluster_id, check)
    elif request.mode == "replay":
        result.outcomes = replay.replay(check)
    rows = [tail.row() for tail in found.tails]
    result.extra = {
        "partitions": rows,
        "records": sum(row["records"] for row in rows),
        "after_failover": sum(row["after_failover"] for row in rows),
        "newer_keys": replay.newer_keys,
        "lines": lines(rows, source, target),
    }
    result.requests = pair.requests
    return result

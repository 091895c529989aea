# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the tail of a lost cluster to files.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from ..._core.changes import Change, Outcome
from ..._core.offsets.tails import line
from ..._files import write_parts
from .finding import Found
from .request import LossFacts, SalvageRequest
from .tail import TailReader

__all__ = ["export"]

_LONGEST, _KEPT = 255, 200


def export(
    request: SalvageRequest, found: Found, facts: LossFacts, reader: TailReader, cluster_id: str, check: bool
) -> list[Outcome]:
    """Write a file of JSON lines for each partition, and an index with their SHA-256 digests."""
    folder, journaled = request.folder, facts.topic_ids.get(request.source, {})
    outcomes, index = [], []
    for tail in found.tails:
        if not tail.records:
            continue
        tail.file = str(folder / _file_name(*tail.key))
        lines = (f"{line(*tail.key, record)}\n" for record in reader.records(tail))
        digest, written = _file(Path(tail.file), lines, tail.records, check)
        index.append({**tail.row(), "sha256": digest})
        outcomes += written
    about = {
        "schema": "switchback.kafka_dr/salvage/2",
        "pair": request.pair.name,
        "cluster": cluster_id,
        "topic_ids": {name: journaled.get(name) for name in request.pair.topics},
        "files": index,
    }
    return outcomes + _file(folder / "index.json", [json.dumps(about, indent=2) + "\n"], len(index), check)[1]


def _file_name(topic: str, partition: int) -> str:
    """``<topic>-<partition>.jsonl``. A file name may have 255 bytes, a topic 249: a digest replaces the end of that."""
    name = f"{topic}-{partition}.jsonl"
    if len(name) <= _LONGEST:
        return name
    return f"{topic[:_KEPT]}-{hashlib.sha256(topic.encode()).hexdigest()[:16]}-{partition}.jsonl"


def _file(path: Path, parts: Iterable[str], records: int, check: bool) -> tuple[str, list[Outcome]]:
    """Write a file unless it has this content already. Return its SHA-256, and what was or would be written."""
    digest, changed = write_parts(path, parts, 0o640, check)
    change = Change("file", str(path), "write", None, {"records": records})
    return digest, [Outcome(change, "planned" if check else "done")] if changed else []

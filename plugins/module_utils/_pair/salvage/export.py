# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the tail of a lost cluster to files.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from ..._core.changes import Change, Outcome
from ..._core.offsets.tails import line
from ..._files import write_whole
from .finding import Found
from .request import LossFacts, SalvageRequest
from .tail import TailReader

__all__ = ["export"]


def export(
    request: SalvageRequest, found: Found, facts: LossFacts, reader: TailReader, cluster_id: str, check: bool
) -> list[Outcome]:
    """Write a file of JSON lines for each partition, and an index with their SHA-256 digests."""
    folder, journaled = request.folder, facts.topic_ids.get(request.source, {})
    outcomes, index = [], []
    for tail in found.tails:
        if not tail.records:
            continue
        tail.file = str(folder / f"{tail.key[0]}-{tail.key[1]}.jsonl")
        text = "".join(f"{line(*tail.key, record)}\n" for record in reader.records(tail))
        index.append({**tail.row(), "sha256": hashlib.sha256(text.encode()).hexdigest()})
        outcomes += _file(Path(tail.file), text, tail.records, check)
    about = {
        "schema": "switchback.kafka_dr/salvage/1",
        "pair": request.pair.name,
        "cluster": cluster_id,
        "topic_ids": {name: journaled.get(name) for name in request.pair.topics},
        "files": index,
    }
    return outcomes + _file(folder / "index.json", json.dumps(about, indent=2) + "\n", len(index), check)


def _file(path: Path, text: str, records: int, check: bool) -> list[Outcome]:
    with contextlib.suppress(OSError):
        if path.read_text(encoding="utf-8") == text:
            return []
    change = Change("file", str(path), "write", None, {"records": records})
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text, 0o640)
    return [Outcome(change, "planned" if check else "done")]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find keys of the tail that applications have written again since the cutover.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from ..._core.errors import DrError
from ..._core.offsets.tails import PROVENANCE
from ..._core.partition import Partition
from ..._kafka.records import EXHAUSTED, Reading, read_ranges
from ..observation.pair import ISOLATION, Pair
from .tail import CHUNK, CHUNK_BYTES, READ_SECONDS, Tail, TailReader

__all__ = ["newer_keys", "require_accepted"]


def newer_keys(
    pair: Pair, target: str, tails: Sequence[Tail], reader: TailReader, cut: Mapping[Partition, int]
) -> list[str]:
    """Return the keys of the tails that were written on ``target`` since. A replay would put the older record last."""
    keys: dict[str, set[bytes]] = {}
    for tail in tails:
        keys.setdefault(tail.key[0], set()).update(one.key for one in reader.records(tail) if one.key is not None)
    logs = pair.ranges(target, keys)
    newer: dict[str, None] = {}
    for key, (start, end) in sorted(logs.items()):
        at = max(start, cut.get(key, start))
        while at < end:
            reading = Reading(ISOLATION, limit=CHUNK, most_bytes=CHUNK_BYTES, timeout=READ_SECONDS)
            read = read_ranges(pair.kafka[target], {key: (at, end)}, reading)[key]
            if not read.complete:
                raise DrError(
                    "tail_unreadable",
                    f"{key} on {target} could not be read from offset {at} to {end}: {read.ended}.",
                    "It is unknown whether newer records have keys of the tail. Nothing was written. Start again"
                    " when every partition has a leader.",
                )
            for record in read.records:
                # A record that was itself replayed is not newer.
                own = any(name.startswith(PROVENANCE) for name, _value in record.headers or ())
                if record.key in keys[key[0]] and not own:
                    newer.setdefault(f"{key[0]}: {(record.key or b'').decode(errors='replace')}")
            at = end if read.ended == EXHAUSTED or not read.records else read.records[-1].offset + 1
    return list(newer)


def require_accepted(keys: Sequence[str], target: str, accepted: Collection[str]) -> None:
    """Raise ``newer_keys`` for keys of topics that are not ``accepted``."""
    topics = {name.split(":", 1)[0] for name in keys} - set(accepted)
    if topics:
        names = json.dumps(sorted(topics))
        raise DrError(
            "newer_keys",
            f"{len(keys)} keys of the tail were written again on {target} since: {', '.join(keys[:5])}. A replay would"
            " put the older record after the newer one.",
            "Nothing was written. Replay into the topic <name>.salvage (kafka_dr_salvage_into: salvage, the default)."
            " Or, if the applications may read an older record of a key after a newer one, add"
            f" -e '{{\"kafka_dr_accept_newer_keys\": {names}}}'.",
        )

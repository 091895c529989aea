# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the offsets of sample records in a second pass over the ledgers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from ledger.reading import TAB, Ledger, place_of, settled

Record = tuple[str, int]
Wanted = Mapping[str, Mapping[str, Sequence[Record]]]  # group -> class -> records


def find_places(ledgers: Sequence[Ledger], wanted: Wanted) -> dict[str, dict[str, object]]:
    """group -> class -> [{producer, seq, sent, processed: [place, ...]}]. Reads no ledger if `wanted` is empty."""
    records = {record for classes in wanted.values() for items in classes.values() for record in items}
    sent = _sent_places([ledger for ledger in ledgers if ledger.is_producer], records)
    result: dict[str, dict[str, object]] = {}
    for group, classes in wanted.items():
        of_group = {record for items in classes.values() for record in items}
        members = [ledger for ledger in ledgers if not ledger.is_producer and ledger.owner == group]
        processed = _processed_places(members, of_group)
        result[group] = {
            kind: [
                {"producer": owner, "seq": seq, "sent": sent.get((owner, seq)), "processed": processed[owner, seq]}
                for owner, seq in items
            ]
            for kind, items in classes.items()
        }
    return result


def _sent_places(ledgers: Sequence[Ledger], records: set[Record]) -> dict[Record, dict[str, object]]:
    found: dict[Record, dict[str, object]] = {}
    for ledger in ledgers:
        numbers = {str(seq).encode(): seq for owner, seq in records if owner == ledger.owner}
        for line in chain.from_iterable(ledger.read() if numbers else ()):
            if line[:1] in (b"K", b"X") and (number := line.split(TAB, 2)[1]) in numbers:
                found[ledger.owner, numbers[number]] = place_of(line)
    return found


def _processed_places(ledgers: Sequence[Ledger], records: set[Record]) -> dict[Record, list[dict[str, object]]]:
    found: dict[Record, list[dict[str, object]]] = {record: [] for record in records}
    names = {f"P\t{owner}\t{seq}".encode(): (owner, seq) for owner, seq in records}
    for ledger in ledgers if records else ():
        for line in chain.from_iterable(settled(ledger)):
            name = TAB.join(line.split(TAB, 3)[:3])
            if name in names:
                found[names[name]].append({**place_of(line), "ledger": ledger.name})
    return found

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare acknowledged records with processed records. Pure: takes lines, returns a comparison.

========================  ====================================================================================
lost                      acknowledged, never processed by the group
processed_twice           processed more than once by any members of the group
phantom                   processed although aborted, or with a number that its producer never announced
unknown                   announced, but it is unknown whether it was written: neither lost nor phantom
out_of_order              first processed after a later record of the same producer and key
failed_processed          reported as rejected, yet processed: an earlier attempt had been written
maybe_processed           in a transaction of a processor whose end is not in the ledger
foreign                   processed, but not written by a ledger client
========================  ====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ledger.gaps import Activity, Gap, Window
from ledger.reading import Ledger
from ledger.samples import find_places
from ledger.sent import ABORTED, ACKNOWLEDGED, ANNOUNCED, FAILED, NONE, Sent, read_sent
from ledger.taken import MAYBE, MOST, SAMPLES, Taken, read_taken


@dataclass
class GroupFindings:
    """Records by class and producer, as ascending sequence numbers."""

    acknowledged: int = 0
    processed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def add(self, kind: str, producer: str, numbers: Sequence[int], count: int) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + count
        kept = self.samples.setdefault(kind, [])
        kept.extend((producer, seq) for seq in numbers[: SAMPLES - len(kept)])


KINDS = ("lost", "processed_twice", "phantom", "failed_processed", "unknown_processed", "maybe_processed")


def judge(taken: Taken) -> GroupFindings:
    """Classify all records for one group. Works on bytes of whole ledgers, without a loop over records."""
    found = GroupFindings()
    found.counts = dict.fromkeys(KINDS, 0)
    for owner, sent in taken.sent.items():
        counts = taken.counts[owner]
        acknowledged = _and(_mask(sent.outcomes, (ACKNOWLEDGED,)), _covered(taken, sent))
        processed = _mask(counts, (1, MOST))
        maybe = _mask(counts, (MAYBE,))
        found.acknowledged += acknowledged.count(1)
        found.processed += processed.count(1)
        untouched = _mask(counts, (0,))
        classes = {
            "lost": _and(acknowledged, untouched),
            "processed_twice": _mask(counts, (MOST,)),
            "phantom": _and(_mask(sent.outcomes, (ABORTED, NONE)), processed),
            "failed_processed": _and(_mask(sent.outcomes, (FAILED,)), processed),
            "unknown_processed": _and(_mask(sent.outcomes, (ANNOUNCED,)), processed),
            "maybe_processed": maybe,
        }
        for kind, mask in classes.items():
            found.add(kind, owner, _committed_offsets(mask, SAMPLES), mask.count(1))
    unannounced = sorted(taken.unannounced)
    for producer, seq in unannounced[:SAMPLES]:
        found.add("phantom", producer, [seq], 0)
    found.counts["phantom"] += len(unannounced)
    found.processed += len(unannounced)
    return found


def _covered(taken: Taken, sent: Sent) -> bytes:
    covers = [taken.covers(topic) for topic in sent.topics]
    if all(covers):
        return b"\1" * len(sent.outcomes)
    if not any(covers):
        return bytes(len(sent.outcomes))
    return bytes(map(covers.__getitem__, sent.topic_numbers))


def _mask(values: bytearray, wanted: Iterable[int]) -> bytes:
    table = bytearray(256)
    for value in wanted:
        table[value] = 1
    return bytes(values.translate(table))


def _and(left: bytes, right: bytes) -> bytes:
    both = int.from_bytes(left, "little") & int.from_bytes(right, "little")
    return both.to_bytes(len(left), "little")


def _committed_offsets(mask: bytes, most: int) -> list[int]:
    found: list[int] = []
    committed_offset = mask.find(1)
    while committed_offset >= 0 and len(found) < most:
        found.append(committed_offset)
        committed_offset = mask.find(1, committed_offset + 1)
    return found


def compare(ledgers: Sequence[Ledger], window: Window | None = None) -> dict[str, object]:
    """The whole result as JSON values. Reads the sent records first, because their classes depend on them."""
    window = window or Window()
    sent = {ledger.owner: read_sent(ledger) for ledger in ledgers if ledger.is_producer}
    members: dict[str, list[Ledger]] = {}
    for ledger in ledgers:
        if not ledger.is_producer:
            members.setdefault(ledger.owner, []).append(ledger)
    taken = {group: read_taken(group, members[group], sent) for group in sorted(members)}
    found = {group: judge(item) for group, item in taken.items()}
    places = find_places(ledgers, {group: item.samples for group, item in found.items()})
    groups = {group: _group_result(taken[group], found[group], places[group]) for group in taken}
    producers = {owner: _producer_result(item) for owner, item in sent.items()}
    return {
        "schema": 1,
        "verdict": _verdict(producers, groups),
        "totals": _totals(producers, groups),
        "producers": producers,
        "groups": groups,
        "gaps": {
            "window": {"from": window.start, "to": window.end},
            "acknowledged": _as_dict(_together(sent.values()).longest_gap(window)),
            "producers": {owner: _as_dict(item.activity.longest_gap(window)) for owner, item in sent.items()},
            "groups": {group: _as_dict(item.activity.longest_gap(window)) for group, item in taken.items()},
        },
    }


def _producer_result(sent: Sent) -> dict[str, int]:
    return {
        "announced": len(sent.outcomes) - sent.count(NONE),
        "acknowledged": sent.count(ACKNOWLEDGED),
        "failed": sent.count(FAILED),
        "aborted": sent.count(ABORTED),
        "unknown": sent.count(ANNOUNCED),
    }


def _group_result(taken: Taken, found: GroupFindings, samples: dict[str, object]) -> dict[str, object]:
    return {
        "subscribed": sorted(taken.subscribed),
        "acknowledged": found.acknowledged,
        "processed": found.processed,
        **found.counts,
        "reprocessings": taken.reprocessings,
        "out_of_order": taken.out_of_order,
        "foreign": taken.foreign,
        "samples": {**samples, "out_of_order": [item.as_dict() for item in taken.disorders]},
    }


TOTALS = ("processed", "lost", "processed_twice", "phantom", "out_of_order", "failed_processed", "maybe_processed")


def _totals(producers: dict[str, dict[str, int]], groups: dict[str, dict[str, object]]) -> dict[str, object]:
    """Totals over all producers and groups. A record that two groups lost counts twice."""
    names = ("announced", "acknowledged", "failed", "aborted", "unknown")
    sums: dict[str, object] = {name: sum(item[name] for item in producers.values()) for name in names}
    return {**sums, **{name: sum(int(str(item[name])) for item in groups.values()) for name in TOTALS}}


def _verdict(producers: dict[str, dict[str, int]], groups: dict[str, dict[str, object]]) -> str:
    """The worst of damaged, unknown and clean. A group without acknowledged records is unknown."""
    if any(item["lost"] or item["phantom"] for item in groups.values()):
        return "damaged"
    if not groups or not producers or not all(item["acknowledged"] for item in groups.values()):
        return "unknown"
    return "clean"


def _together(sent: Iterable[Sent]) -> Activity:
    activity = Activity()
    for item in sent:
        activity.join(item.activity)
    return activity


def _as_dict(gap: Gap | None) -> dict[str, object] | None:
    return gap.as_dict() if gap else None

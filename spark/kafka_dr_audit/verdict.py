# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the result of the comparison: PROVEN, REFUTED or UNKNOWN. docs/audit.md describes the schema of the result."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import differences as d
from . import sole_writer
from .alignment import Same
from .committed_offsets import EXACT, NONE, REREAD, SKIP, Judged, Map, SecondCopy, judge
from .level1 import PartitionPair
from .level2 import Bulk, Compared
from .plan import SIDES, VERDICTS, AuditPlan, CommittedOffsets
from .resends import Doubled, unexplained
from .snapshot import Scope
from .sole_writer import SinceCut

SCHEMA = "switchback.kafka_dr/audit/2"
PROVEN, REFUTED, UNKNOWN = VERDICTS
UNCLASSIFIED = "UNCLASSIFIED"

_MEANING = {
    d.LOST: "on the source, not on the target",
    d.CORRUPT: "altered during replication",
    d.REORDERED: "on the target at another place",
    d.MISPLACED: "on the target in another partition",
    d.ABORTED: "aborted by its producer, but committed on the target",
    d.FOREIGN: "on the target, never on the source",
    d.DUPLICATE: "on the target more often than on the source",
    d.ERRANT: "written on the source, never replicated: the lost tail",
    d.NOT_YET: "not replicated yet",
    d.NEWER: "replicated after the snapshot was taken",
    d.EXPIRED: "deleted from the head of one log, so not comparable",
    d.COMPACTED: "superseded by a newer record of its key",
    d.RETIMED: "equal except for a timestamp that the flow does not keep",
    UNCLASSIFIED: "different, in a run that is too long to classify",
}


def combine(verdicts: Iterable[str]) -> str:
    """Combine verdicts: REFUTED if any part is REFUTED, PROVEN if there are parts and all are PROVEN, else UNKNOWN."""
    parts = list(verdicts)
    if REFUTED in parts:
        return REFUTED
    return PROVEN if parts and all(part == PROVEN for part in parts) else UNKNOWN


def result(
    plan: AuditPlan,
    scopes: Sequence[Scope],
    compared: Sequence[Compared],
    unread: Mapping[Scope, Sequence[int]],
    facts: Mapping[str, Any],
    sample: int,
) -> dict[str, Any]:
    """Return the whole result document.

    ``unread``: partitions of a scope that have offsets but no visible record. ``facts``: further keys of the document.
    ``sample``: number of differences of each class to list.
    """
    by_scope = {item.scope: item for item in compared}
    topics = [_topic(scope, by_scope.get(scope), unread.get(scope, ()), sample) for scope in scopes]
    return {
        "schema": SCHEMA,
        "run": plan.run,
        "pair": plan.pair,
        "verdict": combine(topic["verdict"] for topic in topics),
        "partial": False,
        **facts,
        "topics": topics,
        "written_by_flow": _whole([topic["written_by_flow"] for topic in topics if topic["written_by_flow"]]),
        "not_checked": sorted({text for topic in topics for text in topic["not_checked"]}),
    }


def _topic(scope: Scope, compared: Compared | None, unread: Sequence[int], sample: int) -> dict[str, Any]:
    topic = scope.topic
    classes = _classes(scope, compared, sample) if compared else []
    committed_offsets = (
        _committed_offsets(compared) if compared else [_unjudged(item) for item in topic.committed_offsets]
    )
    reasons = list(scope.reasons)
    if unread:
        shown = ", ".join(map(str, unread[:5]))
        reasons.append(f"partitions {shown} have offsets but no readable records, and no aborted records explain it")
    if compared:
        reasons += _unsettled(compared)
    reasons += [f"{item['records']} {item['kind']}: {item['reason']}" for item in classes if item["verdict"] == UNKNOWN]
    refuted = [item for item in classes if item["verdict"] == REFUTED]
    wrong = [item for item in committed_offsets if item["judged"] == REFUTED]
    unknown = [item for item in committed_offsets if item["judged"] == UNKNOWN]
    if unknown:
        reasons.append(f"{len(unknown)} committed offsets could not be judged: {unknown[0]['reason']}")
    verdict = REFUTED if refuted or wrong else UNKNOWN if reasons or not compared else PROVEN
    return {
        "name": topic.name,
        "source": _side(scope, "source"),
        "target": _side(scope, "target"),
        "mode": topic.mode,
        "isolation": topic.isolation,
        "guarantee": topic.guarantee,
        "timestamps": scope.timestamps,
        "verdict": verdict,
        "reasons": reasons,
        "notes": scope.notes,
        "not_checked": _not_checked(scope, compared, committed_offsets),
        "classes": classes,
        "written_by_flow": _written_by_flow(scope, compared, unread) if topic.from_cut else None,
        "committed_offsets": committed_offsets,
        "partitions": [_partition(pair, compared) for pair in compared.pairs] if compared else [],
    }


def _written_by_flow(scope: Scope, compared: Compared | None, unread: Sequence[int]) -> dict[str, str]:
    """Has only the flow written to the target since the cut? (R50)"""
    reasons = [] if scope.topic.cut_known else ["the cut of the last move is unknown"]
    reasons += [*scope.reasons, *(["some offsets hold no readable records"] if unread else [])]
    pairs = compared.pairs if compared else []
    reasons += _unsettled(compared) if compared else ["the topic could not be compared"]
    if compared and len(pairs) < len(scope.topic.partitions):
        reasons.append("some partitions were not compared")
    compacts = bool(scope.target and scope.target.compacts)
    verdict, reason = sole_writer.judge([_since_cut(pair, compared) for pair in pairs if compared], compacts, reasons)
    return {"verdict": verdict, "reason": f"{scope.topic.name}: {reason}"}


def _since_cut(pair: PartitionPair, compared: Compared) -> SinceCut:
    source, target = (pair.span(name) for name in SIDES)
    planned = next(item for item in pair.scope.topic.partitions if item.number == pair.partition)
    counts: Counter[str] = Counter()
    for item in compared.differences:
        # A record of this partition may lie in another one on the target.
        for number in {item.partition, item.target_partition} - {None}:
            counts[item.kind] += number == pair.partition
    for bulk in compared.bulks:
        if bulk.partition == pair.partition:
            counts[bulk.kind or UNCLASSIFIED] += max(bulk.source_records, bulk.target_records)
    return SinceCut(
        pair.partition,
        source.begin,
        target.begin,
        target.border,
        pair.target.chunks.total,
        min(target.deleted, target.border - target.begin),
        pair.partition in pair.scope.unstable,
        planned.stored,
        pair.partition in compared.narrow,
        counts,
    )


def _whole(findings: Sequence[Mapping[str, str]]) -> dict[str, str] | None:
    """The worst finding of all topics. None: no topic is compared from a cut."""
    if not findings:
        return None
    verdict = combine(finding["verdict"] for finding in findings)
    reasons = [finding["reason"] for finding in findings if finding["verdict"] == verdict]
    more = f" (and {len(reasons) - 1} more topics)" if len(reasons) > 1 else ""
    return {"verdict": verdict, "reason": f"{reasons[0]}{more}"}


def _unsettled(compared: Compared) -> list[str]:
    """Reasons for UNKNOWN: records that were counted but neither found equal nor classified."""
    reasons = []
    for name in SIDES:
        outside = sum(pair.half(name).outside for pair in compared.pairs)
        if outside:
            reasons.append(f"{outside} records of {compared.scope.side(name)} are after the end of the plan")
    named = {place for item in compared.differences for place in (item.partition, item.target_partition)}
    named |= {bulk.partition for bulk in compared.bulks}
    # Online, records that were missing in the first pass may have been replicated since.
    open_ = [pair.partition for pair in compared.pairs if pair.gaps and pair.partition not in named]
    if open_ and compared.scope.topic.mode != "online":
        reasons.append(f"partitions {open_[:5]} differed in the first pass, but level 2 found no difference")
    return reasons


def _side(scope: Scope, name: str) -> dict[str, Any]:
    side, observation = scope.side(name), getattr(scope, name)
    return {"cluster": side.cluster, "topic": side.topic, "topic_id": observation.topic_id if observation else None}


def _not_checked(scope: Scope, compared: Compared | None, committed_offsets: Sequence[Mapping[str, Any]]) -> list[str]:
    texts = []
    if scope.readable and not scope.timestamps:
        texts.append(f"{scope.topic.name}: timestamps, because one topic overwrites them (LogAppendTime)")
    gone = sum(span.deleted for (name, _other), span in scope.spans.items() if name == "source")
    if gone:
        texts.append(f"{scope.topic.name}: records that the source deleted from the heads of its logs ({gone} offsets)")
    if scope.topic.baseline:
        texts.append(f"{scope.topic.name}: records before the agreed start")
    if not committed_offsets:
        texts.append(f"{scope.topic.name}: committed offsets, because the plan names none")
    if compared and any(item["verdict"] == "GONE" for item in committed_offsets):
        texts.append(f"{scope.topic.name}: committed offsets of the last move whose records were deleted since")
    if any(side.live for side in (scope.topic.source, scope.topic.target)):
        texts.append(f"{scope.topic.name}: records after the ends that the plan names")
    if scope.topic.mode == "online":
        texts.append(f"{scope.topic.name}: records written after the snapshot")
    return texts


def _classes(scope: Scope, compared: Compared, sample: int) -> list[dict[str, Any]]:
    found = []
    for kind in (*d.KINDS, UNCLASSIFIED):
        ones = [item for item in compared.differences if item.kind == kind]
        bulks = [bulk for bulk in compared.bulks if (bulk.kind or UNCLASSIFIED) == kind]
        if not ones and not bulks:
            continue
        verdict, reason = _judged(scope, kind, ones, bulks)
        if kind == d.DUPLICATE and kind not in scope.topic.accept:
            verdict, reason = _resent(ones, compared) or (verdict, reason)
        if verdict == REFUTED and not bulks and compared.narrow.issuperset(item.partition for item in ones):
            verdict, reason = (
                UNKNOWN,
                "may be second copies of records that were not read again: raise --detail-records",
            )
        stamps = [stamp for item in ones for stamp in (item.source_stamp, item.target_stamp) if stamp is not None]
        stamps += [stamp for bulk in bulks for stamp in (bulk.oldest, bulk.newest)]
        stamps = [stamp for stamp in stamps if stamp >= 0]
        found.append(
            {
                "kind": kind,
                "meaning": _MEANING[kind],
                "records": len(ones) + sum(max(bulk.source_records, bulk.target_records) for bulk in bulks),
                "verdict": verdict,
                "reason": reason,
                "partitions": sorted({item.partition for item in ones} | {bulk.partition for bulk in bulks}),
                "oldest": min(stamps, default=None),
                "newest": max(stamps, default=None),
                "sample": [_sample(item, compared) for item in ones[:sample]],
                "runs": [vars(bulk) for bulk in bulks[:sample]],
            }
        )
    return found


def _judged(scope: Scope, kind: str, ones: Sequence[d.Difference], bulks: Sequence[Bulk]) -> tuple[str, str]:
    """Return the verdict and the reason for a class of differences."""
    if kind in scope.topic.accept:
        return PROVEN, "accepted by the plan"
    if kind in (d.COMPACTED, d.NEWER):
        return PROVEN, "explained"
    if kind == d.RETIMED:
        return PROVEN, "without a timestamp on the source, or with one of the target broker: no flow keeps it"
    if kind == d.DUPLICATE:
        if scope.topic.guarantee == "at_least_once":
            return PROVEN, "sent again by the flow, which guarantees at least once"
        return REFUTED, "the flow guarantees exactly once"
    if kind == d.NOT_YET:
        if scope.topic.mode == "online":
            return UNKNOWN, "the flow did not replicate them while the audit waited"
        return UNKNOWN, "after the last offset that the flow reports as replicated"
    if kind == UNCLASSIFIED:
        untimed = any(bulk.oldest < 0 for bulk in bulks)
        why = "; the source has records without a timestamp, which no flow keeps" if untimed else ""
        return UNKNOWN, f"there is a difference of an unknown kind: raise --detail-records{why}"
    if kind == d.EXPIRED:
        return _expired(scope, ones, bulks, time.time() * 1000)
    return REFUTED, _MEANING[kind]


def _resent(ones: Sequence[d.Difference], compared: Compared) -> tuple[str, str] | None:
    """Return verdict and reason if there are more second copies than a crash of the flow explains, else None."""
    found = {}
    for pair in compared.pairs:
        mine = [item for item in ones if item.partition == pair.partition]
        offsets = [item.source_offset for item in mine if item.source_offset is not None]
        if mine:
            span = (min(offsets), max(offsets)) if offsets else None
            records = pair.target.chunks.total - len(mine)
            found[pair.partition] = Doubled(pair.partition, len(mine), records, span)
    wrong = unexplained(found)
    if not wrong:
        return None
    shown = "; ".join(map(str, wrong[:3])) + (f" and {len(wrong) - 3} more" if wrong[3:] else "")
    return REFUTED, f"more than a crash of the flow explains, as if it had started without stored offsets: {shown}"


def _expired(scope: Scope, ones: Sequence[d.Difference], bulks: Sequence[Bulk], now_ms: float) -> tuple[str, str]:
    """Judge deleted records. The source may delete replicated records, but the target only by its own retention."""
    gone = [item for item in ones if item.target_offset is None]
    if not gone and not any(bulk.source_records for bulk in bulks):
        return PROVEN, "the source deleted them after they were replicated"
    stamps = [item.source_stamp or 0 for item in gone] + [bulk.newest for bulk in bulks if bulk.source_records]
    if any((item.source_stamp or 0) < 0 for item in gone) or any(bulk.oldest < 0 for bulk in bulks):
        return UNKNOWN, "the target's log begins later, and some of these records have no timestamp, so no known age"
    age = now_ms - max(stamps)
    kept = int(scope.target.settings["retention.ms"]) if scope.target and scope.target.expires else -1
    if 0 <= kept <= age:
        return PROVEN, f"older than the target's retention.ms of {kept}"
    return UNKNOWN, "the target's log begins later, and its retention.ms does not explain it (perhaps DeleteRecords)"


def _sample(item: d.Difference, compared: Compared) -> dict[str, Any]:
    shown: dict[str, Any] = {"partition": item.partition}
    if item.target_partition is not None:
        shown["target_partition"] = item.target_partition
    for name in SIDES:
        offset = getattr(item, f"{name}_offset")
        if offset is None:
            shown[name] = None
            continue
        partition = item.partition if name == "source" or item.target_partition is None else item.target_partition
        key, value = compared.hashes(name, partition, offset)
        stamp = _stamp(getattr(item, f"{name}_stamp"))
        shown[name] = {"offset": offset, "timestamp": stamp, "key_sha256": key, "value_sha256": value}
    if item.parts:
        shown["differs"] = list(item.parts)
    if item.detail:
        shown["detail"] = item.detail
    return shown


def _stamp(milliseconds: int) -> int | None:
    """Return the timestamp. None: the record has none."""
    return None if milliseconds < 0 else milliseconds


def _partition(pair: PartitionPair, compared: Compared) -> dict[str, Any]:
    shown: dict[str, Any] = {"partition": pair.partition, "chunks_equal": sum(part.length for part in pair.same)}
    for name in SIDES:
        chunks, span = pair.half(name).chunks, pair.span(name)
        shown[name] = {
            "start": span.start,
            "end": span.border,
            "records": chunks.total,
            "chunks": len(chunks),
            "oldest": _stamp(int(chunks.oldest.min())) if len(chunks) else None,
            "newest": _stamp(int(chunks.newest.max())) if len(chunks) else None,
        }
    counts: dict[str, int] = {}
    for item in compared.differences:
        if item.partition == pair.partition:
            counts[item.kind] = counts.get(item.kind, 0) + 1
    shown["differences"] = counts
    shown["map"] = _curve(pair)
    return shown


def _curve(pair: PartitionPair, points: int = 60) -> list[list[int]]:
    """Return [timestamp, source offset, target offset] of evenly chosen equal chunks, to show how offsets diverge."""
    both = [(part.left + n, part.right + n) for part in pair.same for n in _spread(part.length, points)]
    step = max(1, len(both) // points)
    left, right = pair.source.chunks, pair.target.chunks
    chosen = both[::step] + (both[-1:] if both and (len(both) - 1) % step else [])
    return [[int(left.oldest[i]), int(left.first[i]), int(right.first[j])] for i, j in chosen]


def _spread(length: int, points: int) -> Sequence[int]:
    step = max(1, length // points)
    return range(0, length, step)


# ---- committed offsets ----------------------------------------------------------------------------------------


def _committed_offsets(compared: Compared) -> list[dict[str, Any]]:
    maps = {pair.partition: _map(pair, compared) for pair in compared.pairs}
    halves = {pair.partition: pair for pair in compared.pairs}
    return [
        _committed_offset(item, halves[item.partition], maps[item.partition])
        for item in compared.scope.topic.committed_offsets
    ]


def _map(pair: PartitionPair, compared: Compared) -> Map | None:
    """Return the mapping of a partition. None: a run could not be classified, so no committed offset can be judged."""
    if any(bulk.partition == pair.partition and bulk.kind is None for bulk in compared.bulks):
        return None
    left = [0, *pair.source.chunks.records.cumsum().tolist()]
    right = [0, *pair.target.chunks.records.cumsum().tolist()]
    # If records were read again, their alignment counts instead of the alignment of their chunks.
    again = [(gap.left, gap.left_end) for gap in compared.ranges.get(pair.partition, ())]
    parts = [
        Same(left[begin], right[part.right + begin - part.left], left[end] - left[begin])
        for part in pair.same
        for begin, end in outside((part.left, part.left + part.length), again)
    ]
    parts += [part for item in compared.aligned if item.partition == pair.partition for part in item.same]
    copies = [
        SecondCopy(item.source_rank, item.target_rank)
        for item in compared.differences
        if item.kind == d.DUPLICATE
        and item.partition == pair.partition
        and item.source_rank is not None
        and item.target_rank is not None
    ]
    return Map(sorted(parts, key=lambda part: part.left), copies)


def outside(span: tuple[int, int], cuts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return [begin, end) without ``cuts``."""
    kept = [span]
    for low, high in cuts:
        kept = [
            piece
            for begin, end in kept
            for piece in ((begin, min(end, low)), (max(begin, high), end))
            if piece[0] < piece[1]
        ]
    return kept


def _committed_offset(item: CommittedOffsets, pair: PartitionPair, place: Map | None) -> dict[str, Any]:
    shown = _shown(item)
    beyond = _beyond(item, pair)
    if beyond:
        return {**shown, "verdict": beyond[0], "judged": beyond[1], "reason": beyond[2]}
    if place is None:
        return _unjudged(item, "the records around it could not be classified")
    ranks = {name: None if getattr(item, name) is None else _rank(pair, name, getattr(item, name)) for name in SIDES}
    own = 0 if item.own is None else _rank(pair, item.given, item.own)
    way = place if item.truth == "source" else place.mirrored()
    judged = judge(way, ranks[item.truth], ranks[item.given], own)
    return {**shown, **_verdict(judged)}


def _verdict(judged: Judged) -> dict[str, Any]:
    worth = {EXACT: PROVEN, REREAD: PROVEN, SKIP: REFUTED, NONE: REFUTED}.get(judged.verdict, UNKNOWN)
    reason = judged.reason
    if judged.verdict == SKIP:
        reason = f"the group would skip {judged.records} records"
    elif judged.verdict == REREAD:
        reason = f"{judged.records} records are read again"
    return {
        "verdict": judged.verdict,
        "records": judged.records,
        "resent": judged.resent,
        "judged": worth,
        "reason": reason,
    }


def _rank(pair: PartitionPair, name: str, offset: int) -> int:
    return int(pair.half(name).ranks[offset])


def _beyond(item: CommittedOffsets, pair: PartitionPair) -> tuple[str, str, str] | None:
    """Return verdict, judgement and reason for a committed offset outside the log (R8), or None if it is inside.

    Outside the log, auto.offset.reset decides.
    """
    for name in (item.given, item.truth):
        offset, span = getattr(item, name), pair.span(name)
        if offset is None:
            continue
        if offset < span.start and not pair.scope.topic.fresh:
            return "GONE", PROVEN, f"the log now begins at {span.start}, so the record at this offset was deleted"
        if offset < span.start and name == item.given:
            return "RESET", REFUTED, f"it is before the log start offset {span.start}, so auto.offset.reset decides"
        if offset < span.start:
            return UNKNOWN, UNKNOWN, f"the unread records of the group began before the log start offset {span.start}"
        if offset > span.end and name == item.given and not pair.scope.side(name).live:
            return "RESET", REFUTED, f"it is after the end offset {span.end}, so auto.offset.reset decides"
        if offset > span.border:
            return UNKNOWN, UNKNOWN, f"it is after the end of the compared range, {span.border}"
    return None


def _shown(item: CommittedOffsets) -> dict[str, Any]:
    shown = {"group": item.group, "partition": item.partition, "truth": item.truth}
    return {**shown, "source": item.source, "target": item.target, "own": item.own, "records": 0, "resent": 0}


def _unjudged(item: CommittedOffsets, reason: str = "the topic could not be compared") -> dict[str, Any]:
    return {**_shown(item), "verdict": UNKNOWN, "judged": UNKNOWN, "reason": reason}

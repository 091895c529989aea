# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate the committed offsets as of now, while flows and applications are running. Writes nothing.

Preflight uses it to refuse early if the barrier would refuse for a reason that stopping the applications does not
change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.listing import first_few
from ..._core.offsets.lasting_gaps import GroupOnPartition, is_higher_there, lasting_problems, stays_higher_there
from ..._core.offsets.skipped_records import skipped_in, total
from ..._core.partition import Partition
from ..._core.resources.groups import IDLE_STATES
from ..._core.waiting import wait_until
from ..._kafka.groups import committed_offsets
from ..._kafka.topics import log_ranges
from ..._module import Result
from ..connections.clusters import both
from ..journal.copies import read_state
from ..observation.pair import Pair
from .evidence import Evidence, by_group, gather, refused_skips, skips_refusal
from .requests import TranslationRequest
from .translation import find_offsets

__all__ = ["forecast", "lasting"]


def forecast(request: TranslationRequest) -> Result:
    """Translate all committed offsets as of now; fail for each that the barrier would refuse in any case.

    Until the applications stop, committed offsets only increase. Unread records that are gone from Y are refused at
    once, even if the group is reading, because it can read them only on X (R30). If records only *may* be gone, they
    may also be on their way to Y, so this observes again within the bound ``replicated``. So it does if a group that
    reads may still pass a higher committed offset on Y (R6).
    """
    x, y = request.leave, request.enter
    pair = Pair(request.pair, request.flows, request.request_timeout)

    def observe() -> tuple[Evidence, list[dict[str, Any]], int]:
        evidence, state = both(lambda: gather(pair, x, y), lambda: read_state(pair.kafka, request.pair))
        return evidence, *find_offsets(evidence, JournalFacts.toward(state, y))

    accepted = request.accept_skips
    evidence, rows, records = wait_until(
        observe, lambda observed: _settled(observed[0], observed[1], request), request.replicated
    ).state
    counts = [row["rereads"] for row in rows]
    extra: dict[str, Any] = {
        "committed_offsets": by_group(rows),
        "details": rows,
        "rereads": None if None in counts else sum(counts),
        "skips": total(rows).as_dict(),
        "records_read": records,
        "barrier": {},
    }
    problems = lasting(evidence, rows, request.group_lag)
    result = Result(extra=extra, requests=pair.requests)
    result.failure = skips_refusal(rows, (x, y), accepted)
    if problems and result.failure is None:
        result.failure = DrError(
            "offset_refused",
            f"{len(problems)} committed offsets cannot be moved: {first_few(problems, 3, '; ')}.",
            "Stopping the applications would not change this, so none was stopped. Commit an offset within the log on"
            f" {x}, or let the group read on. kafka_dr_group_lag=reread accepts records that are read again.",
        )
    if request.lower == "fail" and result.failure is None:
        result.failure = _higher_refusal(evidence, rows, request.group_lag)
    return result


def _settled(evidence: Evidence, rows: Collection[Mapping[str, Any]], request: TranslationRequest) -> bool:
    """Would another observation refuse the same rows?

    It is certain that some records are lost; or none may be, and no reading group may pass a higher offset on Y.
    """
    refused = [skipped_in(row) for row in refused_skips(rows, request.accept_skips)]
    if refused:
        return any(skips.at_least for skips in refused)
    return request.lower != "fail" or not any(
        stays_higher_there(row, False, False, request.group_lag)
        for row in rows
        if evidence.x_groups[row["group"]].state not in IDLE_STATES
    )


def _higher_refusal(evidence: Evidence, rows: Iterable[Mapping[str, Any]], group_lag: str) -> DrError | None:
    """Return an error if ``commit_offsets`` would find higher committed offsets on Y (R6), else None."""
    higher = [row for row in rows if is_higher_there(row)]
    if not higher:
        return None
    x, y = evidence.x, evidence.y
    committed = committed_offsets(evidence.pair.kafka[x], sorted({row["group"] for row in higher}))
    texts = [
        f'group "{row["group"]}" on {y} {row["topic"]}-{row["partition"]}: committed {row["existing"]}, processed up to'
        f" {row['offset']}"
        for row in higher
        if stays_higher_there(row, *_idle_and_waits(evidence, row, committed), group_lag)
    ]
    if not texts:
        return None
    return DrError(
        "offset_lower",
        f"{len(texts)} committed offsets on {y} are higher than what their groups have processed on {x}:"
        f" {first_few(texts, 3, '; ')}.",
        f"Stopping the applications would not change this, so none was stopped. If the group was set back on {x},"
        f" MirrorMaker 2's group sync has left its earlier offset on {y}: set it back, too, with"
        " -e kafka_dr_lower=lower. If the group has processed the records in between, keep the higher offset with"
        " -e kafka_dr_lower=keep (option lower).",
    )


def _idle_and_waits(
    evidence: Evidence, row: Mapping[str, Any], committed: Mapping[str, Mapping[Partition, int]]
) -> tuple[bool, bool]:
    """Whether the group of ``row`` is idle on X, and has an unread record that is on both clusters."""
    naming, group, number = evidence.pair.naming, row["group"], row["partition"]
    originals = {naming.replica(evidence.x, topic): topic for topic in evidence.pair.topics}
    if row["topic"] in originals:
        key = Partition(originals[row["topic"]], number)
        standing = _standing(evidence, group, key, evidence.forward.facts[key].end or 0, committed)
        return standing.idle, standing.unreachable
    # The group reads the replica of this original on X: each record there is on both clusters.
    key, status = Partition(naming.replica(evidence.y, row["topic"]), number), evidence.x_groups[group]
    idle = status.state in IDLE_STATES and committed[group].get(key) == status.commits.get(key)
    return idle, idle and (key not in status.commits or status.read_to_end.get(key) is False)


def lasting(evidence: Evidence, rows: Iterable[Mapping[str, Any]], group_lag: str) -> list[str]:
    """Return why the barrier will refuse rows, one text per row (see ``_core.offsets.lasting_gaps``)."""
    pair, x = evidence.pair, evidence.x
    sources = {evidence.pair.naming.replica(x, topic): topic for topic in pair.topics}
    rows_with_source = [
        (row, Partition(sources[row["topic"]], row["partition"])) for row in rows if row["topic"] in sources
    ]
    # Skipped records are refused elsewhere, or accepted by name. Only re-reads are left to check.
    suspects = [(row, key) for row, key in rows_with_source if row["quality"] != "exact" and not _only_skips(row)]
    if not suspects:
        return []
    # Offsets that still change belong to a reader with assign(). An open transaction hides the end from read_committed.
    ends = log_ranges(pair.kafka[x], {key for _row, key in suspects}, "read_uncommitted")
    committed = committed_offsets(pair.kafka[x], sorted({row["group"] for row, _key in suspects}))
    return lasting_problems(
        [(row, _standing(evidence, row["group"], key, ends[key][1], committed)) for row, key in suspects], x, group_lag
    )


def _only_skips(row: Mapping[str, Any]) -> bool:
    return skipped_in(row).possible and row["rereads"] == 0


def _standing(
    evidence: Evidence, group: str, key: Partition, end: int, committed: Mapping[str, Mapping[Partition, int]]
) -> GroupOnPartition:
    observation, facts = evidence.x_groups[group], evidence.forward.facts[key]
    return GroupOnPartition(
        partition=key,
        commit=observation.commits.get(key),
        end=end,
        idle=observation.state in IDLE_STATES and committed[group].get(key) == observation.commits.get(key),
        read_to_end=observation.read_to_end.get(key),
        last_replicated_offset=facts.last_replicated_offset,
        start=facts.start,
    )

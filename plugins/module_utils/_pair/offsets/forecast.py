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
from ..._core.offsets.lasting_gaps import GroupOnPartition, lasting_problems
from ..._core.offsets.skipped_records import skipped_in, total
from ..._core.partition import Partition
from ..._core.waiting import wait_until
from ..._kafka.groups import committed_offsets
from ..._kafka.topics import log_ranges
from ..._module import Result
from ..connections.clusters import both
from ..journal.copies import read_state
from ..observation.pair import Pair
from .evidence import Evidence, by_group, gather, preexisting_higher_offsets, refused_skips, skips_refusal
from .requests import TranslationRequest
from .translation import find_offsets

__all__ = ["forecast", "lasting"]


def forecast(request: TranslationRequest) -> Result:
    """Translate all committed offsets as of now; fail for each that the barrier would refuse in any case.

    Until the applications stop, committed offsets only increase. Unread records that are gone from Y are refused at
    once, even if the group is reading, because it can read them only on X (R30). If records only *may* be gone, they
    may also be on their way to Y, so this observes again within the bound ``replicated``.
    """
    x, y = request.leave, request.enter
    pair = Pair(request.pair, request.flows, request.request_timeout)

    def observe() -> tuple[Evidence, list[dict[str, Any]], int]:
        evidence, state = both(lambda: gather(pair, x, y), lambda: read_state(pair.kafka, request.pair))
        return evidence, *find_offsets(evidence, JournalFacts.toward(state, y))

    accepted = request.accept_skips
    evidence, rows, records = wait_until(
        observe, lambda observed: _settled(observed[1], accepted), request.replicated
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
    higher = _higher(evidence, rows) if request.lower == "fail" else []
    result.failure = skips_refusal(rows, (x, y), accepted)
    if problems and result.failure is None:
        result.failure = DrError(
            "offset_refused",
            f"{len(problems)} committed offsets cannot be moved: {first_few(problems, 3, '; ')}.",
            "Stopping the applications would not change this, so none was stopped. Commit an offset within the log on"
            f" {x}, or let the group read on. kafka_dr_group_lag=reread accepts records that are read again.",
        )
    elif higher and result.failure is None:
        result.failure = DrError(
            "offset_lower",
            f"{len(higher)} committed offsets on {y} are higher than what their groups have processed, so they skip"
            f" records: {first_few(higher, 3, '; ')}.",
            "Stopping the applications would not change this, so none was stopped. Find out which process committed"
            " them. Then let the group read on, set them back with -e kafka_dr_lower=lower, or keep them with"
            " -e kafka_dr_lower=keep (option lower).",
        )
    return result


def _settled(rows: Iterable[Mapping[str, Any]], accepted: Collection[str]) -> bool:
    """Are no rows refused for lost records, or is it certain that some records are lost?"""
    refused = [skipped_in(row) for row in refused_skips(rows, accepted)]
    return not refused or any(skips.at_least for skips in refused)


def _higher(evidence: Evidence, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name the offsets of idle groups that are higher on Y than an exact translation: the commit would refuse them.

    A group with members may reach the higher offset before it stops.
    """
    suspects = [row for row in rows if row["quality"] == "exact" and preexisting_higher_offsets([row])]
    idle = {name for name, status in evidence.x_groups.items() if status.state in ("EMPTY", "DEAD")}
    idle &= {row["group"] for row in suspects}
    committed = committed_offsets(evidence.pair.kafka[evidence.x], sorted(idle)) if idle else {}
    # Offsets that still change belong to a reader with assign().
    idle = {name for name in idle if evidence.x_groups[name].commits.items() <= committed[name].items()}
    return [
        f'group "{row["group"]}" on {row["topic"]}-{row["partition"]}: committed {row["existing"]}, processed up to'
        f" {row['offset']}"
        for row in suspects
        if row["group"] in idle
    ]


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
        idle=observation.state in ("EMPTY", "DEAD") and committed[group].get(key) == observation.commits.get(key),
        read_to_end=observation.read_to_end.get(key),
        last_replicated_offset=facts.last_replicated_offset,
        start=facts.start,
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""May a stopped flow continue from its stored offsets? Only if what it has replicated still exists.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import DrError
from ..listing import first_few

__all__ = [
    "Begun",
    "FlowPartition",
    "ReplicaStart",
    "forgotten",
    "misfits",
    "require_fit",
    "would_start",
]

# A source connector in one of these states does nothing until it is started; None: it does not exist.
_AT_REST = (None, "STOPPED", "PAUSED")
_DELETE = (
    "The offsets of this engine cannot be set, so it cannot continue what another connector or"
    " MirrorMaker 2 has replicated. Stop that one, delete the replicas, and run enable again (docs/limits.md)."
)


@dataclass(frozen=True)
class FlowPartition:
    """A partition of a flow."""

    partition: int
    last_replicated_offset: int
    #: Log end of the source; None: the partition does not exist, or the offset is unknown.
    end: int | None
    #: Log end of the replica; None as for ``end``.
    replica_end: int | None


@dataclass(frozen=True)
class Begun:
    """A topic that a flow replicates."""

    flow: str
    topic: str
    replica: str
    #: Partitions for which the flow has a stored offset (of the last replicated record).
    places: tuple[FlowPartition, ...]
    #: Original and replica whose topic id is not the one in the journal, in words.
    recreated: tuple[str, ...]
    #: Whether the replica has any record.
    held: bool


def forgotten(topics: Collection[Begun], again: Collection[str]) -> list[Begun]:
    """Return the topics whose stored offsets must be deleted: they refer to other records, and ``again`` names them.

    Raises for every other topic whose stored offsets do not match its logs, and for each topic in ``again`` that needs
    no new replication.
    """
    wrong = {one: reasons for one in topics if one.places and (reasons := _unfit(one))}
    left = [f"{one.flow}: {reasons[0]}" for one, reasons in wrong.items() if one.topic not in again]
    if left:
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(one.topic for one in wrong))
        raise DrError(
            "topic_recreated",
            f"{'; '.join(left[:5])}. The flow would continue after its stored offsets and skip the records before.",
            "Nothing was replicated. To replicate such a topic from its log start: run the playbook disable, delete the"
            f" replica, and run enable with -e '{{\"kafka_dr_copy_again\": [{names}]}}'.",
        )
    held = [f'{one.flow} "{one.replica}"' for one in wrong if one.held]
    if held:
        raise DrError(
            "replica_not_empty",
            f"These replicas have records: {', '.join(held)}. Replicated again, they would have each record twice.",
            "Nothing was replicated. Run the playbook disable, delete those replicas, and start again.",
        )
    stored = {one.topic for one in topics if one.places}
    # A recreated topic without stored offsets is replicated from its beginning anyway.
    vain = sorted(set(again) & stored - {one.topic for one in topics if one in wrong or one.recreated})
    if vain:
        raise DrError(
            "replica_not_empty",
            f"The replicas of {', '.join(vain)} match their stored offsets, so kafka_dr_copy_again has nothing to do.",
            "Nothing was replicated. Remove those topics from kafka_dr_copy_again; or run the playbook disable, delete"
            " the replica, and start again.",
        )
    return list(wrong)


def _unfit(one: Begun) -> list[str]:
    """Why the stored offsets refer to records that do not exist any more."""
    reasons = [f"recreated since the pair was enabled: {text}" for text in one.recreated]
    for place in one.places:
        at = f"{one.topic}-{place.partition} is replicated up to {place.last_replicated_offset}"
        if not place.replica_end:
            found = "was never written" if place.replica_end == 0 else "does not exist"
            reasons.append(f'{at}, but the replica "{one.replica}" {found}')
        elif place.end is None or place.last_replicated_offset >= place.end:
            reasons.append(f"{at}, but the source ends at {'an unknown offset' if place.end is None else place.end}")
    return reasons


@dataclass(frozen=True)
class ReplicaStart:
    """A partition whose replica has or had records, and the offset from which its flow would start."""

    flow: str
    topic: str
    partition: int
    replica: str
    #: Log end of the replica, above 0.
    replica_end: int
    #: The connector's stored offset: the last source record that it has replicated. None: it has none.
    stored: int | None
    #: Whether the connector exists. The stored offsets of a connector that does not exist cannot be read.
    exists: bool
    #: Whether the journal has the replica's topic id: then this pair's flow wrote it.
    journaled: bool
    #: Log end of the source. None: unknown.
    source_end: int | None = None
    #: Whether the source record at ``stored`` and the last record of the replica have equal content. None: one is gone.
    equal: bool | None = None
    #: Whether there is a source record after ``stored``. None: unknown.
    more: bool | None = None
    #: Records below this replica offset came from a cluster that was replaced; the flow never stored their offsets.
    replaced_below: int = 0


def would_start(state: str | None, taken: bool | None) -> bool:
    """Whether `enable` makes a source connector start to replicate a topic: it is stopped, or lacks the topic."""
    return state in _AT_REST or taken is not True


def misfits(starts: Collection[ReplicaStart]) -> list[str]:
    """Partitions whose flow would replicate records twice or skip some, with the evidence (R33)."""
    return [
        f"{one.flow} {one.topic}-{one.partition} ({reason})" for one in starts if (reason := _misfit(one)) is not None
    ]


def _misfit(one: ReplicaStart) -> str | None:
    replica = f'the replica "{one.replica}" ends at {one.replica_end}'
    if one.stored is None:
        # The check runs again after a missing connector was created in state STOPPED.
        unseen = one.journaled and not one.exists
        known = "the connector has no stored offset" if one.exists else "no connector of this pair has written it"
        return None if unseen or one.replica_end <= one.replaced_below else f"{replica}, {known}"
    if one.journaled or one.equal:
        return None
    if one.source_end is not None and one.stored >= one.source_end:
        return f"{replica}, the stored offset is {one.stored}, the source ends at {one.source_end}"
    if one.equal is False:
        return f"{replica} with another record than the one at the stored offset {one.stored}"
    # There is nothing to compare. If nothing is left to replicate, no record can be replicated twice.
    return None if one.more is False else f"{replica}, and the record at the stored offset {one.stored} is gone"


def require_fit(starts: Collection[ReplicaStart], others: Sequence[str], adoptable: bool) -> None:
    """Raise ``offsets_do_not_fit`` if there are misfits.

    ``others``: connectors of other names between the same two clusters. ``adoptable``: the engine's offsets can be set.
    """
    found = misfits(starts)
    if not found:
        return
    raise DrError(
        "offsets_do_not_fit",
        f"The stored offsets of {len(found)} partitions do not match their replicas:"
        f" {first_few(found, separator='; ')}."
        " Wanted: a stored offset whose record equals the last record of the replica. The flow would replicate every"
        " record twice, or skip some.",
        f"No source connector was started. {_adopt_or_delete(others) if adoptable else _DELETE}",
    )


def _adopt_or_delete(others: Sequence[str]) -> str:
    seen = f" Found on the same workers: {', '.join(others)}." if others else ""
    return (
        "If another connector or MirrorMaker 2 writes these replicas, name it in kafka_dr_adopt"
        f" (docs/procedures/enable.md).{seen} Otherwise delete the replicas, and run enable again."
    )

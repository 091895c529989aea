# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a flow that stood still may go on where it was: what it has copied must still be there.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import DrError

__all__ = [
    "Begun",
    "Place",
    "ReplicaStart",
    "forgotten",
    "misfits",
    "require_fit",
    "shown",
    "would_start",
]

_SHOWN = 5
# The states in which a source connector does nothing until it is started; None: it does not exist.
_AT_REST = (None, "STOPPED", "PAUSED")
_DELETE = (
    "The offsets of Streams Replication Manager cannot be set, so it cannot continue what another connector or"
    " MirrorMaker 2 has replicated: stop that one, delete the replicas, and run enable again (docs/limits.md)."
)


@dataclass(frozen=True)
class Place:
    """A partition of a flow. ``end`` and ``replica_end``: log ends; None: not there, or not known."""

    partition: int
    last_replicated_offset: int
    end: int | None
    replica_end: int | None


@dataclass(frozen=True)
class Begun:
    """A topic in a flow. ``places``: partitions of which the flow has a stored offset (the last copied record).

    ``recreated``: in words, original or replica that is not the journaled one. ``held``: has the replica any record?
    """

    flow: str
    topic: str
    replica: str
    places: tuple[Place, ...]
    recreated: tuple[str, ...]
    held: bool


def forgotten(topics: Collection[Begun], again: Collection[str]) -> list[Begun]:
    """Of which the stored offsets must go, because they are about other records and ``again`` names the topic.

    Raises for every other topic whose offsets do not fit, and for what ``again`` names in vain.
    """
    wrong = {one: reasons for one in topics if one.places and (reasons := _unfit(one))}
    left = [f"{one.flow}: {reasons[0]}" for one, reasons in wrong.items() if one.topic not in again]
    if left:
        names = ", ".join(f'"{name}"' for name in dict.fromkeys(one.topic for one in wrong))
        raise DrError(
            "topic_recreated",
            f"{'; '.join(left[:5])}. Flows would go on behind their stored offsets, and leave out what lies below.",
            "Nothing was copied. To copy such a topic from its beginning: run the playbook disable, delete its replica,"
            f" and run enable with -e '{{\"kafka_dr_copy_again\": [{names}]}}'.",
        )
    held = [f'{one.flow} "{one.replica}"' for one in wrong if one.held]
    if held:
        raise DrError(
            "replica_not_empty",
            f"Replicas that hold records: {', '.join(held)}. Copied again, they would hold them twice.",
            "Nothing was copied. Run the playbook disable, delete those replicas, and start again.",
        )
    stored = {one.topic for one in topics if one.places}
    vain = sorted(set(again) & stored - {one.topic for one in wrong})
    if vain:
        raise DrError(
            "replica_not_empty",
            f"The replicas of {', '.join(vain)} hold what was copied, so kafka_dr_copy_again has nothing to do.",
            "Nothing was copied. Leave those topics out; or run the playbook disable, delete the replica, start again.",
        )
    return list(wrong)


def _unfit(one: Begun) -> list[str]:
    """Why the stored offsets are about records that are not there any more."""
    reasons = [f"created again since the pair was enabled: {text}" for text in one.recreated]
    for place in one.places:
        at = f"{one.topic}-{place.partition} is copied up to {place.last_replicated_offset}"
        if not place.replica_end:
            found = "was never written" if place.replica_end == 0 else "does not exist"
            reasons.append(f'{at}, but the replica "{one.replica}" {found}')
        elif place.end is None or place.last_replicated_offset >= place.end:
            reasons.append(f"{at}, but it ends at {'an unknown offset' if place.end is None else place.end}")
    return reasons


@dataclass(frozen=True)
class ReplicaStart:
    """A partition whose replica holds or held records, and from where its flow would start."""

    flow: str
    topic: str
    partition: int
    replica: str
    #: Log end of the replica, above 0.
    replica_end: int
    #: The connector's stored offset: the last source record that it has replicated. None: it stores none.
    stored: int | None
    #: Whether the connector exists: the stored offsets of one that does not cannot be read.
    exists: bool
    #: The journal knows the replica by its topic id: the flow of this pair has filled it.
    journaled: bool
    #: Log end of the source. None: unknown.
    source_end: int | None = None
    #: Do the source record at ``stored`` and the last record of the replica have equal content? None: one is gone.
    equal: bool | None = None
    #: Is there a source record after ``stored``? None: unknown.
    more: bool | None = None
    #: Below this replica offset the records came from a cluster that was replaced; the flow never stored them.
    replaced_below: int = 0


def would_start(state: str | None, taken: bool | None) -> bool:
    """Whether `enable` is what makes a source connector replicate a topic: it is at rest, or takes it not yet."""
    return state in _AT_REST or taken is not True


def misfits(starts: Collection[ReplicaStart]) -> list[str]:
    """Partitions whose flow would replicate records again or leave some out, with what was found (R33)."""
    return [
        f"{one.flow} {one.topic}-{one.partition} ({reason})" for one in starts if (reason := _misfit(one)) is not None
    ]


def _misfit(one: ReplicaStart) -> str | None:
    replica = f'the replica "{one.replica}" ends at {one.replica_end}'
    if one.stored is None:
        # A connector that does not exist is asked again once it was created STOPPED.
        unseen = one.journaled and not one.exists
        known = "the connector stores no offset" if one.exists else "no connector of this pair has filled it"
        return None if unseen or one.replica_end <= one.replaced_below else f"{replica}, {known}"
    if one.journaled or one.equal:
        return None
    if one.source_end is not None and one.stored >= one.source_end:
        return f"{replica}, the stored offset is {one.stored}, the source ends at {one.source_end}"
    if one.equal is False:
        return f"{replica} in another record than that at the stored offset {one.stored}"
    # Nothing to compare. Where nothing is left to replicate, nothing can come twice.
    return None if one.more is False else f"{replica}, and the record at the stored offset {one.stored} is gone"


def require_fit(starts: Collection[ReplicaStart], others: Sequence[str], adoptable: bool) -> None:
    """Raise ``offsets_do_not_fit`` for the misfits.

    ``others``: connectors of other names that have the same two ends. ``adoptable``: the engine's offsets can be set.
    """
    found = misfits(starts)
    if not found:
        return
    raise DrError(
        "offsets_do_not_fit",
        f"{len(found)} partitions would be replicated from offsets that do not fit their replicas: {shown(found)}."
        " Wanted: a stored offset whose record equals the last record of the replica. Every record would come twice,"
        " or some never.",
        f"No source connector was started. {_adopt_or_delete(others) if adoptable else _DELETE}",
    )


def _adopt_or_delete(others: Sequence[str]) -> str:
    seen = f" Found on the same workers: {', '.join(others)}." if others else ""
    return (
        "If another connector or MirrorMaker 2 fills these replicas, name it in kafka_dr_adopt"
        f" (docs/procedures/enable.md).{seen} Otherwise delete the replicas, and run enable again."
    )


def shown(texts: Sequence[str]) -> str:
    """The first few of ``texts``, and how many more there are."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more

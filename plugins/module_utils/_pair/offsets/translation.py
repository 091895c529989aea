# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate the committed offsets of every group to the cluster being entered, and return the evidence.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..._core.errors import DrError
from ..._core.journal.facts import JournalFacts
from ..._core.journal.reads import Reads, joined, start_offsets
from ..._core.journal.state import JournalState
from ..._core.offsets.bindings import Witness
from ..._core.offsets.replication_gates import drained, open_transaction
from ..._core.offsets.skipped_records import skip_rows, total
from ..._core.offsets.tenures import nested
from ..._core.partition import Partition
from ..._core.resources.groups import GroupState
from ..._core.resources.scopes import scope_problems
from ..._core.verdict import PROVEN
from ..._core.waiting import Bounds, Waited, wait_until
from ..._kafka.groups import committed_offsets
from ..._module import Result
from ..connections.clusters import both, on_each
from ..journal.copies import read_state
from ..observation.checkpoints import checkpoints_end
from ..observation.commits_seen import CommitsSeen
from ..observation.flows import FlowObservation, observe_flow
from ..observation.foreign_writers import foreign_records
from ..observation.groups import GroupStatus, observe_groups
from ..observation.last_records import LastRecords
from ..observation.leaving import States, wait_for_members_to_leave
from ..observation.pair import Pair
from .bindings import witness_of, witnesses_before
from .carried_metadata import metadata_warnings, with_metadata
from .evidence import Evidence, by_group, skips_refusal
from .identity_offsets import IdentityOffsets
from .prefixed_offsets import PrefixedOffsets
from .requests import TranslationRequest

__all__ = ["FirstObservation", "Translation", "find_offsets", "translate"]

# Methods that depend on the log ends at a barrier, and not on the content of records.
_BY_LOG_ENDS = ("end", "empty", "cut")


def find_offsets(evidence: Evidence, journal: JournalFacts) -> tuple[list[dict[str, Any]], int]:
    """Return a row for each group, topic and partition on the cluster being entered, and how many records were read."""
    back = evidence.back
    finder = IdentityOffsets(evidence, journal) if back is None else PrefixedOffsets(evidence, back, journal)
    return finder.rows(), finder.records


def translate(request: TranslationRequest) -> Result:
    """Translate the committed offsets of idle groups."""
    pair = Pair(request.pair, request.flows, request.request_timeout)
    return Translation(request, FirstObservation(pair)).run()


class FirstObservation:
    """The journal, and the committed offsets of all groups on both clusters, read at the same time."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.state: JournalState
        self.offsets: Mapping[str, Mapping[str, Mapping[Partition, int]]]
        self.state, self.offsets = both(
            lambda: read_state(pair.kafka, pair.spec),
            lambda: on_each(pair.kafka, lambda alias: committed_offsets(pair.kafka[alias], pair.groups)),
        )


class Translation:
    """One translation: X is the cluster being left, Y the cluster being entered.

    Refuses offsets that would skip records, and partitions where auto.offset.reset would decide.
    """

    def __init__(self, request: TranslationRequest, first: FirstObservation) -> None:
        self._request, self.pair = request, first.pair
        self.x, self.y = request.leave, request.enter
        self._journal = JournalFacts.toward(first.state, self.y)
        self._earlier = first.offsets[self.x]
        #: Start of the settle time of idle groups (``time.monotonic``).
        self._since = CommitsSeen.of(self._earlier).unchanged_since(request.commits_seen)
        self._waited: Waited[States] | None = None
        run = first.state.run
        #: What the groups read before they stopped (R40).
        self._reads: Reads = run.reads if run is not None and run.ended is None and run.source == self.x else {}
        self._last = LastRecords(first.pair.kafka)
        #: What the offsets of the barrier are bound to, after :meth:`run`, if a barrier follows.
        self.bound: Mapping[str, Any] = {}

    def wait_for_members(self) -> None:
        """Wait until no group has members."""
        if self._waited is not None:
            return
        seen: dict[str, dict[str, list[int]]] = {}
        self._waited = wait_for_members_to_leave(
            self.pair.kafka, self.pair.groups, self._request.members, lambda states: _note(seen, states[self.x])
        )
        self._reads = joined(self._reads, seen)
        if self._waited.observations > 1:
            # A consumer was still running. Its last commits must not look like those of a reader with assign().
            self._since = time.monotonic()
            self._earlier = committed_offsets(self.pair.kafka[self.x], self.pair.groups)

    def run(self) -> Result:
        """Gather the evidence and translate the committed offsets."""
        self.wait_for_members()
        # Not earlier: until it is stopped, MirrorMaker 2 creates replicas and partitions.
        on_each(self.pair.kafka, self.pair.partitions)
        forward, back = self._replicated_observations()
        # The groups after the flow: what was written in between counts as unread.
        x_groups, y_groups = self._idle_groups()
        y_ranges = self.pair.ranges(self.y, _entered_topics(self.pair, self.x))
        evidence = Evidence(self.pair, self.x, self.y, forward, back, x_groups, y_groups, y_ranges)
        # Applications are stopped, and both read other records.
        (rows, records), self.bound = both(
            lambda: find_offsets(evidence, self._journal),
            lambda: {} if self._request.idle_groups is None else self._bound(evidence),
        )
        rows = with_metadata(evidence, rows)
        extra = {
            "committed_offsets": by_group(rows),
            "details": rows,
            "rereads": _total(rows),
            "skips": total(rows).as_dict(),
            "records_read": records,
            "barrier": {**_barrier(evidence), "skips": skip_rows(rows), "inexact": _inexact(rows)},
        }
        result = Result(extra=extra, requests=self.pair.requests)
        if self._waited is not None and self._waited.observations > 1:
            result.warnings.append(f"Waited {self._waited.seconds:.0f} s until the last member left its group.")
        result.warnings += metadata_warnings(rows)
        result.failure = _refusal(rows, self._request)
        return result

    def _bound(self, evidence: Evidence) -> dict[str, Any]:
        """Return what the offsets of the barrier are bound to, for a later move to X or the loss of Y (R37, R39).

        ``bound``: records of X's originals; ``cut_bound``: the last records of Y's originals. ``checkpoints``: log end
        of the topic with MirrorMaker 2's checkpoints of Y, on X: older checkpoints are of an earlier tenure.
        """
        # Read after the groups: a record before a committed offset must not be after the end.
        x_logs = self.pair.ranges(self.x, self.pair.topics)
        y_logs = {key: log for key, log in evidence.y_ranges.items() if key in x_logs}
        x_last, y_last = both(
            lambda: self._last.of(self.x, x_logs),
            lambda: self._last.of(self.y, y_logs) if self.pair.naming.starts_at_cut else {},
        )
        places = {
            (key, min(offset, x_logs[key][1]))
            for status in evidence.x_groups.values()
            for key, offset in status.commits.items()
            if key in x_logs
        }
        last = {key: witness_of(record) for key, record in x_last.items() if record is not None}
        stored: dict[Partition, set[Witness]] = {key: {last[key]} if key in last else set() for key in x_logs}
        for (key, _offset), witnesses in witnesses_before(self.pair.kafka[self.x], places, x_logs, last).items():
            stored[key].update(witnesses)
        return {
            "bound": nested({key: sorted(witnesses) for key, witnesses in stored.items()}),
            "cut_bound": nested({key: [witness_of(record)] for key, record in y_last.items() if record is not None}),
            "checkpoints": checkpoints_end(self.pair.kafka[self.x], self.pair.naming.checkpoints(self.y)),
        }

    def _observe_drained(self) -> FlowObservation:
        """Observe the flow X->Y. A flow that is not stopped may store its last offsets later, so wait for them."""
        if self.pair.engine.capabilities.stop_provable:
            return observe_flow(self.pair, self.x, self.y, tails=True)
        waited = wait_until(
            lambda: observe_flow(self.pair, self.x, self.y, tails=True),
            lambda observation: all(drained(facts).verdict == PROVEN for facts in observation.facts.values()),
            self._request.replicated,
        )
        return waited.state

    def _replicated_observations(self) -> tuple[FlowObservation, FlowObservation | None]:
        """Observe both flows; None: with the policy identity no flow runs back.

        Without a barrier (``final`` is false), wait until everything that the groups have committed on X is replicated
        (R14).
        """
        if self._request.final:
            forward, back = both(self._observe_drained, self._observe_back)
            _require_barrier(self.pair, forward, self._request.replicated, self._last)
            return forward, back
        commits: dict[Partition, int] = {}
        for status in observe_groups(self.pair, self.x, self.pair.topics, reads=self._reads).values():
            for key, commit in status.commits.items():
                commits[key] = max(commit, commits.get(key, 0))
        waited = wait_until(
            lambda: observe_flow(self.pair, self.x, self.y),
            lambda observation: not _lagging(observation, commits),
            self._request.replicated,
        )
        if not waited.done:
            lagging = _lagging(waited.state, commits)
            raise DrError(
                "not_replicated",
                f"The flow {self.x}->{self.y} has not replicated up to the groups' committed offsets after"
                f" {waited.seconds:.0f} s, in {len(lagging)} partitions: {'; '.join(lagging[:3])}.",
                "Check the flow's source connector, and end transactions that stay open. Then start the same playbook"
                " again.",
            )
        return waited.state, self._observe_back()

    def _observe_back(self) -> FlowObservation | None:
        if not self.pair.naming.one_flow_at_a_time:
            return observe_flow(self.pair, self.y, self.x)
        running = self.pair.engine.reverse_flows(self.x, self.y, self.pair.topics)
        if running:
            raise DrError(
                "both_directions",
                f"{', '.join(running)} replicates from {self.y} to {self.x} while the applications leave {self.x}.",
                "With the policy identity this is a replication loop. Stop the connector, then start the same playbook"
                " again. Nothing was committed.",
            )
        return None

    def _idle_groups(self) -> tuple[dict[str, GroupStatus], dict[str, GroupStatus]]:
        """Observe the groups on X and Y after the settle time; raise unless they are idle."""
        x_topics, counts = self.pair.present(self.x), self.pair.partitions(self.y)
        y_topics = [name for name in _entered_topics(self.pair, self.x) if counts.get(name) is not None]
        # The group of a reader with assign() is EMPTY too. Only changing committed offsets show it (R9).
        time.sleep(max(0.0, self._settled_at() - time.monotonic()))
        x_groups, y_groups = both(
            lambda: observe_groups(self.pair, self.x, x_topics, self._last, self._reads),
            lambda: observe_groups(self.pair, self.y, y_topics, self._last),
        )
        # Offsets that follow from the time without records are not committed, and did not change.
        earlier = {group: {**start_offsets(self._reads, group), **own} for group, own in self._earlier.items()}
        _require_idle({self.x: x_groups, self.y: y_groups}, self.x, earlier)
        return x_groups, y_groups

    def _settled_at(self) -> float:
        """Return the moment at which groups whose offsets have not changed are idle (``time.monotonic``)."""
        settled = self._since + self._request.settle
        idle = self._request.idle_groups
        return settled if idle is None else max(settled, idle.idle_at(self._earlier, self._since))


def _note(seen: dict[str, dict[str, list[int]]], states: Mapping[str, GroupState]) -> None:
    """Add the topics that are assigned to members who have not left yet."""
    for group, state in states.items():
        for key in state.assigned:
            seen.setdefault(group, {}).setdefault(key.topic, [])


def _entered_topics(pair: Pair, left: str) -> list[str]:
    """Return the topics that the groups read after a move from ``left``: originals, and replicas from ``left``."""
    return list(dict.fromkeys([*pair.topics, *pair.replicas(left)]))


def _require_idle(
    groups: Mapping[str, Mapping[str, GroupStatus]], left: str, earlier: Mapping[str, Mapping[Partition, int]]
) -> None:
    """Raise unless the groups are idle and commit within their declared topics.

    Idle: no members on either cluster, and committed offsets on ``left`` equal to the ``earlier`` ones.
    """
    for alias, statuses in groups.items():
        active = {
            group: status.members or status.state
            for group, status in sorted(statuses.items())
            if status.state not in ("EMPTY", "DEAD")
        }
        if active:
            raise DrError(
                "group_active",
                f"{len(active)} groups still have members on {alias}:"
                f" {', '.join(f'{group} ({members})' for group, members in active.items())}.",
                "Stop their consumers first. Nothing was committed.",
            )
    for group, status in groups[left].items():
        moved = [key for key, commit in status.commits.items() if earlier[group].get(key) != commit]
        if moved:
            raise DrError(
                "group_active",
                f'The group "{group}" has no members on {left}, but its committed offset on {moved[0]} changed.',
                "A consumer that uses assign() commits for the group. Stop that consumer first. Nothing was committed.",
            )
    hidden = [row for statuses in groups.values() for status in statuses.values() for row in status.out_of_scope]
    if hidden:
        text = " ".join(scope_problems(hidden[:3]))
        raise DrError("group_out_of_scope", text, "Nothing was committed. Then start the same playbook again.")


def _require_barrier(pair: Pair, forward: FlowObservation, bounds: Bounds, last: LastRecords) -> None:
    """Raise unless the flow is stopped, has replicated everything, and is the only writer on the target.

    A flow whose stop cannot be proven is not stopped. Its last replicated offset is a lower bound (R20), which proves
    that everything is replicated if it is at the end of each partition.
    """
    if forward.unreadable is not None:
        raise forward.unreadable
    source = forward.connectors["source"]
    if pair.engine.capabilities.stop_provable and not source.final:
        actual = f"{source.state} with {len(source.tasks)} tasks"
        raise DrError(
            "no_barrier",
            f'The connector "{source.name}" is {actual}, expected STOPPED with none.',
            "Its offsets are final only when it is stopped. Another process started it, or its worker did not stop"
            " it. Check the worker, then start the same playbook again, which stops the connector.",
        )
    partitions = sorted(forward.facts.items())
    open_ = [f"{key}: {finding.reason}" for key, facts in partitions if (finding := drained(facts)).verdict != PROVEN]
    # The flow would replicate its records later, before offsets that say that everything was read (R5).
    open_ += [
        f"{key}: an open transaction holds back {open_transaction(facts)} offsets"
        for key, facts in partitions
        if open_transaction(facts)
    ]
    if open_:
        raise DrError(
            "not_drained",
            f"{len(open_)} partitions of the flow {forward.name} are not replicated to their end:"
            f" {'; '.join(open_[:3])}.",
            "Make sure that no producer is running and no transaction stays open, then start the same playbook"
            " again: it lets the flow run until everything is replicated.",
        )
    foreign_writes = foreign_records(pair, forward, pair.spec.accepted_foreign_writers, last)
    if foreign_writes:
        raise DrError(
            "foreign_writer",
            f"A producer other than the flow writes to replicas on {forward.target}: {'; '.join(foreign_writes[:3])}.",
            "Such records are never replicated back. Producers must write to the original topic only, on the"
            " cluster where they live. Stop that producer. To continue anyway, name the topics in"
            " kafka_dr_accept_foreign_writers (option accept_foreign_writers).",
        )
    if pair.naming.starts_at_cut:
        _require_decided(pair, forward.target, bounds)


def _require_decided(pair: Pair, alias: str, bounds: Bounds) -> None:
    """Wait until no transaction is open on ``alias``: its log end becomes the cut, and an open one would move it."""
    waited = wait_until(
        lambda: pair.ranges(alias, pair.topics),
        lambda ends: ends == pair.ranges(alias, pair.topics, "read_uncommitted"),
        bounds,
    )
    if not waited.done:
        raise DrError(
            "not_decided",
            f"Transactions are still open in the topics on {alias} after {waited.seconds:.0f} s, or a producer still"
            " writes there, so no cut can be recorded.",
            f"Find the producer that writes on {alias} and stop it, then start the same playbook again.",
        )


def _refusal(rows: list[dict[str, Any]], request: TranslationRequest) -> DrError | None:
    """Return why these offsets must not be committed; None: they may be."""
    unread = [row for row in rows if row["method"] == "unreplicated_records"]
    if unread:
        first = unread[0]
        return DrError(
            "unreplicated_records",
            f'{len(unread)} committed offsets cannot be translated. Group "{first["group"]}": {first["reason"]}.',
            f"Let the groups read these records on {request.leave}, then start the same playbook again. If no"
            f" application needs the records, commit an offset after them on {request.leave}.",
        )
    unknown = [row for row in rows if row["offset"] is None]
    if unknown:
        first = unknown[0]
        return DrError(
            "no_committed_offset",
            f'No offset could be determined for {len(unknown)} partitions. Group "{first["group"]}" on'
            f" {first['topic']}-{first['partition']}: {first['reason']}.",
            f"Without a committed offset, auto.offset.reset would decide. Commit an offset on {request.leave} first.",
        )
    skipping = skips_refusal(rows, (request.leave, request.enter), request.accept_skips)
    if skipping is not None:
        return skipping
    # Any remaining rows that skip records were accepted by name.
    inexact = [row for row in rows if row["quality"] == "safe" or (row["quality"] == "skips" and row["rereads"])]
    if inexact and request.group_lag == "refuse":
        first = inexact[0]
        return DrError(
            "group_lagging",
            f'{len(inexact)} translated offsets are not exact. Group "{first["group"]}" on {first["topic"]}-'
            f"{first['partition']}: method {first['method']}, reads up to {first['rereads']} records again"
            f" ({first['reason']}).",
            "Let the groups read to the end first, or accept the re-reads with -e kafka_dr_group_lag=reread (option"
            " group_lag).",
        )
    return None


def _barrier(evidence: Evidence) -> dict[str, Any]:
    """Return the facts of the barrier that cannot be read again later.

    From X: last replicated offset (N), log start (S) and log end (E) of each partition, and the committed offsets.
    From Y: the cut (C), which is the log end of Y's originals.
    """
    facts = evidence.forward.facts
    return {
        "last_replicated_offset": nested(
            {key: partition_facts.last_replicated_offset for key, partition_facts in facts.items()}
        ),
        "starts": nested({key: partition_facts.start for key, partition_facts in facts.items()}),
        "ends": nested({key: partition_facts.end for key, partition_facts in facts.items()}),
        "cut": nested({key: end for key, (_start, end) in evidence.y_ranges.items() if key in facts}),
        "committed_offsets": {group: nested(observation.commits) for group, observation in evidence.x_groups.items()},
    }


def _lagging(observation: FlowObservation, commits: Mapping[Partition, int]) -> list[str]:
    """Name the partitions that are not replicated up to a group's committed offset.

    A partition is replicated far enough if N >= committed offset - 1, or if only transaction markers remain. Without N,
    it is unknown which records have a copy (R36). A reader of uncommitted records may have read into an open
    transaction: nothing of it is replicated before its end (R5).
    """
    texts = []
    for key, commit in sorted(commits.items()):
        facts = observation.facts.get(key)
        if facts is not None and facts.end is not None and commit > facts.end:
            texts.append(f"{key} (last stable offset {facts.end}, committed {commit})")
            continue
        if (
            facts is None
            or (facts.last_replicated_offset is not None and facts.last_replicated_offset >= commit - 1)
            or facts.data_after is False
        ):
            continue
        if commit > (facts.start or 0) or facts.last_replicated_offset is None:
            texts.append(f"{key} (replicated {facts.last_replicated_offset}, committed {commit})")
    return texts


def _inexact(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """Return group, topic and partition of each offset that does not show exactly where a group arrived.

    If equal records have expired, an offset that was found by content may be too low although it looks exact.
    """
    return [
        [row["group"], row["topic"], row["partition"]]
        for row in rows
        if row["quality"] != "exact" or row["method"] not in _BY_LOG_ENDS
    ]


def _total(rows: list[dict[str, Any]]) -> int | None:
    counts = [row["rereads"] for row in rows]
    return None if None in counts else sum(counts)

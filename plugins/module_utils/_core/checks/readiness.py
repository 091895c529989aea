# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of the readiness report: the question, the facts that answer it, and the remedy.

The order matters: a check comes after the checks that it needs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..listing import first_few
from ..offsets.lasting_gaps import is_higher_there
from ..offsets.skipped_records import skipped_in
from ..partition import Partition
from ..resources.groups import REBALANCING_STATES, UNDESCRIBED
from ..resources.task_failures import failed_text
from ..resources.topic_ids import no_topic_id
from ..resources.topics import BATCH_OVERHEAD, MIN_IN_SYNC, TopicState, refused_writes
from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding
from .broker_limits import LIMITS, stricter
from .facts import CONTROLLED, DISASTER, Check, Facts
from .residence import unsafe_journal

__all__ = ["CHECKS", "SETTINGS"]

Judge = Callable[[Facts], Finding]
_UNCLEAN = "unclean.leader.election.enable"
_SEGMENT = "segment.bytes"
_TIMESTAMPS = "message.timestamp.type"
# How far the timestamp of a record may be from the clock of the broker. Brokers below 3.6 have one setting for both
# directions, and those below 4.0 use it where the newer one has its default (LogConfig, KIP-937, KIP-1030).
_TIME_BOUNDS = ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms")
_OLD_TIME_BOUND = "message.timestamp.difference.max.ms"
_NO_TIME_BOUND = 2**63 - 1
# Topic settings that the checks read.
SETTINGS = (
    "cleanup.policy",
    "compression.type",
    "max.message.bytes",
    *_TIME_BOUNDS,
    _OLD_TIME_BOUND,
    _TIMESTAMPS,
    MIN_IN_SYNC,
    "retention.bytes",
    "retention.ms",
    _SEGMENT,
    _UNCLEAN,
)


# ---- judges ------------------------------------------------------------------------------------------------------


def _yes(text: str) -> Finding:
    return Finding(PROVEN, text)


def _not_known(facts: Facts, part: str) -> Finding:
    return Finding(UNKNOWN, facts.unknown.get(part, f"the {part.replace('_', ' ')} could not be observed"))


def _none_of(texts: Sequence[str], good: str, unknown: Sequence[str] = ()) -> Finding:
    """REFUTED with the first of ``texts`` if there are any; else UNKNOWN with the first of ``unknown``; else PROVEN."""
    if texts:
        return Finding(REFUTED, first_few(texts, separator="; "))
    return Finding(UNKNOWN, first_few(unknown, separator="; ")) if unknown else _yes(good)


def _answers(end: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        alias = getattr(facts, end)
        why = facts.away.get(alias, "the cluster was not contacted")
        return _yes(f"{alias} returned its cluster id") if why is None else Finding(REFUTED, why)

    return judge


def _workers_answer(end: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        alias = getattr(facts, end)
        why = facts.workers.get(alias, "the workers were not contacted")
        version = facts.versions.get(alias)
        return _yes(f"they run {version or 'an unknown version'}") if why is None else Finding(REFUTED, why)

    return judge


def _versions(facts: Facts) -> Finding:
    if facts.versions_retained_by:
        return _yes(facts.versions_retained_by)
    known = {alias: version for alias, version in facts.versions.items() if version}
    if len(known) < 2:
        return Finding(UNKNOWN, "the version of at least one flow is unknown")
    shown = ", ".join(f"{version} (flow to {alias})" for alias, version in sorted(known.items()))
    return _yes(shown) if len(set(known.values())) == 1 else Finding(REFUTED, shown)


def _journal(facts: Facts) -> Finding:
    if facts.journal is None:
        return _not_known(facts, "journal")
    if facts.journal_missing:
        return Finding(REFUTED, f"the journal topic does not exist on {', '.join(facts.journal_missing)}")
    if not facts.journal["enabled"]:
        return Finding(REFUTED, "the pair is not enabled")
    if facts.journal["active"] != facts.x:
        return Finding(REFUTED, f"the applications live on {facts.journal['active']}, not on {facts.x}")
    if facts.journal_gaps:
        return Finding(
            REFUTED, f"{len(facts.journal_gaps)} epochs are missing from the journal, first {facts.journal_gaps[0]}"
        )
    copies = " and ".join(alias for alias in (facts.x, facts.y) if facts.away.get(alias, "") is None)
    return _yes(f"the applications live on {facts.x}, according to the copy of the journal on {copies}")


def _retained(facts: Facts) -> Finding:
    """A compacted topic keeps every latest value. A topic that deletes must have no retention limit."""
    short, unknown = [], []
    for alias in (facts.x, facts.y):
        states = facts.internal_topics.get(alias) or {}
        topic = states.get(facts.journal_topic)
        if topic is None:
            return _not_known(facts, "internal_topics")
        if facts.brokers.get(alias) is None:
            unknown.append(f"the number of brokers on {alias} is unknown")
        if topic.replication_factor is None:
            unknown.append(
                f'the replication factor of "{facts.journal_topic}" on {alias} differs by partition or is unknown'
            )
        for name, state in states.items():
            # Another check reports a missing journal; MirrorMaker 2 creates its own topics later.
            cleanup = None if state is None else _value(state, "cleanup.policy")
            journal = state is not None and name == facts.journal_topic
            if state is not None and journal:
                short += unsafe_journal(alias, state, facts.brokers.get(alias))
            if state is None or (cleanup == "compact" and not journal):
                continue
            bounds = {key: _value(state, key) for key in ("retention.bytes", "retention.ms")}
            found = [f"{key} {value}" for key, value in bounds.items() if value is not None and int(value) >= 0]
            if cleanup is None or None in bounds.values():
                unknown.append(f'the retention of "{name}" on {alias} is unknown')
            elif found and not journal:
                short.append(f'"{name}" on {alias} has cleanup.policy {cleanup} with {", ".join(found)}')
    return _none_of(short, "journal, presynced offsets, checkpoints and offset-syncs have no retention limit", unknown)


def _no_run(facts: Facts) -> Finding:
    if facts.journal is None or facts.journal["interrupted"] is None:
        return _not_known(facts, "journal")
    if not facts.journal["interrupted"]:
        return _yes("every run has ended")
    run = facts.journal["run"]
    return Finding(REFUTED, f"the {run['type']} run {run['id']} to {run['to']} is unfinished")


def _wanted(facts: Facts, alias: str) -> list[str]:
    """Topics that applications or flows need on a cluster: originals, and replicas of the other cluster's originals."""
    other = facts.y if alias == facts.x else facts.x
    return list(dict.fromkeys([*facts.originals, *(facts.naming.replica(other, topic) for topic in facts.originals)]))


def _there(facts: Facts, alias: str) -> Mapping[str, TopicState] | None:
    found = facts.topics.get(alias)
    return None if found is None else {name: state for name, state in found.items() if state is not None}


def _exist(facts: Facts) -> Finding:
    missing = []
    for alias in (facts.x, facts.y):
        there = _there(facts, alias)
        if there is None:
            return _not_known(facts, "topics")
        missing += [f'"{name}" on {alias}' for name in _wanted(facts, alias) if name not in there]
    return _none_of(missing, f"{len(facts.originals)} topics and their replicas exist on both clusters")


def _pairs(facts: Facts) -> list[tuple[TopicState, TopicState]]:
    """Each original on ``x`` with its replica on ``y``, and with the original of the same name on ``y``."""
    there, here = _there(facts, facts.y) or {}, _there(facts, facts.x) or {}
    return [
        (here[topic], there[name])
        for topic in facts.originals
        for name in dict.fromkeys([facts.naming.replica(facts.x, topic), topic])
        if topic in here and name in there
    ]


def _same_ids(facts: Facts) -> Finding:
    journaled = (facts.journal or {}).get("topic_ids") or {}
    without = [
        no_topic_id(name, alias)
        for alias in (facts.x, facts.y)
        for name, state in (_there(facts, alias) or {}).items()
        if not state.topic_id
    ]
    if without:
        return _none_of(without, "")
    if not journaled:
        return Finding(UNKNOWN, "the journal has no topic ids; run the playbook enable to record them")
    other, unknown = [], []
    for alias in (facts.x, facts.y):
        known = journaled.get(alias) or {}
        for name, state in (_there(facts, alias) or {}).items():
            if known.get(name) is None:
                unknown.append(
                    f'the journal has no topic id for "{name}" on {alias}; run the playbook enable to record it'
                )
            elif known[name] != state.topic_id:
                other.append(
                    f'"{name}" on {alias} was recreated: its topic id is {state.topic_id}, the journal has'
                    f" {known[name]}"
                )
    return _none_of(other, "every topic has the id in the journal", unknown)


def _partitions(facts: Facts) -> Finding:
    other = [
        f'"{left.name}" on {facts.x} has {left.partitions} partitions, "{right.name}" on {facts.y} has'
        f" {right.partitions}"
        for left, right in _pairs(facts)
        if left.partitions != right.partitions
    ]
    return _none_of(other, "the partition counts are equal")


def _leaders(end: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        there = _there(facts, getattr(facts, end)) or {}
        without = [
            f'"{name}" has {len(state.leaderless)} partitions without a leader'
            for name, state in there.items()
            if state.leaderless
        ]
        return _none_of(without, "every partition has a leader")

    return judge


def _value(state: TopicState, name: str) -> str | None:
    found = state.config.get(name)
    return None if found is None or found.value is None else str(found.value)


def _settings(facts: Facts) -> Finding:
    other, unread = [], []
    for left, right in _pairs(facts):
        for setting, differs in _COMPARED.items():
            mine, theirs = _value(left, setting), _value(right, setting)
            if mine is None or theirs is None:
                unread.append(f'{setting} of "{left.name}" or "{right.name}" is unknown')
            elif differs(mine, theirs):
                other.append(
                    f'{setting} is {mine} for "{left.name}" on {facts.x} and {theirs} for "{right.name}" on {facts.y}'
                )
        for setting in _TIME_BOUNDS:
            accepted, limit = _time_bound(left, setting), _time_bound(right, setting)
            if accepted is None or limit is None:
                unread.append(f'{setting} of "{left.name}" or "{right.name}" is unknown')
            elif limit[1] < accepted[1] and _value(right, _TIMESTAMPS) == "CreateTime":
                other.append(
                    f'{accepted[0]} is {accepted[1]} for "{left.name}" on {facts.x}, and {limit[0]} is {limit[1]} for'
                    f' "{right.name}" on {facts.y}'
                )
        batch, segment = _largest_batch(left), _value(right, _SEGMENT)
        if batch is None or segment is None:
            unread.append(f'the largest batch that "{left.name}" or "{right.name}" accepts is unknown')
        elif int(segment) < batch:
            other.append(
                f'{_SEGMENT} is {segment} for "{right.name}" on {facts.y}, and "{left.name}" on {facts.x} accepts'
                f" batches of {batch} bytes"
            )
    return _none_of(other, "no setting differs in a way that applications would notice", unread)


def _largest_batch(state: TopicState) -> int | None:
    """Bytes of the largest batch that brokers accept; None: unknown. It must fit into a segment (UnifiedLog.append)."""
    message, segment = _value(state, "max.message.bytes"), _value(state, _SEGMENT)
    return None if message is None or segment is None else min(int(message), int(segment))


def _time_bound(state: TopicState, name: str) -> tuple[str, int] | None:
    """The setting that is in force, with its value in milliseconds; None: unknown."""
    values = [(key, int(value)) for key in (name, _OLD_TIME_BOUND) if (value := _value(state, key)) is not None]
    return next((found for found in values if found[1] != _NO_TIME_BOUND), values[0] if values else None)


def _shorter(mine: str, theirs: str) -> bool:
    """Whether ``theirs`` limits more than ``mine``; a negative value means no limit."""
    return int(theirs) >= 0 and (int(mine) < 0 or int(theirs) < int(mine))


# Settings whose difference applications notice -> whether two values differ in such a way.
_COMPARED: dict[str, Callable[[str, str], bool]] = {
    "cleanup.policy": lambda mine, theirs: set(mine.split(",")) != set(theirs.split(",")),
    # A broker that compresses anew may make a batch larger than max.message.bytes (UnifiedLog.append).
    "compression.type": lambda mine, theirs: theirs not in (mine, "producer"),
    "max.message.bytes": lambda mine, theirs: int(theirs) < int(mine),
    _TIMESTAMPS: lambda mine, theirs: mine != theirs,
    "retention.bytes": _shorter,
    "retention.ms": _shorter,
}


def _writable(facts: Facts) -> Finding:
    """Brokers refuse writes with acks=all to a partition with fewer in-sync replicas than min.insync.replicas."""
    refused, unread = _refusing(facts.y, (_there(facts, facts.y) or {}).values())
    return _none_of(refused, f"every topic on {facts.y} has at least min.insync.replicas replicas in sync", unread)


def _broker_limits(facts: Facts) -> Finding:
    """A client meets such a limit only when it starts on the other cluster (docs/flows.md)."""
    here, there = facts.broker_settings.get(facts.x), facts.broker_settings.get(facts.y)
    if not here or not there:
        return _not_known(facts, "broker_settings")
    texts, unknown = stricter(here, there, facts.x, facts.y)
    return _none_of(texts, f"no broker of {facts.y} has a stricter limit: {', '.join(LIMITS)}", unknown)


def _journal_writable(facts: Facts) -> Finding:
    refused, unread = [], []
    for alias in (facts.x, facts.y):
        states = facts.internal_topics.get(alias)
        if states is None:
            return _not_known(facts, "internal_topics")
        found = _refusing(alias, [state for state in states.values() if state is not None])
        refused += [f"{text} on {alias}" for text in found[0]]
        unread += found[1]
    return _none_of(refused, "each of them has at least min.insync.replicas replicas in sync", unread)


def _refusing(alias: str, states: Iterable[TopicState]) -> tuple[list[str], list[str]]:
    """The topics that refuse writes, with the numbers, and those for which that is unknown."""
    refused, unread = [], []
    for state in states:
        if state.fewest_in_sync is None or _value(state, MIN_IN_SYNC) is None:
            unread.append(f'the number of in-sync replicas of "{state.name}" on {alias} is unknown')
        elif text := refused_writes(state):
            refused.append(text)
    return refused, unread


def _unclean(facts: Facts) -> Finding:
    """A replica that was not in sync lacks records. As a leader, it removes them from all other replicas too."""
    allowed, unread = [], []
    for alias in (facts.x, facts.y):
        internal = {
            name: state for name, state in (facts.internal_topics.get(alias) or {}).items() if state is not None
        }
        for name, state in {**internal, **(_there(facts, alias) or {})}.items():
            value = _value(state, _UNCLEAN)
            if value is None:
                unread.append(f'{_UNCLEAN} of "{name}" on {alias} is unknown')
            elif value != "false":
                allowed.append(f'"{name}" on {alias} has {_UNCLEAN}={value}')
    return _none_of(allowed, "no topic of the pair allows it", unread)


def _replication(facts: Facts) -> Finding:
    """At least as many replicas as on the cluster being left, or one on every broker of the cluster being entered."""
    brokers = facts.brokers.get(facts.y)
    if brokers is None:
        return Finding(UNKNOWN, f"the number of brokers on {facts.y} is unknown")
    other, unread = [], []
    for left, right in _pairs(facts):
        mine, theirs = left.replication_factor, right.replication_factor
        if mine is None or theirs is None:
            unread.append(
                f'the replication factor of "{left.name}" or "{right.name}" differs by partition or is unknown'
            )
        elif theirs < min(mine, brokers):
            other.append(f'"{right.name}" has {theirs} replicas on {facts.y}, "{left.name}" has {mine} on {facts.x}')
    return _none_of(other, f"no topic has fewer replicas than on {facts.x}", unread)


def _connectors(which: str, parts: Sequence[str]) -> Judge:
    def judge(facts: Facts) -> Finding:
        flow = getattr(facts, which)
        if flow is None:
            return _not_known(facts, "flows")
        wrong, unknown = [], []
        for part in parts:
            one = next((found for found in flow["connectors"] if found["part"] == part), None)
            tasks = () if one is None else one["tasks"] or ()
            if one is None or one["state"] is None:
                wrong.append(f"{flow['name']} has no {part} connector")
            elif "FAILED" in (one["state"], *tasks):
                wrong.append(failed_text(one["name"], one["failures"]).rstrip("."))
            elif one["state"] != "RUNNING":
                wrong.append(f'connector "{one["name"]}" is in state {one["state"]}, wanted RUNNING')
            elif set(tasks) != {"RUNNING"}:
                states = ", ".join(map(str, tasks)) or "none"
                unknown.append(f'connector "{one["name"]}" is RUNNING, but its tasks are not: {states}')
        return _none_of(
            wrong, f"the {', '.join(parts)} connector is RUNNING; another check covers its progress", unknown
        )

    return judge


def _in_no_flow(part: str, text: str, good: str) -> Judge:
    """REFUTED with every ``found`` of a ``flow``, put into ``text``; UNKNOWN if at least one flow was not observed."""

    def judge(facts: Facts) -> Finding:
        by_flow = getattr(facts, part)
        texts = [text.format(flow=flow, found=one) for flow, found in by_flow.items() for one in found or ()]
        unknown = [_why_not(facts, part, flow) for flow in facts.flow_names if by_flow.get(flow) is None]
        return _none_of(texts, f"{good} ({', '.join(facts.flow_names)})", unknown)

    return judge


def _flow_settings(facts: Facts) -> Finding:
    """A setting counts as it is in force (R38). Where only a management system reports it, the finding says so."""
    known = f", {facts.settings_known_by}" if facts.settings_known_by else ""
    return _in_no_flow("unsafe_settings", "{flow}: {found}", f"no connector has an unsafe setting{known}")(facts)


def _foreign_writes(facts: Facts) -> Finding:
    """A replica that was not compared with its source may hold a record of another writer, so it is no evidence."""
    accepted = (
        f"; {first_few(facts.accepted_foreign_writers)} were not checked, because kafka_dr_accept_foreign_writers names"
        " them: what another producer wrote there is never replicated back"
        if facts.accepted_foreign_writers
        else ""
    )
    finding = _in_no_flow("foreign_writes", "{found}", f"only the flows write into the replicas{accepted}")(facts)
    by_flow = {flow: facts.not_compared.get(flow) for flow in facts.flow_names}
    unknown = [f"the replicas of {flow} were not compared" for flow, texts in by_flow.items() if texts is None]
    unknown += [text for texts in by_flow.values() for text in texts or ()]
    return Finding(UNKNOWN, first_few(unknown, separator="; ")) if finding.verdict == PROVEN and unknown else finding


def _why_not(facts: Facts, part: str, flow: str) -> str:
    known = facts.unknown
    return known.get(part) or known.get(f"flow {flow}", f"the flow {flow} could not be observed")


def _sizes(facts: Facts) -> Finding:
    """Whether the flow's producer can send what the source accepts; the check ``settings`` compares the replicas."""
    if facts.forward is None:
        return _not_known(facts, "flows")
    known = (one["largest_record"] for one in facts.forward["connectors"] if one["part"] == "source")
    largest = next(known, None)
    if largest is None:
        return Finding(UNKNOWN, f"max.request.size of the producer of {facts.forward['name']} is unknown")
    other, unread = [], []
    for left, _right in _pairs(facts):
        accepted = _value(left, "max.message.bytes")
        if accepted is None:
            unread.append(f'max.message.bytes of "{left.name}" on {facts.x} is unknown')
        elif int(accepted) - BATCH_OVERHEAD > largest:
            other.append(
                f'"{left.name}" on {facts.x} accepts batches of {accepted} bytes, and the producer of'
                f" {facts.forward['name']} sends records of at most {largest} bytes (max.request.size)"
            )
    good = (
        f"the flow's producer sends records of up to {largest} bytes, the limit on {facts.x}; the producer counts the"
        " uncompressed size, so a compressed record may still exceed it"
    )
    return _none_of(other, good, unread)


def _carries(which: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        flow = getattr(facts, which)
        if flow is None:
            return _not_known(facts, "flows")
        seen = facts.left_out.get(flow["name"])
        if seen is None:
            return _not_known(facts, "left_out")
        missing, unknown = seen
        return _none_of(list(missing), "it replicates every topic and every group that moves", list(unknown))

    return judge


def _fits(facts: Facts) -> Finding:
    if facts.forward is None:
        return _not_known(facts, "flows")
    found = {(row["topic"], row["partition"]): row for row in facts.forward["partitions"]}
    lost = [f"{topic}-{index}: {row['fits_reason']}" for (topic, index), row in found.items() if row["fits"] == REFUTED]
    open_ = [
        f"{topic}-{index}: {found[topic, index]['fits_reason'] if (topic, index) in found else 'not observed'}"
        for topic, index in _partitions_of(_there(facts, facts.x), facts.originals)
        if (topic, index) not in found or found[topic, index]["fits"] != PROVEN
    ]
    return _none_of(lost, "every record was replicated before it was deleted", open_)


def _partitions_of(there: Mapping[str, TopicState] | None, topics: Iterable[str]) -> list[Partition]:
    """Partitions according to ``there``; partition 0 for a topic that is missing, so that it counts as unobserved."""
    states = there or {}
    return [
        Partition(name, index) for name in topics for index in range(states[name].partitions if name in states else 1)
    ]


def _not_observed(facts: Facts, alias: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Groups that move and have no row, and partitions on ``alias`` that a group's rows lack."""
    found: dict[str, dict[str, set[int]]] = {name: {} for name in facts.groups}
    for row in rows:
        found.setdefault(row["group"], {}).setdefault(row["topic"], set()).add(row["partition"])
    texts = [f'"{group}": no partition was observed on {alias}' for group, topics in found.items() if not topics]
    there = _there(facts, alias)
    return texts + [
        f'"{group}" on {topic}-{index}: not observed'
        for group, topics in found.items()
        for topic, index in _partitions_of(there, topics)
        if index not in topics[topic]
    ]


def _makes_progress(which: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        flow = getattr(facts, which)
        return _not_known(facts, "flows") if flow is None else Finding(flow["verdict"], flow["reason"])

    return judge


def _lag(facts: Facts) -> Finding:
    if facts.expiring is None:
        return _not_known(facts, "expiring")
    limit = f"(limit {facts.limits.lag:g} s)"
    late = [
        f"{one.place}: the oldest unreplicated record has waited at least {one.waited:.0f} s {limit}"
        for one in facts.expiring
        if one.waited is not None and one.waited > facts.limits.lag
    ]
    open_ = [
        f"{one.place}: how long the oldest unreplicated record has waited is unknown"
        for one in facts.expiring
        if one.waited is None
    ]
    worst = max((one.waited for one in facts.expiring if one.waited is not None), default=0.0)
    good = f"the oldest unreplicated record has waited at most {worst:.1f} s {limit}"
    return _none_of(late, good, open_)


def _expiry(facts: Facts) -> Finding:
    if facts.expiring is None:
        return _not_known(facts, "expiring")
    limit, deleted = facts.limits.expiry, "the oldest unreplicated record is deleted"
    by_size = " by retention.bytes, estimated from the size of a record"
    soon = [
        f"{one.place}: {deleted} in {max(0.0, left):.0f} s{how}"
        for one in facts.expiring
        for left, how in ((one.left, ""), (one.left_by_size, by_size))
        if left is not None and left < limit
    ]
    open_ = [
        f"{one.place}: the time until {deleted}{how} is unknown"
        for one in facts.expiring
        for left, how in ((one.left, ""), (one.left_by_size, " by retention.bytes"))
        if left is None
    ]
    return _none_of(soon, f"unreplicated records are retained for at least another {limit:g} s", open_)


def _decided(facts: Facts) -> Finding:
    if facts.open_transactions is None:
        return _not_known(facts, "open_transactions")
    return _none_of([transaction.text for transaction in facts.open_transactions], "no transaction stays open")


def _have_offsets(facts: Facts) -> Finding:
    if facts.committed_offsets is None:
        return _not_known(facts, "committed_offsets")
    rows = [row for row in facts.committed_offsets if row["alias"] == facts.x]
    none = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}'
        for row in rows
        if row["commit"] is None and row["read_to_end"] is None
    ]
    seen = {row["group"] for row in rows}
    none += [f'"{name}" on no partition of these topics' for name in facts.groups if name not in seen]
    good = f"every group has a committed offset on each partition with records on {facts.x}"
    return _none_of(none, good, _not_observed(facts, facts.x, rows))


def _only_declared_topics(facts: Facts) -> Finding:
    if facts.undeclared_topics is None:
        return _not_known(facts, "committed_offsets")
    texts = [
        f'"{row["group"]}" also reads {", ".join(row["topics"])} on {row["alias"]}'
        for row in facts.undeclared_topics
        if row["alias"] == facts.x
    ]
    return _none_of(texts, "no group reads a topic outside the inventory")


def _in_scope(facts: Facts) -> Finding:
    """Checks committed offsets on the cluster being left, and on the other one what a disaster would start from."""
    sides = {"committed_offsets": facts.out_of_scope, "survey": _of_survey(facts, "out_of_scope")}
    texts = [
        f'"{row["group"]}" uses "{row["topic"]}" on {row["alias"]}: {row["evidence"]}'
        for rows in sides.values()
        for row in rows or ()
    ]
    unknown = [_not_known(facts, part).reason for part, rows in sides.items() if rows is None]
    if facts.committed_offsets is None:
        return _not_known(facts, "committed_offsets")
    states = {row["group"]: row["state"] for row in facts.committed_offsets if row["alias"] == facts.x}
    unknown += [
        f'what "{group}" reads on {facts.x} is unknown: it is rebalancing'
        for group, state in states.items()
        if state in REBALANCING_STATES
    ]
    return _none_of(texts, "no group has a committed offset or an assigned member outside its topics", unknown)


def _of_survey(facts: Facts, part: str) -> Any:
    """A part of the predicted disaster; None: unknown."""
    return None if facts.survey is None else facts.survey[part]


def _no_members_there(facts: Facts) -> Finding:
    active = _of_survey(facts, "active_groups")
    if active is None:
        return _not_known(facts, "survey")
    return _none_of([f'"{group}" has members on {facts.y}' for group in active], f"no group has members on {facts.y}")


def _translated(facts: Facts) -> Finding:
    if facts.offsets is None:
        return _not_known(facts, "offsets")
    texts = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: {row["reason"]}'
        for row in facts.offsets
        if row["offset"] is None
    ]
    good = f"{len(facts.offsets)} committed offsets have an offset on {facts.y}"
    return _none_of(texts, good, _not_observed(facts, facts.y, facts.offsets))


def _movable(facts: Facts) -> Finding:
    if facts.refused is None:
        return _not_known(facts, "offsets")
    if facts.committed_offsets is None:
        return _not_known(facts, "committed_offsets")
    hidden = {row["group"] for row in facts.committed_offsets if row["state"] in (None, UNDESCRIBED)}
    texts = [
        f'whether "{group}" has members is unknown: it is not a classic or consumer group' for group in sorted(hidden)
    ]
    return _none_of([*texts, *facts.refused], f"a cutoff can move every committed offset on {facts.x}")


def _still_held(facts: Facts) -> Finding:
    if facts.offsets is None:
        return _not_known(facts, "offsets")
    found = [
        (f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: {row["reason"]}', skipped_in(row))
        for row in facts.offsets
    ]
    gone = [text for text, skips in found if skips.at_least]
    unsure = [text for text, skips in found if skips.possible]
    unsure += _not_observed(facts, facts.y, facts.offsets)
    return _none_of(gone, f"{facts.y} still has every record that a group has not read", unsure)


def _none_after(facts: Facts) -> Finding:
    if facts.offsets is None:
        return _not_known(facts, "offsets")
    texts = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: committed {row["existing"]},'
        f" processed up to {row['offset']}"
        for row in facts.offsets
        # A translated offset that is not exact may be low, which does not make the committed one too high.
        if is_higher_there(row) and row["quality"] == "exact"
    ]
    good = f"no committed offset on {facts.y} skips a record"
    return _none_of(texts, good, _not_observed(facts, facts.y, facts.offsets))


def _no_undeclared_groups(facts: Facts) -> Finding:
    if facts.undeclared_groups is None:
        return _not_known(facts, "undeclared_groups")
    others = [row for row in facts.undeclared_groups if not row.declared_as]
    texts = [
        f'"{row.group}" on {row.alias}' + (" (not a classic or consumer group)" if row.state == UNDESCRIBED else "")
        for row in others
    ]
    stay = [
        f'"{row.group}" on {row.alias}'
        + (", which kafka_dr_accept_undeclared names" if row.declared_as != "local" else "")
        for row in facts.undeclared_groups
        if row.declared_as
    ]
    good = "every group that reads these topics is in the inventory"
    return _none_of(texts, f"{good}; these stay: {first_few(stay, separator='; ')}" if stay else good)


def _all_members(facts: Facts) -> Finding:
    if facts.leaving is None:
        return _not_known(facts, "members")
    return _none_of(list(facts.leaving), "the inventory has every topic and group of the pair")


def _all_joined(facts: Facts) -> Finding:
    if facts.unjoined is None:
        return _not_known(facts, "pattern_matches")
    texts = [f'the {row["kind"]} "{row["name"]}" has not joined' for row in facts.unjoined]
    return _none_of(texts, "no pattern takes anything else")


def _rights(facts: Facts) -> Finding:
    if facts.rights is None:
        return _not_known(facts, "rights")
    open_ = [f'the rights of "{name}" are unknown: it declares no principal' for name in facts.undeclared]
    good = f"the declared principals have the rights they need on {facts.y}, or {facts.y} has no authorizer"
    return _none_of(list(facts.rights), good, open_)


def _presynced(facts: Facts) -> Finding:
    ages, details, limit = _of_survey(facts, "ages"), _of_survey(facts, "details"), facts.limits.age
    if ages is None or details is None:
        return _not_known(facts, "survey")
    old = [
        f'"{group}": {"the age is unknown" if age is None else f"{age:.0f} s old (limit {limit:g} s)"}'
        for group, age in ages.items()
        if age is None or age > limit
    ]
    # A group that would read nothing again has no age; its rows show it.
    good = f"the offsets known on {facts.y} are at most {limit:g} s old"
    return _none_of(old, good, _not_observed(facts, facts.y, details))


def _others_can_stop(facts: Facts) -> Finding:
    """A run that does not wait for applications of other teams needs them stopped (R48)."""
    others = facts.other_applications
    if not others:
        return _yes("every topic has a declared writer, and every group a declared application")
    terms = others.terms((facts.x, facts.y), facts.wait_for_applications)
    if facts.wait_for_applications > 0:
        return _yes(terms)
    return _not_known(facts, "running") if facts.running is None else _none_of(list(facts.running), terms)


def _controllable(facts: Facts) -> Finding:
    if facts.clients is None:
        return _not_known(facts, "clients")
    return _none_of(
        list(facts.clients), "every host and workload of the applications responds (none was stopped or started)"
    )


CHECKS = (
    Check(
        "cluster_from",
        "Does {x} respond, and is it the cluster in the inventory?",
        _answers("x"),
        "Check the brokers, address and login of {x}. If the cluster is lost, run the playbook failover_disaster.",
        counts=(CONTROLLED,),
        asked_by="every task: it connects to both clusters",
    ),
    Check(
        "cluster_to",
        "Does {y} respond, and is it the cluster in the inventory?",
        _answers("y"),
        "Check the brokers, address and login of {y}. The applications cannot move without it.",
        asked_by="every task: it connects to both clusters",
    ),
    Check(
        "workers_to",
        "Do the workers of the flow to {y} respond?",
        _workers_answer("y"),
        "Start the workers, or correct their address or login. A cutover needs them to stop the flow and to read its"
        " offsets.",
        ("cluster_to",),
        asked_by="the observation of the flows",
    ),
    Check(
        "workers_from",
        "Do the workers of the flow to {x} respond?",
        _workers_answer("x"),
        "Start the workers, or correct their address or login. Failback is impossible without them.",
        ("cluster_from",),
        (CONTROLLED,),
        asked_by="the observation of the flows",
    ),
    Check(
        "versions",
        "Do both flows run the same version of MirrorMaker 2?",
        _versions,
        "Bring the workers to one version. MirrorMaker 2 does not guarantee that one version reads the offsets of"
        " another.",
        ("workers_to", "workers_from"),
        (CONTROLLED,),
        left_out="a move needs no equal versions, and the flows run with these versions already",
    ),
    Check(
        "journal",
        "Does the journal show that the applications live on {x}?",
        _journal,
        "Run the playbook enable. If the applications were moved by hand, add -e kafka_dr_applications_on=ALIAS.",
        ("cluster_to",),
        asked_by="the reading of the journal",
    ),
    Check(
        "retention",
        "Are the journal, presynced offsets, checkpoints and offset-syncs retained without a limit?",
        _retained,
        "Journal: correct the setting (kafka-configs --alter). Checkpoints: set cleanup.policy=compact. Other topics:"
        " run the playbook enable. Records that these topics lose cannot be recovered.",
        ("journal", "cluster_from"),
        left_out="nothing expires within the minutes of a move",
    ),
    Check(
        "run",
        "Has every run ended?",
        _no_run,
        "Start the run again, or undo it with the playbook abandon.",
        ("journal",),
        asked_by="the reading of the journal: the run resumes, or is refused",
    ),
    Check(
        "topics",
        "Do all topics and their replicas exist?",
        _exist,
        "Run the playbook enable, which creates them, or remove the topic from the inventory. If a cluster still has it"
        " or its replica, name it in kafka_dr_drop.",
        ("cluster_from", "cluster_to"),
    ),
    Check(
        "members",
        "Does the inventory have every topic and group that has joined the pair?",
        _all_members,
        "Add what is missing to the inventory, or name it in kafka_dr_drop and run the playbook enable: then it leaves"
        " the pair. Until then moves, disaster failovers, enable and disable are refused.",
        ("journal",),
        asked_by="the comparison of the inventory with the journal",
    ),
    Check(
        "patterns",
        "Is everything that the patterns of the inventory take on {x} in the pair?",
        _all_joined,
        "Run the playbook enable, with which they join the pair, or add them to exclude. Nothing replicates them, and a"
        " planned cutover is refused.",
        ("cluster_from", "journal"),
        asked_by="the observation of the flows and groups",
    ),
    Check(
        "topic_ids",
        "Does every topic still have the topic id in the journal?",
        _same_ids,
        "A flow would continue from a wrong offset. Run disable, delete the replica, and run enable with"
        " kafka_dr_copy_again. If the engine refuses that, use another topic name. If topics have no id, upgrade the"
        " brokers.",
        ("topics", "journal"),
    ),
    Check(
        "partitions",
        "Do topics have the same number of partitions on both clusters?",
        _partitions,
        "Set the larger count as partitions of the topic in kafka_dr_topics, then run the playbook enable: it adds the"
        " missing partitions. Kafka cannot remove partitions: if a replica has too many, delete it, and enable creates"
        " it again.",
        ("topics",),
        asked_by="the observation of the flows",
    ),
    Check(
        "settings",
        "Do topics on {y} retain and accept at least as much as on {x}?",
        _settings,
        "Set the same value on both clusters (kafka_topic, or the flow's sync.topic.configs).",
        ("topics",),
        left_out="they limit what the applications can write or keep later, not the move",
    ),
    Check(
        "replicas",
        "Do topics on {y} have as many replicas as on {x}?",
        _replication,
        "Add replicas (kafka-reassign-partitions). Otherwise fewer broker failures can make the topic unavailable.",
        ("topics",),
        left_out="fewer replicas make a later failure worse, not the move",
    ),
    Check(
        "writable",
        "Can producers with acks=all write on {y}?",
        _writable,
        "Start the missing brokers. If none is missing, add replicas or lower min.insync.replicas. Until then the"
        " brokers refuse every such write.",
        ("topics",),
        asked_by="the observation of the flows",
    ),
    Check(
        "broker_limits",
        "Do the brokers of {y} accept every client that those of {x} accept?",
        _broker_limits,
        "Set the same value on the brokers of {y} (server.properties, and restart them one by one). If no application"
        " needs more than the stricter limit, accept this check.",
        ("cluster_from", "cluster_to"),
        refuses_unknown=False,
    ),
    Check(
        "journal_writable",
        "Do both clusters accept writes to the topics of the journal and of the flows?",
        _journal_writable,
        "Start the missing brokers. If none is missing, add replicas or lower min.insync.replicas. No phase runs"
        " without the journal.",
        ("retention",),
        (CONTROLLED,),
        asked_by="the first event of the run, which is journaled before the first stop",
    ),
    Check(
        "unclean_elections",
        "Is unclean leader election disabled for all topics of the pair?",
        _unclean,
        "Set unclean.leader.election.enable=false (kafka_topic). An unclean election deletes acknowledged records, also"
        " those that the flow has replicated already.",
        ("topics", "retention"),
        left_out="it matters only if a broker fails, and the move shortens no risk by waiting",
    ),
    Check(
        "leaders_from",
        "Does every partition on {x} have a leader?",
        _leaders("x"),
        "Start the missing brokers. Records of a partition without a leader cannot be replicated.",
        ("topics",),
        (CONTROLLED,),
        asked_by="the observation of the flows",
    ),
    Check(
        "leaders_to",
        "Does every partition on {y} have a leader?",
        _leaders("y"),
        "Start the missing brokers. A partition without a leader accepts no records, and no offset on it can be"
        " checked.",
        ("topics",),
        asked_by="the observation of the flows",
    ),
    Check(
        "flow_offsets",
        "Do the stored offsets of the flows match their replicas?",
        _in_no_flow("misfits", "{found}", "the flows replicate no record twice"),
        "Do not start the flow: it would replicate records twice. If another connector writes the replicas, name it in"
        " kafka_dr_adopt and run enable. Otherwise delete the replicas and run enable.",
        ("workers_to", "workers_from", "topics", "journal"),
    ),
    Check(
        "flow_alone",
        "Are the flows of the pair the only connectors that replicate these topics?",
        _in_no_flow(
            "rivals", '{flow}: "{found}" replicates the same topics', "no other connector replicates the same topics"
        ),
        "If the other connector was started beside the pair's, stop it (PUT /connectors/NAME/stop): the pair's"
        " connector continues from its own offsets. If the other one has filled the replicas, name it in kafka_dr_adopt"
        " and run enable, which takes over its offsets (for a KafkaMirrorMaker2, see docs/kubernetes.md first): the"
        " pair's connector would replicate every record again.",
        ("workers_to", "workers_from", "topics", "journal"),
    ),
    Check(
        "flow",
        "Is the source connector of {x}->{y} RUNNING?",
        _connectors("forward", ("source",)),
        "Read the worker's log, then run the playbook enable.",
        ("workers_to", "topics", "journal"),
        asked_by="the observation of the flows",
    ),
    Check(
        "flow_settings",
        "Are the connector settings of both flows safe?",
        _flow_settings,
        "Run the playbook enable: it writes the settings that carry a proof into each connector. Remove other unsafe"
        " settings by hand.",
        ("flow", "workers_from"),
        asked_by="the observation of the flows",
    ),
    Check(
        "flow_sizes",
        "Can the flow {x}->{y} send every record size that {x} accepts?",
        _sizes,
        "Set producer.override.max.request.size in source_settings of kafka_dr_flow above the size of the largest"
        " uncompressed record, and run the playbook enable. One larger record fails the task of the flow.",
        ("flow", "topics"),
        left_out="it stops the flow only at a larger record, and then the flow makes no progress",
    ),
    Check(
        "flow_carries",
        "Does the flow {x}->{y} replicate every topic and group in the inventory?",
        _carries("forward"),
        "Run the playbook enable, which declares them. If an exclude list names one, remove it from the list by hand.",
        ("flow",),
    ),
    Check(
        "flow_fits",
        "Was every record on {x} replicated before it was deleted?",
        _fits,
        "{y} has lost these records. Accept the loss, or replicate what is left again: run disable, delete the"
        " replica, and run enable with kafka_dr_copy_again.",
        ("flow", "leaders_from", "partitions", "topic_ids"),
    ),
    Check(
        "flow_progress",
        "Does the flow {x}->{y} replicate records?",
        _makes_progress("forward"),
        "A connector in state RUNNING may make no progress. Read the worker's log; check the network bandwidth, and"
        " whether {y} refuses writes.",
        ("flow", "leaders_to", "flow_fits", "flow_carries", "writable"),
        asked_by="the observation of the flows",
    ),
    Check(
        "flow_lag",
        "Is the lag of the flow within the limit?",
        _lag,
        "Add tasks or bandwidth, or wait. A controlled cutover waits for these records; a disaster loses them.",
        ("flow_progress",),
        left_out="the drain waits for these records, and kafka_dr_max_downtime limits that wait",
    ),
    Check(
        "flow_expiry",
        "Are unreplicated records retained long enough to be replicated?",
        _expiry,
        "Raise retention.ms and retention.bytes on {x} now; then find out why the flow lags.",
        ("flow", "leaders_from", "flow_fits"),
        left_out="the drain replicates these records sooner than the flow would with running producers",
    ),
    Check(
        "transactions",
        "Does every transaction end within seconds?",
        _decided,
        "End the transaction (kafka-transactions.sh find-hanging), or wait for its transaction.timeout.ms: the drain of"
        " a cutover would wait for it. If a running application keeps its transactions open for so long and its stop"
        " ends them, accept this check.",
        ("topics", "leaders_from"),
        (CONTROLLED,),
        asked_by="the observation of the flows, which waits for open transactions",
    ),
    Check(
        "foreign_writes",
        "Are the flows the only writers of their replicas?",
        _foreign_writes,
        "If a record is named that the source does not have, stop the other writer: its records are never replicated"
        " back. To continue anyway, set kafka_dr_accept_foreign_writers. If a replica could not be compared, no writer"
        " is known: the answer changes when the flow has replicated a record into it.",
        ("flow", "workers_from", "partitions"),
        asked_by="the observation of the flows",
    ),
    Check(
        "back",
        "Is the source connector of {y}->{x} RUNNING?",
        lambda facts: (
            _yes("with the policy identity this flow is stopped until the applications live on the other cluster")
            if facts.naming.one_flow_at_a_time
            else _connectors("back", ("source",))(facts)
        ),
        "Read the worker's log, then run the playbook enable. Failback needs this flow.",
        ("workers_from", "topics"),
        (CONTROLLED,),
        asked_by="the observation of the flows",
    ),
    Check(
        "back_carries",
        "Does the flow {y}->{x} replicate every topic and group in the inventory?",
        lambda facts: _yes("it is stopped") if facts.naming.one_flow_at_a_time else _carries("back")(facts),
        "Run the playbook enable, which declares them.",
        ("back",),
        (CONTROLLED,),
        left_out="nothing writes what this flow replicates until the move has written its settings",
    ),
    Check(
        "back_progress",
        "Does the flow {y}->{x} replicate records?",
        lambda facts: _yes("it is stopped") if facts.naming.one_flow_at_a_time else _makes_progress("back")(facts),
        "A connector in state RUNNING may make no progress. Read the worker's log.",
        ("back", "back_carries", "leaders_from", "leaders_to", "partitions", "topic_ids"),
        (CONTROLLED,),
        asked_by="the observation of the flows",
    ),
    Check(
        "checkpoints",
        "Is the checkpoint connector of {x}->{y} RUNNING?",
        _connectors("forward", ("checkpoint",)),
        "Read the worker's log, then run the playbook enable. A disaster failover reads offsets from checkpoints.",
        ("flow",),
        (DISASTER,),
    ),
    Check(
        "group_offsets",
        "Does every group have a committed offset on each partition with records?",
        _have_offsets,
        "Start the group once, or commit offsets for it. Without them, auto.offset.reset would decide where it starts.",
        ("topics", "leaders_from", "journal", "partitions", "flow_carries"),
        asked_by="the observation of the groups",
    ),
    Check(
        "group_topics",
        "Do the groups read only topics in the inventory?",
        _only_declared_topics,
        "Add the topics to kafka_dr_topics, and to the topics of the group if the inventory lists them, then run the"
        " playbook enable; or remove the group. A cutover does not move the offsets of other topics.",
        ("topics",),
        asked_by="the observation of the groups",
    ),
    Check(
        "group_scope",
        "Does each group use only the topics that the inventory declares for it?",
        _in_scope,
        "Add the topic to the group's topics, or stop the group from reading it and delete its committed offsets there"
        " on both clusters.",
        ("topics", "topic_ids", "workers_to"),
        asked_by="the observation of the groups",
    ),
    Check(
        "undeclared_groups",
        "Is every group that reads these topics in the inventory?",
        _no_undeclared_groups,
        "Add the group to kafka_dr_groups (mode: local if it stays on its cluster, and for a share group), name it in"
        " kafka_dr_accept_undeclared, or delete it if it is unused. If a pattern takes it, run the playbook enable.",
        ("topics",),
        asked_by="the observation of the groups",
    ),
    Check(
        "groups_there",
        "Are the groups on {y} without members?",
        _no_members_there,
        "Stop the consumers on {y}: they process the same records twice, or are about to.",
        ("leaders_to", "topics", "workers_to", "journal", "topic_ids"),
        asked_by="the observation of the groups",
    ),
    Check(
        "committed_offsets",
        "Can every committed offset be translated to {y}?",
        _translated,
        "Read the reason. Most often the flow lags or offset-syncs are missing: wait, or let the group continue to"
        " read.",
        ("flow_fits", "group_offsets", "leaders_to", "partitions", "topic_ids", "workers_from"),
        (CONTROLLED,),
        asked_by="the translation of the committed offsets, with the options of the run",
    ),
    Check(
        "offsets_movable",
        "Can a cutoff move every committed offset on {x} as it is now?",
        _movable,
        "Let the group continue to read, or commit an offset within the log. kafka_dr_group_lag: reread accepts that"
        " records are read again. Run Kafka Streams with group.protocol=classic.",
        ("committed_offsets",),
        (CONTROLLED,),
        asked_by="the translation of the committed offsets, with the options of the run",
    ),
    Check(
        "unread_there",
        "Does {y} still have every record that a group has not read?",
        _still_held,
        "Let the group read these records on {x} before they expire there too, and raise the topic's retention on {y}."
        " kafka_dr_accept_skips moves a group anyway: it never processes those records.",
        ("committed_offsets",),
        (CONTROLLED,),
        asked_by="the translation of the committed offsets, with the options of the run",
    ),
    Check(
        "offsets_there",
        "Are the committed offsets on {y} at or before what their groups have processed?",
        _none_after,
        "A higher committed offset skips records. A planned cutover refuses it; kafka_dr_lower: lower sets it back.",
        ("committed_offsets",),
        asked_by="the translation of the committed offsets, for groups without members",
    ),
    Check(
        "presynced",
        "Are the offsets known on {y} recent enough for a disaster?",
        _presynced,
        "Schedule the playbook reverse_checkpoint more often, and check that the flow writes checkpoints.",
        ("checkpoints", "flow_progress", "group_offsets", "group_topics", "group_scope", "leaders_to"),
        (DISASTER,),
    ),
    Check(
        "rights",
        "Do the applications have the rights they need on {y}?",
        _rights,
        "Run the playbook rights, which grants what the declared clients need, or grant the rights by other means."
        " Declare the principal of each client.",
        ("cluster_to",),
        refuses_unknown=False,
    ),
    Check(
        "other_applications",
        "Have the applications on {x} stopped that the inventory does not control, or does a cutover wait for them?",
        _others_can_stop,
        "Declare them in kafka_dr_clients. Or let their teams stop them before the cutover starts, or set"
        " kafka_dr_wait_for_applications: then the run says when, and waits.",
        ("topics", "leaders_from"),
        (CONTROLLED,),
        asked_by="the watch of their topics and groups",
    ),
    Check(
        "clients",
        "Can the playbooks reach the hosts and workloads of the applications?",
        _controllable,
        "Check that Ansible can reach the hosts in the inventory and that they have the commands, or do what the reason"
        " says of a workload.",
        asked_by="the tasks that render the endpoint files and check the workloads",
    ),
)

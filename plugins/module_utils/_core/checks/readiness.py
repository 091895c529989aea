# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of readiness: what each asks, from which facts it is answered, what to do.

The order is that of looking: a check stands behind those that it needs.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..offsets.skipped_records import skipped_in
from ..resources.task_failures import failed_text
from ..resources.topics import TopicState
from ..verdict import PROVEN, REFUTED, UNKNOWN, Finding
from .facts import CONTROLLED, DISASTER, Check, Expiring, Facts
from .residence import unsafe_journal

__all__ = ["CHECKS", "SETTINGS"]

Judge = Callable[[Facts], Finding]
_SHOWN = 5
# Why a broker accepts 12 bytes more than a producer sends, by default: Records.LOG_OVERHEAD.
_BATCH_OVERHEAD = 12
# What the checks look at.
SETTINGS = (
    "cleanup.policy",
    "max.message.bytes",
    "message.timestamp.type",
    "min.insync.replicas",
    "retention.bytes",
    "retention.ms",
)


# ---- judges ------------------------------------------------------------------------------------------------------


def _is(text: str) -> Finding:
    return Finding(PROVEN, text)


def _not_known(facts: Facts, part: str) -> Finding:
    return Finding(UNKNOWN, facts.unknown.get(part, f"{part} could not be looked at"))


def _none_of(texts: Sequence[str], good: str, unknown: Sequence[str] = ()) -> Finding:
    """REFUTED with the first of ``texts``, if there are any; else UNKNOWN with the first of what could not be told."""
    if texts:
        return Finding(REFUTED, _first(texts))
    return Finding(UNKNOWN, _first(unknown)) if unknown else _is(good)


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more


def _answers(side: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        alias = getattr(facts, side)
        why = facts.away.get(alias, "it was not asked")
        return _is(f"{alias} named itself") if why is None else Finding(REFUTED, why)

    return judge


def _works(side: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        alias = getattr(facts, side)
        why = facts.workers.get(alias, "they were not asked")
        version = facts.versions.get(alias)
        return _is(f"they run {version or 'a version that they do not tell'}") if why is None else Finding(REFUTED, why)

    return judge


def _versions(facts: Facts) -> Finding:
    if facts.versions_retained_by:
        return _is(facts.versions_retained_by)
    known = {alias: version for alias, version in facts.versions.items() if version}
    if len(known) < 2:
        return Finding(UNKNOWN, "a version is not known")
    shown = ", ".join(f"{version} toward {alias}" for alias, version in sorted(known.items()))
    return _is(shown) if len(set(known.values())) == 1 else Finding(REFUTED, shown)


def _journal(facts: Facts) -> Finding:
    if facts.journal is None:
        return _not_known(facts, "journal")
    if facts.journal_missing:
        return Finding(REFUTED, f"there is no journal topic on {', '.join(facts.journal_missing)}")
    if not facts.journal["enabled"]:
        return Finding(REFUTED, "the pair is not enabled")
    if facts.journal["active"] != facts.x:
        return Finding(REFUTED, f"the applications live on {facts.journal['active']}, not on {facts.x}")
    if facts.journal_gaps:
        return Finding(
            REFUTED, f"{len(facts.journal_gaps)} epochs are missing, the first one is {facts.journal_gaps[0]}"
        )
    copies = " and ".join(alias for alias in (facts.x, facts.y) if facts.away.get(alias, "") is None)
    return _is(f"the applications live on {facts.x}, by the copy on {copies}")


def _kept(facts: Facts) -> Finding:
    """A compacted topic forgets nothing that counts; one that deletes must have no bound."""
    short, unknown = [], []
    for alias in (facts.x, facts.y):
        states = facts.own.get(alias) or {}
        topic = states.get(facts.journal_topic)
        if topic is None:
            return _not_known(facts, "own")
        if facts.brokers.get(alias) is None:
            unknown.append(f"the number of brokers on {alias} is not known")
        if topic.replication_factor is None:
            unknown.append(f'replicas of "{facts.journal_topic}" on {alias} differ by partition, or could not be read')
        for name, state in states.items():
            # One that is missing is another check's, or MirrorMaker 2 has yet to make it.
            policy = None if state is None else _value(state, "cleanup.policy")
            journal = state is not None and name == facts.journal_topic
            if state is not None and journal:
                short += unsafe_journal(alias, state, facts.brokers.get(alias))
            if state is None or (policy == "compact" and not journal):
                continue
            bounds = {key: _value(state, key) for key in ("retention.bytes", "retention.ms")}
            found = [f"{key} {value}" for key, value in bounds.items() if value is not None and int(value) >= 0]
            if policy is None or None in bounds.values():
                unknown.append(f'what "{name}" on {alias} keeps is not known')
            elif found and not journal:
                short.append(f'"{name}" on {alias} has {policy} with {", ".join(found)}')
    return _none_of(short, "journal, positions, checkpoints and offset-syncs are kept without a bound", unknown)


def _no_run(facts: Facts) -> Finding:
    if facts.journal is None or facts.journal["interrupted"] is None:
        return _not_known(facts, "journal")
    if not facts.journal["interrupted"]:
        return _is("no run is unfinished")
    run = facts.journal["run"]
    return Finding(REFUTED, f"the {run['type']} run {run['id']} to {run['to']} has not ended")


def _wanted(facts: Facts, alias: str) -> list[str]:
    """Topics that applications or flows need on a side: originals, and replicas of what the other side holds."""
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
    return _none_of(missing, f"{len(facts.originals)} topics and their replicas exist on both sides")


def _pairs(facts: Facts) -> list[tuple[TopicState, TopicState]]:
    """An original on ``x`` beside its replica, and beside the original, on ``y``."""
    there, here = _there(facts, facts.y) or {}, _there(facts, facts.x) or {}
    return [
        (here[topic], there[name])
        for topic in facts.originals
        for name in dict.fromkeys([facts.naming.replica(facts.x, topic), topic])
        if topic in here and name in there
    ]


def _same_ids(facts: Facts) -> Finding:
    journaled = (facts.journal or {}).get("topic_ids") or {}
    if not journaled:
        return Finding(UNKNOWN, "the journal has no topic ids")
    other, unknown = [], []
    for alias in (facts.x, facts.y):
        known = journaled.get(alias) or {}
        for name, state in (_there(facts, alias) or {}).items():
            if known.get(name) is None:
                unknown.append(f'the journal has no id of "{name}" on {alias}: the playbook enable writes it')
            elif known[name] != state.topic_id:
                other.append(
                    f'"{name}" on {alias} is not the topic of before ({state.topic_id}, journaled {known[name]})'
                )
    return _none_of(other, "all topics are those that were enabled", unknown)


def _partitions(facts: Facts) -> Finding:
    other = [
        f'"{left.name}" has {left.partitions} on {facts.x}, "{right.name}" has {right.partitions} on {facts.y}'
        for left, right in _pairs(facts)
        if left.partitions != right.partitions
    ]
    return _none_of(other, "equal on both sides")


def _leaders(side: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        there = _there(facts, getattr(facts, side)) or {}
        mute = [f'"{name}" has {len(state.leaderless)}' for name, state in there.items() if state.leaderless]
        return _none_of(mute, "every partition has one")

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
                unread.append(f'{setting} of "{left.name}" or "{right.name}" could not be read')
            elif differs(mine, theirs):
                other.append(
                    f'{setting} is {mine} for "{left.name}" on {facts.x} and {theirs} for "{right.name}" on {facts.y}'
                )
    return _none_of(other, "nothing that applications would notice differs", unread)


def _shorter(mine: str, theirs: str) -> bool:
    """-1 is for ever."""
    return int(theirs) >= 0 and (int(mine) < 0 or int(theirs) < int(mine))


# What applications would notice, and when.
_COMPARED: dict[str, Callable[[str, str], bool]] = {
    "cleanup.policy": lambda mine, theirs: set(mine.split(",")) != set(theirs.split(",")),
    "max.message.bytes": lambda mine, theirs: int(theirs) < int(mine),
    "message.timestamp.type": lambda mine, theirs: mine != theirs,
    "retention.bytes": _shorter,
    "retention.ms": _shorter,
}


def _writable(facts: Facts) -> Finding:
    """Producers with acks=all need min.insync.replicas replicas; fewer can never be in sync."""
    other, unread = [], []
    for name, state in (_there(facts, facts.y) or {}).items():
        wanted = _value(state, "min.insync.replicas")
        if wanted is None or state.replication_factor is None:
            unread.append(f'replicas of "{name}" on {facts.y} differ by partition, or could not be read')
        elif state.replication_factor < int(wanted):
            other.append(f'"{name}" has {state.replication_factor} replicas and min.insync.replicas {wanted}')
    return _none_of(other, f"acks=all can be had of every topic on {facts.y}", unread)


def _replication(facts: Facts) -> Finding:
    """As many replicas as on the other side, or as many as the brokers there can hold."""
    brokers = facts.brokers.get(facts.y)
    if brokers is None:
        return Finding(UNKNOWN, f"the number of brokers on {facts.y} is not known")
    other, unread = [], []
    for left, right in _pairs(facts):
        mine, theirs = left.replication_factor, right.replication_factor
        if mine is None or theirs is None:
            unread.append(f'replicas of "{left.name}" or "{right.name}" differ by partition, or could not be read')
        elif theirs < min(mine, brokers):
            other.append(f'"{right.name}" has {theirs} replicas on {facts.y}, "{left.name}" has {mine} on {facts.x}')
    return _none_of(other, "no fewer than on the side being left", unread)


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
                wrong.append(f'"{one["name"]}" is {one["state"]}')
            elif set(tasks) != {"RUNNING"}:
                states = ", ".join(map(str, tasks)) or "none"
                unknown.append(f'"{one["name"]}" is RUNNING, and its tasks are not: {states}')
        return _none_of(wrong, f"{', '.join(parts)} run; whether they do anything is another check", unknown)

    return judge


def _in_no_flow(part: str, text: str, good: str) -> Judge:
    """REFUTED with every ``found`` of a ``flow``, put into ``text``; UNKNOWN as soon as one flow was not observed."""

    def judge(facts: Facts) -> Finding:
        by_flow = getattr(facts, part)
        texts = [text.format(flow=flow, found=one) for flow, found in by_flow.items() for one in found or ()]
        unknown = [_why_not(facts, part, flow) for flow in facts.flow_names if by_flow.get(flow) is None]
        return _none_of(texts, f"{good} ({', '.join(facts.flow_names)})", unknown)

    return judge


def _why_not(facts: Facts, part: str, flow: str) -> str:
    known = facts.unknown
    return known.get(part) or known.get(f"flow {flow}", f"the flow {flow} could not be observed")


def _sizes(facts: Facts) -> Finding:
    """Whether the flow's producer sends what the source accepts; replicas are compared by ``settings``."""
    if facts.forward is None:
        return _not_known(facts, "flows")
    known = (one["largest_record"] for one in facts.forward["connectors"] if one["part"] == "source")
    largest = next(known, None)
    if largest is None:
        return Finding(UNKNOWN, f"max.request.size of the producer of {facts.forward['name']} is not known")
    other, unread = [], []
    for left, _right in _pairs(facts):
        accepted = _value(left, "max.message.bytes")
        if accepted is None:
            unread.append(f'max.message.bytes of "{left.name}" on {facts.x} could not be read')
        elif int(accepted) - _BATCH_OVERHEAD > largest:
            other.append(
                f'"{left.name}" on {facts.x} accepts batches of {accepted} bytes, and the producer of'
                f" {facts.forward['name']} sends records of at most {largest} bytes (max.request.size)"
            )
    good = (
        f"the flow's producer sends records of up to {largest} bytes, as many as {facts.x} accepts; it counts the"
        " uncompressed size, so a compressed record may still be too large for it"
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
        return _none_of(list(missing), "every topic, and every group that moves", list(unknown))

    return judge


def _fits(facts: Facts) -> Finding:
    if facts.forward is None:
        return _not_known(facts, "flows")
    found = {(row["topic"], row["partition"]): row for row in facts.forward["partitions"]}
    lost = [f"{topic}-{index}: {row['fits_reason']}" for (topic, index), row in found.items() if row["fits"] == REFUTED]
    open_ = [
        f"{topic}-{index}: {found[topic, index]['fits_reason'] if (topic, index) in found else 'not observed'}"
        for topic, index in _partitions_of(facts, facts.x, facts.originals)
        if (topic, index) not in found or found[topic, index]["fits"] != PROVEN
    ]
    return _none_of(lost, "nothing was deleted before it was copied", open_)


def _partitions_of(facts: Facts, alias: str, topics: Iterable[str]) -> list[tuple[str, int]]:
    """Those that a side has; without the topic, its first one, which no observation shows."""
    there = _there(facts, alias) or {}
    return [(name, index) for name in topics for index in range(there[name].partitions if name in there else 1)]


def _not_observed(facts: Facts, alias: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Groups that move without a row, and partitions of ``alias`` that a group's rows leave out."""
    found: dict[str, dict[str, set[int]]] = {name: {} for name in facts.names}
    for row in rows:
        found.setdefault(row["group"], {}).setdefault(row["topic"], set()).add(row["partition"])
    texts = [f'"{group}": nothing was observed on {alias}' for group, topics in found.items() if not topics]
    return texts + [
        f'"{group}" on {topic}-{index}: not observed'
        for group, topics in found.items()
        for topic, index in _partitions_of(facts, alias, topics)
        if index not in topics[topic]
    ]


def _moves(which: str) -> Judge:
    def judge(facts: Facts) -> Finding:
        flow = getattr(facts, which)
        return _not_known(facts, "flows") if flow is None else Finding(flow["verdict"], flow["reason"])

    return judge


def _lag(facts: Facts) -> Finding:
    if facts.expiring is None:
        return _not_known(facts, "expiring")
    late = [
        f"{one.place}: its first record that is not copied has waited {one.waited:.0f} s"
        for one in facts.expiring
        if one.waited is not None and one.waited > facts.limits.lag
    ]
    open_ = [f"{one.place}: how old its first record that is not copied is" for one in facts.expiring if not _aged(one)]
    worst = max((one.waited for one in facts.expiring if one.waited is not None), default=0.0)
    good = f"the record that has waited longest is {worst:.1f} s old (limit {facts.limits.lag:g} s)"
    return _none_of(late, good, open_)


def _aged(one: Expiring) -> bool:
    return one.waited is not None


def _expiry(facts: Facts) -> Finding:
    if facts.expiring is None:
        return _not_known(facts, "expiring")
    soon = [
        f"{one.place}: deleted in {max(0.0, one.left):.0f} s"
        for one in facts.expiring
        if one.left is not None and one.left < facts.limits.expiry
    ]
    # One whose age is not known is named by the check of the lag.
    open_ = [f"{one.place}: how long it is kept" for one in facts.expiring if one.left is None and _aged(one)]
    return _none_of(soon, f"what waits to be copied is kept for another {facts.limits.expiry:g} s and longer", open_)


def _decided(facts: Facts) -> Finding:
    if facts.open_transactions is None:
        return _not_known(facts, "open_transactions")
    held = [
        f"{one.topic}-{one.partition} on {facts.x}: one is open from offset {one.offset} on, {one.age:.0f} s"
        for one in facts.open_transactions
        if one.age is not None and one.age > facts.limits.undecided
    ]
    open_ = [
        f"{one.topic}-{one.partition} on {facts.x}: since when one is open from offset {one.offset} on"
        for one in facts.open_transactions
        if one.age is None
    ]
    return _none_of(held, f"none holds records back for {facts.limits.undecided:g} s", open_)


def _have_offsets(facts: Facts) -> Finding:
    if facts.groups is None:
        return _not_known(facts, "groups")
    none = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}'
        for row in facts.groups
        if row["alias"] == facts.x and row["commit"] is None and row["read_to_end"] is None
    ]
    rows = [row for row in facts.groups if row["alias"] == facts.x]
    seen = {row["group"] for row in rows}
    none += [f'"{name}" on no partition of these topics' for name in facts.names if name not in seen]
    good = f"every group has one wherever there are records on {facts.x}"
    return _none_of(none, good, _not_observed(facts, facts.x, rows))


def _listed(facts: Facts) -> Finding:
    if facts.undeclared_topics is None:
        return _not_known(facts, "groups")
    texts = [
        f'"{row["group"]}" also reads {", ".join(row["topics"])} on {row["alias"]}'
        for row in facts.undeclared_topics
        if row["alias"] == facts.x
    ]
    return _none_of(texts, "groups read topics of the inventory only")


def _in_scope(facts: Facts) -> Finding:
    """On the side being left by its groups, on the other one by what a disaster would find there."""
    sides = {"groups": facts.out_of_scope, "survey": _of_survey(facts, "out_of_scope")}
    texts = [
        f'"{row["group"]}" uses "{row["topic"]}" on {row["alias"]}: {row["evidence"]}'
        for rows in sides.values()
        for row in rows or ()
    ]
    unknown = [_not_known(facts, part).reason for part, rows in sides.items() if rows is None]
    return _none_of(texts, "no group has a committed offset or an assigned member on another topic", unknown)


def _of_survey(facts: Facts, part: str) -> Any:
    """A part of what a disaster would find; None: not known."""
    return None if facts.survey is None else facts.survey[part]


def _no_members_there(facts: Facts) -> Finding:
    active = _of_survey(facts, "active_groups")
    if active is None:
        return _not_known(facts, "survey")
    return _none_of([f'"{group}" has members on {facts.y}' for group in active], f"none has members on {facts.y}")


def _found(facts: Facts) -> Finding:
    if facts.rows is None:
        return _not_known(facts, "rows")
    texts = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: {row["reason"]}'
        for row in facts.rows
        if row["offset"] is None
    ]
    good = f"{len(facts.rows)} positions can be found on {facts.y}"
    return _none_of(texts, good, _not_observed(facts, facts.y, facts.rows))


def _movable(facts: Facts) -> Finding:
    if facts.refused is None:
        return _not_known(facts, "rows")
    return _none_of(list(facts.refused), f"a cutoff would refuse no committed offset on {facts.x} as it is now")


def _still_held(facts: Facts) -> Finding:
    if facts.rows is None:
        return _not_known(facts, "rows")
    found = [
        (f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: {row["reason"]}', skipped_in(row))
        for row in facts.rows
    ]
    gone = [text for text, skips in found if skips.at_least]
    unsure = [text for text, skips in found if skips.possible]
    unsure += _not_observed(facts, facts.y, facts.rows)
    return _none_of(gone, f"{facts.y} holds every record that a group has not read", unsure)


def _none_after(facts: Facts) -> Finding:
    if facts.rows is None:
        return _not_known(facts, "rows")
    texts = [
        f'"{row["group"]}" on {row["topic"]}-{row["partition"]}: at {row["existing"]}, processed up to {row["offset"]}'
        for row in facts.rows
        if row["existing"] is not None
        and row["offset"] is not None
        and row["existing"] > row["offset"]
        # What was not known to be copied in that moment makes a position low, not the other one high.
        and row["quality"] == "exact"
    ]
    return _none_of(texts, f"no position on {facts.y} would skip anything", _not_observed(facts, facts.y, facts.rows))


def _no_undeclared_groups(facts: Facts) -> Finding:
    if facts.undeclared_groups is None or facts.undeclared_groups.get(facts.x) is None:
        return _not_known(facts, "undeclared_groups")
    texts = [f'"{group}" on {alias}' for alias, groups in facts.undeclared_groups.items() for group in groups]
    return _none_of(texts, "every group that reads these topics is in the inventory")


def _rights(facts: Facts) -> Finding:
    if facts.rights is None:
        return _not_known(facts, "rights")
    open_ = [f'what "{name}" may do: it declares no principal' for name in facts.undeclared]
    good = f"the declared principals may work on {facts.y}, or nobody is refused there"
    return _none_of(list(facts.rights), good, open_)


def _presynced(facts: Facts) -> Finding:
    ages, details, limit = _of_survey(facts, "ages"), _of_survey(facts, "details"), facts.limits.age
    if ages is None or details is None:
        return _not_known(facts, "survey")
    old = [
        f'"{group}": {"nothing is known" if age is None else f"{age:.0f} s old"}'
        for group, age in ages.items()
        if age is None or age > limit
    ]
    # A group without an age would read nothing again: its rows show it.
    good = f"what {facts.y} knows of positions is no older than {limit:g} s"
    return _none_of(old, good, _not_observed(facts, facts.y, details))


def _controlled(facts: Facts) -> Finding:
    if facts.clients is None:
        return _not_known(facts, "clients")
    return _none_of(list(facts.clients), "every host of theirs answers (commands and units were not tried)")


CHECKS = (
    Check(
        "cluster_from",
        "Does {x} answer, as the cluster of the inventory?",
        _answers("x"),
        "Check brokers, address and login of {x}. If it is gone: failover_disaster.",
        counts=(CONTROLLED,),
    ),
    Check(
        "cluster_to",
        "Does {y} answer, as the cluster of the inventory?",
        _answers("y"),
        "Check brokers, address and login of {y}: without it there is nowhere to go.",
    ),
    Check(
        "workers_to",
        "Do the workers of the flow toward {y} answer?",
        _works("y"),
        "Start them, or correct connect_url: they stop the flow and tell what is copied.",
        ("cluster_to",),
    ),
    Check(
        "workers_from",
        "Do the workers of the flow toward {x} answer?",
        _works("x"),
        "Start them, or correct connect_url: without them there is no way back.",
        ("cluster_from",),
        (CONTROLLED,),
    ),
    Check(
        "versions",
        "Do both flows run the same MirrorMaker 2?",
        _versions,
        "Bring the workers to one version: positions of one are not promised to the other.",
        ("workers_to", "workers_from"),
        (CONTROLLED,),
    ),
    Check(
        "journal",
        "Does the journal know the pair, and where the applications live?",
        _journal,
        "Run the playbook enable; if the applications moved by hand, with -e kafka_dr_applications_on=ALIAS.",
        ("cluster_to",),
    ),
    Check(
        "kept",
        "Are journal, prepared positions, checkpoints and offset-syncs kept as long as a stay may last?",
        _kept,
        "Journal: correct the setting (kafka-configs --alter). Checkpoints: set cleanup.policy=compact. Other topics:"
        " run the playbook enable. What they forget cannot be found again.",
        ("journal", "cluster_from"),
    ),
    Check(
        "run",
        "Is there no unfinished run?",
        _no_run,
        "Start it again, or take it back with the playbook abandon.",
        ("journal",),
    ),
    Check(
        "topics",
        "Do all topics and their replicas exist?",
        _exist,
        "Run the playbook enable: it creates them; or take the topic out of the inventory.",
        ("cluster_from", "cluster_to"),
    ),
    Check(
        "topic_ids",
        "Are they still the topics of before?",
        _same_ids,
        "Flows would go on from the wrong place. Run disable, delete the replica, and enable with kafka_dr_copy_again;"
        " if the engine refuses that, take another name.",
        ("topics", "journal"),
    ),
    Check(
        "partitions",
        "Are the numbers of partitions equal?",
        _partitions,
        "Add partitions where they are missing (kafka_topic), then enable. Kafka cannot remove partitions: delete a"
        " replica that has too many, and enable creates it again.",
        ("topics",),
    ),
    Check(
        "settings",
        "Do topics keep and accept the same on {y}?",
        _settings,
        "Set it alike on both sides (kafka_topic, or the flow's sync.topic.configs).",
        ("topics",),
    ),
    Check(
        "replicas",
        "Are topics on {y} as safe as on {x}?",
        _replication,
        "Add replicas (kafka-reassign-partitions): one broker that dies would be the next outage.",
        ("topics",),
    ),
    Check(
        "writable",
        "Can producers with acks=all write on {y}?",
        _writable,
        "Add replicas or lower min.insync.replicas: every write would be refused.",
        ("topics",),
    ),
    Check(
        "leaders_from",
        "Have all partitions on {x} a leader?",
        _leaders("x"),
        "Bring the brokers back: what such a partition holds cannot be copied.",
        ("topics",),
        (CONTROLLED,),
    ),
    Check(
        "leaders_to",
        "Have all partitions on {y} a leader?",
        _leaders("y"),
        "Bring the brokers back: such a partition takes no record and no position.",
        ("topics",),
    ),
    Check(
        "flow_offsets",
        "Do the stored offsets of the flows fit their replicas?",
        _in_no_flow("misfits", "{found}", "no replica would be filled twice"),
        "Do not start the flow: records would be replicated twice. If another connector fills the replicas, name it in"
        " kafka_dr_adopt and run enable (engine connect); else delete the replicas and run enable.",
        ("workers_to", "workers_from", "topics", "journal"),
    ),
    Check(
        "flow_alone",
        "Are the flows of the pair the only ones that fill the replicas?",
        _in_no_flow(
            "rivals", '{flow}: "{found}" replicates the same topics', "no other connector runs for the same topics"
        ),
        "Name the other connector in kafka_dr_adopt and run enable: it takes over its offsets. Stopping or deleting one"
        " of the two without that replicates everything again.",
        ("workers_to", "workers_from", "topics", "journal"),
    ),
    Check(
        "flow",
        "Do the connectors {x}->{y} run?",
        _connectors("forward", ("source",)),
        "Look at the worker's log, then run the playbook enable.",
        ("workers_to", "topics", "journal"),
    ),
    Check(
        "flow_settings",
        "Is every setting of the flow one that proofs can rest on?",
        _in_no_flow("unsafe_settings", "{flow}: {found}", "no setting that a proof could not rest on"),
        "Correct the connector's settings, best by the playbook enable.",
        ("flow", "workers_from"),
    ),
    Check(
        "flow_sizes",
        "Does the flow {x}->{y} send every size of record that {x} accepts?",
        _sizes,
        "Set producer.override.max.request.size in source_settings of kafka_dr_flow above the largest record,"
        " uncompressed, and run the playbook enable: one larger record fails the flow's task.",
        ("flow", "topics"),
    ),
    Check(
        "flow_carries",
        "Does the flow {x}->{y} carry every topic and group of the inventory?",
        _carries("forward"),
        "Run the playbook enable: it declares them. What an exclude names has to be taken out of it by hand.",
        ("flow",),
    ),
    Check(
        "flow_fits",
        "Was nothing deleted on {x} before it was copied?",
        _fits,
        "It is lost for {y}. Accept it, or copy what is left again: disable, delete the replica, enable with"
        " kafka_dr_copy_again.",
        ("flow", "leaders_from", "partitions", "topic_ids"),
    ),
    Check(
        "flow_progress",
        "Does the flow {x}->{y} bring records?",
        _moves("forward"),
        "RUNNING proves nothing. Look at the worker's log; is the line full, does the target refuse writes?",
        ("flow", "leaders_to", "flow_fits", "flow_carries", "writable"),
    ),
    Check(
        "flow_lag",
        "Is the flow close behind?",
        _lag,
        "More tasks, more bandwidth, or wait: a cutover waits for the rest, a disaster loses it.",
        ("flow_progress",),
    ),
    Check(
        "flow_expiry",
        "Will what waits to be copied live long enough?",
        _expiry,
        "Raise retention.ms on {x} now; then see why the flow is behind.",
        ("flow", "leaders_from", "flow_fits"),
    ),
    Check(
        "transactions",
        "Does no open transaction hold records back?",
        _decided,
        "End the producer that left it open (kafka-transactions.sh find-hanging): the drain would wait for it.",
        ("topics", "leaders_from", "workers_to"),
        (CONTROLLED,),
    ),
    Check(
        "foreign_writes",
        "Does nobody but the flow write into replicas?",
        _in_no_flow("foreign_writes", "{found}", "only the flow writes there"),
        "Stop that writer: such records are never copied back. To go on all the same: kafka_dr_accept_foreign_writers.",
        ("flow", "workers_from", "partitions"),
    ),
    Check(
        "back",
        "Do the connectors {y}->{x} run?",
        lambda facts: (
            _is("with this policy it stands still while the applications live on the other side")
            if facts.naming.policy == "identity"
            else _connectors("back", ("source",))(facts)
        ),
        "Look at the worker's log, then run the playbook enable: it is the way back.",
        ("workers_from", "topics"),
        (CONTROLLED,),
    ),
    Check(
        "back_carries",
        "Does the flow {y}->{x} carry every topic and group of the inventory?",
        lambda facts: _is("it stands still") if facts.naming.policy == "identity" else _carries("back")(facts),
        "Run the playbook enable: it declares them.",
        ("back",),
        (CONTROLLED,),
    ),
    Check(
        "back_progress",
        "Does the flow {y}->{x} bring records?",
        lambda facts: _is("it stands still") if facts.naming.policy == "identity" else _moves("back")(facts),
        "RUNNING proves nothing. Look at the worker's log.",
        ("back", "back_carries", "leaders_from", "leaders_to", "partitions", "topic_ids"),
        (CONTROLLED,),
    ),
    Check(
        "checkpoints",
        "Does the flow {x}->{y} write checkpoints?",
        _connectors("forward", ("checkpoint",)),
        "Look at the worker's log, then run the playbook enable: a disaster finds positions in them.",
        ("flow",),
        (DISASTER,),
    ),
    Check(
        "group_offsets",
        "Has every group a position where there are records?",
        _have_offsets,
        "Start the group once, or commit a position: without one auto.offset.reset would decide.",
        ("topics", "leaders_from", "journal", "partitions", "flow_carries"),
    ),
    Check(
        "group_topics",
        "Do groups read topics of the inventory only?",
        _listed,
        "Add the topics to kafka_dr_topics, or take the group out: those positions would stay behind.",
        ("topics",),
    ),
    Check(
        "group_scope",
        "Does each group use only the topics that the inventory gives it?",
        _in_scope,
        "Add the topic to the group's topics; or stop the group from reading it and delete its committed offsets there"
        " on both clusters.",
        ("topics", "topic_ids", "workers_to"),
    ),
    Check(
        "undeclared_groups",
        "Is every group that reads these topics in the inventory?",
        _no_undeclared_groups,
        "Add it to kafka_dr_groups (mode: local if it stays where it is), or delete it if nobody uses it.",
        ("topics",),
    ),
    Check(
        "groups_there",
        "Does no group work on {y} already?",
        _no_members_there,
        "Stop its consumers there: the same records are being processed twice, or are about to be.",
        ("leaders_to", "topics", "workers_to", "journal", "topic_ids"),
    ),
    Check(
        "committed_offsets",
        "Can a position on {y} be found for every group?",
        _found,
        "Read the reason; most often the flow is behind, or offset-syncs are gone: wait, or let the group read on.",
        ("flow_fits", "group_offsets", "leaders_to", "partitions", "topic_ids", "workers_from"),
        (CONTROLLED,),
    ),
    Check(
        "offsets_movable",
        "Can every committed offset on {x} be moved by a cutoff as it is now?",
        _movable,
        "Let the group read on, or commit an offset within the log; kafka_dr_group_lag: reread accepts re-reads.",
        ("committed_offsets",),
        (CONTROLLED,),
    ),
    Check(
        "unread_there",
        "Does {y} still hold every record that a group has not read?",
        _still_held,
        "Let the group read on where it is, before the records expire there too, and raise the topic's retention on"
        " {y}. kafka_dr_accept_skips moves a group all the same: it never processes those records.",
        ("committed_offsets",),
        (CONTROLLED,),
    ),
    Check(
        "offsets_there",
        "Does no position on {y} lie ahead of what its group has processed?",
        _none_after,
        "It would skip records. A planned cutover refuses it; kafka_dr_lower: lower sets it back.",
        ("committed_offsets",),
    ),
    Check(
        "presynced",
        "Is what {y} knows of positions young enough for a disaster?",
        _presynced,
        "Schedule the playbook reverse_checkpoint more often; see that checkpoints are written.",
        ("checkpoints", "flow_progress", "group_offsets", "group_topics", "group_scope", "leaders_to"),
        (DISASTER,),
    ),
    Check(
        "rights",
        "May the applications work on {y}?",
        _rights,
        "Run the playbook rights, which grants what the declared clients need, or grant it otherwise; and declare the"
        " principal of each client.",
        ("cluster_to",),
    ),
    Check(
        "clients",
        "Can the clients be stopped and started?",
        _controlled,
        "See that the hosts of the inventory answer to Ansible and have the commands.",
    ),
)

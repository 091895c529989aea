# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics: their desired state, their current state, and the changes from one to the other.

Guarantees of the plan: it deletes a topic only if it is named and not internal. It never removes partitions or moves
replicas. Settings that are not mentioned do not change (``merge``) or lose only their topic-level override (``exact``).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..changes import Change, Differences, Outcome
from ..errors import DrError
from ..names import is_internal
from ..partition import Partition
from ..schema import nearest
from ..values import same, text_of

__all__ = [
    "BATCH_OVERHEAD",
    "DEFAULT_LARGEST_RECORD",
    "MIN_IN_SYNC",
    "ConfigValue",
    "Conflict",
    "Plan",
    "TopicState",
    "WantedTopic",
    "collisions",
    "failure_of",
    "plan_absent",
    "plan_present",
    "refused_writes",
    "topic_row",
    "wanted_topics",
]

#: By default a broker accepts batches that are 12 bytes larger than a producer's largest request: Records.LOG_OVERHEAD.
BATCH_OVERHEAD = 12
#: max.request.size of a Kafka producer that sets none.
DEFAULT_LARGEST_RECORD = 1_048_576
MIN_IN_SYNC = "min.insync.replicas"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SHOWN = 5
# Refusals of a broker that have their own remedy.
_OWN_CODES = ("replication_factor_too_high",)
_ROW_KEYS = (
    "topic_id",
    "partitions",
    "replication_factor",
    "leaderless",
    "config",
    "cleanup_policy",
    "timestamp_type",
    "offsets",
)
_ITEM_KEYS = ("name", "partitions", "replication_factor", "config")


@dataclass(frozen=True)
class WantedTopic:
    """One item of the option ``topics``. None: not mentioned. A setting of None: no override on the topic."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ConfigValue:
    """A setting as the broker reports it: its effective value, and whether the topic itself overrides it."""

    value: str | None
    override: bool


@dataclass(frozen=True)
class TopicState:
    """A topic that exists."""

    name: str
    #: "": the brokers assign none (KIP-516).
    topic_id: str
    partitions: int
    #: None: it differs between partitions.
    replication_factor: int | None
    leaderless: tuple[int, ...] = ()
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    #: The smallest number of in-sync replicas of a partition; None: unknown.
    fewest_in_sync: int | None = None

    @property
    def shrunk(self) -> bool:
        """Whether a replica of a partition is not in sync, or may not be."""
        known = self.fewest_in_sync is not None and self.replication_factor is not None
        return not known or self.fewest_in_sync != self.replication_factor


@dataclass(frozen=True)
class Conflict:
    """A wanted topic that cannot be made as described: it is not changed."""

    change: Change
    error: DrError


@dataclass
class Plan:
    """The changes to make, and the topics that cannot be changed as wanted."""

    changes: list[Change] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


# ---- validation: everything that can be known without a connection ------------------------------------------


def wanted_topics(items: Iterable[Mapping[str, Any]], state: str = "present") -> list[WantedTopic]:
    """The option ``topics``, checked as a whole. One error names every problem.

    With ``absent``, a list that has an internal topic is refused as a whole: it is probably a mistake.
    """
    problems: list[str] = []
    wanted: list[WantedTopic] = []
    for number, item in enumerate(items, start=1):
        found = _item_problems(item, f"topics[{number}]")
        problems += found
        if not found:
            wanted.append(_wanted(item))
    counts = Counter(topic.name for topic in wanted)
    problems += [f'"{name}" is listed {count} times.' for name, count in counts.items() if count > 1]
    if problems:
        raise DrError(
            "bad_topics", " ".join(problems), "No request was sent to the cluster. Correct the list of topics."
        )
    internal = [topic.name for topic in wanted if is_internal(topic.name)] if state == "absent" else []
    if internal:
        raise DrError(
            "topic_internal",
            f"This module never deletes topics of Kafka, Kafka Connect or MirrorMaker 2: {', '.join(internal)}.",
            "Nothing was deleted. Remove them from the list.",
        )
    return wanted


def _wanted(item: Mapping[str, Any]) -> WantedTopic:
    settings = item.get("config") or {}
    config = {key: None if value is None else text_of(key, value) for key, value in settings.items()}
    return WantedTopic(item["name"], item.get("partitions"), item.get("replication_factor"), config)


def _item_problems(item: Mapping[str, Any], where: str) -> list[str]:
    unknown = [key for key in item if key not in _ITEM_KEYS]
    problems = [f'{where} has the unknown key "{key}".{nearest(str(key), _ITEM_KEYS)}' for key in unknown]
    problem = _name_problem(item.get("name"))
    if problem:
        problems.append(f"{where}.name {problem}.")
    for key in ("partitions", "replication_factor"):
        value = item.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            problems.append(f'{where}.{key} must be a whole number of at least 1, found "{value}".')
    settings = item.get("config") or {}
    if not isinstance(settings, Mapping):
        return [*problems, f"{where}.config must be a dictionary, found {type(settings).__name__}."]
    wrong = [key for key, value in settings.items() if not key or isinstance(value, (Mapping, bytes))]
    return problems + [f'{where}.config: "{key}" must have a plain value or a list.' for key in wrong]


def _name_problem(name: Any) -> str:
    if not isinstance(name, str) or not name:
        return "is missing"
    if name in (".", ".."):
        return f'must not be "{name}"'
    if not _NAME.fullmatch(name):
        return f'"{name}" must have 1 to 249 of the characters A-Z a-z 0-9 . _ -'
    return ""


def collisions(names: Iterable[str]) -> list[str]:
    """A warning for each set of names that differ only in "." and "_".

    A broker refuses such a topic if it has the other one, but creates both if one request has them [run, 4.3].
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.replace(".", "_"), []).append(name)
    return [
        f'The topics {" and ".join(sorted(names))} differ only in "." and "_": Kafka gives their metrics the same name.'
        for names in groups.values()
        if len(names) > 1
    ]


# ---- the plan ---------------------------------------------------------------------------------------------------


def plan_present(wanted: Iterable[WantedTopic], found: Mapping[str, TopicState | None], exact: bool = False) -> Plan:
    """Changes that make every wanted topic exist as described. Conflicting topics are reported and not changed.

    ======================  ==========================================
    missing                 create
    fewer partitions        add_partitions
    more partitions         conflict: Kafka cannot remove partitions
    other replication       conflict: needs a reassignment
    other settings          alter_config
    ======================  ==========================================
    """
    plan = Plan()
    for topic in wanted:
        state = found.get(topic.name)
        if state is None:
            plan.changes.append(_create(topic))
            continue
        conflict = _conflict(topic, state)
        if conflict:
            plan.conflicts.append(conflict)
            continue
        if topic.partitions is not None and topic.partitions > state.partitions:
            before, after = {"partitions": state.partitions}, {"partitions": topic.partitions}
            plan.changes.append(Change("topic", topic.name, "add_partitions", before, after))
        settings = _config_differences(topic, state, exact)
        if settings:
            plan.changes.append(settings.change("topic", topic.name, "alter_config"))
    return plan


def plan_absent(wanted: Iterable[WantedTopic], found: Mapping[str, TopicState | None]) -> Plan:
    """Deletions of the named topics that exist."""
    plan = Plan()
    for topic in wanted:
        state = found.get(topic.name)
        if state is not None:
            before = {"partitions": state.partitions, "topic_id": state.topic_id}
            plan.changes.append(Change("topic", topic.name, "delete", before, None))
    return plan


def _create(topic: WantedTopic) -> Change:
    after: dict[str, Any] = {"partitions": topic.partitions, "replication_factor": topic.replication_factor}
    after.update({key: value for key, value in topic.config.items() if value is not None})
    return Change("topic", topic.name, "create", None, after)


def _conflict(topic: WantedTopic, state: TopicState) -> Conflict | None:
    if topic.partitions is not None and topic.partitions < state.partitions:
        change = Change(
            "topic", topic.name, "add_partitions", {"partitions": state.partitions}, {"partitions": topic.partitions}
        )
        return Conflict(
            change,
            DrError(
                "partitions_fewer",
                f'Topic "{topic.name}" has {state.partitions} partitions, wanted {topic.partitions}. '
                "Kafka cannot remove partitions.",
                f"Set partitions: {state.partitions} or recreate the topic.",
            ),
        )
    factor = topic.replication_factor
    if factor is None or factor == state.replication_factor:
        return None
    shown = "mixed" if state.replication_factor is None else state.replication_factor
    change = Change(
        "topic", topic.name, "reassign", {"replication_factor": shown}, {"replication_factor": topic.replication_factor}
    )
    return Conflict(
        change,
        DrError(
            "replication_factor_differs",
            f'Topic "{topic.name}" has replication factor {shown}, wanted {factor}. '
            "This module does not move replicas.",
            "Reassign its replicas (kafka-reassign-partitions or Cruise Control), or set replication_factor to "
            "the current value.",
        ),
    )


def _config_differences(topic: WantedTopic, state: TopicState, exact: bool) -> Differences:
    """Compares wanted values with effective ones, so an equal broker default satisfies them."""
    differences = Differences()
    for key, value in topic.config.items():
        current = state.config.get(key)
        if value is None:
            if current is not None and current.override:
                differences.add(key, current.value, None)
        elif current is None or not same(key, value, current.value):
            differences.before[key] = None if current is None else current.value
            differences.after[key] = value
    if exact:
        for key, current in state.config.items():
            if current.override and key not in topic.config:
                differences.before[key], differences.after[key] = current.value, None
    return differences


# ---- what modules return ------------------------------------------------------------------------------------------


def failure_of(conflicts: Sequence[Conflict], outcomes: Iterable[Outcome], endpoint: str = "") -> DrError | None:
    """One error for everything that failed, or None. Its code is the common one, or ``several_failed``."""
    reasons = [(conflict.error.code, conflict.error.sentence()) for conflict in conflicts]
    reasons += [
        (
            outcome.code if outcome.code in _OWN_CODES else "topic_refused",
            f'Topic "{outcome.change.name}": {outcome.error}',
        )
        for outcome in outcomes
        if outcome.status == "failed"
    ]
    if not reasons:
        return None
    codes = {code for code, text in reasons}
    code = codes.pop() if len(codes) == 1 else "several_failed"
    text = " ".join(text for unused, text in reasons[:_SHOWN])
    if len(reasons) == 1:
        alone = conflicts[0].error if conflicts else DrError(code, text)
        return DrError(code, alone.message, alone.hint, endpoint)
    more = f" ... and {len(reasons) - _SHOWN} more" if len(reasons) > _SHOWN else ""
    return DrError(
        code, f"{len(reasons)} topics failed: {text}{more}", "All outcomes are listed under changes.", endpoint
    )


def _refusal(outcome: Outcome) -> str:
    return outcome.code if outcome.code in _OWN_CODES else "topic_refused"


def refused_writes(state: TopicState) -> str:
    """Why brokers refuse writes with acks=all to a topic; "": they accept them, or it is unknown."""
    setting = state.config.get(MIN_IN_SYNC)
    if state.fewest_in_sync is None or setting is None or setting.value is None:
        return ""
    if state.fewest_in_sync >= int(setting.value):
        return ""
    found = f"{state.fewest_in_sync}, and {MIN_IN_SYNC} is {setting.value}"
    return f'"{state.name}" has too few in-sync replicas: {found}'


def topic_row(
    name: str,
    state: TopicState | None,
    config: str = "overrides",
    ranges: Mapping[Partition, tuple[int, int] | None] | None = None,
) -> dict[str, Any]:
    """A topic as ``kafka_topic_info`` returns it; unknown values are None."""
    row: dict[str, Any] = {"name": name, "exists": state is not None}
    row.update(dict.fromkeys(_ROW_KEYS))
    if state is None:
        return row
    row.update(
        topic_id=state.topic_id or None, partitions=state.partitions, replication_factor=state.replication_factor
    )
    row["leaderless"] = list(state.leaderless)
    if config != "none":
        row["config"] = {k: one.value for k, one in sorted(state.config.items()) if one.override or config == "all"}
        for key, setting in (("cleanup_policy", "cleanup.policy"), ("timestamp_type", "message.timestamp.type")):
            row[key] = state.config[setting].value if setting in state.config else None
    if ranges is not None:
        spans = [ranges.get(Partition(name, index)) or (None, None) for index in range(state.partitions)]
        row["offsets"] = [{"partition": n, "start": start, "end": end} for n, (start, end) in enumerate(spans)]
    return row

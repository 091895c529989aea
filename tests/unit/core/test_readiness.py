# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A healthy pair is YES / YES.

Each defect is reported once with the next step, and a missing observation is never YES.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.broker_limits import LIMITS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.cost import cost_lines, rereads
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import (
    Expiring,
    Facts,
    judge_readiness,
    readiness_lines,
    seconds_until_full,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.other_applications import (
    OtherApplications,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS, SETTINGS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.undeclared_groups import UndeclaredGroup
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.open_transactions import OpenTransaction
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import ConfigValue, TopicState

OTHERS = OtherApplications(("Payments",))
BEFORE, AFTER = "message.timestamp.before.max.ms", "message.timestamp.after.max.ms"
OLD_BOUND, NEVER = "message.timestamp.difference.max.ms", str(2**63 - 1)
VALUES = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    AFTER: "3600000",
    BEFORE: NEVER,
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "2",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "unclean.leader.election.enable": "false",
}

BROKER = {
    "transaction.max.timeout.ms": "900000",
    "group.max.session.timeout.ms": "1800000",
    "group.min.session.timeout.ms": "6000",
    "group.max.size": str(2**31 - 1),
    "offset.metadata.max.bytes": "4096",
}


def topic(name: str, **changes: Any) -> TopicState:
    config = {key: ConfigValue(value, "DEFAULT_CONFIG") for key, value in VALUES.items()}
    return replace(TopicState(name, f"id-{name}", 3, 3, (), config, 3), **changes)


def settings(state: TopicState, **values: str | None) -> TopicState:
    named = {key.replace("_", "."): value for key, value in values.items()}
    return replace(state, config={**state.config, **{k: ConfigValue(v, "TOPIC") for k, v in named.items()}})


def flow(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "verdict": "PROVEN",
        "reason": "records arrive",
        "connectors": [
            {
                "name": f"{name}.{part}",
                "part": part,
                "state": "RUNNING",
                "tasks": ["RUNNING"],
                "failures": [],
                "largest_record": 1_048_576 if part == "source" else None,
            }
            for part in ("source", "checkpoint", "heartbeat")
        ],
        "partitions": [
            {
                "topic": "T",
                "partition": index,
                "fits": "PROVEN",
                "fits_reason": "the flow's offset is within the source log",
            }
            for index in range(3)
        ],
    }


def healthy() -> Facts:
    known = {"offset": 7, "existing": 7, "quality": "exact", "reason": "", "rereads": 0}
    skips = {"at_least": 0, "at_most": 0}
    rows = [
        {"group": "g", "topic": name, "partition": index, **known, "skips": skips}
        for name in ("P.T", "T")
        for index in range(3)
    ]
    return Facts(
        x="P",
        y="B",
        naming=naming_of("default", "."),
        originals=["T"],
        away={"P": None, "B": None},
        workers={"P": None, "B": None},
        versions={"P": "4.3.1", "B": "4.3.1"},
        journal={
            "enabled": True,
            "active": "P",
            "interrupted": False,
            "run": None,
            "topic_ids": {"P": {"T": "id-T", "B.T": "id-B.T"}, "B": {"T": "id-T", "P.T": "id-P.T"}},
        },
        topics={"P": {name: topic(name) for name in ("T", "B.T")}, "B": {name: topic(name) for name in ("T", "P.T")}},
        internal_topics={
            alias: {
                "journal": settings(topic("journal"), retention_ms="-1"),
                "syncs": settings(topic("syncs"), cleanup_policy="compact"),
            }
            for alias in ("P", "B")
        },
        journal_topic="journal",
        brokers={"P": 3, "B": 3},
        broker_settings={alias: {number: dict(BROKER) for number in (1, 2, 3)} for alias in ("P", "B")},
        flows={"P->B": flow("P->B"), "B->P": flow("B->P")},
        unsafe_settings={"P->B": (), "B->P": ()},
        left_out={"P->B": ([], []), "B->P": ([], [])},
        misfits={"P->B": [], "B->P": []},
        rivals={"P->B": [], "B->P": []},
        foreign_writes={"P->B": [], "B->P": []},
        not_compared={"P->B": [], "B->P": []},
        expiring=[Expiring("T", 0, 0.5, 600_000.0, math.inf)],
        open_transactions=[],
        groups=["g"],
        committed_offsets=[
            {
                "group": "g",
                "alias": "P",
                "state": "STABLE",
                "members": "",
                "topic": "T",
                "partition": index,
                "commit": 7,
                "read_to_end": True,
            }
            for index in range(3)
        ],
        offsets=rows,
        refused=[],
        leaving=[],
        unjoined=[],
        undeclared_topics=[],
        survey={"active_groups": [], "out_of_scope": [], "ages": {"g": 12.0}, "details": rows},
        out_of_scope=[],
        rights=[],
        undeclared_groups=[],
        clients=[],
    )


def with_topic(facts: Facts, alias: str, state: TopicState | None, name: str = "") -> Facts:
    found = dict(facts.topics[alias] or {})
    found[name or state.name] = state  # type: ignore[union-attr]
    return replace(facts, topics={**facts.topics, alias: found})


def large_records(facts: Facts) -> Facts:
    """Both clusters accept 8 MiB, and the flow's producer has its default."""
    topics = {
        alias: {name: settings(state, max_message_bytes="8388608") for name, state in (found or {}).items() if state}
        for alias, found in facts.topics.items()
    }
    return replace(facts, topics=topics)


def with_own(facts: Facts, state: TopicState) -> Facts:
    return replace(
        facts, internal_topics={**facts.internal_topics, "B": {**(facts.internal_topics["B"] or {}), state.name: state}}
    )


def with_flow(facts: Facts, name: str, change: Callable[[dict[str, Any]], None]) -> Facts:
    flows = copy.deepcopy(dict(facts.flows or {}))
    change(flows[name])  # type: ignore[arg-type]
    return replace(facts, flows=flows)


def connector(part: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    def change(one: dict[str, Any]) -> None:
        next(found for found in one["connectors"] if found["part"] == part).update(values)

    return change


TOO_LARGE = (
    "task 0: org.apache.kafka.connect.errors.ConnectException: Unrecoverable / Caused by:"
    " org.apache.kafka.common.errors.RecordTooLargeException: The message is 3000088 bytes when serialized which is"
    " larger than 1048576"
)


def lost(one: dict[str, Any]) -> None:
    one["partitions"][0].update(fits="REFUTED", fits_reason="9 offsets expired before they were replicated")
    one.update(verdict="REFUTED", reason="T-0: expired")


def stuck(one: dict[str, Any]) -> None:
    one.update(
        verdict="REFUTED", reason="T-0: no progress between two observations although 9 offsets are not replicated"
    )


def silent(one: dict[str, Any]) -> None:
    one.update(verdict="UNKNOWN", reason="no heartbeat")


def broker(facts: Facts, alias: str, number: int, **values: str | None) -> Facts:
    """With settings of one broker; None: it does not report the setting."""
    named = {key.replace("_", "."): value for key, value in values.items()}
    changed = {**(facts.broker_settings[alias] or {})[number], **named}
    brokers = {**(facts.broker_settings[alias] or {}), number: {k: v for k, v in changed.items() if v is not None}}
    return replace(facts, broker_settings={**facts.broker_settings, alias: brokers})


def row(facts: Facts, **values: Any) -> Facts:
    assert facts.offsets is not None
    return replace(facts, offsets=[{**facts.offsets[0], **values}, *facts.offsets[1:]])


def journal(facts: Facts, **values: Any) -> Facts:
    assert facts.journal is not None
    return replace(facts, journal={**facts.journal, **values})


def other(name: str, state: str = "EMPTY") -> UndeclaredGroup:
    return UndeclaredGroup(name, "P", state, "", ("T",), {}, "")


RUN = {"type": "cutoff", "id": "r1", "to": "B"}
EXPIRED = 'group "g" on P T-0: its committed offset 5 is before the log start 30'
HIDDEN = {"group": "g", "alias": "P", "topic": "U", "evidence": "committed offset 9 on partition 0"}
H = healthy
SURVEY: dict[str, Any] = {**(H().survey or {}), "ages": {}}
FINE: tuple[list[str], list[str]] = ([], [])
LACKS = {"P->B": (['the topic "T" is left out'], []), "B->P": FINE}
UNREAD = {"P->B": ([], ["srm-control did not return the list topics of P->B"]), "B->P": FINE}
LACKS_BACK = {"P->B": FINE, "B->P": (['the group "g" is left out'], [])}
# A defect -> the check that reports it, its answer, and a word of the finding.
BROKEN: dict[str, tuple[Facts, str, str, str]] = {
    "source away": (replace(H(), away={"P": "no answer", "B": None}), "cluster_from", "NO", "no answer"),
    "target away": (replace(H(), away={"P": None, "B": "wrong cluster"}), "cluster_to", "NO", "wrong cluster"),
    "worker there away": (replace(H(), workers={"P": None, "B": "refused"}), "workers_to", "NO", "refused"),
    "worker here away": (replace(H(), workers={"P": "refused", "B": None}), "workers_from", "NO", "refused"),
    "other version": (replace(H(), versions={"P": "4.3.1", "B": "3.9.0"}), "versions", "NO", "3.9.0"),
    "version unknown": (replace(H(), versions={"P": "4.3.1"}), "versions", "UNKNOWN", "is unknown"),
    "journal unreadable": (replace(H(), journal=None, unknown={"journal": "busy"}), "journal", "UNKNOWN", "busy"),
    "journal lost": (replace(H(), journal_missing=["B"]), "journal", "NO", "does not exist on B"),
    "not enabled": (journal(H(), enabled=False), "journal", "NO", "not enabled"),
    "lives there": (journal(H(), active="B"), "journal", "NO", "live on B"),
    "own topics unseen": (
        replace(H(), internal_topics={"P": H().internal_topics["P"], "B": None}),
        "retention",
        "UNKNOWN",
        "internal topics",
    ),
    "internal topics not observed": (replace(H(), internal_topics={}), "retention", "UNKNOWN", "internal topics"),
    "the journal expires": (
        with_own(H(), topic("journal")),
        "retention",
        "NO",
        '"journal" on B has retention.ms=604800000, wanted -1',
    ),
    "the journal is compacted": (
        with_own(H(), settings(topic("journal"), cleanup_policy="compact", retention_ms="-1")),
        "retention",
        "NO",
        '"journal" on B has cleanup.policy=compact, wanted delete',
    ),
    "the journal has one replica": (
        with_own(H(), replace(settings(topic("journal"), retention_ms="-1"), replication_factor=1)),
        "retention",
        "NO",
        '"journal" on B has replication factor 1 on 3 brokers',
    ),
    "the journal lost events": (replace(H(), journal_gaps=[2, 3]), "journal", "NO", "2 epochs are missing"),
    "syncs expire": (
        with_own(H(), settings(topic("syncs"), cleanup_policy="compact,delete")),
        "retention",
        "NO",
        "compact,delete with",
    ),
    "own retention unknown": (
        with_own(H(), settings(topic("journal"), retention_ms=None)),
        "retention",
        "UNKNOWN",
        "is unknown",
    ),
    "unfinished run": (journal(H(), interrupted=True, run=RUN), "run", "NO", "r1"),
    "topic gone": (with_topic(H(), "P", None, "T"), "topics", "NO", '"T" on P'),
    "replica missing": (with_topic(H(), "B", None, "P.T"), "topics", "NO", '"P.T" on B'),
    "topics unseen": (
        replace(H(), topics={**H().topics, "B": None}, unknown={"topics": "x"}),
        "topics",
        "UNKNOWN",
        "x",
    ),
    "topic created again": (with_topic(H(), "B", topic("P.T", topic_id="new")), "topic_ids", "NO", "new"),
    "brokers without topic ids": (
        with_topic(H(), "B", topic("P.T", topic_id="")),
        "topic_ids",
        "NO",
        "has no topic id",
    ),
    "ids unknown": (journal(H(), topic_ids={}), "topic_ids", "UNKNOWN", "no topic ids"),
    "grown": (with_topic(H(), "P", topic("T", partitions=4)), "partitions", "NO", '"T" on P has 4'),
    "kept shorter": (
        with_topic(H(), "B", settings(topic("P.T"), retention_ms="1000")),
        "settings",
        "NO",
        "retention.ms is 604800000",
    ),
    "long transactions refused there": (
        broker(H(), "B", 2, transaction_max_timeout_ms="60000"),
        "broker_limits",
        "NO",
        "transaction.max.timeout.ms is 900000 on P (broker 1) and 60000 on B (broker 2)",
    ),
    "longer transactions accepted by one broker here": (
        broker(H(), "P", 2, transaction_max_timeout_ms="3600000"),
        "broker_limits",
        "NO",
        "transaction.max.timeout.ms is 3600000 on P (broker 2) and 900000 on B (broker 1)",
    ),
    "long sessions refused there": (
        broker(H(), "B", 1, group_max_session_timeout_ms="60000"),
        "broker_limits",
        "NO",
        "group.max.session.timeout.ms is 1800000 on P (broker 1) and 60000 on B (broker 1)",
    ),
    "short sessions refused there": (
        broker(H(), "P", 1, group_min_session_timeout_ms="1000"),
        "broker_limits",
        "NO",
        "group.min.session.timeout.ms is 1000 on P (broker 1) and 6000 on B (broker 1)",
    ),
    "large groups refused there": (
        broker(H(), "B", 1, group_max_size="10"),
        "broker_limits",
        "NO",
        "group.max.size is 2147483647 on P (broker 1) and 10 on B (broker 1)",
    ),
    "large metadata refused there": (
        broker(H(), "B", 1, offset_metadata_max_bytes="100"),
        "broker_limits",
        "NO",
        "offset.metadata.max.bytes is 4096 on P (broker 1) and 100 on B (broker 1)",
    ),
    "a limit unknown there": (
        broker(H(), "B", 2, transaction_max_timeout_ms=None),
        "broker_limits",
        "UNKNOWN",
        "transaction.max.timeout.ms of a broker of B is unknown",
    ),
    "limits unseen": (
        replace(H(), broker_settings={}, unknown={"broker_settings": "Grant User:dr DESCRIBE_CONFIGS"}),
        "broker_limits",
        "UNKNOWN",
        "Grant User:dr DESCRIBE_CONFIGS",
    ),
    "bounded there": (with_topic(H(), "B", settings(topic("T"), retention_bytes="5")), "settings", "NO", "bytes is -1"),
    "compacts there": (
        with_topic(H(), "B", settings(topic("T"), cleanup_policy="compact")),
        "settings",
        "NO",
        "compact",
    ),
    "smaller records": (
        with_topic(H(), "B", settings(topic("T"), max_message_bytes="1000")),
        "settings",
        "NO",
        "max.message.bytes",
    ),
    "other time": (
        with_topic(H(), "B", settings(topic("P.T"), message_timestamp_type="LogAppendTime")),
        "settings",
        "NO",
        "LogAppendTime",
    ),
    "refuses other times": (
        with_topic(H(), "B", settings(topic("T"), message_timestamp_after_max_ms="60000")),
        "settings",
        "NO",
        '3600000 for "T" on P, and message.timestamp.after.max.ms is 60000 for "T" on B',
    ),
    "the flow cannot write old records": (
        with_topic(H(), "B", settings(topic("P.T"), message_timestamp_before_max_ms="60000")),
        "settings",
        "NO",
        'message.timestamp.before.max.ms is 60000 for "P.T" on B',
    ),
    "an older broker accepts any time": (
        with_topic(H(), "P", settings(topic("T"), message_timestamp_after_max_ms=str(2**63 - 1))),
        "settings",
        "NO",
        'message.timestamp.after.max.ms is 9223372036854775807 for "T" on P',
    ),
    "compresses anew": (
        with_topic(H(), "B", settings(topic("T"), compression_type="uncompressed")),
        "settings",
        "NO",
        "compression.type is producer",
    ),
    "batches do not fit into a segment": (
        with_topic(H(), "B", settings(topic("T"), segment_bytes="1048576")),
        "settings",
        "NO",
        'segment.bytes is 1048576 for "T" on B, and "T" on P accepts batches of 1048588 bytes',
    ),
    "segments unseen": (
        with_topic(H(), "B", settings(topic("P.T"), segment_bytes=None)),
        "settings",
        "UNKNOWN",
        'the largest batch that "T" or "P.T" accepts is unknown',
    ),
    "bound unseen": (
        with_topic(H(), "B", settings(topic("T"), message_timestamp_before_max_ms=None)),
        "settings",
        "UNKNOWN",
        "message.timestamp.before.max.ms",
    ),
    "setting unseen": (
        with_topic(H(), "B", settings(topic("T"), retention_ms=None)),
        "settings",
        "UNKNOWN",
        "retention",
    ),
    "fewer replicas": (with_topic(H(), "B", topic("T", replication_factor=2)), "replicas", "NO", "2 replicas on B"),
    "never in sync": (
        with_topic(H(), "B", settings(topic("T"), min_insync_replicas="4")),
        "writable",
        "NO",
        "replicas: 3, and min.insync.replicas is 4",
    ),
    "out of sync": (
        with_topic(H(), "B", topic("P.T", fewest_in_sync=1)),
        "writable",
        "NO",
        '"P.T" has too few in-sync replicas: 1, and min.insync.replicas is 2',
    ),
    "in sync, or not": (with_topic(H(), "B", topic("P.T", fewest_in_sync=None)), "writable", "UNKNOWN", "P.T"),
    "the journal is out of sync": (
        with_own(H(), settings(topic("journal", fewest_in_sync=1), retention_ms="-1")),
        "journal_writable",
        "NO",
        "min.insync.replicas is 2 on B",
    ),
    "unclean elections here": (
        with_topic(H(), "P", settings(topic("T"), unclean_leader_election_enable="true")),
        "unclean_elections",
        "NO",
        '"T" on P has unclean.leader.election.enable=true',
    ),
    "unclean elections of the journal": (
        with_own(H(), settings(topic("journal"), retention_ms="-1", unclean_leader_election_enable="true")),
        "unclean_elections",
        "NO",
        '"journal" on B',
    ),
    "unclean elections unknown": (
        with_topic(H(), "B", settings(topic("P.T"), unclean_leader_election_enable=None)),
        "unclean_elections",
        "UNKNOWN",
        '"P.T" on B',
    ),
    "brokers here unknown": (replace(H(), brokers={"B": 3}), "retention", "UNKNOWN", "brokers on P"),
    "leaderless here": (with_topic(H(), "P", topic("T", leaderless=(1,))), "leaders_from", "NO", '"T" has 1'),
    "leaderless there": (with_topic(H(), "B", topic("P.T", leaderless=(0, 2))), "leaders_to", "NO", '"P.T" has 2'),
    "flow unseen": (replace(H(), flows={"B->P": flow("B->P")}, unknown={"flows": "503"}), "flow", "UNKNOWN", "503"),
    "connector gone": (with_flow(H(), "P->B", connector("source", state=None)), "flow", "NO", "no source connector"),
    "connector paused": (with_flow(H(), "P->B", connector("source", state="PAUSED")), "flow", "NO", "PAUSED"),
    "task failed": (with_flow(H(), "P->B", connector("source", tasks=["FAILED"])), "flow", "NO", "has failed"),
    "task failed, in its own words": (
        with_flow(H(), "P->B", connector("source", tasks=["FAILED"], failures=[TOO_LARGE])),
        "flow",
        "NO",
        "producer.override.max.request.size above 3000088 bytes",
    ),
    "larger records than the flow sends": (
        large_records(H()),
        "flow_sizes",
        "NO",
        '"T" on P accepts batches of 8388608 bytes, and the producer of P->B sends records of at most 1048576 bytes',
    ),
    "unsafe_settings": (
        replace(H(), unsafe_settings={"P->B": ["read_uncommitted"]}),
        "flow_settings",
        "NO",
        "read_uncommitted",
    ),
    "expired": (with_flow(H(), "P->B", lost), "flow_fits", "NO", "9 offsets expired"),
    "a topic is left out": (replace(H(), left_out=LACKS), "flow_carries", "NO", 'the topic "T"'),
    "a list is not known": (replace(H(), left_out=UNREAD), "flow_carries", "UNKNOWN", "did not return"),
    "the way back leaves one out": (replace(H(), left_out=LACKS_BACK), "back_carries", "NO", 'the group "g"'),
    "RUNNING and stuck": (with_flow(H(), "P->B", stuck), "flow_progress", "NO", "no progress"),
    "RUNNING and silent": (with_flow(H(), "P->B", silent), "flow_progress", "UNKNOWN", "no heartbeat"),
    "late": (replace(H(), expiring=[Expiring("T", 0, 61.0, math.inf, math.inf)]), "flow_lag", "NO", "61 s"),
    "about to expire": (replace(H(), expiring=[Expiring("T", 0, 5.0, 90.0, math.inf)]), "flow_expiry", "NO", "in 90 s"),
    "about to exceed its size": (
        replace(H(), expiring=[Expiring("T", 0, 5.0, math.inf, 40.0)]),
        "flow_expiry",
        "NO",
        "in 40 s by retention.bytes",
    ),
    "time until the size is exceeded unknown": (
        replace(H(), expiring=[Expiring("T", 0, 5.0, math.inf, None)]),
        "flow_expiry",
        "UNKNOWN",
        "by retention.bytes is unknown",
    ),
    "age of the lag unknown": (
        replace(H(), expiring=[Expiring("T", 0, None, math.inf, math.inf)]),
        "flow_lag",
        "UNKNOWN",
        "T-0: how long",
    ),
    "retention unknown": (
        replace(H(), expiring=[Expiring("T", 0, 5.0, None, math.inf)]),
        "flow_expiry",
        "UNKNOWN",
        "the time until",
    ),
    "no partition seen": (with_flow(H(), "P->B", lambda one: one.update(partitions=[])), "flow_fits", "UNKNOWN", "no"),
    "uneven replicas": (
        with_topic(H(), "P", topic("T", replication_factor=None)),
        "replicas",
        "UNKNOWN",
        "differs by partition",
    ),
    "open transaction": (
        replace(H(), open_transactions=[OpenTransaction("P", "T", 0, 7, 3, 10.0)]),
        "transactions",
        "NO",
        "T-0 on P: a transaction stays open at offset 7 (observed for 10 s) and holds back 3 offsets",
    ),
    "unknown transactions": (replace(H(), open_transactions=None), "transactions", "UNKNOWN", "open transactions"),
    "RUNNING without a task": (
        with_flow(H(), "P->B", connector("checkpoint", tasks=[])),
        "checkpoints",
        "UNKNOWN",
        "its tasks are not: none",
    ),
    "a topic without a journaled id": (
        journal(H(), topic_ids={"P": {"T": "id-T"}, "B": {"T": "id-T", "P.T": "id-P.T"}}),
        "topic_ids",
        "UNKNOWN",
        'no topic id for "B.T" on P',
    ),
    "other topics of groups not observed": (
        replace(H(), undeclared_topics=None),
        "group_topics",
        "UNKNOWN",
        "committed offsets",
    ),
    "hosts not observed": (replace(H(), clients=None), "clients", "UNKNOWN", "clients"),
    "offsets missing": (replace(H(), misfits={"P->B": ["P->B T-0"]}), "flow_offsets", "NO", "T-0"),
    "offsets unseen": (replace(H(), misfits={}, unknown={"flow P->B": "x"}), "flow_offsets", "UNKNOWN", "x"),
    "offsets of one flow unseen": (
        replace(H(), misfits={"P->B": [], "B->P": None}, unknown={"flow B->P": "503"}),
        "flow_offsets",
        "UNKNOWN",
        "503",
    ),
    "settings of one flow unseen": (
        replace(H(), unsafe_settings={"P->B": []}),
        "flow_settings",
        "UNKNOWN",
        "the flow B->P could not be observed",
    ),
    "writers of one flow unseen": (
        replace(H(), foreign_writes={"P->B": [], "B->P": None}),
        "foreign_writes",
        "UNKNOWN",
        "the flow B->P could not be observed",
    ),
    "a replica was not compared": (
        replace(H(), not_compared={"P->B": ["P.T-0 could not be compared"], "B->P": []}),
        "foreign_writes",
        "UNKNOWN",
        "P.T-0 could not be compared",
    ),
    "a flow was not compared": (
        replace(H(), not_compared={"P->B": []}),
        "foreign_writes",
        "UNKNOWN",
        "the replicas of B->P were not compared",
    ),
    "filled by another": (replace(H(), rivals={"P->B": ["legacy"]}), "flow_alone", "NO", '"legacy" replicates'),
    "others unseen": (replace(H(), rivals={}, unknown={"rivals": "x"}), "flow_alone", "UNKNOWN", "x"),
    "foreign records": (replace(H(), foreign_writes={"P->B": ["P.T-0 on B"]}), "foreign_writes", "NO", "P.T-0 on B"),
    "no way back": (with_flow(H(), "B->P", connector("source", state="STOPPED")), "back", "NO", "STOPPED"),
    "way back stuck": (with_flow(H(), "B->P", stuck), "back_progress", "NO", "no progress"),
    "no checkpoints": (
        with_flow(H(), "P->B", connector("checkpoint", state="STOPPED")),
        "checkpoints",
        "NO",
        "STOPPED",
    ),
    "no committed offset": (
        replace(
            H(),
            committed_offsets=[{**row, "commit": None, "read_to_end": None} for row in H().committed_offsets or ()],
        ),
        "group_offsets",
        "NO",
        '"g" on T-0',
    ),
    "a group that never read": (replace(H(), groups=["g", "new"]), "group_offsets", "NO", '"new" on no partition'),
    "other topics": (
        replace(H(), undeclared_topics=[{"group": "g", "alias": "P", "topics": ["Other"]}]),
        "group_topics",
        "NO",
        "Other",
    ),
    "a second inventory omits a topic": (
        replace(H(), leaving=['the topic "Other" (on P, on B)']),
        "members",
        "NO",
        'the topic "Other" (on P, on B)',
    ),
    "what the inventory omits is unseen": (
        replace(H(), leaving=None),
        "members",
        "UNKNOWN",
        "the members could not be observed",
    ),
    "a pattern takes a topic outside the pair": (
        replace(H(), unjoined=[{"alias": "P", "kind": "topic", "name": "New"}]),
        "patterns",
        "NO",
        'the topic "New" has not joined',
    ),
    "what patterns take is unseen": (
        replace(H(), unjoined=None),
        "patterns",
        "UNKNOWN",
        "the pattern matches could not be observed",
    ),
    "uses a topic that its declaration leaves out": (
        replace(H(), out_of_scope=[HIDDEN]),
        "group_scope",
        "NO",
        '"g" uses "U" on P: committed offset 9 on partition 0',
    ),
    "uses one on the other side": (
        replace(H(), survey={**SURVEY, "ages": {"g": 1.0}, "out_of_scope": [{**HIDDEN, "alias": "B"}]}),
        "group_scope",
        "NO",
        '"g" uses "U" on B',
    ),
    "whether it uses others is unseen": (
        replace(H(), out_of_scope=None),
        "group_scope",
        "UNKNOWN",
        "committed offsets",
    ),
    "whether a group that is rebalancing uses others": (
        replace(
            H(), committed_offsets=[{**one, "state": "COMPLETING_REBALANCING"} for one in H().committed_offsets or ()]
        ),
        "group_scope",
        "UNKNOWN",
        'what "g" reads on P is unknown: it is rebalancing',
    ),
    "undeclared group": (
        replace(H(), undeclared_groups=[other("nightly")]),
        "undeclared_groups",
        "NO",
        '"nightly" on P',
    ),
    "a group of a type that cannot be described": (
        replace(H(), undeclared_groups=[other("tills", "UNDESCRIBED")]),
        "undeclared_groups",
        "NO",
        '"tills" on P (not a classic or consumer group)',
    ),
    "undeclared groups not observed": (
        replace(H(), undeclared_groups=None, unknown={"undeclared_groups": "DESCRIBE on all groups"}),
        "undeclared_groups",
        "UNKNOWN",
        "DESCRIBE on all groups",
    ),
    "a declared group whose members are unknown": (
        replace(H(), committed_offsets=[{**one, "state": "UNDESCRIBED"} for one in H().committed_offsets or ()]),
        "offsets_movable",
        "NO",
        'whether "g" has members is unknown',
    ),
    "works there": (replace(H(), survey={**SURVEY, "active_groups": ["g"]}), "groups_there", "NO", '"g" has members'),
    "untranslatable": (row(H(), offset=None, reason="no sync"), "committed_offsets", "NO", "no sync"),
    "a cutoff would refuse it": (replace(H(), refused=[EXPIRED]), "offsets_movable", "NO", "before the log start 30"),
    "whether a cutoff would refuse it": (replace(H(), refused=None), "offsets_movable", "UNKNOWN", "the offsets"),
    "expired there": (
        row(H(), reason="the log starts at 30", skips={"at_least": 4, "at_most": 4}),
        "unread_there",
        "NO",
        "the log starts at 30",
    ),
    "perhaps expired there": (
        row(H(), reason="the topic is compacted", skips={"at_least": 0, "at_most": None}),
        "unread_there",
        "UNKNOWN",
        "the topic is compacted",
    ),
    "ahead there": (row(H(), existing=9), "offsets_there", "NO", "committed 9, processed up to 7"),
    "old presynced offsets": (replace(H(), survey={**SURVEY, "ages": {"g": 901.0}}), "presynced", "NO", "901 s"),
    "unknown age": (
        replace(H(), survey={**SURVEY, "ages": {"g": None}}),
        "presynced",
        "NO",
        "the age is unknown",
    ),
    "no rights": (replace(H(), rights=["allow User:a: read topic T"]), "rights", "NO", "User:a"),
    "a client without principal": (replace(H(), undeclared=["payments-api"]), "rights", "UNKNOWN", "payments-api"),
    "rights unseen": (replace(H(), rights=None, unknown={"rights": "refused"}), "rights", "UNKNOWN", "refused"),
    "other teams at work": (
        replace(H(), other_applications=OTHERS, running=["Payments was written (9 offsets in 10 s)"]),
        "other_applications",
        "NO",
        "9 offsets",
    ),
    "other teams unseen": (replace(H(), other_applications=OTHERS), "other_applications", "UNKNOWN", "running"),
    "host away": (replace(H(), clients=["the host app1 does not answer"]), "clients", "NO", "app1"),
}


def test_a_healthy_pair_is_ready_for_both() -> None:
    found = judge_readiness(healthy(), CHECKS)
    assert {row["name"]: row["found"] for row in found["checks"] if row["answer"] != "YES"} == {}
    assert (found["controlled"], found["disaster"]) == ("YES", "YES")


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_one_defect_is_reported_once_with_the_next_step(case: str) -> None:
    facts, name, answer, word = BROKEN[case]
    found = judge_readiness(facts, CHECKS)
    rows = {row["name"]: row for row in found["checks"]}
    assert [row["name"] for row in found["checks"] if row["answer"] in ("NO", "UNKNOWN")] == [name]
    assert (rows[name]["answer"], word in rows[name]["found"]) == (answer, True), rows[name]["found"]
    assert rows[name]["remedy"]
    for way in ("controlled", "disaster"):
        if way in rows[name]["counts"]:
            assert found[way] == answer
        else:
            # A check that depends on it must not pass as known.
            skipped = [row for row in found["checks"] if row["answer"] == "SKIPPED" and way in row["counts"]]
            assert found[way] == ("UNKNOWN" if skipped else "YES")
    assert any(name in line and answer in line for line in readiness_lines(found))


def test_without_the_number_of_brokers_the_safety_of_journal_and_replicas_is_unknown() -> None:
    found = judge_readiness(replace(H(), brokers={"P": 3}), CHECKS)
    unknown = {row["name"]: row["found"] for row in found["checks"] if row["answer"] not in ("YES", "SKIPPED")}
    assert unknown == dict.fromkeys(("retention", "replicas"), "the number of brokers on B is unknown")


#: Parts of the facts that may be None. ``unreplicated`` answers no question, and ``running`` none in a healthy pair.
OPTIONAL = {one.name for one in fields(Facts) if str(one.type).endswith("| None")} - {"unreplicated", "running"}
#: None in ``away`` and ``workers``: no problem.
BY_CLUSTER_OR_FLOW = {one.name for one in fields(Facts) if "| None]" in str(one.type)} - {"away", "workers"} | {"flows"}


def hidden(facts: Facts, name: str) -> list[Facts]:
    """The facts without a part of them, or without one cluster or flow of that part."""
    parts: list[Any] = [None] if name in OPTIONAL else []
    if name in BY_CLUSTER_OR_FLOW:
        value = getattr(facts, name)
        parts += [{}, *({key: one for key, one in value.items() if key != left} for left in value)]
        parts += [] if name == "flows" else [{**value, key: None} for key in value]
    return [replace(facts, **{name: part}) for part in parts]


@pytest.mark.parametrize("name", sorted(OPTIONAL | BY_CLUSTER_OR_FLOW))
def test_what_was_not_observed_is_unknown_and_neither_good_nor_bad(name: str) -> None:
    for facts in hidden(healthy(), name):
        found = judge_readiness(facts, CHECKS)
        answers = {row["answer"] for row in found["checks"]}
        assert "UNKNOWN" in answers, getattr(facts, name)
        assert "NO" not in answers, [row for row in found["checks"] if row["answer"] == "NO"]
        assert "UNKNOWN" in (found["controlled"], found["disaster"])


def test_every_check_has_a_defect_of_its_own() -> None:
    assert {name for _facts, name, _answer, _word in BROKEN.values()} == {check.name for check in CHECKS}


def test_a_defect_is_reported_although_another_value_is_unknown() -> None:
    late = [Expiring("T", 0, None, math.inf, math.inf), Expiring("T", 1, 61.0, math.inf, math.inf)]
    found = judge_readiness(replace(healthy(), expiring=late), CHECKS)
    assert (found["controlled"], next(row["found"] for row in found["checks"] if row["answer"] == "NO")[:3]) == (
        "NO",
        "T-1",
    )


def test_an_accepted_answer_counts_and_is_still_reported() -> None:
    found = judge_readiness(replace(healthy(), undeclared_groups=[other("nightly")]), CHECKS, ["undeclared_groups"])
    assert (found["controlled"], found["disaster"]) == ("YES", "YES")
    assert next(row["answer"] for row in found["checks"] if row["name"] == "undeclared_groups") == "ACCEPTED"


@pytest.mark.parametrize("declared_as", ["local", "accepted"])
def test_a_group_that_may_stay_is_declared(declared_as: str) -> None:
    rows = [replace(other("tills", "UNDESCRIBED"), declared_as=declared_as)]
    found = judge_readiness(replace(healthy(), undeclared_groups=rows), CHECKS)
    assert (found["controlled"], found["disaster"]) == ("YES", "YES")


def test_an_unknown_answer_cannot_be_accepted() -> None:
    found = judge_readiness(replace(healthy(), undeclared_groups=None), CHECKS, ["undeclared_groups"])
    assert found["controlled"] == "UNKNOWN"


def test_an_offset_that_only_may_be_higher_is_not_reported_as_higher() -> None:
    found = judge_readiness(row(healthy(), existing=9, quality="safe"), CHECKS)
    assert found["controlled"] == "YES"


def test_identity_needs_no_flow_back() -> None:
    facts = replace(healthy(), naming=naming_of("identity", "."), flows={"P->B": flow("P->B")})
    assert judge_readiness(facts, CHECKS)["controlled"] == "YES"


def test_needs_name_checks_that_come_before() -> None:
    seen: set[str] = set()
    for check in CHECKS:
        assert set(check.needs) <= seen
        seen.add(check.name)


def test_the_observed_settings_are_those_of_a_healthy_topic() -> None:
    # Brokers of 4.0 and later do not have it.
    assert {*VALUES, OLD_BOUND} == set(SETTINGS)


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        # Below 3.6 there is one setting, up to 3.9 it counts where the newer one has its default.
        ({OLD_BOUND: NEVER, BEFORE: None, AFTER: None}, {}, "NO"),
        ({OLD_BOUND: "3600000", BEFORE: None, AFTER: None}, {}, "YES"),
        ({}, {OLD_BOUND: "3600000", BEFORE: None, AFTER: None}, "NO"),
        ({}, {OLD_BOUND: NEVER, BEFORE: None, AFTER: None}, "YES"),
        ({}, {OLD_BOUND: "1000", BEFORE: NEVER, AFTER: NEVER}, "NO"),
        ({OLD_BOUND: "1000", BEFORE: NEVER, AFTER: NEVER}, {}, "YES"),
        ({OLD_BOUND: NEVER, BEFORE: NEVER, AFTER: NEVER}, {AFTER: NEVER}, "YES"),
        # A broker that sets the time itself refuses none.
        ({AFTER: NEVER, "message.timestamp.type": "LogAppendTime"}, {"message.timestamp.type": "LogAppendTime"}, "YES"),
    ],
)
def test_time_bounds_are_compared_as_they_are_in_force(
    left: dict[str, str | None], right: dict[str, str | None], answer: str
) -> None:
    facts = healthy()
    for alias, changed in (("P", left), ("B", right)):
        for name in ("T", "P.T") if alias == "B" else ("T",):
            facts = with_topic(facts, alias, settings(topic(name), **changed))
    (row,) = (row for row in judge_readiness(facts, CHECKS)["checks"] if row["name"] == "settings")
    assert row["answer"] == answer, row["found"]


def test_smaller_segments_that_still_hold_every_batch_are_no_difference() -> None:
    """A broker refuses larger batches on P already, so segments of that size on B refuse no further producer."""
    facts = with_topic(H(), "B", settings(topic("T"), segment_bytes="1048588"))
    assert judge_readiness(facts, CHECKS)["controlled"] == "YES"
    small = settings(topic("T"), segment_bytes="1048576")
    assert judge_readiness(with_topic(with_topic(H(), "P", small), "B", small), CHECKS)["controlled"] == "YES"


def test_a_broker_that_accepts_more_is_no_difference() -> None:
    facts = broker(H(), "B", 1, transaction_max_timeout_ms="3600000", group_min_session_timeout_ms="1")
    facts = broker(facts, "P", 2, group_max_size="10", offset_metadata_max_bytes="100")
    assert judge_readiness(facts, CHECKS)["controlled"] == "YES"


def test_a_stricter_broker_is_named_although_a_setting_of_another_one_is_unknown() -> None:
    facts = broker(broker(H(), "B", 1, group_max_size=None), "B", 2, group_max_size="10")
    (row,) = (row for row in judge_readiness(facts, CHECKS)["checks"] if row["name"] == "broker_limits")
    assert (row["answer"], row["found"]) == (
        "NO",
        "group.max.size is 2147483647 on P (broker 1) and 10 on B (broker 2)",
    )


def test_the_observed_limits_are_those_of_a_healthy_broker() -> None:
    assert set(BROKER) == set(LIMITS)


def test_without_the_setting_it_is_unknown_whether_the_flow_sends_every_accepted_record() -> None:
    seen = with_topic(H(), "P", settings(topic("T"), max_message_bytes=None))
    check = next(row for row in judge_readiness(seen, CHECKS)["checks"] if row["name"] == "flow_sizes")
    assert (check["answer"], 'max.message.bytes of "T"' in check["found"]) == ("UNKNOWN", True)


@pytest.mark.parametrize(
    ("bound", "records", "size", "rate", "seconds"),
    [
        # 2 records of 100 bytes per second, and 4,000 of 5,000 bytes are free.
        (5_000, 10, 100, 2.0, 20.0),
        (900, 10, 100, 2.0, 0.0),
        (900, 10, 100, 0.0, 0.0),
        (5_000, 10, 100, 0.0, math.inf),
        (5_000, 10, 0, 2.0, math.inf),
        (5_000, 10, None, 2.0, None),
        (5_000, 10, 100, None, None),
    ],
)
def test_the_time_until_a_partition_exceeds_its_size_is_estimated(
    bound: int, records: int, size: int | None, rate: float | None, seconds: float | None
) -> None:
    assert seconds_until_full(bound, records, size, rate) == seconds


@pytest.mark.parametrize(
    ("facts", "name", "words"),
    [
        (
            replace(healthy(), accepted_foreign_writers=["T"]),
            "foreign_writes",
            "T were not checked, because kafka_dr_accept_foreign_writers names them",
        ),
        (
            replace(healthy(), undeclared_groups=[replace(other("nightly"), declared_as="accepted")]),
            "undeclared_groups",
            'these stay: "nightly" on P, which kafka_dr_accept_undeclared names',
        ),
        (
            replace(healthy(), undeclared_groups=[replace(other("sink"), declared_as="local")]),
            "undeclared_groups",
            'these stay: "sink" on P',
        ),
    ],
)
def test_what_a_declaration_excuses_is_still_named(facts: Facts, name: str, words: str) -> None:
    (row,) = (row for row in judge_readiness(facts, CHECKS)["checks"] if row["name"] == name)
    assert (row["answer"], words in row["found"]) == ("YES", True)


def test_the_cost_of_a_move_is_counted_or_unknown() -> None:
    facts = replace(H(), survey={**SURVEY, "loss_lines": ["an unknown number of records", "whole topics"]})
    counted = {"at_least": 2, "at_most": 5, "seconds_at_most": 1.5}
    assert cost_lines(facts, counted) == [
        "a controlled cutover now: records read again, at most: g 0",
        "a disaster now: records read again, at most: g 0",
        "a disaster now would lose 2 to 5 records, committed within the last 1.5 s",
        "a disaster now would lose whole topics",
    ]
    assert "5 records, committed at an unknown time" in cost_lines(
        facts, {"at_least": 5, "at_most": 5, "seconds_at_most": None}
    )[2].removeprefix("a disaster now would lose ")
    assert cost_lines(facts, {**counted, "at_least": 0, "at_most": 0})[2] == "a disaster now would lose nothing"
    assert cost_lines(facts, None)[2] == "a disaster now would lose an unknown number of records"
    unknown = cost_lines(replace(facts, offsets=None, survey=None), None)
    assert [line.partition(" now: ")[2] for line in unknown] == ["the number of records read again is unknown"] * 2


def test_unknown_counts_of_groups_come_first() -> None:
    rows = [{"group": name, "rereads": count} for name, count in (("a", 2), ("b", 5), ("c", 3), ("c", None), ("a", 4))]
    assert rereads(rows) == {"a": 6, "b": 5, "c": None}
    assert cost_lines(replace(H(), offsets=rows, survey=None), None)[0].endswith("at most: c ?, a 6, b 5")


def test_the_policy_identity_has_no_flow_back() -> None:
    assert H().flow_names == ["P->B", "B->P"]
    assert replace(H(), naming=naming_of("identity")).flow_names == ["P->B"]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan is read as it is meant, or refused with the place of the mistake. Secrets come from elsewhere."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import audit_plan
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.parsed_values import AUDIT_KINDS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import JournalState, Run
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from kafka_dr_audit import plan
from kafka_dr_audit.audit import _advised
from kafka_dr_audit.differences import KINDS
from kafka_dr_audit.errors import AuditError

EVERY = {"start": None, "end": None}
GOOD: dict[str, Any] = {
    "schema": plan.SCHEMA,
    "run": "r1",
    "pair": "B-P",
    "clusters": {
        "P": {"cluster_id": "p", "bootstrap_servers": "p:9092"},
        "B": {"cluster_id": "b", "bootstrap_servers": "b:9092", "client": {"security.protocol": "SASL_SSL"}},
    },
    "topics": [
        {
            "name": "Payments",
            "source": {"cluster": "P", "topic": "Payments"},
            "target": {"cluster": "B", "topic": "P.Payments", "live": False},
            "mode": "complete",
            "partitions": [{"partition": 0, "source": {"start": 0, "end": 5}, "target": dict(EVERY), "replicated": 5}],
            "committed_offsets": [{"group": "g", "partition": 0, "truth": "source", "source": 5, "target": None}],
        }
    ],
}


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    change(document)
    return document


def test_a_good_plan_is_read_with_its_defaults() -> None:
    found = plan.parse(GOOD, {})
    (topic,) = found.topics
    assert (topic.isolation, topic.guarantee, topic.accept) == ("read_committed", "at_least_once", ())
    assert topic.partitions[0].source == plan.PlannedRange(0, 5)
    assert topic.partitions[0].target == plan.PlannedRange(None, None)
    assert topic.committed_offsets[0].target is None


def test_the_next_steps_of_a_plan_are_those_of_the_verdict() -> None:
    step = {"text": "Check it", "command": "ansible-playbook verify"}
    found = plan.parse({**GOOD, "next": {"PROVEN": [step]}}, {})
    assert found.next_steps == {"PROVEN": [step], "REFUTED": [], "UNKNOWN": []}
    topics = {"topics": [], "pair": "B-P", "run": "r1"}
    assert _advised(found, {**topics, "verdict": "PROVEN"})["next"] == [step]
    assert _advised(found, {**topics, "verdict": "UNKNOWN"})["next"] == []


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str, str]] = {
    "another version": (
        lambda d: d.update(schema="switchback.kafka_dr/audit-plan/3"),
        "plan_version",
        "this audit reads",
    ),
    "no topic": (lambda d: d.update(topics=[]), "plan_invalid", "nothing to prove"),
    "missing partition": (
        lambda d: d["topics"][0]["partitions"][0].update(partition=1),
        "plan_invalid",
        "the numbers 0 to n-1",
    ),
    "unknown key": (lambda d: d["topics"][0].update(acept=[]), "plan_invalid", 'the key "acept" is unknown'),
    "unknown key above": (lambda d: d.update(policy="x"), "plan_invalid", 'the key "policy" is unknown'),
    "unknown verdict of steps": (lambda d: d.update(next={"GOOD": []}), "plan_invalid", 'the key "GOOD" is unknown'),
    "step without a command": (
        lambda d: d.update(next={"PROVEN": [{"text": "Check it"}]}),
        "plan_invalid",
        'plan.next.PROVEN[0]: "command" is missing',
    ),
    "unknown cluster": (
        lambda d: d["topics"][0]["source"].update(cluster="X"),
        "plan_invalid",
        "'X' is not one of P, B",
    ),
    "unknown mode": (lambda d: d["topics"][0].update(mode="fast"), "plan_invalid", "complete, online, disaster"),
    "unknown kind": (lambda d: d["topics"][0].update(accept=["LOSS"]), "plan_invalid", "'LOSS'"),
    "no number": (
        lambda d: d["topics"][0]["partitions"][0]["source"].update(start="0"),
        "plan_invalid",
        "topics[0].partitions[0].source",
    ),
    "truth is no number": (
        lambda d: d["topics"][0]["partitions"][0]["source"].update(start=True),
        "plan_invalid",
        "must be of type int",
    ),
    "backwards": (
        lambda d: d["topics"][0]["partitions"][0]["source"].update(start=6),
        "plan_invalid",
        "[6, 5) is not a valid range",
    ),
    "below zero": (
        lambda d: d["topics"][0]["partitions"][0]["target"].update(end=-5),
        "plan_invalid",
        "not a valid range",
    ),
    "accepts an object": (lambda d: d["topics"][0].update(accept=[{}]), "plan_invalid", "the kinds are"),
    "committed offset elsewhere": (
        lambda d: d["topics"][0]["committed_offsets"][0].update(partition=1),
        "plan_invalid",
        "partition 1 does not exist",
    ),
    "no cluster id": (lambda d: d["clusters"]["P"].pop("cluster_id"), "plan_invalid", '"cluster_id" is missing'),
    "secrets unset": (
        lambda d: d["clusters"]["P"].update(secrets={"env": "NOT_SET"}),
        "secrets_missing",
        "NOT_SET, which is not set",
    ),
    "secrets nowhere": (
        lambda d: d["clusters"]["P"].update(secrets={"file": "none.json"}),
        "secrets_missing",
        "cannot be read",
    ),
    "secrets in both": (
        lambda d: d["clusters"]["P"].update(secrets={"env": "A", "file": "B"}),
        "plan_invalid",
        'keys "env" and "file"',
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_plan_is_refused_with_the_place_of_the_mistake(name: str) -> None:
    change, code, text = WRONG[name]
    with pytest.raises(AuditError) as failed:
        plan.parse(changed(change), {})
    assert failed.value.code == code
    assert text in failed.value.message


@pytest.mark.parametrize("text", ["", "[]", "{", "nothing"])
def test_a_document_that_is_not_a_plan_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(AuditError):
        plan.load(tmp_path / "plan.json", {})


def test_secrets_come_from_the_environment_or_a_file_and_no_error_quotes_them(tmp_path: Path) -> None:
    hidden = {"sasl.jaas.config": "the-secret"}
    (tmp_path / "hidden.json").write_text(json.dumps(hidden))
    by_env = changed(lambda d: d["clusters"]["B"].update(secrets={"env": "HIDDEN"}))
    by_file = changed(lambda d: d["clusters"]["B"].update(secrets={"file": "hidden.json"}))
    for found in (plan.parse(by_env, {"HIDDEN": json.dumps(hidden)}), plan.parse(by_file, {}, tmp_path)):
        assert found.clusters["B"].client == {"security.protocol": "SASL_SSL", **hidden}
    with pytest.raises(AuditError) as failed:
        plan.parse(by_env, {"HIDDEN": "the-secret"})
    assert "the-secret" not in failed.value.message


# ---- the plan that the role writes


PAIR = {
    "name": "B-P",
    "home": "P",
    "topics": ["Payments"],
    "policy": "default",
    "separator": ".",
    "guarantee": "at_least_once",
    "accept": {"Payments": ["FOREIGN"]},
    "fresh": True,
}
STATE: dict[str, Any] = {
    "active": "B",
    "run": {"id": "r7"},
    "topic_ids": {"P": {"Payments": "a+b/cc"}, "B": {"P.Payments": "dd"}},
    "left": {
        "P": {
            "committed_offsets": {"g": {"Payments": {"0": 10}, "B.Payments": {"0": 4}}},
            "entered": [
                {
                    "group": "g",
                    "committed_offsets": [
                        {"topic": "P.Payments", "partition": 0, "offset": 9},
                        {"topic": "Payments", "partition": 0, "offset": 3},
                    ],
                }
            ],
        }
    },
}
CLUSTERS = {alias: {"cluster_id": alias, "bootstrap_servers": f"{alias}:9092"} for alias in ("P", "B")}


def written(pair: dict[str, Any] | None = None, state: dict[str, Any] | None = None, **more: Any) -> plan.AuditPlan:
    """The plan as the audit reads it: a plan that it refuses fails here."""
    known = {**PAIR, **(pair or {})}
    rules = audit_plan.AuditRules(**{key: known.pop(key) for key in ("guarantee", "accept", "fresh")})
    facts = dict(state or STATE)
    ran = facts["run"]
    facts["run"] = ran and Run(ran["id"], 7, "cutoff", "P", "B", "default", None, 0.0, False, {})
    spec = PairSpec.of({"clusters": CLUSTERS, **known})
    document = audit_plan.audit_plan(spec, rules, JournalState(**facts), CLUSTERS, {"Payments": 1}, **more)
    return plan.parse(json.loads(json.dumps(document)), {})


def test_after_a_failover_both_directions_and_all_committed_offsets_are_planned() -> None:
    forward, back = sorted(written().topics, key=lambda topic: topic.name, reverse=True)
    assert (forward.name, forward.mode, forward.target.topic) == ("P:Payments", "complete", "P.Payments")
    assert (back.name, back.mode, back.target.topic) == ("B:Payments", "online", "B.Payments")
    assert forward.committed_offsets == (plan.CommittedOffsets("g", 0, "source", 10, 9),)
    assert back.committed_offsets == (plan.CommittedOffsets("g", 0, "target", 3, 4),)
    assert forward.source.topic_id == "a-b_cc"
    assert forward.accept == ("FOREIGN",)
    assert written().run == "r7"


def test_the_offset_at_which_a_group_last_left_the_entered_cluster_is_its_own() -> None:
    left = {**STATE["left"], "B": {"committed_offsets": {"g": {"Payments": {"0": 2}}}}}
    forward, back = sorted(written(state={**STATE, "left": left}).topics, key=lambda topic: topic.name, reverse=True)
    assert forward.committed_offsets == (plan.CommittedOffsets("g", 0, "source", 10, 9),)
    assert back.committed_offsets == (plan.CommittedOffsets("g", 0, "target", 3, 4, own=2),)


def test_before_the_first_move_there_are_no_committed_offsets() -> None:
    found = written(state={**STATE, "active": "P", "left": {}, "run": None})
    assert [topic.committed_offsets for topic in found.topics] == [(), ()]
    assert {topic.name: topic.mode for topic in found.topics} == {"P:Payments": "online", "B:Payments": "complete"}


def test_an_identity_pair_is_compared_now_and_at_the_ends_of_the_last_move() -> None:
    """Records lost by the move are before those that the flow back replicates: only the ends of the move show them."""
    left = {"P": {"committed_offsets": {"g": {"Payments": {"0": 10}}}, "entered": STATE["left"]["P"]["entered"]}}
    left["P"] |= {"ends": {"Payments": {"0": 12}}, "cut": {"Payments": {"0": 11}}}
    now, then = written({**PAIR, "policy": "identity"}, {**STATE, "left": left}).topics
    assert (now.source.cluster, now.target.cluster, now.target.topic, now.mode) == ("B", "P", "Payments", "online")
    assert now.committed_offsets == ()
    assert (then.source.cluster, then.target.cluster, then.mode) == ("P", "B", "complete")
    assert (then.source.live, then.target.live) == (True, True)
    assert (then.partitions[0].source.end, then.partitions[0].target.end) == (12, 11)
    assert then.committed_offsets == (plan.CommittedOffsets("g", 0, "source", 10, 3),)


CUT = {"from": "P", "to": "B", "ends": {"Payments": {"0": 12}}, "cut": {"Payments": {"0": 11}}, "resumed": None}
OLDER = {**CUT, "from": "B", "to": "P"}


def online(cuts: list[dict[str, Any]], **more: Any) -> plan.Topic:
    """The topic pair that is compared as of now, of a pair with the policy identity that moved from P to B."""
    left = {"P": {name: CUT[name] for name in ("ends", "cut")}}
    now, _then = written({**PAIR, "policy": "identity"}, {**STATE, "left": left, "cuts": cuts}, **more).topics
    return now


def test_since_the_cut_an_identity_pair_is_compared_separately() -> None:
    """R50: with the records before it, a record that was written again on P looks like one that the flow sent twice."""
    now = online([OLDER, CUT], stored={Partition("Payments", 0): 14})
    assert (now.from_cut, now.cut_known) == (True, True)
    (partition,) = now.partitions
    assert (partition.source, partition.target) == (plan.PlannedRange(11, None), plan.PlannedRange(12, None))
    assert partition.stored == 14
    assert online([CUT]).partitions[0].stored is None


@pytest.mark.parametrize(
    "cuts",
    [
        [],
        [{**CUT, "disaster": True}],
        # Found by content: after a move by hand, or for a topic that joined later.
        [CUT, {**OLDER, "known": False}],
        [CUT, OLDER],
        [{**CUT, "cut": {"Payments": {}}}],
        [{**CUT, "ends": {"Other": {"0": 1}}}],
    ],
)
def test_without_the_cut_of_a_cutover_an_identity_pair_is_compared_as_a_whole(cuts: list[dict[str, Any]]) -> None:
    now = online(cuts)
    assert (now.from_cut, now.cut_known) == (True, False)
    assert now.partitions[0].source == now.partitions[0].target == plan.PlannedRange(None, None)


def test_only_the_flow_away_from_the_applications_writes_alone() -> None:
    assert [topic.from_cut for topic in written().topics] == [False, False]
    left = {"P": {name: CUT[name] for name in ("ends", "cut")}}
    topics = written({**PAIR, "policy": "identity"}, {**STATE, "left": left, "cuts": [CUT]}).topics
    assert [topic.from_cut for topic in topics] == [True, False]


def test_an_identity_pair_that_never_moved_has_one_direction() -> None:
    (topic,) = written({**PAIR, "policy": "identity"}, {**STATE, "active": "P", "left": {}}).topics
    assert (topic.source.cluster, topic.mode, topic.target.live) == ("P", "online", False)


def test_secrets_leave_the_plan_for_the_environment() -> None:
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": "audit",
        "sasl.password": "the-secret",
    }
    part, environment = audit_plan.cluster_part("P-1", {"bootstrap_servers": "p:9092", "client": client}, "id")
    assert "the-secret" not in json.dumps(part)
    assert part["secrets"] == {"env": "KAFKA_DR_AUDIT_SECRETS_P_1"}
    assert "the-secret" in environment["KAFKA_DR_AUDIT_SECRETS_P_1"]
    assert audit_plan.cluster_part("P", {"bootstrap_servers": "p:9092"}, "id")[1] == {}


def test_the_inventory_check_accepts_the_same_kinds_as_the_audit() -> None:
    assert AUDIT_KINDS == KINDS

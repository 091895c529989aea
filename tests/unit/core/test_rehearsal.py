# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pair of a rehearsal shares its clusters with the real pair, but no name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import flow_goals
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import rehearsal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.rehearsal import (
    rehearsal_lines,
    rehearsal_note,
    rehearsal_report,
)
from schemas import faults

CLUSTER = {"client": {"security.protocol": "SASL_SSL", "java.sasl.jaas.config": "x"}}
VARIABLES: dict[str, Any] = {
    "home": "P",
    "clusters": {
        alias: {
            "bootstrap_servers": f"{alias}:9092",
            "connect_url": f"http://{alias}:8083",
            "admin_client": {"sasl.username": f"admin-{alias}"},
            **CLUSTER,
        }
        for alias in ("P", "B")
    },
    "topics": [
        {"name": "Payments", "partitions": 12, "replication_factor": 3},
        {"name": "Audit", "partitions": 1, "replication_factor": 2},
    ],
    "groups": ["settlement"],
}
OPTIONS: dict[str, Any] = {
    "host": "bastion",
    "folder": "/rehearsal",
    "program": ["python3", "/ledger"],
    "template": "/rehearsal.env.j2",
    "rate": "50",
    "principal": "",
    "client": {},
}


def real(**changes: Any) -> dict[str, Any]:
    return laid_out(derive_pair({**VARIABLES, **changes}))


def of(pair: dict[str, Any], active: str = "P", **options: Any) -> dict[str, Any]:
    return rehearsal.rehearsal_pair(pair, active, {**OPTIONS, **options})


def every_name(pair: dict[str, Any]) -> set[str]:
    """The topics, groups and connectors that the pair creates on both clusters."""
    kinds = ("topics", "groups", "connectors")
    return {name for alias in pair["clusters"] for kind in kinds for name in rehearsal.belongings(pair, alias)[kind]}


@pytest.mark.parametrize("policy", ["default", "identity"])
@pytest.mark.parametrize("separator", [".", "-", "--", "_", "..", "-_-"])
def test_it_shares_no_name_with_the_pair_and_each_name_is_recognisable(policy: str, separator: str) -> None:
    pair = real(policy=policy, separator=separator)
    found = of(pair)
    assert every_name(found).isdisjoint(every_name(pair))
    assert all(
        any(fingerprint in name for fingerprint in found["rehearsal"]["name_parts"]) for name in every_name(found)
    )
    assert {cluster["bootstrap_servers"] for cluster in found["clusters"].values()} == {"P:9092", "B:9092"}


@pytest.mark.parametrize("policy", ["default", "identity"])
@pytest.mark.parametrize("separator", [".", "-", "--", "_", "..", "-_-"])
def test_the_flows_of_the_pair_do_not_take_its_heartbeat_replicas_for_heartbeats(policy: str, separator: str) -> None:
    """MirrorMaker 2's ReplicationPolicy.originalTopic removes prefixes up to the first separator repeatedly."""
    found = of(real(policy=policy, separator=separator))
    topic = naming_of(found["policy"], found["separator"]).heartbeats(found["home"])
    while separator in topic:
        topic = topic.split(separator, 1)[1]
    assert topic != "heartbeats"


def test_it_leaves_the_cluster_where_the_applications_live() -> None:
    found = of(real(), "B")
    assert (found["home"], found["away"]) == ("rehearsal-B", "rehearsal-P")
    assert found["confirms"] == {"rehearsal-B": "P", "rehearsal-P": "P"}
    assert found["rehearsal"]["of"] == {"rehearsal-P": "P", "rehearsal-B": "B"}


def test_it_runs_no_heartbeats_and_removes_all_of_its_connectors() -> None:
    found = of(real())
    spec = PairSpec.of(found["spec"])
    wanted = [goal for state in ("live", "absent") for goal in flow_goals(spec, state, "rehearsal-B")]
    assert {goal.heartbeats for goal in wanted} == {None}
    assert found["rehearsal"]["belongings"]["rehearsal-B"]["connectors"] == [
        f"rehearsal-P->rehearsal-B.Mirror{part}Connector" for part in ("Source", "Checkpoint", "Heartbeat")
    ]


def test_its_topic_has_the_highest_replication_factor_of_the_pair() -> None:
    found = of(real())
    assert [topic["replication_factor"] for topic in found["topics"]] == [3]
    assert {found["journal"]["replication_factor"], found["state"]["replication_factor"]} == {3}


def test_clients_authenticate_as_the_collection_or_as_the_principal_and_connectors_never_do() -> None:
    plain = of(real())
    assert plain["rehearsal"]["logins"]["rehearsal-P"] == {"sasl.username": "admin-P"}
    assert plain["rights"]["rehearsal-P"]["acls"] == []
    own = of(real(), principal="User:rehearsal", client={"sasl.username": "rehearsal", "sasl.password": "secret"})
    assert own["rehearsal"]["logins"]["rehearsal-B"] == {
        "security.protocol": "SASL_SSL",
        "sasl.username": "rehearsal",
        "sasl.password": "secret",
    }
    assert own["rehearsal"]["fence_logins"] == {"User:rehearsal": own["rehearsal"]["logins"]["rehearsal-P"]}
    assert {client["principal"] for client in own["clients"]} == {"User:rehearsal"}
    assert {acl["principal"] for acl in own["rights"]["rehearsal-B"]["acls"]} == {"User:rehearsal"}
    assert "secret" not in str(PairSpec.of(own["spec"]))


def test_a_pair_that_cannot_be_rehearsed_is_refused() -> None:
    local = {"name": "kafka-dr-rehearsal-B-P-2", "mode": "local"}
    taken = (
        real(topics=[{"name": "kafka-dr-rehearsal-B-P-canary", "partitions": 1}]),
        real(groups=["kafka-dr-rehearsal-1"]),
        real(groups=[local]),
        real(journal_topic="kafka-dr-rehearsal-B-P-journal-internal"),
    )
    for pair in taken:
        with pytest.raises(DrError, match="has a name that is reserved for rehearsals") as refused:
            of(pair)
        assert refused.value.code == "rehearsal_impossible"
    with pytest.raises(DrError, match="one service replicates"):
        of({**real(), "engine": "srm"})
    for half in ({"principal": "User:rehearsal"}, {"client": {"sasl.username": "rehearsal"}}):
        with pytest.raises(DrError, match="Only one of"):
            of(real(), **half)


def test_clusters_with_the_aliases_of_a_rehearsal_are_refused() -> None:
    clusters = {
        alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}:8083"}
        for alias in ("P", "rehearsal-P")
    }
    with pytest.raises(DrError, match='"rehearsal-P" in the inventory has a name'):
        of(real(clusters=clusters))


def test_the_rehearsals_of_two_pairs_on_one_cluster_share_no_name() -> None:
    clusters = {"P": VARIABLES["clusters"]["P"], "B2": {**VARIABLES["clusters"]["B"], "bootstrap_servers": "B2:9092"}}
    one, two = of(real()), of(real(clusters=clusters))
    here = [
        {
            name
            for kind in ("topics", "groups", "connectors")
            for name in found["rehearsal"]["belongings"]["rehearsal-P"][kind]
        }
        for found in (one, two)
    ]
    assert here[0].isdisjoint(here[1])


def test_no_name_of_the_applications_is_taken_for_a_leftover_of_a_rehearsal() -> None:
    fingerprints = of(real())["rehearsal"]["name_parts"]
    for name in (
        "fire-rehearsal-Billing",
        "rehearsal-B",
        "rehearsal-P.Payments",
        "kafka-dr-rehearsal",
        "hydraulic.rehearsal-Press",
    ):
        assert not [fingerprint for fingerprint in fingerprints if fingerprint in name]
    for name in (
        "X.kafka-dr-rehearsal-B-P-canary",
        "B.rehearsal-P--heartbeats",
        "mm2-offset-syncs--rehearsal-B--internal",
    ):
        assert [fingerprint for fingerprint in fingerprints if fingerprint in name]


def test_processes_of_an_interrupted_rehearsal_end_by_themselves() -> None:
    found = of(real())
    assert found["rehearsal"]["ledger"]["clients"]["kafka-dr-rehearsal-producer"]["limit"] == 50 * 3600
    assert found["topics"][0]["config"]["retention.ms"] >= 3_600_000
    assert {client["hosts"] for client in found["clients"]} == {"bastion"}


# ---- the report ------------------------------------------------------------------------------------------------------


def ledger(lost: int = 0, twice: int = 0, verdict: str = "clean") -> dict[str, Any]:
    group = {"lost": lost, "phantom": 0, "processed_twice": twice}
    gap = {"seconds": 4.0}
    return {
        "verdict": verdict,
        "totals": {"acknowledged": 100},
        "groups": {"one": group, "two": {**group, "lost": 0, "processed_twice": 0}},
        "gaps": {"acknowledged": gap, "groups": {"one": {"seconds": 5.0}, "two": None}},
    }


def move(verdict: str = "PROVEN", rereads: int | None = 0) -> dict[str, Any]:
    return {
        "type": "cutoff",
        "from": "rehearsal-P",
        "to": "rehearsal-B",
        "outcome": "completed",
        "verdict": verdict,
        "run": "r1",
        "headline": "MOVED to rehearsal-B",
        "evidence": {"proven": 1, "of": 1, "text": "PROVEN", "open": []},
        "checks": [{"name": "fence", "verdict": verdict, "reason": "why"}],
        "not_checked": [],
        "rereads": rereads,
        "seconds": 9.0,
        "phases": [],
        "found_offsets": {"equal": 0, "lower": 0, "higher": 0, "rereads": 0, "none": 0},
        "hooks": [],
        "audit": None,
        "failure": None,
        "plan": {},
    }


def observe(**rest: str) -> dict[str, Any]:
    return {"left": {"rehearsal-B": {}}, "strays": [], "rest": {"rehearsal-B": {"topic a": "1", "group g": "", **rest}}}


def report(**changes: Any) -> dict[str, Any]:
    facts = {
        "pair": "B-P",
        "run_on": "localhost",
        "type": "cutoff",
        "back": False,
        "from": "P",
        "to": "B",
        "outcome": "completed",
        "failure": None,
        "began": 1000.0,
        "ended": 1030.0,
        "times": [{"phase": "load", "began": 1001.0, "ended": 1002.0, "result": "ok"}],
        "moves": [move()],
        "ledger": ledger(),
        "earlier": [],
        "before": observe(),
        "after": observe(),
        "removed": True,
        "status": {"verdict": "PROVEN", "missing": [], "flows": [{"name": "P->B", "reason": "moves"}]},
        **changes,
    }
    return rehearsal_report(facts)


def verdict_of(found: dict[str, Any], name: str) -> str:
    return str(next(check["verdict"] for check in found["checks"] if check["name"] == name))


def test_complete_and_correct_observations_are_proven() -> None:
    found = report()
    assert found["verdict"] == "PROVEN", found["checks"]
    assert found["actual"] == {"cutover_s": 9.0, "writes_s": 4.0, "reads_s": 5.0, "rereads": 0}


STRAY = {**observe(), "strays": ["topic X.kafka-dr-rehearsal on rehearsal-B"]}
LEFT = {**observe(), "left": {"rehearsal-B": {"groups": ["kafka-dr-rehearsal-1"]}}}


@pytest.mark.parametrize(
    ("changes", "name", "verdict"),
    [
        ({"moves": []}, "cutover", "UNKNOWN"),
        ({"failure": {"task": "t", "message": "m"}}, "cutover", "UNKNOWN"),
        ({"moves": [move(), move("REFUTED")]}, "cutover", "REFUTED"),
        ({"moves": [move("REFUTED")], "failure": {"task": "t", "message": "m"}}, "cutover", "REFUTED"),
        ({"ledger": None}, "records", "UNKNOWN"),
        ({"ledger": ledger(lost=1)}, "records", "REFUTED"),
        ({"ledger": ledger(verdict="unknown")}, "records", "UNKNOWN"),
        ({"ledger": ledger(twice=3)}, "rereads", "REFUTED"),
        ({"ledger": ledger(twice=3), "moves": [move(rereads=3)]}, "rereads", "PROVEN"),
        ({"moves": [move(rereads=None)]}, "rereads", "UNKNOWN"),
        ({"removed": False}, "nothing left", "REFUTED"),
        ({"after": None}, "nothing left", "UNKNOWN"),
        ({"after": STRAY}, "nothing left", "REFUTED"),
        ({"after": LEFT}, "nothing left", "REFUTED"),
        ({"after": observe(**{"topic a": "2"})}, "nothing else changed", "UNKNOWN"),
        ({"after": observe(**{"topic b": "2"})}, "nothing else changed", "UNKNOWN"),
        ({"before": observe(**{"group h": ""})}, "nothing else changed", "UNKNOWN"),
        ({"after": observe(**{"group h": ""})}, "nothing else changed", "PROVEN"),
        ({"status": None}, "flows of the pair", "UNKNOWN"),
        ({"status": {"verdict": "REFUTED", "missing": ["gone"], "flows": []}}, "flows of the pair", "REFUTED"),
    ],
)
def test_each_wrong_or_unknown_value_has_its_check(changes: dict[str, Any], name: str, verdict: str) -> None:
    found = report(**changes)
    assert verdict_of(found, name) == verdict
    assert found["verdict"] != "PROVEN" or verdict == "PROVEN"
    assert any(re.match(rf"  {verdict} +{name}:", line) for line in rehearsal_lines(found))


def test_times_are_predicted_from_completed_rehearsals_of_the_same_kind() -> None:
    note = rehearsal_note(report())
    earlier = [{**note, "cutover_s": seconds} for seconds in (8.0, 10.0, 30.0)]
    earlier += [{**note, "type": "continuous"}, {**note, "back": True}, {**note, "outcome": "failed"}]
    found = report(earlier=earlier)["predicted"]
    assert (found["rehearsals"], found["cutover_s"], found["writes_s"]) == (3, 10.0, 4.0)
    assert report()["predicted"] == {
        "rehearsals": 0,
        "cutover_s": None,
        "writes_s": None,
        "reads_s": None,
        "rereads": 0,
    }


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, ["readiness -i INVENTORY -e kafka_dr_to=B"]),
        (
            {"removed": False, "back": True},
            [
                "rehearse_cleanup -i INVENTORY -e kafka_dr_confirm=B",
                "rehearse -i INVENTORY -e kafka_dr_confirm=B -e kafka_dr_rehearsal_type=cutoff"
                " -e kafka_dr_rehearsal_back=true",
            ],
        ),
        (
            {"outcome": "failed", "failure": {"task": "t", "message": "m"}},
            ["rehearse -i INVENTORY -e kafka_dr_confirm=B -e kafka_dr_rehearsal_type=cutoff"],
        ),
        (
            {"after": None, "pair": "B-P.payments", "run_on": "bastion"},
            [
                "rehearse_cleanup -i INVENTORY -e kafka_dr_confirm=B -e kafka_dr_application=payments"
                " -e kafka_dr_run_on=bastion",
                "readiness -i INVENTORY -e kafka_dr_to=B -e kafka_dr_application=payments -e kafka_dr_run_on=bastion",
            ],
        ),
    ],
)
def test_a_rehearsal_first_removes_what_is_left_and_is_repeated_after_a_failure(
    changes: dict[str, Any], wanted: list[str]
) -> None:
    found = report(**changes)
    known = "ansible-playbook switchback.kafka_dr."
    assert [step["command"].removeprefix(known) for step in found["next"]] == wanted
    assert [fault for fault in faults(found) if "$.run_on" in fault or "$.next" in fault or "$.pager" in fault] == []


def test_the_pager_text_of_a_rehearsal() -> None:
    assert report(ledger=ledger(twice=3), after=LEFT, back=True)["pager"].splitlines() == [
        "Rehearsal completed (cutoff P -> B and back, pair B-P)",
        "Writes stood still: 4.0 s. Reads: 5.0 s.",
        "Records processed twice: 3, predicted at most: 0. The moves took: 9.0 s.",
        "Evidence: 4 of 6 PROVEN; REFUTED rereads; REFUTED nothing left",
        "Next: ansible-playbook switchback.kafka_dr.rehearse_cleanup -i INVENTORY -e kafka_dr_confirm=B",
    ]
    failed = report(ledger=None, moves=[], failure={"task": "Load", "message": "No\nroom."})["pager"].splitlines()
    assert failed[1:3] == ["Writes stood still: not known. Reads: not known.", "Stopped in 'Load': No room."]

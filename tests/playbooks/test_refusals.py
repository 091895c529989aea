# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What enable and a move refuse, and what the message advises lets them go on.

``REFUSALS`` makes a refusal of enable, ``MOVES`` one of a move. ``README`` names the test of each sentence of README's
"What it refuses".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.tests.playbooks.test_readiness import (
    CHECKPOINT,
    CLIENTS,
    PARTITIONS,
    SOURCE,
    BreakablePair,
    configured,
    following,
    foreign_writes,
    named,
    never_read,
    topic_setting,
    until,
)
from ansible_collections.switchback.kafka_dr.tests.playbooks.test_remedies import (
    CONFIRM,
    Make,
    abandoned,
    created_again,
    done,
    inventory,
    killed,
    replicated_again,
    set_by_module,
    topics,
    wider,
    write,
)
from scenario import ROOT, Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BreakablePair]:
    """Under load on P."""
    with Scenario(tmp_path_factory.mktemp("refusals"), partitions=PARTITIONS, clients=CLIENTS).up() as made:
        made.playbook("enable", CONFIRM)
        made.start()
        made.traffic(1000)
        yield BreakablePair(made)


@pytest.fixture(scope="module")
def two_topics(pair: BreakablePair) -> BreakablePair:
    """No application reads or writes the topic Ledger."""
    write(pair, kafka_dr_topics=topics(Payments=PARTITIONS, Ledger=1))
    pair.scenario.playbook("enable", CONFIRM)
    return pair


# ---- refusals of a move, as README lists them ----------------------------------------------------------------------

#: A defect, variables of the move, and what it says.
MOVES: dict[str, tuple[Make, dict[str, Any], tuple[str, ...]]] = {
    "replication makes no progress": (
        configured(source_consumer_fetch_min_bytes="50000000", source_consumer_fetch_max_wait_ms="25000"),
        {},
        # Just after a fetch no record waits, and the flow may be idle.
        ("P->B: ", "waits until both flows make progress"),
    ),
    "a group has no committed offset": (
        never_read,
        {"kafka_dr_groups": ["settlement", "archive", "new"]},
        ('The group "new" has no committed offset on any of its topics on P'),
    ),
    "another producer writes a replica": (
        foreign_writes,
        {},
        ("the last record of P.Payments-0 on B", "is not in Payments on P"),
    ),
    "a higher committed offset on the cluster being entered": (
        following,
        {},
        ('group "archive" on B P.Payments-', "kafka_dr_lower=lower"),
    ),
}


@pytest.mark.parametrize("name", list(MOVES))
def test_a_move_refuses_what_readme_lists(pair: BreakablePair, name: str) -> None:
    make, variables, says = MOVES[name]
    with make(pair):
        refused = pair.scenario.playbook("failover_cutoff", {"kafka_dr_confirm": "B", **variables}, expect=2)
    output = " ".join(refused["output"].replace('\\"', '"').split())
    for words in (*says, "Nothing was changed by this attempt"):
        assert words in output, refused["log"]
    assert refused["changed"] == 0
    ready = until(pair.observe, lambda seen: "journal" not in named(seen) and "run" not in named(seen))
    assert not {"journal", "run"} & set(named(ready)), named(ready)


# ---- refusals of enable ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """Why enable refuses, what the message says, and how that is done before enable is started again."""

    make: Make
    says: tuple[str, ...]
    #: Returns variables of the next run, if the message asks for some.
    remedy: Callable[[BreakablePair], dict[str, Any] | None]
    #: Of the refused run.
    variables: dict[str, Any] = field(default_factory=dict)


def hand_made_transform(pair: BreakablePair) -> None:
    name = f"/P->B.{SOURCE}/config"
    before = pair.connect("GET", "B", name)
    insert = {
        "transforms": "mark",
        "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
        "transforms.mark.header": "seen",
        "transforms.mark.value.literal": "x",
    }
    pair.connect("PUT", "B", name, {**before, **insert})


def writes(**values: Any) -> Callable[[BreakablePair], None]:
    return lambda pair: write(pair, **values)


REFUSALS: dict[str, Refusal] = {
    "another cluster is confirmed": Refusal(
        inventory(), ("-e kafka_dr_confirm=P",), lambda _pair: None, {"kafka_dr_confirm": "B"}
    ),
    "another policy": Refusal(
        inventory(), ("Set kafka_dr_policy back",), lambda _pair: None, {"kafka_dr_policy": "identity"}
    ),
    "a group is left out": Refusal(
        inventory(),
        ("kafka_dr_drop",),
        lambda _pair: {"kafka_dr_groups": ["settlement"], "kafka_dr_clients": [], "kafka_dr_drop": ["archive"]},
        {"kafka_dr_groups": ["settlement"], "kafka_dr_clients": []},
    ),
    "the journal expires": Refusal(
        topic_setting("kafka-dr-journal-internal", "retention.ms", "3600000", "-1"),
        ("Correct settings with kafka-configs --alter",),
        set_by_module("B", "kafka-dr-journal-internal", retention_ms="-1"),
    ),
    "more partitions than declared": Refusal(
        done(lambda pair: wider(pair, "P", "Ledger")),
        ("(set partitions to 2)", "Set the larger count as partitions in kafka_dr_topics"),
        writes(kafka_dr_topics=topics(Payments=PARTITIONS, Ledger=2)),
    ),
    "a replica with more partitions than its original": Refusal(
        done(lambda pair: wider(pair, "B", "P.Ledger")),
        ('"P.Ledger" has 3 partitions on B, "Ledger" has 2', "correct kafka_dr_topics"),
        writes(kafka_dr_topics=topics(Payments=PARTITIONS, Ledger=3)),
    ),
    "a connector changes records": Refusal(
        done(hand_made_transform),
        ("set it to null in source_settings of kafka_dr_flow",),
        writes(kafka_dr_flow={"source_settings": {"transforms": None}}),
    ),
    "a run was interrupted": Refusal(
        done(killed), ("undo it: ansible-playbook switchback.kafka_dr.abandon -i INVENTORY",), abandoned
    ),
    "an original was created again": Refusal(
        done(created_again),
        (
            "run the playbook switchback.kafka_dr.disable, delete its replica",
            "enable the pair with kafka_dr_copy_again",
        ),
        replicated_again,
    ),
}
# Refusals whose cause needs another lab, by error code, and the tests that have it.
REFUSED_ELSEWHERE = {
    "active_side_contradicted": "tests/playbooks/test_evidence.py",
    "active_side_unknown": "tests/playbooks/test_applications.py",
    "cut_unknown": "tests/playbooks/test_identity.py",
    "group_out_of_scope": "tests/playbooks/test_evidence.py",
    "group_undescribed": "tests/integration/test_group_types.py",
    "journal_incomplete": "tests/integration/test_dr_active.py",
    "offsets_do_not_fit": "tests/integration/test_dr_flow_start.py",
    "overrides_refused": "tests/integration/test_settings_in_force.py",
    "tail_left": "tests/playbooks/test_incident.py",
}


def test_refusals_that_need_another_lab_have_a_test() -> None:
    for code, path in REFUSED_ELSEWHERE.items():
        assert code in (ROOT / path).read_text(), code


@pytest.mark.parametrize("name", list(REFUSALS))
def test_the_next_step_of_a_refusal_lets_enable_go_on(two_topics: BreakablePair, name: str) -> None:
    case, pair, scenario = REFUSALS[name], two_topics, two_topics.scenario
    with case.make(pair):
        refused = scenario.playbook("enable", {**CONFIRM, **case.variables}, expect=2)
        output = " ".join(refused["output"].replace('\\"', '"').split())
        for words in case.says:
            assert words in output, refused["log"]
        assert refused["changed"] == 0
        more = case.remedy(pair) or {}
        scenario.playbook("enable", {**CONFIRM, **more})
    if "kafka_dr_drop" in more:
        # It joins again for the tests that follow.
        scenario.playbook("enable", CONFIRM)


# ---- after a move --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_b(two_topics: BreakablePair) -> BreakablePair:
    """The applications live on B."""
    assert two_topics.scenario.move("failover_cutoff", "B")["outcome"] == "completed"
    return two_topics


def test_a_group_that_was_set_back_starts_at_the_lower_offset(on_b: BreakablePair) -> None:
    """On B it has the higher offset that it committed there itself, in a topic that group sync does not reach."""
    pair, scenario = on_b, on_b.scenario
    scenario.traffic(500)
    assert scenario.move("failback", "P")["outcome"] == "completed"
    scenario.ledger("stop", "archive")
    pair.commit("P", "archive", dict.fromkeys(pair.ends("P", "B.Payments"), 0))
    report = scenario.move("failover_cutoff", "B", kafka_dr_drain_groups_timeout=1)
    assert report["outcome"] == "completed"
    rows = [row for row in report["committed_offsets"] if (row["group"], row["topic"]) == ("archive", "Payments")]
    assert [row["offset"] for row in rows] == [0] * PARTITIONS, rows
    assert all(row["own"] > 0 for row in rows), rows


def test_a_topic_and_a_group_that_join_after_a_move_are_in_stopped_connectors_too(on_b: BreakablePair) -> None:
    """The checkpoint connector toward the applications is stopped. Readiness compares its topics and groups."""
    pair, scenario = on_b, on_b.scenario
    declared = read_inventory(scenario.inventory)["kafka_dr_topics"]
    groups = ["settlement", "archive", "late"]
    write(pair, kafka_dr_topics=[*declared, *topics(Late=1)], kafka_dr_groups=groups)
    scenario.playbook("enable", CONFIRM)
    name = f"P->B.{CHECKPOINT}"
    config = pair.connect("GET", "B", f"/{name}/config")
    assert "Late" in config["topics"].split(",")
    assert "late" in config["groups"].split(",")
    state = pair.connect("GET", "B", f"/{name}/status")
    assert (state["connector"]["state"], state["tasks"]) == ("STOPPED", [])
    # A group that has never read is reported by a check of its own.
    later = {"group_offsets", "presynced"}
    observed = {"topics": ["Payments", "Ledger", "Late"], "groups": groups, "to": "P"}
    seen = until(lambda: pair.observe(**observed), lambda seen: set(named(seen)) <= later)
    assert set(named(seen)) <= later, named(seen)
    assert scenario.playbook("enable", CONFIRM)["changed"] == 0


# ---- README --------------------------------------------------------------------------------------------------------

#: Words of each sentence, and tests of playbooks that do what it says.
README: dict[str, tuple[str, ...]] = {
    "Before it, a failed run puts everything back": (
        "test_round_trip.py::test_a_hook_that_fails_before_the_point_of_no_return_undoes_the_run",
    ),
    "After it, a run only goes forward": ("test_round_trip.py::test_a_killed_run_resumes_where_it_was",),
    "wrong cluster IDs": ("test_bad_input.py::test_a_wrong_cluster_id_is_refused",),
    "misspelt variables": ("test_bad_input.py::test_a_misspelt_key_is_refused",),
    "unsafe connector settings": ("test_bad_input.py::test_a_connector_with_manually_changed_settings_is_refused",),
    "replication that makes no progress": ("test_refusals.py::test_a_move_refuses_what_readme_lists",),
    "transactions that stay open": ("test_before_stop.py::test_the_transaction_of_a_killed_producer_is_refused",),
    "topics that the flow leaves out": ("test_before_stop.py::test_a_flow_that_leaves_out_a_topic_is_refused",),
    "missing rights of the applications": ("test_secure.py::test_readiness_and_a_move_name_the_missing_acl",),
    "groups that are not in the inventory": ("test_absence.py::test_a_move_refuses_a_group_outside_the_inventory",),
    "an application that the inventory does not control": (
        "test_other_teams.py::test_applications_at_work_are_named_and_nothing_moves",
    ),
    "groups whose members cannot be observed": (
        "test_absence.py::test_a_move_refuses_a_streams_group_in_the_inventory_or_outside_of_it",
    ),
    "with members on the other cluster": (
        "test_bad_input.py::test_a_group_that_is_active_on_the_entered_cluster_is_refused",
    ),
    "without committed offsets": ("test_refusals.py::test_a_move_refuses_what_readme_lists",),
    "producers that write to a replica": ("test_refusals.py::test_a_move_refuses_what_readme_lists",),
    "an inventory that omits topics or groups": ("test_bad_input.py::test_the_inventory_of_a_second_team_is_refused",),
    "while the old cluster still responds": (
        "test_disaster.py::test_a_healthy_cluster_is_not_abandoned_and_a_lost_one_costs_no_record_in_the_end",
    ),
    "undoes one if that cluster responds again": (
        "test_answers_again.py::test_the_last_look_at_a_lost_cluster_decides",
    ),
    "while a record is not replicated": (
        "test_round_trip.py::test_a_flow_that_cannot_be_drained_stops_the_run_and_everything_is_undone",
    ),
    "a translated offset could make a group skip a record": (
        "test_records_gone.py::test_a_planned_move_is_refused_before_the_first_application_stops",
    ),
    "only if the group itself committed it in an earlier tenure": (
        "test_refusals.py::test_a_group_that_was_set_back_starts_at_the_lower_offset",
    ),
    "Any other one stops the run": (
        "test_refusals.py::test_a_move_refuses_what_readme_lists",
        "test_before_stop.py::test_a_higher_offset_of_an_idle_group_is_refused",
    ),
    "It never deletes topics, records or committed offsets": (
        "test_round_trip.py::test_disable_only_removes_the_flows",
    ),
    "what a rehearsal created": ("test_rehearse.py::test_leftovers_of_an_interrupted_rehearsal_are_removed",),
}


def test_each_sentence_of_readme_has_a_test_of_a_playbook() -> None:
    text = (ROOT / "README.md").read_text().split("\n## What it refuses\n")[1].split("\n## ")[0]
    sentences = [
        sentence
        for paragraph in re.split(r"\n\n|\n- ", text)
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", " ".join(paragraph.split()))
        if sentence
    ]
    # The definition, and advice that follows from it.
    rest = ("Each run has a **point of no return**", "The way back is then a failback", "Exceptions:")
    for sentence in sentences:
        assert any(words in sentence for words in (*README, *rest)), sentence
    for words, tests in README.items():
        assert sum(words in sentence for sentence in sentences) == 1, words
        for test in tests:
            file, name = test.split("::")
            assert f"\ndef {name}(" in (ROOT / "tests/playbooks" / file).read_text(), test

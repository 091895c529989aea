# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What readiness advises is done word for word, and the same question gets another answer.

``REMEDIES`` makes a NO of readiness on a running pair. ``ELSEWHERE`` names the checks whose defect this lab cannot have
or whose remedy is no command, and the test that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import NewPartitions, NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic
from ansible_collections.switchback.kafka_dr.tests.playbooks.test_readiness import (
    CHECKPOINT,
    CLIENTS,
    DEAD,
    PARTITIONS,
    READY,
    SOURCE,
    BreakablePair,
    Observed,
    answers,
    configured,
    foreign_writes,
    named,
    never_read,
    open_transaction,
    topic_setting,
    undeclared_group,
    until,
    verb,
    works_there,
)
from kills import kill_in_phase, outwait
from lab.lab import Lab
from modules import run_module
from scenario import Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.long

CONFIRM = {"kafka_dr_confirm": "P"}
Make = Callable[[BreakablePair], AbstractContextManager[dict[str, Any]]]
Remedy = Callable[[BreakablePair], dict[str, Any] | None]


@dataclass(frozen=True)
class Case:
    """A defect, the checks that report it, words of what they advise, and how that is done."""

    checks: set[str]
    make: Make
    #: Of the remedy of each check.
    advice: tuple[str, ...]
    #: Returns the parameters of the next observation, if the inventory has changed; else None.
    remedy: Remedy
    #: Checks that may stay open for a reason of their own.
    later: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BreakablePair]:
    with Scenario(tmp_path_factory.mktemp("remedies"), partitions=PARTITIONS, clients=CLIENTS).up() as made:
        made.playbook("enable", CONFIRM)
        made.start()
        made.traffic(1000)
        made.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"})
        pair = BreakablePair(made)
        healthy = until(pair.observe, lambda found: answers(found) == READY)
        assert answers(healthy) == READY, named(healthy)
        yield pair


# ---- defects -------------------------------------------------------------------------------------------------------


def together(*makes: Make) -> Make:
    """Several defects that do not hide each other."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        with ExitStack() as stack:
            yield {key: value for make in makes for key, value in stack.enter_context(make(pair)).items()}

    return broken


def done(make: Callable[[BreakablePair], dict[str, Any] | None]) -> Make:
    """A defect that only its remedy ends."""

    @contextmanager
    def broken(pair: BreakablePair) -> Iterator[dict[str, Any]]:
        yield make(pair) or {}

    return broken


def inventory(**given: Any) -> Make:
    """The inventory has other values."""
    return done(lambda _pair: given)


def without_connector(pair: BreakablePair) -> None:
    pair.connect("DELETE", "B", f"/P->B.{SOURCE}")


def left_out_on_the_way_back(pair: BreakablePair) -> None:
    name = f"/B->P.{SOURCE}/config"
    before = pair.connect("GET", "P", name)
    pair.connect("PUT", "P", name, {**before, "topics": "Other,heartbeats"})


def disabled(pair: BreakablePair) -> None:
    pair.scenario.playbook("disable", CONFIRM)


def added_partition(pair: BreakablePair) -> None:
    """The consumers are stopped, because they choose no offset where their group has none."""
    # Each consumer has the name of its group.
    for name in pair.scenario.names("consumer"):
        pair.scenario.ledger("stop", name)
    wider(pair, "P", "Payments")
    for name in pair.scenario.names("consumer"):
        pair.commit("P", name, {("Payments", PARTITIONS): 0})


def wider(pair: BreakablePair, alias: str, topic: str) -> None:
    """Add one partition."""
    count = len(pair.admin[alias].list_topics(timeout=15).topics[topic].partitions)
    pair.admin[alias].create_partitions([NewPartitions(topic, count + 1)])[topic].result(15)


def created_again(pair: BreakablePair) -> None:
    """The idle original on B is deleted and created again."""
    remove(pair, "B", "Payments")
    partitions = len(pair.admin["P"].list_topics(timeout=15).topics["Payments"].partitions)
    pair.admin["B"].create_topics([NewTopic("Payments", partitions, 1)])["Payments"].result(15)


@contextmanager
def strict_broker(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """The broker of B refuses transactions that may take longer than a minute."""
    try:
        with_properties(pair, "transaction.max.timeout.ms=60000\n")
        yield {}
    finally:
        if extra_file(pair).exists():
            with_properties(pair, "")


def extra_file(pair: BreakablePair) -> Path:
    return pair.scenario.folder / "B" / "broker.extra"


def with_properties(pair: BreakablePair, lines: str) -> None:
    """Write the server.properties of B, which its broker reads when it starts."""
    extra_file(pair).write_text(lines)
    if not lines:
        extra_file(pair).unlink()
    Lab(pair.scenario.folder, quiet=True).roll("B")


def killed(pair: BreakablePair) -> None:
    kill_in_phase(pair.scenario, "stop_producers", "B")
    outwait(pair.scenario)


@contextmanager
def never_read_and_deleted(pair: BreakablePair) -> Iterator[dict[str, Any]]:
    """The remedy commits offsets for the group."""
    with never_read(pair) as given:
        yield given
    pair.forget("P", "new")


def large_records(pair: BreakablePair) -> None:
    for alias, topic in (("P", "Payments"), ("B", "Payments"), ("B", "P.Payments")):
        pair.config(alias, topic, "max.message.bytes", "2000000")


def another_topic(pair: BreakablePair) -> None:
    """A group of the inventory also reads a topic that the inventory lacks."""
    pair.admin["P"].create_topics([NewTopic("Ledger", 1, 1)])["Ledger"].result(15)
    pair.scenario.ledger("stop", "archive")
    pair.commit("P", "archive", {("Ledger", 0): 0})
    pair.scenario.ledger("start", "archive")


def third_connector(pair: BreakablePair) -> None:
    """Another connector writes into the same replicas."""
    config = pair.connect("GET", "B", f"/P->B.{SOURCE}/config")
    pair.connect("POST", "B", "", {"name": "third", "config": {**config, "name": "third"}})


# ---- remedies ------------------------------------------------------------------------------------------------------


def remove(pair: BreakablePair, alias: str, topic: str) -> None:
    admin = pair.admin[alias]
    admin.delete_topics([topic])[topic].result(15)
    waited = wait_until(lambda: topic in admin.list_topics(timeout=15).topics, lambda there: not there, Bounds(30))
    assert waited.done


def write(pair: BreakablePair, **values: Any) -> None:
    """Change the inventory. A dictionary changes only its keys."""
    path = pair.scenario.inventory / "group_vars/all/kafka_dr.yml"
    known = yaml.safe_load(path.read_text())
    merged = {key: {**known[key], **value} if isinstance(value, dict) else value for key, value in values.items()}
    path.write_text(yaml.safe_dump({**known, **merged}))


def enable(
    observed: dict[str, Any] | None = None, drop: Sequence[str] = (), again: bool = False, **values: Any
) -> Remedy:
    """Write ``values`` to the inventory and run the playbook enable.

    ``observed``: parameters of the next observation. ``again``: it must change nothing when it runs again.
    """

    def remedy(pair: BreakablePair) -> dict[str, Any] | None:
        write(pair, **values)
        leaving = {"kafka_dr_drop": list(drop)} if drop else {}
        pair.scenario.playbook("enable", {**CONFIRM, **leaving})
        if again:
            assert pair.scenario.playbook("enable", CONFIRM)["changed"] == 0
        return observed

    return remedy


def set_by_module(alias: str, topic: str, **settings: str) -> Remedy:
    def remedy(pair: BreakablePair) -> None:
        config = {key.replace("_", "."): value for key, value in settings.items()}
        servers = pair.clusters[alias]["bootstrap_servers"]
        made = run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [{"name": topic, "config": config}]})
        assert made["rc"] == 0, made["msg"]

    return remedy


def same_properties(pair: BreakablePair) -> None:
    with_properties(pair, "")


def corrected(_pair: BreakablePair) -> dict[str, Any]:
    """The inventory is corrected."""
    return {}


def accepted(**given: Any) -> Remedy:
    """A variable accepts what was reported."""
    return lambda _pair: given


def ended(_pair: BreakablePair) -> None:
    """The defect's own end is the remedy: the other client stops, or the transaction is aborted."""


def committed(pair: BreakablePair) -> None:
    pair.commit("P", "new", pair.ends("P", "Payments"))


def abandoned(pair: BreakablePair) -> None:
    outwait(pair.scenario)
    pair.scenario.playbook("abandon", CONFIRM)


def started_after(remedy: Remedy) -> Remedy:
    """The consumers are started afterwards: enable has committed offsets on new partitions of the replicas."""

    def both(pair: BreakablePair) -> dict[str, Any] | None:
        observed = remedy(pair)
        for name in pair.scenario.names("consumer"):
            pair.scenario.ledger("start", name)
        return observed

    return both


def replicated_again(pair: BreakablePair) -> None:
    """The idle original on B is the source of the replica on P, which the consumers read."""
    consumers = pair.scenario.names("consumer")
    for name in consumers:
        pair.scenario.ledger("stop", name)
    pair.scenario.playbook("disable", CONFIRM)
    remove(pair, "P", "B.Payments")
    pair.scenario.playbook("enable", {**CONFIRM, "kafka_dr_copy_again": ["Payments"]})
    for name in consumers:
        pair.scenario.ledger("start", name)


def third_stopped(pair: BreakablePair) -> None:
    pair.connect("PUT", "B", "/third/stop")


def declared_for_its_group(pair: BreakablePair) -> dict[str, Any] | None:
    clients = read_inventory(pair.scenario.inventory)["kafka_dr_clients"]
    reader = next(client for client in clients if client["name"] == "archive")
    reader["topics"] = [*reader["topics"], "Ledger"]
    both = topics(Payments=PARTITIONS + 1, Ledger=1)
    return enable({"topics": ["Payments", "Ledger"]}, kafka_dr_topics=both, kafka_dr_clients=clients)(pair)


def topics(**partitions: int) -> list[dict[str, Any]]:
    return [{"name": name, "partitions": count, "replication_factor": 1} for name, count in partitions.items()]


REMEDIES: dict[str, Case] = {
    "an address is wrong": Case(
        {"cluster_to"}, inventory(clusters={"B": {"bootstrap_servers": DEAD}}), ("address",), corrected
    ),
    "connectors stand still, and offset-syncs expire": Case(
        {"flow", "back", "retention"},
        together(
            verb("B", SOURCE, "pause"),
            verb("P", SOURCE, "stop"),
            topic_setting("mm2-offset-syncs.P.internal", "cleanup.policy", "delete", "compact"),
        ),
        ("run the playbook enable",),
        enable(),
    ),
    "a connector is gone": Case({"flow"}, done(without_connector), ("run the playbook enable",), enable()),
    "settings were written by hand": Case(
        {"flow_settings", "checkpoints", "back_carries"},
        together(
            configured(producer_override_acks=None),
            verb("B", CHECKPOINT, "stop"),
            done(left_out_on_the_way_back),
        ),
        ("un the playbook enable",),
        enable(again=True),
    ),
    "a topic is excluded": Case(
        {"flow_carries"}, configured(topics_exclude="Pay.*"), ("Run the playbook enable",), enable()
    ),
    "a run was killed": Case({"run"}, done(killed), ("undo it with the playbook abandon",), abandoned),
    "the pair is disabled": Case({"journal", "back"}, done(disabled), ("un the playbook enable",), enable()),
    "a topic joins": Case(
        {"topics"},
        inventory(topics=["Payments", "Extra"]),
        ("Run the playbook enable, which creates them",),
        enable(kafka_dr_topics=topics(Payments=PARTITIONS, Extra=1)),
        # The group is declared for all topics and has not read this one.
        {"group_offsets"},
    ),
    "a topic leaves": Case(
        {"members"},
        inventory(topics=["Payments"]),
        ("name it in kafka_dr_drop and run the playbook enable",),
        enable(drop=["Extra"], kafka_dr_topics=topics(Payments=PARTITIONS)),
    ),
    "a replica expires sooner": Case(
        {"settings"},
        topic_setting("P.Payments", "retention.ms", "86400000"),
        ("Set the same value on both clusters (kafka_topic",),
        set_by_module("B", "P.Payments", retention_ms="604800000"),
    ),
    "unclean elections are allowed": Case(
        {"unclean_elections"},
        topic_setting("P.Payments", "unclean.leader.election.enable", "true"),
        ("Set unclean.leader.election.enable=false (kafka_topic)",),
        set_by_module("B", "P.Payments", unclean_leader_election_enable="false"),
    ),
    "writes are refused": Case(
        {"writable"},
        topic_setting("Payments", "min.insync.replicas", "2"),
        ("lower min.insync.replicas",),
        set_by_module("B", "Payments", min_insync_replicas="1"),
    ),
    "brokers refuse long transactions": Case(
        {"broker_limits"},
        strict_broker,
        ("Set the same value on the brokers of B (server.properties, and restart them one by one)",),
        same_properties,
    ),
    "writes to the journal are refused": Case(
        {"journal_writable"},
        topic_setting("kafka-dr-journal-internal", "min.insync.replicas", "2"),
        ("lower min.insync.replicas",),
        set_by_module("B", "kafka-dr-journal-internal", min_insync_replicas="1"),
    ),
    "a group never read": Case({"group_offsets"}, never_read_and_deleted, ("commit offsets for it",), committed),
    "a group is not in the inventory": Case(
        {"undeclared_groups"},
        undeclared_group,
        ("kafka_dr_accept_undeclared",),
        accepted(accept_undeclared=["nightly"]),
    ),
    "a group works on the other cluster": Case({"groups_there"}, works_there, ("Stop the consumers on B",), ended),
    "a transaction is open": Case({"transactions"}, open_transaction(-300), ("End the transaction",), ended),
    "another producer writes a replica": Case(
        {"foreign_writes"},
        foreign_writes,
        ("set kafka_dr_accept_foreign_writers",),
        accepted(accept_foreign_writers=["Payments"]),
    ),
    "a host does not respond": Case(
        {"clients"}, inventory(unreachable=["the host app1 is silent"]), ("can reach the hosts",), corrected
    ),
    "a partition was added on one cluster": Case(
        {"partitions"},
        done(added_partition),
        ("Set the larger count as partitions of the topic in kafka_dr_topics, then run the playbook enable",),
        started_after(enable(again=True, kafka_dr_topics=topics(Payments=PARTITIONS + 1))),
    ),
    "an original was created again": Case(
        {"topic_ids"},
        done(created_again),
        ("Run disable, delete the replica, and run enable with kafka_dr_copy_again",),
        replicated_again,
        {"group_offsets"},
    ),
    "the producer of the flow sends smaller records": Case(
        {"flow_sizes"},
        done(large_records),
        ("Set producer.override.max.request.size in source_settings of kafka_dr_flow", "run the playbook enable"),
        enable(kafka_dr_flow={"source_settings": {"producer.override.max.request.size": 3000000}}),
    ),
    "another connector does the same": Case(
        {"flow_alone"},
        done(third_connector),
        ("stop it (PUT /connectors/NAME/stop)",),
        third_stopped,
    ),
    "a group reads another topic": Case(
        {"group_topics"},
        done(another_topic),
        ("Add the topics to kafka_dr_topics, and to the topics of the group",),
        declared_for_its_group,
        {"group_offsets"},
    ),
}
# Checks whose defect needs another lab, and the tests that have it.
ELSEWHERE = {
    "cluster_from": "as cluster_to: a wrong address; tests/playbooks/test_incident.py has a cluster that is lost",
    "workers_to": "as cluster_to; tests/playbooks/test_dead_worker.py",
    "workers_from": "as cluster_to; tests/playbooks/test_disaster.py",
    "versions": "needs workers of two versions: tests/playbooks/test_versions.py",
    "patterns": "needs an inventory with patterns: tests/playbooks/test_patterns.py",
    "replicas": "needs three brokers: tests/playbooks/test_one_replica.py",
    "leaders_from": "needs three brokers: tests/playbooks/test_brokers.py",
    "leaders_to": "needs three brokers: tests/playbooks/test_brokers.py",
    "flow_offsets": "needs replicas without a journal: tests/playbooks/test_adopt.py",
    "flow_fits": "needs records that expired before they were replicated: tests/playbooks/test_records_gone.py",
    "other_applications": "the remedy is outside: tests/playbooks/test_other_teams.py",
    "flow_progress": "the remedy is in the log of the worker: tests/playbooks/test_readiness.py",
    "flow_lag": "the remedy is to wait: tests/unit/core/test_readiness.py",
    "flow_expiry": "needs records that are about to expire: tests/unit/core/test_readiness.py",
    "back_progress": "as flow_progress",
    "group_scope": "needs a group with topics of its own: tests/playbooks/test_evidence.py",
    "committed_offsets": "needs offsets that cannot be translated: tests/integration/test_dr_translation.py",
    "offsets_movable": "as committed_offsets: tests/unit/core/test_readiness_evidence.py",
    "unread_there": "needs records that expired unread: tests/playbooks/test_records_gone.py",
    "offsets_there": "the remedy belongs to a move: tests/playbooks/test_bad_input.py",
    "presynced": "needs minutes without reverse_checkpoint: tests/playbooks/test_reverse_checkpoint.py",
    "rights": "needs an authorizer: tests/playbooks/test_least_privilege.py",
}


def test_every_check_is_in_one_of_the_tables() -> None:
    made = {name for case in REMEDIES.values() for name in case.checks}
    assert made | set(ELSEWHERE) == {check.name for check in CHECKS}
    assert not made & set(ELSEWHERE)


@pytest.mark.parametrize("name", list(REMEDIES))
def test_the_remedy_of_a_check_changes_its_answer(pair: BreakablePair, name: str) -> None:
    case = REMEDIES[name]
    with case.make(pair) as given:
        seen = until(lambda: pair.observe(**given), lambda found: set(named(found)) == case.checks, 60)
        assert set(named(seen)) == case.checks, named(seen)
        for row in seen["readiness"]["checks"]:
            if row["name"] in case.checks:
                assert row["answer"] == "NO", row
                assert any(words in row["remedy"] for words in case.advice), row
        if case.remedy is not ended:
            changed = case.remedy(pair)
            require_ready(pair, case, given if changed is None else changed)
    if case.remedy is ended:
        require_ready(pair, case, {})


def require_ready(pair: BreakablePair, case: Case, given: dict[str, Any]) -> None:
    found: Observed = until(lambda: pair.observe(**given), lambda seen: set(named(seen)) <= case.later)
    assert set(named(found)) <= case.later, named(found)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook runs with exactly the ACLs that ``rights`` grants, uses each of them, and names a missing one.

The brokers log which ACL allows and which operation lacks one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka.admin import NewTopic

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.account_rights import Right
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.share_groups import STATE_TOPIC
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_readiness, dr_support_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from brokers import admin, commit
from disasters import lose
from granted import Authorizers, Granted, Key
from lab.lab import Lab
from scenario import Scenario, totals

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
]
ACCOUNTS = {
    "viewer": "User:dr-viewer",
    "operator": "User:dr-mover",
    "flow": "User:flow",
    "workers": {"P": "connect-P", "B": "connect-B"},
}
#: A topic and a group that no inventory names.
ELSEWHERE = "elsewhere"
USERS = {"viewer": "dr-viewer", "operator": "dr-mover"}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    with Scenario(tmp_path_factory.mktemp("least"), 3, CLIENTS, secure=True).up() as made:
        yield made


@pytest.fixture(scope="module")
def granted(secured: Scenario) -> Granted:
    return Granted(secured, Lab(secured.folder, quiet=True), ACCOUNTS)


@pytest.fixture(scope="module")
def authorizers(secured: Scenario, granted: Granted) -> Authorizers:
    made = Authorizers(granted.lab)
    made.show_all(secured.wait)
    return made


class Operator:
    """Runs playbooks as the operator, and requires that no broker denies anything."""

    def __init__(self, secured: Scenario, granted: Granted, authorizers: Authorizers) -> None:
        self._secured, self._login, self._authorizers = secured, granted.login("dr-mover"), authorizers

    def run(self, name: str, confirm: str, **more: Any) -> None:
        self._authorizers.begin()
        self._secured.playbook(name, {**self._login, "kafka_dr_confirm": confirm, **more})
        assert self._authorizers.denied("dr-mover") == [], name

    def refused(self, name: str, confirm: str, **more: Any) -> str:
        """The output of a playbook that must fail."""
        variables = {**self._login, "kafka_dr_confirm": confirm, **more}
        return words(self._secured.playbook(name, variables, expect=2)["output"])


@pytest.fixture
def operator(secured: Scenario, granted: Granted, authorizers: Authorizers) -> Operator:
    return Operator(secured, granted, authorizers)


def words(output: str) -> str:
    """The text of an output without its line breaks and quoting."""
    return " ".join(output.replace('\\"', '"').split())


def names_it(text: str, account: str, right: Right, name: str | None = None) -> bool:
    """Whether an error names this right and the command that grants it."""
    kind, name = right.resource_type.replace("_", " "), name or right.name
    where = "the cluster" if kind == "cluster" else f'{kind} "{name}"'
    hint = f"Grant {ACCOUNTS[account]} {right.operation.upper()} on {where}: kafka-acls.sh --bootstrap-server "
    return hint in words(text)


def missing_topics(granted: Granted, alias: str) -> dict[str, Any]:
    """What ``enable`` would create as the operator on a cluster, as ``kafka_topic`` validates it on the broker."""
    pair = granted.pair("dr-mover")
    cluster = pair["clusters"][alias]
    topics = [*pair["topics"], pair["journal"], pair["state"], *pair["syncs"][alias], *pair["flow_topics"][alias]]
    params = {"bootstrap_servers": cluster["bootstrap_servers"], "client": cluster["admin_client"], "topics": topics}
    return run_module(kafka_topic, params, check=True)


def test_each_right_to_create_a_topic_is_needed_and_named(granted: Granted, authorizers: Authorizers) -> None:
    """On a new pair. An administrator can grant the list that ``rights`` shows with Kafka's own tool."""
    for alias in "PB":
        granted.create("operator", alias, granted.wanted("operator", alias))
        assert missing_topics(granted, alias)["failed"] is False
    for right in granted.wanted("operator", "B"):
        if right.operation == "create" and not is_for_later(right):
            with granted.without("operator", "B", right):
                result = missing_topics(granted, "B")
            assert result["failed"], right
            assert names_it(json.dumps(result), "operator", right), (right, result["msg"])


def test_an_operator_enables_a_new_pair_and_the_playbook_grants_exactly_the_list(
    secured: Scenario, granted: Granted, operator: Operator
) -> None:
    operator.run("enable", "P")
    before = {alias: granted.existing("flow", alias) for alias in "PB"}
    done = secured.playbook("rights", {"kafka_dr_confirm": "P", "kafka_dr_accounts": ACCOUNTS})
    assert "operator (User:dr-mover): alter cluster literal kafka-cluster" in done["output"]
    for alias in "PB":
        # The lab had granted the same to its flow.
        assert granted.existing("flow", alias) == before[alias]
        for account in USERS:
            expected = {granted.binding(account, right) for right in granted.wanted(account, alias)}
            assert granted.existing(account, alias) == expected
    again = secured.playbook("rights", {"kafka_dr_confirm": "P", "kafka_dr_accounts": ACCOUNTS})
    assert again["changed"] == 0


def test_each_right_to_change_a_topic_is_needed_and_named(granted: Granted, authorizers: Authorizers) -> None:
    for alias in "PB":
        for right in granted.wanted("operator", alias):
            if right.operation not in ("alter", "alter_configs") or is_for_later(right):
                continue
            assert changed_topic(granted, alias, right)["failed"] is False, right
            if alias == "B":
                with granted.without("operator", alias, right):
                    result = changed_topic(granted, alias, right)
                assert result["failed"], right
                assert names_it(json.dumps(result), "operator", right), (right, result)


def changed_topic(granted: Granted, alias: str, right: Right) -> dict[str, Any]:
    """What ``kafka_topic`` returns if the operator needs the right on the topic. Brokers only validate the change."""
    cluster = granted.pair("dr-mover")["clusters"][alias]
    wanted = {"partitions": 4} if right.operation == "alter" else {"config": {"retention.ms": "86400001"}}
    params = {"bootstrap_servers": cluster["bootstrap_servers"], "client": cluster["admin_client"]}
    return run_module(kafka_topic, {**params, "topics": [{"name": right.name, **wanted}]}, check=True)


def is_for_later(right: Right) -> bool:
    """A right on what only ``salvage`` creates, on the cluster, or to create what the lab has created."""
    made_by_the_lab = (right.operation, right.name) == ("create", "Payments")
    return right.why.startswith("salvage") or right.resource_type == "cluster" or made_by_the_lab


def test_a_viewer_can_read_everything(secured: Scenario, granted: Granted, authorizers: Authorizers) -> None:
    """It cannot store the result of readiness, which is only a warning."""
    secured.start()
    secured.traffic(300)
    secured.stop()
    login = granted.login("dr-viewer")
    authorizers.begin()
    secured.playbook("status", login)
    ready = words(secured.playbook("readiness", login)["output"])
    observed = answers(secured)
    assert "could not be stored" in ready
    assert 'Grant User:dr-viewer WRITE on topic "kafka-dr-state-internal"' in ready
    secured.playbook("verify", login)
    secured.playbook("support_bundle", login)
    assert authorizers.denied("dr-viewer") == []
    secured.playbook("readiness")
    assert observed == answers(secured), "a super user observes the same"
    assert "UNKNOWN" not in observed.values()


def answers(secured: Scenario) -> dict[str, str]:
    """The answer to each question of the last readiness report."""
    report = json.loads((secured.reports / "readiness.json").read_text())
    return {row["name"]: row["answer"] for row in report["checks"]}


def readiness(granted: Granted, user: str) -> dict[str, Any]:
    """The readiness of a move to B, and what a support bundle has."""
    pair = granted.pair(user)
    params = {"pair": pair["spec"], "clients": pair["clients"], "endpoints": pair["endpoints"], "request_timeout": 10}
    # The role finds the hosts of applications that are unreachable.
    ready = run_module(dr_readiness, {**params, "to": "B", "local_groups": [], "unreachable": []})
    bundle = run_module(dr_support_info, {"pair": pair["spec"], "request_timeout": 10})
    return {"ready": ready, "brokers": bundle["sides"]["B"]["brokers"]}


def test_an_operator_can_move_with_a_cutoff_and_back(secured: Scenario, operator: Operator) -> None:
    operator.run("enable", "P", kafka_dr_hold_retention=True)
    operator.run("enable", "P")
    secured.start()
    secured.traffic(500)
    operator.run("failover_cutoff", "B", kafka_dr_fence="acl")
    secured.traffic(500)
    operator.run("reverse_checkpoint", "P")
    operator.run("failback", "P")
    secured.traffic(500)


def test_an_operator_can_move_continuously_and_back(secured: Scenario, operator: Operator) -> None:
    operator.run("failover_continuous", "B")
    secured.traffic(500)
    operator.run("failback", "P", kafka_dr_type="continuous")
    secured.traffic(500)
    # What the groups read of B's topics on P is known on B only from then on.
    operator.run("reverse_checkpoint", "B")


def test_an_operator_can_rehearse(secured: Scenario, operator: Operator) -> None:
    operator.run("rehearse", "B", kafka_dr_rehearsal_seconds=2)
    operator.run("rehearse_cleanup", "B")


@pytest.mark.parametrize("account", USERS)
def test_each_right_to_read_is_needed_and_named(granted: Granted, account: str) -> None:
    """Removes the rights of the viewer one after the other, on the cluster that applications would move to.

    Those of the operator that are left have the same reasons. There are records on B since the moves before. On P there
    is a group that no inventory names.
    """
    client = admin(granted.lab, "P")
    if ELSEWHERE not in client.list_topics(timeout=15).topics:
        client.create_topics([NewTopic(ELSEWHERE, 1, 1)])[ELSEWHERE].result(15)
    commit(client, ELSEWHERE, {(ELSEWHERE, 0): 0})
    whole = readiness(granted, USERS[account])["ready"]
    open_ = [row for row in whole["readiness"]["checks"] if row["answer"] not in ("YES", "SKIPPED")]
    assert (whole["controlled"], whole["disaster"]) == ("YES", "YES"), open_
    reading = {"describe", "describe_configs", "read"}
    same = {right.why for right in granted.wanted("viewer", "B")}
    for right in granted.wanted(account, "B"):
        # Only if there is a share group, its state is read.
        if right.operation not in reading or right.why not in same or right.name == STATE_TOPIC:
            continue
        # Undeclared groups are read where the applications run.
        left = right.resource_type == "group"
        with granted.without(account, "P" if left else "B", right):
            result = readiness(granted, USERS[account])
        if right.name == "P.heartbeats" and right.operation == "describe_configs":
            # Readiness then reads each topic with a request of its own, and gives the same answers.
            assert result["ready"]["disaster"] == "YES"
            continue
        names = ["settlement", ELSEWHERE, right.name] if right.resource_type == "group" else [right.name]
        open_ = [row for row in result["ready"].get("readiness", {}).get("checks", []) if row["answer"] != "YES"]
        named = any(names_it(json.dumps(result), account, right, name) for name in names)
        assert named, (right, result["ready"].get("msg"), open_)
        verdicts = {result["ready"].get(key) for key in ("controlled", "disaster")}
        assert verdicts != {"YES"}, right


#: A playbook that needs the right on B, and the right. The others are removed above.
EFFECTS = [
    ("failover_cutoff", "topic", "kafka-dr-journal-internal", "write"),
    ("enable", "topic", "kafka-dr-state-internal", "write"),
    ("failover_cutoff", "transactional_id", "kafka-dr-B-P", "write"),
    ("failover_cutoff", "group", "settlement", "read"),
    ("failover_cutoff", "cluster", "kafka-cluster", "alter"),
    pytest.param("rehearse", "transactional_id", "kafka-dr-rehearsal-B-rehearsal-P", "write", marks=pytest.mark.soak),
    ("rehearse", "topic", "*", "describe_configs"),
    ("rehearse", "topic", "kafka-dr-rehearsal-B-P-", "all"),
    pytest.param("rehearse", "group", "kafka-dr-rehearsal-B-P-", "all", marks=pytest.mark.soak),
    pytest.param("rehearse", "topic", "rehearsal-P--", "all", marks=pytest.mark.soak),
    pytest.param("rehearse", "topic", "mm2-offset-syncs--", "all", marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("playbook", "kind", "name", "operation"), EFFECTS)
def test_a_right_that_the_operator_lacks_is_named(
    granted: Granted, authorizers: Authorizers, operator: Operator, playbook: str, kind: str, name: str, operation: str
) -> None:
    """The run fails, and the applications stay on P or go back to it."""
    (right,) = [
        right
        for right in granted.wanted("operator", "B")
        if (right.resource_type, right.name, right.operation) == (kind, name, operation)
    ]
    more = {"kafka_dr_fence": "acl"} if playbook == "failover_cutoff" else {}
    more |= {"kafka_dr_rehearsal_seconds": 2} if playbook == "rehearse" else {}
    if kind == "group":
        # MirrorMaker 2 may have committed the other offsets already.
        commit(admin(granted.lab, "B"), "settlement", {("Payments", 0): 0})
    authorizers.begin()
    with granted.without("operator", "B", right):
        output = operator.refused(playbook, "P" if playbook == "enable" else "B", **more)
    assert "Grant User:dr-mover " in output
    assert "kafka-acls.sh --bootstrap-server" in output
    if operation != "all":
        # A cutover lists ACLs before it changes one: ALTER implies the DESCRIBE that this needs.
        asked = "DESCRIBE" if operation == "alter" else operation.upper()
        assert f"Grant User:dr-mover {asked} on " in output
        assert "point of no return is passed" not in output
    # A broker may ask first for the DESCRIBE that the right implies.
    assert authorizers.denied("dr-mover") != []
    if playbook == "rehearse":
        operator.run("rehearse_cleanup", "B")


def test_no_account_has_a_right_that_nothing_uses(granted: Granted, authorizers: Authorizers) -> None:
    """On one of the clusters, whose lists differ only by their aliases.

    Transactional ids of workers are for exactly.once.source.support, which this lab does not have.
    """
    unused = []
    for account, user in {**USERS, "flow": "flow"}.items():
        used = {alias: authorizers.used(user, alias) for alias in "PB"}
        for rights in zip(*(granted.wanted(account, alias) for alias in "PB"), strict=True):
            if not any(is_used(right, used[alias]) for alias, right in zip("PB", rights, strict=True)):
                unused.append((account, rights[0]))
    left = [
        (account, right.operation, right.resource_type, right.name)
        for account, right in unused
        if not (is_for_later(right) or (account, right.resource_type) == ("flow", "transactional_id"))
    ]
    assert left == []


def is_used(right: Right, used: Mapping[Key, set[str]]) -> bool:
    operations = used.get((right.resource_type, right.pattern_type, right.name, right.operation), set())
    return bool(operations) if right.operation == "all" else right.operation in operations


def test_an_operator_can_fail_over_after_a_disaster_salvage_and_disable(
    secured: Scenario, granted: Granted, operator: Operator
) -> None:
    operator.run("reverse_checkpoint", "B")
    lab = lose(secured, 0.5)
    operator.run("failover_disaster", "B")
    secured.traffic(500)
    lab.start("P", "broker")
    lab.start("P", "connect")
    operator.run("salvage", "B", kafka_dr_salvage="replay")
    operator.run("enable", "P")
    operator.run("failback", "P")
    secured.traffic(500)
    secured.stop()
    operator.run("disable", "P")
    found = totals(secured.check())
    assert {found[key] for key in ("phantom", "out_of_order")} == {0}

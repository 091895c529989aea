# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications that the inventory does not control: other teams stop and start them beside the run (R48)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from disasters import PARTS
from lab.lab import Lab
from scenario import Scenario, totals
from snapshot import read_inventory, snapshot

CLIENTS: list[dict[str, Any]] = [
    {"name": "payments-api", "role": "producer", "rate": 200},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
# Of each playbook: the documented default of the applications, and a producer that writes at least once a second.
NOTHING_DECLARED = {
    "kafka_dr_clients": [],
    "kafka_dr_groups": [{"name": name, "topics": ["Payments"]} for name in ("settlement", "fraud")],
    "kafka_dr_topics_settle": 2,
}


class Teams:
    """The people who stop and start the applications, with no help of a playbook."""

    def __init__(self, pair: Scenario) -> None:
        self._pair = pair
        variables = read_inventory(pair.inventory)
        self._brokers = {alias: one["bootstrap_servers"] for alias, one in variables["kafka_dr_clusters"].items()}

    def go_to(self, alias: str, *roles: str) -> None:
        """Point the applications of these roles to a cluster and start them, the readers first."""
        (other,) = set(self._brokers) - {alias}
        replicas = f",{other}.Payments" if self._pair.policy == "default" else ""
        for name in self._pair.names(*roles):
            text = f"KAFKA_ALIAS={alias}\nKAFKA_BOOTSTRAP_SERVERS={self._brokers[alias]}\nKAFKA_TOPICS=Payments\n"
            path = self._pair.folder / "ledger" / f"{name}.env"
            path.write_text(f"{text}KAFKA_SUBSCRIBE=Payments{replicas}\n", encoding="utf-8")
        for name in sorted(self._pair.names(*roles), key=lambda name: name == "payments-api"):
            self._pair.ledger("start", name)

    def stop_producer(self) -> None:
        self._pair.ledger("stop", "payments-api")

    def stop_consumers(self) -> None:
        for name in self._pair.names("consumer"):
            self._pair.ledger("stop", name, "--read", "60")


def pages(pair: Scenario, **moments: str) -> list[dict[str, Any]]:
    """Hooks that page a team: ``stop_producers="before"`` writes the file ``paged-stop_producers``."""
    return [
        {
            "name": f"page {phase}",
            "when": when,
            "phase": phase,
            "command": ["sh", "-c", f"touch {shlex.quote(str(pair.folder / f'paged-{phase}'))}"],
        }
        for phase, when in moments.items()
    ]


def move_beside(
    pair: Scenario, name: str, to: str, actions: Mapping[str, Callable[[], None]], **variables: Any
) -> dict[str, Any]:
    """Run a move while a team does, for each phase of ``actions``, what its page asks for."""
    for phase in actions:
        (pair.folder / f"paged-{phase}").unlink(missing_ok=True)
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(lambda: pair.move(name, to, kafka_dr_wait_for_applications=90, **variables))
        for phase, act in actions.items():
            page = pair.folder / f"paged-{phase}"
            pair.wait(lambda page=page: page.exists() or run.done(), 120, f"the page of {phase}")  # type: ignore[misc]
            if run.done():
                break
            act()
        return run.result()


def checks(report: Mapping[str, Any]) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in report["checks"]}


def reasons(report: Mapping[str, Any]) -> dict[str, str]:
    return {check["name"]: check["reason"] for check in report["checks"]}


def ready(pair: Scenario, **variables: Any) -> tuple[str, dict[str, str]]:
    """The answer for a planned move, and the row of the check about applications of other teams."""
    pair.playbook("readiness", variables)
    found = json.loads((pair.reports / "readiness.json").read_text())
    (row,) = (row for row in found["checks"] if row["name"] == "other_applications")
    return found["controlled"], row


def only_default(pair: Scenario, reason: str) -> None:
    """Skip with the policy identity."""
    if pair.policy == "identity":
        pytest.skip(reason)


def ends(lab: Lab, alias: str, topic: str) -> int:
    """The sum of the log ends of a topic."""
    servers = lab.info()["clusters"][alias]["bootstrap_servers"]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "ends"})
    try:
        return sum(consumer.get_watermark_offsets(TopicPartition(topic, index), timeout=15)[1] for index in range(3))
    finally:
        consumer.close()


def unharmed(pair: Scenario) -> int:
    """Stop the applications once all is read. Return how many records were written; none was lost or skipped."""
    pair.stop()
    found = totals(pair.check())
    harm = {key: found[key] for key in ("lost", "phantom", "processed_twice", "out_of_order", "unknown")}
    assert harm == dict.fromkeys(harm, 0)
    return found["acknowledged"]


@pytest.fixture(scope="module", params=["default", pytest.param("identity", marks=pytest.mark.long)])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Applications at work on P that no inventory controls."""
    folder = tmp_path_factory.mktemp("pair")
    with Scenario(folder, clients=CLIENTS, partitions=3, policy=request.param, variables=NOTHING_DECLARED).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.traffic(500)
        yield made


def test_applications_at_work_are_named_and_nothing_moves(pair: Scenario) -> None:
    only_default(pair, "what is observed before a move does not depend on the policy")
    answer, row = ready(pair)
    assert (answer, row["answer"]) == ("NO", "NO")
    assert all(name in row["found"] for name in ("settlement", "fraud", "Payments"))
    assert "kafka_dr_wait_for_applications" in row["remedy"]
    # With time to stop them, the same pair is ready.
    answer, row = ready(pair, kafka_dr_wait_for_applications=60)
    assert (answer, row["answer"]) == ("YES", "YES")

    groups = ["settlement", "fraud"]
    before = snapshot(pair.folder, groups)
    refused = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B"}, expect=2)
    text = " ".join(refused["output"].split())
    assert "(applications_running)" in text
    assert all(name in text for name in ('"settlement"', '"fraud"', "Payments", "Nothing was changed"))
    assert refused["changed"] == 0
    report = pair.report("cutoff", "B")
    assert (report["outcome"], report["run"]) == ("failed", None)
    after = snapshot(pair.folder, groups)
    assert after["B"]["connectors"] == before["B"]["connectors"]
    pair.traffic(200)


def test_a_team_that_does_not_stop_its_application_is_named_and_the_run_undone(pair: Scenario) -> None:
    only_default(pair, "the wait does not depend on the policy")
    late = pair.playbook("failover_cutoff", {"kafka_dr_confirm": "B", "kafka_dr_wait_for_applications": 2}, expect=2)
    text = " ".join(late["output"].split())
    assert "Other teams: stop these applications on P now" in text
    assert "Payments" in text
    assert "Other teams may start their applications on P again" in text
    report = pair.report("cutoff", "B")
    assert (report["outcome"], report["point_of_no_return"]) == ("undone", None)
    pair.traffic(200)


def test_a_change_window_moves_stopped_applications(pair: Scenario) -> None:
    pair.stop()
    answer, row = ready(pair)
    assert (answer, row["answer"]) == ("YES", "YES")
    assert "not awaited" in row["found"]
    report = pair.move("failover_cutoff", "B")
    assert report["outcome"] == "completed"
    assert report["other_applications"] == {"topics": ["Payments"], "groups": ["settlement", "fraud"]}
    found = checks(report)
    assert {found[name] for name in ("drained", "committed_offsets", "departure")} == {"PROVEN"}
    # What was not observed is unknown: no fence was set, and nothing has started yet.
    assert {found[name] for name in ("fence", "first_write", "groups")} == {"UNKNOWN"}
    assert "not awaited" in reasons(report)["first_write"]
    assert "not awaited" in reasons(report)["groups"]
    Teams(pair).go_to("B")
    pair.traffic(500)


def test_a_run_waits_for_the_teams_and_says_what_it_has_seen(pair: Scenario) -> None:
    teams = Teams(pair)
    actions = {
        "stop_producers": teams.stop_producer,
        "stop_consumers": teams.stop_consumers,
        "start": lambda: teams.go_to("P"),
    }
    hooks = pages(pair, stop_producers="before", stop_consumers="before", start="after")
    report = move_beside(pair, "failback", "P", actions, kafka_dr_hooks=hooks)
    assert report["outcome"] == "completed"
    wanted = ("drained", "committed_offsets", "departure", "first_write", "groups")
    assert {checks(report)[name] for name in wanted} == {"PROVEN"}
    assert checks(report)["fence"] == "UNKNOWN"
    assert report["rereads"] == 0
    pair.traffic(500)
    assert unharmed(pair) > 1000


def test_a_producer_of_another_team_beside_declared_consumers(pair: Scenario) -> None:
    only_default(pair, "the type continuous needs it")
    teams = Teams(pair)
    teams.go_to("P")
    pair.traffic(200)
    declared = [one for one in read_inventory(pair.inventory)["kafka_dr_clients"] if one["role"] == "consumer"]
    actions = {"move_producers": teams.stop_producer, "arrival": lambda: teams.go_to("B", "producer")}
    hooks = pages(pair, move_producers="before", arrival="before")
    moved = move_beside(pair, "failover_continuous", "B", actions, kafka_dr_hooks=hooks, kafka_dr_clients=declared)
    assert moved["outcome"] == "completed"
    assert moved["other_applications"] == {"topics": ["Payments"], "groups": []}
    assert {checks(moved)[name] for name in ("drained", "committed_offsets", "first_write", "groups")} == {"PROVEN"}
    pair.traffic(200)


def test_a_lost_cluster_is_left_without_declared_applications(pair: Scenario) -> None:
    only_default(pair, "which evidence is missing does not depend on the policy")
    # All is read and replicated, so that no record is lost with the cluster.
    pair.stop()
    lab = Lab(pair.folder, quiet=True)
    pair.wait(lambda: ends(lab, "P", "B.Payments") == ends(lab, "B", "Payments"), 60, "everything is replicated")
    for part in PARTS:
        lab.kill("B", part)
    report = pair.move("failover_disaster", "P")
    assert report["outcome"] == "completed"
    assert {checks(report)[name] for name in ("loss", "fence", "first_write", "groups")} == {"UNKNOWN"}
    assert "no application in the inventory writes" in reasons(report)["fence"]
    Teams(pair).go_to("P")
    pair.wait(lambda: pair.slowest_reader() > 0, 60, "the groups read")
    pair.stop()
    assert totals(pair.check())["lost"] == 0

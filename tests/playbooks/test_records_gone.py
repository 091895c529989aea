# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R30: a group lags and the replica loses unread records. Refused while all clients run; if accepted, it is a loss."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from lab.lab import Lab
from scenario import Scenario

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 300},
    {"name": "settlement", "role": "consumer", "group": "settlement", "limit_rate": 5},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
TO_B = {"kafka_dr_to": "B", "kafka_dr_confirm": "B"}


@pytest.fixture(scope="module")
def lagging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Most of the records that settlement has not read are missing in the replica on B."""
    with Scenario(tmp_path_factory.mktemp("gone"), clients=CLIENTS, partitions=3).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        made.wait(lambda: made.count("acknowledged") - made.slowest_reader() > 3000, 120, "settlement lags")
        delete_replicated(made)
        yield made


def delete_replicated(scenario: Scenario) -> None:
    """Run ``kafka-delete-records`` on B, up to the current end of each partition of the replica."""
    lab = Lab(scenario.folder, quiet=True)
    admin = AdminClient({**lab.client(), "bootstrap.servers": lab.info()["clusters"]["B"]["bootstrap_servers"]})
    places = [TopicPartition("P.Payments", number) for number in range(3)]
    ends = admin.list_offsets(dict.fromkeys(places, OffsetSpec.latest()))
    wanted = [TopicPartition(place.topic, place.partition, end.result().offset) for place, end in ends.items()]
    for future in admin.delete_records(wanted).values():
        future.result()


def read_fast(scenario: Scenario) -> None:
    """Let settlement read as fast as it can."""
    definitions = scenario.folder / "ledger" / "clients.json"
    known = json.loads(definitions.read_text())["clients"]
    scenario.ledger("stop", "settlement")
    known["settlement"].pop("limit_rate")
    definitions.write_text(json.dumps({"clients": known}))
    scenario.ledger("start", "settlement")


def clients(scenario: Scenario) -> dict[str, Any]:
    """The processes of all clients."""
    known = json.loads(scenario.ledger("status"))["clients"]
    return {name: client["pid"] for name, client in known.items()}


@pytest.mark.parametrize("kind", ["cutoff", "continuous"])
def test_a_planned_move_is_refused_before_the_first_application_stops(lagging: Scenario, kind: str) -> None:
    before = clients(lagging)
    done = lagging.playbook(f"failover_{kind}", {**TO_B, "kafka_dr_group_lag": "reread"}, expect=2)
    assert "records_gone" in done["output"]
    assert "settlement" in done["output"]
    assert "kafka_dr_accept_skips" in done["output"]
    assert "Nothing was changed" in done["output"]
    assert clients(lagging) == before
    passed = lagging.count("acknowledged")
    lagging.wait(lambda: lagging.count("acknowledged") > passed, 30, "the producer goes on")


def test_readiness_reports_it_beforehand(lagging: Scenario) -> None:
    lagging.playbook("readiness", {"kafka_dr_to": "B"})
    report = json.loads((lagging.reports / "readiness.json").read_text())
    found = {check["name"]: check for check in report["checks"]}["unread_there"]
    assert (found["answer"], report["controlled"]) == ("NO", "NO")
    assert '"settlement" on P.Payments-' in found["found"]


def test_if_accepted_by_name_it_moves_and_the_number_equals_that_of_the_ledger(lagging: Scenario) -> None:
    # The group reads until it is stopped; the move does not wait for it.
    accepted = {
        "kafka_dr_group_lag": "reread",
        "kafka_dr_accept_skips": ["settlement"],
        "kafka_dr_drain_groups_timeout": 1,
    }
    report = lagging.move("failover_cutoff", "B", **accepted)
    (check,) = (check for check in report["checks"] if check["name"] == "committed_offsets")
    assert (report["verdict"], check["verdict"]) == ("REFUTED", "REFUTED"), check
    lost = report["skips"]
    assert lost["at_least"] == lost["at_most"] > 1000
    assert f"settlement {lost['at_most']} records" in check["reason"]
    read_fast(lagging)
    lagging.stop(seconds=120)
    groups = lagging.check()["groups"]
    assert {name: groups[name]["lost"] for name in ("settlement", "fraud")} == {
        "settlement": lost["at_most"],
        "fraud": 0,
    }

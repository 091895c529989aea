# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""P is lost with its disks. Another cluster replaces it, and the applications move home to it and out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, wait_until
from disasters import lose, rename
from lab.lab import Lab
from lagging import slow
from scenario import Scenario
from snapshot import snapshot

pytestmark = pytest.mark.long

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement"},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]
CONFIRM = {"kafka_dr_confirm": "P"}


KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "identity": {"policy": "identity"},
    "secure": {"secure": True},
    "srm": {"engine": "srm"},
    "strimzi": {"engine": "strimzi"},
}


@pytest.fixture(
    params=["default", *(pytest.param(kind, marks=pytest.mark.soak) for kind in KINDS if kind != "default")]
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Under load on P."""
    with Scenario(tmp_path_factory.mktemp(request.param), clients=CLIENTS, **KINDS[request.param]).up() as made:
        made.playbook("enable", CONFIRM)
        made.start()
        made.traffic(2000)
        yield made


def test_an_empty_cluster_replaces_a_lost_one(pair: Scenario) -> None:
    refused(pair, "applications live on P")
    lab, disaster = lost_while_lagging(pair)
    # The disks of P are gone. Another cluster was set up, and the inventory does not name it yet.
    old = lab.info()["clusters"]["P"]["cluster_id"]
    lab.replace("P")
    new = lab.info()["clusters"]["P"]["cluster_id"]
    assert new != old
    refused(pair, f'"{new}"')
    rename(pair, old, new)
    refused(pair, "wanted the alias of the permanently lost cluster", kafka_dr_confirm="Q")
    refused(pair, "If P is the new cluster, start again with -e kafka_dr_confirm=P", kafka_dr_confirm="B")

    groups = ["settlement", "fraud"]
    before = snapshot(pair.folder, groups)
    shown = pair.playbook("rebuild", CONFIRM, options=("--check",))
    (line,) = {line.strip(' ",') for line in shown["output"].splitlines() if "permanently lost: " in line}
    assert "permanently lost: an unknown number of records" in line
    # Nothing can be salvaged from a cluster that never returns.
    assert "salvage" not in line
    plan = pair.plan("rebuild-P")
    assert {(row["on"], row["name"], row["action"]) for row in plan["topic"]} >= {("P", "Payments", "create")}
    assert [row["action"] for row in plan["journal"]] == ["replaced"]
    if pair.engine == "connect":
        assert {row["action"] for row in plan["offsets"]} == {"delete"}
    after = snapshot(pair.folder, groups)
    assert after["P"] == before["P"]
    # The applications run on B.
    assert {**after["B"], "committed_offsets": None, "journal": None} == {
        **before["B"],
        "committed_offsets": None,
        "journal": None,
    }

    pair.playbook("rebuild", CONFIRM)
    again = pair.playbook("enable", CONFIRM)
    assert again["changed"] == 0
    refused(pair, "this is the cluster with which the pair was enabled last", "nothing is left to rebuild")
    # The slow group is not at the end yet.
    known = counted(pair, 10)

    if pair.policy == "default":
        unread(pair)
    if pair.engine == "connect":
        ready(pair)
    pair.traffic(1000)
    for playbook, to in (("failback", "P"), ("failover_cutoff", "B"), ("failback", "P")):
        report = pair.move(playbook, to)
        assert report["outcome"] == "completed"
        assert report["rereads"] == 0
        pair.traffic(1000)
    # Only the records lost by the disaster are missing, for the slow group too, and none was processed twice since.
    found = counted(pair, 60)
    assert figures(found["settlement"]) == figures(known["settlement"])
    assert found["fraud"]["phantom"] == 0
    assert found["fraud"]["processed_twice"] <= disaster["rereads"]
    last_replicated_offset = disaster["barrier"]["last_replicated_offset"]["Payments"]
    assert found["fraud"]["lost"] > 0 or pair.engine == "srm"
    # The ledger names the earliest ones, and B has none of them.
    for name in found:
        for one in found[name]["samples"]["lost"]:
            assert one["sent"]["offset"] > last_replicated_offset[str(one["sent"]["partition"])]


def lost_while_lagging(pair: Scenario) -> tuple[Lab, dict[str, Any]]:
    """P is lost, and one group has not read all the records that B has from it."""
    if pair.policy == "default":
        slow(pair, "fraud", 2)
    if pair.engine == "srm":
        # Its flow cannot be paused, so its lag is random.
        lab = Lab(pair.folder)
        for part in ("cm", "connect", "broker"):
            lab.kill("P", part)
    else:
        lab = lose(pair, 1.0)
    report = pair.move("failover_disaster", "B")
    assert report["outcome"] == "completed"
    return lab, report


def unread(pair: Scenario) -> None:
    """Records from the lost cluster are only on B, so a group is not moved away from them."""
    report = pair.playbook("failback", {**CONFIRM, "kafka_dr_drain_groups_timeout": 1}, expect=2)
    assert "came from a cluster that was replaced" in report["output"]
    assert "The applications are back on B" in report["output"]
    slow(pair, "fraud", None)


def counted(pair: Scenario, seconds: float) -> dict[str, Any]:
    """The counts of the ledgers for each group while the producer is stopped."""
    pair.stop(seconds)
    groups: dict[str, Any] = pair.check()["groups"]
    pair.start()
    return groups


def figures(group: dict[str, Any]) -> dict[str, int]:
    return {key: group[key] for key in ("lost", "phantom", "processed_twice")}


def ready(pair: Scenario) -> None:
    """The incident page says: wait until readiness answers YES.

    P's topic is unwritten, and with the policy default, B's replica of it has records of the lost cluster only.
    """

    def reasons() -> dict[str, str]:
        pair.playbook("readiness")
        checks = json.loads((pair.reports / "readiness.json").read_text())["checks"]
        return {row["name"]: row["found"] for row in checks if row["answer"] in ("NO", "UNKNOWN")}

    waited = wait_until(reasons, lambda found: not found, Bounds(90, 1.0))
    assert waited.done, waited.state


def refused(pair: Scenario, *texts: str, **variables: Any) -> None:
    """Nothing is changed, and the reason is reported."""
    done = pair.playbook("rebuild", {**CONFIRM, **variables}, expect=2)
    for text in texts:
        assert text in " ".join(done["output"].split()), done["output"][-3000:]
    assert done["changed"] == 0

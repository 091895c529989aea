# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A schedule presyncs offsets on the other cluster, in both states of the pair (R11 and R12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import STATE_TOPIC
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import Kafka
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.latest import read_latest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.checkpoints import checkpoints_end
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_journal
from ansible_collections.switchback.kafka_dr.tests.support.pairs import of_journal
from modules import run_module
from scenario import Scenario
from snapshot import read_inventory, snapshot

CLIENTS = [
    {"name": "payments-api", "role": "producer", "rate": 500},
    {"name": "settlement", "role": "consumer", "group": "settlement", "limit_rate": 300},
    {"name": "fraud", "role": "consumer", "group": "fraud"},
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A pair in the normal state, with running applications. One of the groups falls behind."""
    with Scenario(tmp_path_factory.mktemp("presynced"), clients=CLIENTS).up() as made:
        made.playbook("enable", {"kafka_dr_confirm": "P"})
        made.start()
        yield made


def checkpoint(pair: Scenario, to: str, *options: str, **variables: Any) -> dict[str, Any]:
    done = pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": to, **variables}, options)
    report: dict[str, Any] = json.loads(
        (pair.reports / f"{'check-' if '--check' in options else ''}checkpoint-{to}.json").read_text()
    )
    return {**report, "changed": done["changed"]}


def originals(pair: Scenario, alias: str) -> list[tuple[str, str, int, int]]:
    """Offsets on the original topic. MirrorMaker 2 writes none there."""
    seen = snapshot(pair.folder, ["settlement", "fraud"])[alias]["committed_offsets"]
    return [(group, *one) for group, rows in seen.items() for one in rows if one[0] == "Payments"]


def stop_readers(pair: Scenario) -> None:
    for name in ("settlement", "fraud"):
        pair.ledger("stop", name)


def start_readers(pair: Scenario) -> None:
    for name in ("settlement", "fraud"):
        pair.ledger("start", name)


def worked(pair: Scenario, records: int) -> None:
    """Wait until this many more records are written and all groups have read more. The slow one need not catch up."""
    written, read = pair.count("acknowledged") + records, pair.slowest_reader() + records // 4
    pair.wait(lambda: pair.count("acknowledged") >= written, 120, f"{records} more records are acknowledged")
    pair.wait(lambda: pair.slowest_reader() >= read, 120, "all groups read on")


def presynced(pair: Scenario, to: str) -> dict[str, Any]:
    """Readers are stopped in the middle of their work. After the job every offset on the other cluster is exact."""
    stop_readers(pair)
    # The flow may still have to replicate the last records they read. The job counts those and does not wait for them.
    pair.wait(lambda: checkpoint(pair, to)["rereads"] == 0, 120, "every record that was read is replicated")
    done = checkpoint(pair, to)
    assert done["outcome"] == "done"
    assert done["committed"] == 0  # A second run has nothing left to raise.
    assert done["preexisting_higher_offsets"] == done["left_out"] == []
    assert {row["quality"] for row in done["committed_offsets"]} == {"exact"}
    assert [row for row in done["committed_offsets"] if row["existing"] != row["offset"]] == []
    start_readers(pair)
    return done


def test_while_applications_run_on_p_offsets_on_b_are_presynced(pair: Scenario) -> None:
    worked(pair, 3000)
    done = presynced(pair, "B")
    # Four topics: the originals of B get offsets as well as the replicas.
    assert {row["topic"] for row in done["committed_offsets"]} == {"Payments", "P.Payments"}
    # A disaster failover uses their offsets to find newer checkpoints of MirrorMaker 2.
    there = Kafka(read_inventory(pair.inventory)["kafka_dr_clusters"]["B"]["bootstrap_servers"], {}, 15.0)
    values = (read_latest(there, STATE_TOPIC) or {}).values()
    noted = {value["group"]: value["checkpoints"] for value in values if value["kind"] == "committed_offsets"}
    end, topic_id = checkpoints_end(there, "P.checkpoints.internal")
    assert sorted(noted) == ["fraud", "settlement"]
    assert all(0 < at <= end and of == topic_id for at, of in noted.values()), (noted, end, topic_id)


def test_the_active_cluster_is_never_written(pair: Scenario) -> None:
    before = originals(pair, "B")
    done = checkpoint(pair, "P")
    assert (done["outcome"], done["changed"]) == ("skipped", 0)
    assert "live on P" in done["reason"]
    assert pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "X"}, expect=2)["changed"] == 0
    assert originals(pair, "B") == before


def test_check_mode_writes_nothing(pair: Scenario) -> None:
    pair.move("failover_cutoff", "B", kafka_dr_drain_groups_timeout=1)
    worked(pair, 1500)
    before = originals(pair, "P")
    would = checkpoint(pair, "P", "--check")
    assert (would["outcome"], originals(pair, "P")) == ("done", before)
    assert would["committed"] > 0
    assert would["changed"] == 1


def test_while_applications_run_on_b_offsets_on_p_are_presynced_unlike_with_mirrormaker_2(pair: Scenario) -> None:
    worked(pair, 1500)
    done = presynced(pair, "P")
    mirrored = [row for row in done["committed_offsets"] if row["topic"] == "Payments"]
    assert mirrored
    assert {row["checkpoint"] for row in mirrored} == {None}
    # The way back finds the offsets that it would have committed.
    home = pair.move("failback", "P", kafka_dr_drain_groups_timeout=1)
    assert home["outcome"] == "completed"
    assert [
        row for row in home["committed_offsets"] if row["existing"] is None or row["existing"] > row["offset"]
    ] == []


def test_a_group_with_members_on_the_other_cluster_is_reported_and_not_changed(pair: Scenario) -> None:
    from confluent_kafka import Consumer

    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    reader = Consumer({"bootstrap.servers": clusters["B"]["bootstrap_servers"], "group.id": "fraud"})
    try:
        reader.subscribe(["Payments"])
        pair.wait(lambda: reader.poll(0.2) is not None or bool(reader.assignment()), 60, "the reader has joined")
        done = pair.playbook("reverse_checkpoint", {"kafka_dr_confirm": "B"}, expect=2)
        assert "fraud" in done["output"]
        assert "members on B" in done["output"]
    finally:
        reader.close()


def test_nothing_is_written_during_an_unfinished_run(pair: Scenario) -> None:
    clusters = read_inventory(pair.inventory)["kafka_dr_clusters"]
    journal = of_journal({"clusters": clusters, "pair": "B-P"})
    opened = run_module(dr_journal, {**journal, "event": "started", "data": {"type": "cutoff", "from": "P", "to": "B"}})
    try:
        done = checkpoint(pair, "B")
        assert done["outcome"] == "skipped"
        assert opened["run_id"] in done["reason"]
    finally:
        ended = {"event": "ended", "run": opened["run_id"], "holder_generation": 0, "data": {"result": "undone"}}
        run_module(dr_journal, {**journal, **ended})
    assert checkpoint(pair, "B")["outcome"] == "done"

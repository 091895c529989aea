# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cutover asks of an engine that cannot prove a stop: Kafka shows that everything is replicated."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import Environment

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.departure import judge_departure
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.finding import engine_inventory, engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.groups import GroupState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import PartState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.last_records import LastRecords
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.surviving_cluster import Survivor
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import disaster_barrier, translation
from yamls import load_yaml

FLOWS = Path(__file__).parents[3] / "roles/cutover/tasks/phase_flows.yml"
KEY = Partition("T", 0)
#: Replicated to the end, one record short of it, and with an open transaction after the end.
DRAINED = PartitionFacts(0, 10, 9, data_after=False, high=10)
SHORT = PartitionFacts(0, 10, 8, data_after=True, high=10)
OPEN = PartitionFacts(0, 10, 9, data_after=False, high=12)


def stub(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def flow(facts: PartitionFacts) -> Any:
    source = PartState("source", "P->B.MirrorSourceConnector", "RUNNING", ("RUNNING",))
    return stub(name="P->B", target="B", connectors={"source": source}, facts={KEY: facts}, unreadable=None)


def pair(provable: bool) -> Any:
    engine = stub(capabilities=stub(stop_provable=provable))
    return stub(engine=engine, naming=naming_of("default"), spec=stub(accepted_foreign_writers=()))


@pytest.mark.parametrize(
    ("provable", "facts", "code"),
    [
        (False, DRAINED, ""),
        (False, SHORT, "not_drained"),
        (False, OPEN, "not_drained"),
        (False, PartitionFacts(0, 10, None), "not_drained"),
        (True, DRAINED, "no_barrier"),
    ],
)
def test_a_barrier_without_a_proven_stop_needs_the_end_of_every_partition(
    provable: bool, facts: PartitionFacts, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "foreign_records", lambda *_values: [])
    if not code:
        translation._require_barrier(pair(provable), flow(facts), Bounds(0.0), LastRecords({}))
        return
    with pytest.raises(DrError) as refused:
        translation._require_barrier(pair(provable), flow(facts), Bounds(0.0), LastRecords({}))
    assert refused.value.code == code


@pytest.mark.parametrize(("provable", "observations"), [(False, 2), (True, 1)])
def test_a_running_flow_may_store_its_last_offset_later(
    provable: bool, observations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [flow(SHORT), flow(DRAINED)]
    monkeypatch.setattr(translation, "observe_flow", lambda *_values, **_more: left.pop(0))
    work = stub(pair=pair(provable), x="P", y="B", _request=stub(replicated=Bounds(30.0, 0.01)))
    translation.Translation._observe_drained(work)
    assert 2 - len(left) == observations


@pytest.mark.parametrize("provable", [False, True])
def test_a_disaster_does_not_excuse_missing_evidence_by_the_state_in_the_api(provable: bool) -> None:
    """A connector that is STOPPED without tasks syncs no groups; an API that reports STOPPED proves nothing."""
    checkpoint = PartState("checkpoint", "P->B.MirrorCheckpointConnector", "STOPPED", ())
    failed = Result(failure=DrError("aiven_group_sync", "Kafka does not prove it."))
    capabilities = stub(stop_provable=provable, offset_syncs_on_source=False, bound=lambda seconds, _restart: seconds)
    engine = stub(capabilities=capabilities, stop=lambda *_values, **_more: failed)
    survivor: Any = stub(
        engine=engine,
        naming=naming_of("default"),
        x="P",
        y="B",
        observe=lambda: stub(connectors={"checkpoint": checkpoint}),
    )
    request: Any = stub(stop_timeout=1.0, restart_timeout=1.0)
    done = disaster_barrier._stop(survivor, request, check=False)
    assert (done.failure is None) == provable


@pytest.mark.parametrize(("provable", "expected"), [(False, "Kafka only"), (True, "engine")])
def test_a_surviving_cluster_needs_no_management_interface_that_proves_nothing(provable: bool, expected: str) -> None:
    engine = stub(
        capabilities=stub(stop_provable=provable),
        observe_offsets=lambda *_ends: "Kafka only",
        observe=lambda *_ends: "engine",
    )
    survivor: Any = stub(_snapshot=None, engine=engine, x="P", y="B")
    assert Survivor.observe(survivor) == expected


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("name", engines())
def test_a_commit_on_the_cluster_that_was_left_is_a_consumers_only_if_group_sync_is_proven_to_stand(
    name: str, resumed: bool
) -> None:
    """R41: an offset that group sync may have raised refutes nothing."""
    (task,) = (task for task in load_yaml(FLOWS) if "switchback.kafka_dr.dr_departure_info" in task)
    asked = task["switchback.kafka_dr.dr_departure_info"]["group_sync"]
    pair = {"stop_provable": engine_inventory(name).capabilities.stop_provable}
    group_sync = Environment().from_string(asked).render(kafka_dr_pair=pair, cutover_now={"run": {"resumed": resumed}})
    proven = name != "aiven" and not resumed
    assert group_sync == ("stopped" if proven else "unknown")
    there = {"g": {Partition("B.T", 0): 5}}
    states, before = {"g": GroupState("g", "EMPTY")}, {"g": {Partition("B.T", 0): 3}}
    synced = set() if group_sync == "stopped" else {"B.T"}
    assert judge_departure("P", states, there, before, synced).verdict == ("REFUTED" if proven else "UNKNOWN")

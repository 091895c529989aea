# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contract of ``_engines/base.py``: the same cases for every engine that is found, and for one that only tests
have.
"""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.finding import engine_inventory, engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.inventory import Capabilities
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.goals import flow_goals
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import (
    Engine,
    SiteSettings,
    StoredOffsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.opening import open_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_flows
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import (
    ENDS,
    STAGES,
    ConnectStage,
    SrmStage,
    Stage,
)

NAMES = [*engines(), "toy"]
BOUNDS = Bounds(5.0, 0.01)
EACH = pytest.mark.parametrize("name", NAMES)
STORED = {("T", 0): 4, ("T", 1): 9}


def opened(stage: Stage) -> Engine:
    """A new engine, which has no memory of earlier calls."""
    spec = PairSpec.of(stage.pair["spec"])
    return open_engine(spec.connections, spec.naming, stage.kafka, 1.5)


def apply(stage: Stage, state: str, at: str = "", check: bool = False) -> Result:
    pair = PairSpec.of(stage.pair["spec"])
    return opened(stage).apply(pair, flow_goals(pair, state, at), SiteSettings(), BOUNDS, check)


def states(stage: Stage, flow: str) -> tuple[str | None, bool, bool]:
    """The state of replication, whether that is final, and whether group sync runs."""
    parts = opened(stage).observe(*ENDS[flow]).connectors
    return parts["source"].state, parts["source"].final, bool(parts["checkpoint"].tasks)


def can(stage: Stage) -> Capabilities:
    return opened(stage).capabilities


def test_every_engine_is_found_by_its_folder_and_has_a_stage() -> None:
    assert sorted(STAGES) == sorted(NAMES) == sorted(engines())


# ---- observation


@EACH
@pytest.mark.parametrize(
    ("state", "seen"),
    [("missing", (None, False, False)), ("running", ("RUNNING", False, True)), ("stopped", ("STOPPED", True, False))],
)
def test_a_flow_is_observed(stage: Stage, state: str, seen: tuple[str | None, bool, bool]) -> None:
    stage.be("P->B", state)
    shown, final, syncs = seen
    assert states(stage, "P->B") == (shown, final and can(stage).stop_provable, syncs)


@EACH
def test_only_the_stored_offsets_of_the_flow_itself_are_observed(stage: Stage) -> None:
    stage.be("P->B", "stopped")
    stage.store("P->B", STORED)
    stage.be("B->P", "stopped")
    assert opened(stage).observe("P", "B").last_replicated_offset == STORED
    assert opened(stage).observe("B", "P").last_replicated_offset == {}
    alone = opened(stage).observe_offsets("P", "B")
    assert alone is None or (alone.last_replicated_offset, alone.connectors["source"].final) == (STORED, True)


@EACH
def test_an_unreachable_engine_is_an_error(stage: Stage) -> None:
    stage.silence()
    for ask in (opened(stage).observe, opened(stage).about):
        with pytest.raises(DrError):
            ask("P", "B")


@EACH
def test_opening_the_store_of_acls_sends_no_request(stage: Stage) -> None:
    engine = opened(stage)
    store = engine.acls("P")
    assert store is None or isinstance(store.effect_seconds, float)
    assert engine.requests == []


@pytest.mark.parametrize("name", ["connect"])
def test_workers_that_are_too_old_for_a_flow_are_an_error(stage: ConnectStage) -> None:
    stage.workers["B"].version = "3.6.2"
    with pytest.raises(DrError, match=r"run 3\.6\.2, wanted Kafka 3\.7"):
        opened(stage).about("P", "B")


@EACH
def test_observation_changes_nothing_and_requests_are_recorded(stage: Stage) -> None:
    stage.be("P->B", "running")
    before = list(stage.changes())
    engine = opened(stage)
    engine.observe("P", "B")
    engine.observe_offsets("P", "B")
    engine.about("P", "B")
    engine.competing_flows("P", "B", ["T"])
    engine.reverse_flows("P", "B", ["T"])
    assert engine.requests
    # An access review asks by POST which rights this account has.
    asked = [request for request in engine.requests if not request["path"].endswith("selfsubjectaccessreviews")]
    assert {request["method"] for request in asked} == {"GET"}
    assert stage.changes() == before


@EACH
def test_competing_flows_are_those_of_other_names_and_the_same_topics(stage: Stage) -> None:
    assert opened(stage).competing_flows("P", "B", ["T"]) == []
    rival = stage.rival("theirs", "running")
    stage.be("P->B", "running")
    found = ["theirs"] if rival else []
    assert opened(stage).competing_flows("P", "B", ["T"], running=True) == found
    assert opened(stage).competing_flows("P", "B", ["Other"]) == []
    assert opened(stage).competing_flows("B", "P", ["T"]) == []
    stage.rival("theirs", "stopped")
    assert opened(stage).competing_flows("P", "B", ["T"], running=True) == []
    assert opened(stage).competing_flows("P", "B", ["T"]) == found


@EACH
def test_reverse_flows_are_those_that_are_not_stopped(stage: Stage) -> None:
    stage.be("P->B", "running")
    assert opened(stage).reverse_flows("P", "B", ["T"]) == []
    stage.be("B->P", "running")
    assert len(opened(stage).reverse_flows("P", "B", ["T"])) == 1
    stage.be("B->P", "stopped")
    assert opened(stage).reverse_flows("P", "B", ["T"]) == []


# ---- effects


@EACH
@pytest.mark.parametrize("active", ["P", "B"])
def test_a_state_is_reached_and_observed_and_not_set_again(stage: Stage, active: str) -> None:
    away, toward = ("P->B", "B->P") if active == "P" else ("B->P", "P->B")
    for flow in ENDS:
        stage.be(flow, "missing")
    done = apply(stage, "live", active)
    assert (done.failure, done.changed, {one.status for one in done.outcomes}) == (None, True, {"done"})
    assert states(stage, away) == ("RUNNING", False, can(stage).syncs_groups)
    # R10: no group offsets are written on the cluster where applications live.
    assert states(stage, toward) == ("RUNNING", False, False)
    sent = list(stage.changes())
    again = apply(stage, "live", active)
    assert (again.failure, again.outcomes, stage.changes()) == (None, [], sent)


@EACH
def test_running_flows_are_removed_and_not_removed_again(stage: Stage) -> None:
    for flow in ENDS:
        stage.be(flow, "running")
    assert apply(stage, "absent").failure is None
    assert [states(stage, flow)[0] for flow in ENDS] == [None, None]
    sent = list(stage.changes())
    assert (apply(stage, "absent").outcomes, stage.changes()) == ([], sent)


@EACH
@pytest.mark.parametrize(("state", "at"), [("live", "P"), ("rebuild", "P"), ("absent", ""), ("survive", "B")])
def test_check_mode_sends_nothing_and_names_the_changes(stage: Stage, state: str, at: str) -> None:
    for flow in ENDS:
        stage.be(flow, "missing" if state == "live" else "running")
    before = list(stage.changes())
    planned = apply(stage, state, at, check=True)
    assert planned.failure is None
    assert {one.status for one in planned.outcomes} == {"planned"}
    assert stage.changes() == before


@EACH
@pytest.mark.parametrize(("bad", "good"), [("P->B", "B->P"), ("B->P", "P->B")])
def test_a_failed_goal_does_not_prevent_the_others(stage: Stage, bad: str, good: str) -> None:
    for flow in ENDS:
        stage.be(flow, "missing")
    stage.refuse(bad)
    assert apply(stage, "live", "P").failure is not None
    assert states(stage, good)[0] == "RUNNING"


@pytest.mark.parametrize("name", ["srm"])
def test_a_site_that_refuses_its_configuration_does_not_affect_the_other_one(stage: SrmStage) -> None:
    for flow in ENDS:
        stage.be(flow, "missing")
    stage.managers["B"].refuses_config = True
    failure = apply(stage, "live", "P").failure
    assert failure is not None
    assert failure.endpoint == stage.managers["B"].url + "/api/v54"
    assert states(stage, "B->P") == ("RUNNING", False, False)
    assert [path for method, path in stage.managers["B"].calls if method == "POST"] == []


@EACH
@pytest.mark.parametrize("final", [True, False])
def test_a_stop_ends_group_sync_and_a_final_stop_ends_replication(stage: Stage, final: bool) -> None:
    stage.be("P->B", "running")
    stage.be("B->P", "running")
    before = list(stage.changes())
    assert opened(stage).stop("P", "B", final, BOUNDS, check=True).changed
    assert stage.changes() == before
    assert opened(stage).stop("P", "B", final, BOUNDS, check=False).failure is None
    ended = final and can(stage).stop_provable
    assert states(stage, "P->B") == (("STOPPED", True, False) if ended else ("RUNNING", False, False))
    # The other flow continues.
    assert states(stage, "B->P") == ("RUNNING", False, True)
    sent = list(stage.changes())
    again = opened(stage).stop("P", "B", final, BOUNDS, check=False)
    assert (again.failure, again.outcomes, stage.changes()) == (None, [], sent)


@EACH
def test_only_an_awaited_stop_waits_until_replication_has_ended(stage: Stage) -> None:
    stage.be("P->B", "running")
    lingers = stage.linger("P->B")
    hurried = opened(stage).stop("P", "B", True, BOUNDS, check=False, awaited=("checkpoint",))
    assert hurried.failure is None
    _state, final, syncs = states(stage, "P->B")
    # A flow that has not ended is not reported as final.
    assert (final, syncs) == (not lingers and can(stage).stop_provable, False)
    waited = opened(stage).stop("P", "B", True, Bounds(0.1, 0.01), check=False)
    assert (waited.failure is not None) == lingers


@EACH
def test_a_stop_that_awaits_nothing_returns_although_the_flow_lingers(stage: Stage) -> None:
    if not can(stage).stop_provable:
        return  # the drain of a cutover asks no such engine
    stage.be("P->B", "running")
    stage.linger("P->B")
    before = len(stage.changes())
    asked = opened(stage).stop("P", "B", True, Bounds(0.1, 0.01), check=False, awaited=())
    assert asked.failure is None
    assert len(stage.changes()) > before


# ---- stored offsets


def offsets(stage: Stage, name: str) -> StoredOffsets | None:
    """The offsets, or None after a refusal if the engine cannot change them."""
    engine = opened(stage)
    if engine.capabilities.offsets_writable:
        return engine.offsets("P", "B")
    with pytest.raises(DrError) as refused:
        engine.offsets("P", "B")
    assert refused.value.code == "no_offsets"
    return None


@EACH
def test_offsets_are_read_replaced_updated_and_removed(stage: Stage, name: str) -> None:
    stage.be("P->B", "stopped")
    stage.store("P->B", {("T", 0): 1, ("Old", 0): 7})
    own = offsets(stage, name)
    if own is None:
        return
    own.require_stopped("")
    assert own.read() == {("T", 0): 1, ("Old", 0): 7}
    own.replace(STORED)
    assert own.read() == STORED
    own.update({("T", 1): 5, ("U", 0): 0}, "")
    assert own.read() == {("T", 0): 4, ("T", 1): 5, ("U", 0): 0}
    own.update({("T", 0): -1, ("T", 2): -1}, "")
    assert own.read() == {("T", 1): 5, ("U", 0): 0}
    own.forget(["T", "Other"])
    assert own.read() == {("U", 0): 0}
    assert opened(stage).observe("P", "B").last_replicated_offset == {("U", 0): 0}


@EACH
@pytest.mark.parametrize("state", ["missing", "running"])
def test_only_the_offsets_of_a_stopped_flow_are_changed(stage: Stage, name: str, state: str) -> None:
    stage.be("P->B", state)
    own = offsets(stage, name)
    if own is not None:
        with pytest.raises(DrError) as refused:
            own.require_stopped("Stop it first.")
        assert (refused.value.code, refused.value.hint) == ("not_stopped", "Stop it first.")


@EACH
def test_all_offsets_of_stopped_flows_are_removed(stage: Stage, name: str) -> None:
    for flow in ENDS:
        stage.be(flow, "running")
        stage.store(flow, STORED)
    with pytest.raises(DrError) as refused:
        opened(stage).forget("P", "B", check=False)
    if engine_inventory(name).refusals.rebuild:
        assert refused.value.code == "no_offsets"
        return
    assert refused.value.code == "not_stopped"
    for flow in ENDS:
        stage.be(flow, "stopped")
        stage.store(flow, STORED)
    planned = opened(stage).forget("P", "B", check=True)
    assert {one.status for one in planned} == {"planned"}
    assert opened(stage).observe("P", "B").last_replicated_offset == STORED
    assert {one.status for one in opened(stage).forget("P", "B", check=False)} == {"done"}
    assert opened(stage).observe("P", "B").last_replicated_offset == {}


# ---- the product with an engine -


@EACH
def test_a_module_brings_the_flows_of_a_derived_pair_into_their_desired_state(stage: Stage, name: str) -> None:
    for flow in ENDS:
        stage.be(flow, "missing")
    params = {"pair": stage.pair["spec"], "state": "live", "at": "P", "guard": {}}
    done = run_module(dr_flows, {**params, "request_timeout": 0.5})
    assert (done["rc"], done["changed"]) == (0, True), done
    assert states(stage, "P->B") == ("RUNNING", False, can(stage).syncs_groups)

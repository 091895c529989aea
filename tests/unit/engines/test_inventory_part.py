# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the inventory that an engine adds: for every engine that is found, and for the one
that only tests have.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.finding import engine_inventory, engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.inventory import STEPS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import variables
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.rehearsal import rehearsal_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.plan import cutover_plan
from ansible_collections.switchback.kafka_dr.tests.unit.engines.stages import Stage, derived

EACH = pytest.mark.parametrize("name", [*engines(), "toy"])
SITES = {"P": {"world": "w"}, "B": {"world": "w"}}


@EACH
def test_each_cluster_has_its_engine_and_the_values_that_it_needs(stage: Stage, name: str) -> None:
    engine = engine_inventory(name)
    for cluster in stage.pair["clusters"].values():
        assert cluster["engine"] == name
        assert set(engine.cluster_keys) <= set(cluster)
        assert {other for other in engines() if cluster.get(other) is not None} == (
            {name} if engine.site_keys else set()
        )


@EACH
def test_offset_syncs_are_on_the_cluster_where_the_engine_stores_them(stage: Stage, name: str) -> None:
    on_source = engine_inventory(name).capabilities.offset_syncs_on_source
    for flow in stage.pair["flows"].values():
        assert flow["syncs"]["on"] == flow["source" if on_source else "target"]


@EACH
def test_steps_are_those_of_known_moments(stage: Stage, name: str) -> None:
    assert set(engine_inventory(name).steps) <= set(STEPS)
    assert set(stage.pair["engine_steps"]) == set(STEPS)


@EACH
def test_a_plan_names_the_connectors_of_flows_if_they_have_states(stage: Stage, name: str) -> None:
    facts = {"pair": stage.pair, "hosts": {}, "type": "cutoff", "from": "P", "to": "B", "status": {}}
    plan = cutover_plan({**facts, "forecast": {}, "survey": {}, "durations": {}})
    assert (plan["connectors"] is not None) == engine_inventory(name).capabilities.parts_have_states


def test_topics_are_not_replicated_again_if_the_policy_finds_where_a_flow_starts() -> None:
    clusters = {alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": f"http://{alias}:8083"} for alias in "PB"}
    assert derived("connect", clusters=clusters)["copy_again_refused"] == ""
    reason = derived("connect", clusters=clusters, policy="identity")["copy_again_refused"]
    assert reason.startswith("with the policy identity, enable finds the flow's start offsets itself.")


def refused(**given: Any) -> str:
    with pytest.raises(DrError) as error:
        derived("toy", **{"toy": SITES, **given})
    return str(error.value.message)


def test_the_third_engine_has_a_variable_and_checks_of_its_own() -> None:
    assert variables()["engine"].choices == ("aiven", "connect", "srm", "strimzi", "toy")
    pair = derived("toy", toy=SITES)
    assert (pair["clusters"]["P"]["toy"], pair["toy"]["P"]["color"]) == ({"world": "w"}, "red")
    assert 'kafka_dr_toy needs the site "B".' in refused(toy={"P": SITES["P"]})
    assert 'kafka_dr_toy.P has the unknown key "wolrd". Did you mean "world"?' in refused(toy={"P": {"wolrd": "w"}})


def test_a_refusal_of_the_third_engine_has_its_own_words() -> None:
    assert 'kafka_dr_policy "identity" cannot be used with kafka_dr_engine "toy": it cannot count.' in refused(
        policy="identity"
    )
    assert 'kafka_dr_adopt cannot be used with kafka_dr_engine "toy": it knows no other flows.' in refused(
        adopt={"P->B": {"source": "legacy"}}
    )
    with pytest.raises(DrError, match="its threads are needed"):
        rehearsal_pair(derived("toy", toy=SITES), "P", {})
    # It refuses neither of them.
    apart = [{"name": "T", "partitions": 1, "application": "pay"}]
    pair = derived("toy", toy=SITES, topics=apart, groups=[], application="pay")
    assert (pair["application"], pair["copy_again_refused"]) == ("pay", "")

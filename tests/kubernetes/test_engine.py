# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine strimzi on a real API server, with an emulated operator and a small Kafka Connect in memory."""

from __future__ import annotations

import json
import threading
import time

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.engine import StrimziEngine
from kube_apiserver import undefine, until
from kube_place import BOUNDS, CONFIG, MADE, OFFSETS, PAUSE, SOURCE, Place
from manifests import role_and_binding
from strimzi.kube import Kube
from strimzi_crds import GROUP, mirror_spec

ALL = {Partition("T", 0): 99}
VERSIONS = pytest.mark.parametrize("place", ["0.45.0", "0.49.1", "1.2.0"], indirect=True)


# ---- create, stop, start


@VERSIONS
def test_a_connector_that_is_created_stopped_replicates_nothing(place: Place) -> None:
    """Below 1.2 the same resource with its topics replicated all 100 records (test_operator.py)."""
    place.client().create(SOURCE, CONFIG, "STOPPED")
    until(lambda: place.workers.connectors[MADE].config["topics"] == "T")
    assert place.workers.stored[MADE] == []
    found = place.engine().observe("P", "B")
    assert (found.connectors["source"].state, found.connectors["source"].final) == ("STOPPED", True)
    connector = place.client().connectors()[SOURCE]
    assert connector.config == {**CONFIG, "name": SOURCE}
    # The other parts do not exist, and are not reported as stopped.
    assert found.connectors["checkpoint"].state is None


@VERSIONS
def test_a_stop_is_proven_with_the_offsets_from_after_it(place: Place) -> None:
    place.running()
    engine = place.engine()
    assert engine.stop("P", "B", True, BOUNDS, check=False).failure is None
    assert place.workers.states()[MADE] == ("STOPPED", 0)
    # The same engine reads by looks; a new one reads the status, which is right by now.
    seen = engine.observe("P", "B")
    assert (seen.connectors["source"].final, seen.last_replicated_offset) == (True, ALL)
    until(lambda: place.engine().observe("P", "B").connectors["source"].final)
    engine.rest("P", "B").resume(SOURCE)
    until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))


@VERSIONS
def test_a_stop_that_is_only_requested_lists_no_offsets_and_the_next_stop_proves_it(place: Place) -> None:
    """A worker lists offsets only after a rebalance, and the operator would stop no other connector meanwhile."""
    place.running()
    listed = place.workers.calls.count(("GET", f"/connectors/{MADE}/offsets"))
    assert place.engine().stop("P", "B", True, BOUNDS, check=False, awaited=()).failure is None
    until(lambda: place.workers.states()[MADE] == ("STOPPED", 0))
    assert place.workers.calls.count(("GET", f"/connectors/{MADE}/offsets")) == listed
    engine = place.engine()
    assert engine.stop("P", "B", True, BOUNDS, check=False).failure is None
    assert engine.rest("P", "B").unproven([SOURCE]) == []
    assert engine.observe("P", "B").last_replicated_offset == ALL


def test_a_connector_that_was_started_again_by_rest_is_stopped_although_its_status_shows_a_stop(place: Place) -> None:
    place.running()
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    until(lambda: place.engine().observe("P", "B").connectors["source"].final)
    place.workers.call("PUT", f"/connectors/{MADE}/resume")
    until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))
    # Nothing announces this to the operator, whose next full reconciliation is up to 120 s away.
    assert place.engine().observe("P", "B").connectors["source"].final
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    assert place.workers.states()[MADE] == ("STOPPED", 0)


def test_no_stale_status_is_reported_as_a_state(place: Place) -> None:
    """Five times: right after a change, neither RUNNING after a stop nor STOPPED after a start is reported."""
    place.running()
    for _each in range(5):
        place.kube.patch(place.path(), {"spec": {"state": "stopped"}})
        end = time.monotonic() + 0.5
        while time.monotonic() < end and place.workers.states()[MADE] != ("STOPPED", 0):
            seen = place.client().connectors()[SOURCE]
            assert seen.state == "STOPPED"
            assert not seen.stopped or place.workers.states()[MADE] == ("STOPPED", 0)
        until(lambda: place.client().connectors()[SOURCE].stopped)
        place.kube.patch(place.path(), {"spec": {"state": "running"}})
        while place.workers.states()[MADE] != ("RUNNING", 2):
            assert not place.client().connectors()[SOURCE].stopped
        until(lambda: place.client().connectors()[SOURCE].running)


def test_a_slow_operator_is_waited_for(place: Place) -> None:
    place.running()
    assert place.operator is not None
    place.operator.delay = 1.0
    engine = place.engine()
    assert engine.stop("P", "B", True, BOUNDS, check=False).failure is None
    assert place.workers.states()[MADE] == ("STOPPED", 0)


def test_without_an_operator_a_stop_is_not_reported(place: Place) -> None:
    place.running()
    assert place.operator is not None
    place.operator.stop()
    place.patience = 0.5
    failure = place.engine().stop("P", "B", True, Bounds(1.0, 0.02), check=False).failure
    assert failure is not None
    assert "operator" in failure.sentence()
    assert place.workers.states()[MADE] == ("RUNNING", 2)


def test_conflicts_with_another_writer_do_not_prevent_a_stop(place: Place) -> None:
    place.running()
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.wait(0.01):
            number += 1
            place.annotate("example", str(number))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    finally:
        ended.set()
        writer.join()
    assert place.workers.states()[MADE] == ("STOPPED", 0)


# ---- offsets


def stopped(place: Place) -> StrimziEngine:
    place.client().create(SOURCE, CONFIG, "STOPPED")
    return place.engine()


@VERSIONS
def test_offsets_are_replaced_once_and_read_back(place: Place) -> None:
    own = stopped(place).offsets("P", "B")
    own.replace({Partition("T", 0): 41, Partition("U", 1): 7})
    assert place.alters() == 1
    # Offsets of another alias are removed too, although only a look shows them.
    other = {"partition": {"cluster": "Q", "partition": 0, "topic": "T"}, "offset": {"offset": 5}}
    place.workers.stored[MADE].append(other)
    place.engine().offsets("P", "B").replace({Partition("T", 0): 3})
    assert [entry["offset"]["offset"] for entry in place.workers.stored[MADE]] == [3]
    place.engine().offsets("P", "B").forget(["T"])
    assert place.workers.stored[MADE] == []
    assert (
        place.kube.items(f"/api/v1/namespaces/{place.name}/configmaps", labelSelector="app.kubernetes.io/managed-by")
        == []
    )


def test_an_alter_that_a_killed_run_left_is_awaited_before_the_next_change(place: Place) -> None:
    engine = stopped(place)
    assert place.operator is not None
    place.operator.delay = 1.0
    content = {"offsets": [{"partition": {"cluster": "P", "partition": 0, "topic": "T"}, "offset": {"offset": 10}}]}
    body = {"metadata": {"name": "left"}, "data": {"offsets.json": json.dumps(content)}}
    place.kube.write(f"/api/v1/namespaces/{place.name}/configmaps", body)
    place.kube.patch(
        place.path(),
        {
            "metadata": {"annotations": {OFFSETS: "alter"}},
            "spec": {"alterOffsets": {"fromConfigMap": {"name": "left"}}},
        },
    )
    engine.rest("P", "B").resume(SOURCE)
    until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))
    # A change before would have replaced the work, or made the operator do it again at the next stop.
    assert place.alters() == 1
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    assert place.alters() == 1


def test_a_leftover_annotation_is_refused(place: Place) -> None:
    engine = stopped(place)
    assert place.operator is not None
    place.operator.stop()
    place.annotate(OFFSETS, "alter")
    place.patience = 0.5
    text = place.refused("work_pending", lambda: place.client().resume(SOURCE))
    assert f'{OFFSETS} "alter"' in text
    assert place.kube.get(place.path())["spec"]["state"] == "stopped"  # type: ignore[index]
    del engine


def test_work_that_fails_is_withdrawn(place: Place) -> None:
    """Kafka Connect refuses offsets of a running connector. The annotation must not wait for the next stop."""
    place.running()
    place.patience = 1.0
    text = place.refused("offsets_not_set", lambda: place.client().reset_offsets(SOURCE))
    assert "STOPPED" in text
    assert OFFSETS not in place.kube.get(place.path())["metadata"]["annotations"]  # type: ignore[index]
    assert place.workers.stored[MADE] != []


# ---- refusals


def test_a_paused_reconciliation_is_refused(place: Place) -> None:
    place.running()
    place.annotate(PAUSE, "true")
    assert PAUSE in place.engine().observe("P", "B").connectors["source"].unsafe_settings[-1]
    assert MADE in place.refused("reconciliation_paused", lambda: place.client().stop(SOURCE))
    place.annotate(PAUSE, None)
    place.annotate(PAUSE, "true", kind="kafkaconnects", name="dr")
    assert '"dr"' in place.refused("reconciliation_paused", lambda: place.client().stop(SOURCE))
    # A cutover reads this before it stops an application.
    assert '"dr"' in place.refused("reconciliation_paused", lambda: place.engine().observe("P", "B"))
    assert place.kube.get(place.path())["spec"]["state"] == "running"  # type: ignore[index]


def test_a_kafka_connect_that_ignores_resources_is_refused(place: Place) -> None:
    place.annotate("strimzi.io/use-connector-resources", None, kind="kafkaconnects", name="dr")
    text = place.refused("resources_not_used", lambda: place.engine().about("P", "B"))
    assert 'strimzi.io/use-connector-resources "not set"' in text
    place.refused("resources_not_used", lambda: place.client().create(SOURCE, CONFIG, "RUNNING"))
    assert place.kube.get(place.path()) is None


def test_a_wrong_name_a_wrong_namespace_and_a_wrong_token_are_named(place: Place) -> None:
    place.connect = "other"
    assert 'KafkaConnect "other"' in place.refused("no_kafka_connect", lambda: place.engine().about("P", "B"))
    place.connect, place.name = "dr", "nowhere"
    place.refused("no_kafka_connect", lambda: place.engine().about("P", "B"))
    place.cluster.tokens["expired"], place.user = "x", "expired"
    assert "expired" in place.refused("kubernetes_not_authorized", lambda: place.engine().about("P", "B"))


def test_each_missing_right_is_named_before_a_change(place: Place) -> None:
    place.user = "dr"
    text = place.refused("rights_missing", lambda: place.engine().about("P", "B"))
    assert "get, list, patch, create, delete kafkaconnectors" in text
    role, _binding = role_and_binding("account.yml")
    for resource, verb in [(rule["resources"][0], verb) for rule in role["rules"] for verb in rule["verbs"]]:
        place.grant((resource, verb))
        text = place.refused("rights_missing", lambda: place.engine().about("P", "B"))
        assert f"may not {verb} {resource} in" in text


def test_the_documented_role_is_enough(place: Place) -> None:
    place.user = "dr"
    place.grant()
    assert place.engine().about("P", "B") == ("id-of-B", "4.1.1")
    place.running()
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    place.engine().offsets("P", "B").replace({Partition("T", 0): 3})
    client = place.client()
    client.delete(SOURCE)
    assert client.find(SOURCE) is None


@pytest.mark.parametrize(
    ("manager", "operation", "hint"),
    [("argocd-controller", "Update", "Argo CD"), ("kustomize-controller", "Apply", "flux suspend")],
)
def test_a_state_that_a_gitops_controller_owns_is_refused(
    place: Place, manager: str, operation: str, hint: str
) -> None:
    place.running()
    other = place.cluster.kube(manager=manager)
    if operation == "Apply":
        body = {"apiVersion": f"{GROUP}/{place.api}", "kind": "KafkaConnector", "metadata": {"name": MADE}}
        other.apply(place.path(), {**body, "spec": {"state": "running"}})
    else:
        # Each has reached the worker, so that the operator changes nothing later.
        other.patch(place.path(), {"spec": {"state": "paused"}})
        until(lambda: place.workers.states()[MADE][0] == "PAUSED")
        other.patch(place.path(), {"spec": {"state": "running"}})
        until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))
    unsafe = place.engine().observe("P", "B").connectors["source"].unsafe_settings
    assert f'spec.state belongs to the field manager "{manager}"' in unsafe[-1]
    text = place.refused("field_owned", lambda: place.client().stop(SOURCE))
    assert f'spec.state belongs to the field manager "{manager}"' in text
    assert hint in text
    assert place.kube.get(place.path())["spec"]["state"] == "running"  # type: ignore[index]


def test_a_secret_in_plain_text_is_refused_before_a_change(place: Place) -> None:
    config = {**CONFIG, "source.cluster.sasl.jaas.config": "it password=x;"}
    text = place.refused("secret_in_resource", lambda: place.client().validate(CONFIG["connector.class"], config))
    assert "source.cluster.sasl.jaas.config" in text
    assert "password=x" not in text
    reference = {**CONFIG, "source.cluster.sasl.jaas.config": "${secrets:kafka/kafka-dr:jaas}"}
    assert place.client().validate(CONFIG["connector.class"], reference) == {}


def test_a_persons_earlier_change_is_no_owner(place: Place) -> None:
    place.running()
    place.kube.patch(place.path(), {"spec": {"state": "stopped"}})
    until(lambda: place.client().connectors()[SOURCE].stopped)
    place.client().resume(SOURCE)
    until(lambda: place.workers.states()[MADE] == ("RUNNING", 2))


@pytest.mark.parametrize("place", ["0.43.0"], indirect=True)
def test_an_operator_before_0_44_stops_flows_but_sets_no_offsets(place: Place) -> None:
    place.running()
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    assert place.workers.states()[MADE] == ("STOPPED", 0)
    text = place.refused("operator_too_old", lambda: place.engine().offsets("P", "B").replace({Partition("T", 0): 3}))
    assert "0.44" in text
    assert place.workers.stored[MADE] != []
    assert place.engine().about("P", "B") == ("id-of-B", "4.1.1")
    place.policy = "identity"
    assert 'kafka_dr_policy "identity"' in place.refused("operator_too_old", lambda: place.engine().about("P", "B"))


def test_without_definitions_the_cluster_is_refused(place: Place, kube: Kube) -> None:
    undefine(kube)
    place.refused("no_strimzi_api", lambda: place.engine().about("P", "B"))


# ---- others


def test_connectors_of_a_mirror_maker_are_reported_and_not_mistaken_for_ours(place: Place) -> None:
    tasks = [{"id": 0, "state": "RUNNING"}]
    status = {"connectors": [{"name": SOURCE, "connector": {"state": "RUNNING"}, "tasks": tasks}]}
    path = place.path("kafkamirrormaker2s", "mm2")
    metadata = {"name": "mm2"}
    body = {"apiVersion": f"{GROUP}/v1", "kind": "KafkaMirrorMaker2", "metadata": metadata, "spec": mirror_spec("T")}
    place.kube.call("POST", path.rpartition("/")[0], body)
    place.kube.patch(f"{path}/status", {"status": status})
    engine = place.engine()
    assert engine.observe("P", "B").connectors["source"].state is None
    assert engine.competing_flows("P", "B", ["T"], running=True) == [f"mm2/{SOURCE}"]
    assert engine.competing_flows("P", "B", ["Other"]) == []
    found = engine.connectors_to("B")
    assert [(one.name, one.part, one.state) for one in found] == [(f"mm2/{SOURCE}", "source", "RUNNING")]
    # Unknown, not none.
    assert found[0].replicated is None


def test_a_resource_of_another_connector_is_not_changed(place: Place) -> None:
    """Two names can give the same resource."""
    place.client().create("p->B.MirrorSourceConnector", CONFIG, "RUNNING")
    assert 'belongs to "p->B.MirrorSourceConnector"' in place.refused(
        "resource_name_taken", lambda: place.client().stop(SOURCE)
    )
    place.refused("resource_name_taken", lambda: place.client().create(SOURCE, CONFIG, "RUNNING"))

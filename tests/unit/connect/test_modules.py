# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules against a scripted worker: which changes are refused, and how a failure is reported."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import connect_mirror, connect_mirror_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from ansible_collections.switchback.kafka_dr.tests.unit.connect.worker import ScriptedWorker

PACKAGE = "org.apache.kafka.connect.mirror."
SOURCE = "P->B.MirrorSourceConnector"
PLUGINS = [{"class": PACKAGE + name} for name in ("MirrorSourceConnector", "MirrorCheckpointConnector")]
NOT_FOUND = (404, {"error_code": 404, "message": "Connector X not found"})
LIST = ("GET", "/connectors?expand=status&expand=info")
HEALTH = ("GET", "/health")
# An empty list counts only from a worker that reports that it is ready.
NO_CONNECTORS = [(200, {}), (200, {"status": "healthy"}), (200, {})]
FIND = ("GET", "/connectors/P-%3EB.MirrorSourceConnector/config")


def entry(state: str | None, *tasks: str, **config: str) -> dict[str, Any]:
    status = {
        "connector": {"state": state},
        "tasks": [{"id": i, "state": task, "trace": "x: no"} for i, task in enumerate(tasks)],
    }
    known = {
        "connector.class": PACKAGE + "MirrorSourceConnector",
        "source.cluster.alias": "P",
        "target.cluster.alias": "B",
    }
    return {"status": status, "info": {"config": {**known, **config}, "tasks": []}}


def params(worker: ScriptedWorker, **more: Any) -> dict[str, Any]:
    return {
        "connect_url": worker.url,
        "source": {"alias": "P", "bootstrap_servers": "p1:9092"},
        "target": {"alias": "B", "bootstrap_servers": "b1:9092"},
        "topics": ["Payments"],
        "parts": ["source"],
        "request_timeout": 1.0,
        "wait_timeout": 1.0,
        "wait_sleep": 0.05,
        **more,
    }


def test_a_worker_without_the_connector_class_is_reported(worker: ScriptedWorker) -> None:
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, [{"class": "org.example.Other"}])]
    result = run_module(connect_mirror, params(worker))
    assert result["error"]["code"] == "connector_class_missing"
    assert "no connector of MirrorMaker 2" in result["msg"]
    assert worker.calls == [LIST, HEALTH, LIST, FIND, ("GET", "/connector-plugins")]


def test_workers_of_another_cluster_are_refused(worker: ScriptedWorker) -> None:
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, {"kafka_cluster_id": "id-of-P"})]
    target = {"alias": "B", "bootstrap_servers": "b1:9092", "cluster_id": "id-of-B"}
    result = run_module(connect_mirror, params(worker, target=target))
    assert result["error"]["code"] == "wrong_connect_cluster"
    assert "id-of-P" in result["msg"]


def test_workers_of_the_source_are_refused_even_if_the_target_is_unknown(worker: ScriptedWorker) -> None:
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, {"kafka_cluster_id": "id-of-P"})]
    source = {"alias": "P", "bootstrap_servers": "p1:9092", "cluster_id": "id-of-P"}
    assert run_module(connect_mirror, params(worker, source=source))["error"]["code"] == "wrong_connect_cluster"


def test_a_stop_is_refused_on_workers_beside_the_wrong_cluster(worker: ScriptedWorker) -> None:
    """A missing connector there would count as stopped, while the flow's own workers continue to run it."""
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, {"kafka_cluster_id": "id-of-P"})]
    target = {"alias": "B", "bootstrap_servers": "b1:9092", "cluster_id": "id-of-B"}
    result = run_module(connect_mirror, params(worker, target=target, state="stopped"))
    assert result["error"]["code"] == "wrong_connect_cluster"


def test_workers_that_are_too_old_are_refused_with_their_version(worker: ScriptedWorker) -> None:
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, {"kafka_cluster_id": "id-of-B", "version": "3.6.2"})]
    target = {"alias": "B", "bootstrap_servers": "b1:9092", "cluster_id": "id-of-B"}
    result = run_module(connect_mirror, params(worker, target=target))
    assert result["error"]["code"] == "connect_too_old"
    assert "run 3.6.2, wanted Kafka 3.7 or later" in result["msg"]
    assert [method for method, _path in worker.calls] == ["GET"] * 5


def test_a_connector_on_old_workers_can_be_stopped(worker: ScriptedWorker) -> None:
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, {"kafka_cluster_id": "id-of-B", "version": "3.6.2"})]
    target = {"alias": "B", "bootstrap_servers": "b1:9092", "cluster_id": "id-of-B"}
    assert run_module(connect_mirror, params(worker, target=target, state="stopped"))["rc"] == 0


def test_a_second_connector_of_the_flow_is_refused(worker: ScriptedWorker) -> None:
    worker.answers = [(200, {"mine": entry("RUNNING", "RUNNING")}), NOT_FOUND]
    result = run_module(connect_mirror, params(worker))
    assert result["error"]["code"] == "flow_runs_twice"
    assert '"mine"' in result["msg"]
    # The module may stop or delete one of the two. Otherwise every record would be replicated twice.
    assert "kafka_dr_adopt" in result["error"]["hint"]


def test_a_connector_that_was_started_beside_ours_is_to_be_stopped(worker: ScriptedWorker) -> None:
    """Ours continues from its own offsets, so nothing is replicated again."""
    ours = entry("RUNNING", "RUNNING")
    worker.answers = [(200, {SOURCE: ours, "third": entry("RUNNING", "RUNNING")})]
    result = run_module(connect_mirror, params(worker))
    assert result["error"]["code"] == "flow_runs_twice"
    assert "PUT /connectors/NAME/stop): third. Then start" in result["error"]["hint"]
    assert "replicates everything again" not in result["error"]["hint"]


def test_with_the_policy_identity_the_other_connectors_are_to_be_stopped(worker: ScriptedWorker) -> None:
    """kafka_dr_adopt is refused there, and a flow starts where the records of the target end."""
    checkpoint = entry("RUNNING", "RUNNING")
    checkpoint["info"]["config"]["connector.class"] = f"{PACKAGE}MirrorCheckpointConnector"
    worker.answers = [(200, {"mine": entry("RUNNING", "RUNNING"), "theirs": checkpoint}), NOT_FOUND, NOT_FOUND]
    result = run_module(connect_mirror, params(worker, policy="identity", parts=["source", "checkpoint"]))
    assert result["error"]["code"] == "flow_runs_twice"
    assert "PUT /connectors/NAME/stop): mine, theirs." in result["error"]["hint"]
    assert "kafka_dr_adopt" not in result["error"]["hint"]
    assert "again:" in result["error"]["hint"]


def test_a_connector_to_adopt_may_still_run_only_in_check_mode(worker: ScriptedWorker) -> None:
    """A real run has stopped it by then. If it runs all the same, it replicates everything twice."""
    worker.answers = [(200, {"mine": entry("RUNNING", "RUNNING")}), NOT_FOUND]
    assert run_module(connect_mirror, params(worker, adopted=["mine"]))["error"]["code"] == "flow_runs_twice"
    worker.answers = [(200, {"mine": entry("RUNNING", "RUNNING")}), NOT_FOUND, (200, PLUGINS), (200, {"configs": []})]
    planned = run_module(connect_mirror, params(worker, adopted=["mine"]), check=True)
    assert (planned["rc"], [change["action"] for change in planned["changes"]]) == (0, ["create"])


def test_unsafe_settings_of_an_existing_connector_are_refused_with_the_next_step(worker: ScriptedWorker) -> None:
    worker.answers = [(200, {SOURCE: entry("RUNNING", "RUNNING", transforms="route")})]
    result = run_module(connect_mirror, params(worker))
    assert result["error"]["code"] == "connector_unsafe"
    assert "to null in source_settings" in result["error"]["hint"]


def test_check_mode_validates_and_writes_nothing(worker: ScriptedWorker) -> None:
    errors = {"configs": [{"value": {"name": "tasks.max", "errors": ["must be at least 1"]}}]}
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, PLUGINS), (200, errors)]
    result = run_module(connect_mirror, params(worker), check=True)
    assert result["error"]["code"] == "settings_invalid"
    assert '"tasks.max": must be at least 1' in result["msg"]
    assert worker.calls[-1] == ("PUT", f"/connector-plugins/{PACKAGE}MirrorSourceConnector/config/validate")


def test_workers_that_refuse_the_producer_settings_are_named(worker: ScriptedWorker) -> None:
    """R38: with the policy None the file of the workers decides on the order of replication."""
    text = "The 'None' policy does not allow 'producer.acks' to be overridden in the connector configuration."
    errors = {"configs": [{"value": {"name": "producer.override.acks", "errors": [text]}}]}
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, PLUGINS), (200, errors)]
    result = run_module(connect_mirror, params(worker))
    assert result["error"]["code"] == "overrides_refused"
    assert text in result["msg"]
    assert "connector.client.config.override.policy=All" in result["error"]["hint"]
    assert not [call for call in worker.calls if call[0] == "POST"]


def test_a_password_is_sent_to_the_worker_and_never_shown(worker: ScriptedWorker) -> None:
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "mm2",
        "sasl.password": "open sesame",
    }
    source = {"alias": "P", "bootstrap_servers": "p1:9092", "client": client}
    worker.answers = [
        *NO_CONNECTORS,
        NOT_FOUND,
        (200, PLUGINS),
        (200, {"configs": []}),
        (400, {"message": "bad: open sesame"}),
    ]
    result = run_module(connect_mirror, params(worker, source=source, state="present"), diff=True)
    assert "open sesame" in worker.asked[-1][2]["config"]["source.cluster.sasl.jaas.config"]
    assert "sesame" not in repr(result)
    assert result["diff"]["after"][f"connector {SOURCE}"]["source.cluster.sasl.jaas.config"] == "(secret)"


def test_a_stop_whose_tasks_never_end_fails_with_the_last_observed_state(worker: ScriptedWorker) -> None:
    half = {SOURCE: entry("STOPPED", "RUNNING")}
    worker.endless = (200, half)
    worker.answers = [(200, half), (204, None)]
    result = run_module(connect_mirror, params(worker, state="stopped", wait_timeout=0.3))
    assert result["error"]["code"] == "connector_not_ready"
    assert f'"{SOURCE}" is STOPPED, tasks: 0 RUNNING' in result["msg"]
    assert result["changes"][0]["status"] == "failed"
    assert result["connectors"][0]["final"] is False


def test_a_stop_without_a_response_is_repeated_until_the_status_shows_it(worker: ScriptedWorker) -> None:
    storage = (500, {"message": "Error writing root configuration to Kafka"})
    running = {SOURCE: entry("RUNNING", "RUNNING")}
    worker.answers = [
        (200, running),
        storage,
        storage,
        storage,
        storage,
        (204, None),
        (200, {SOURCE: entry("STOPPED")}),
    ]
    result = run_module(connect_mirror, params(worker, state="stopped", wait_timeout=10))
    assert (result["rc"], result["changes"][0]["status"]) == (0, "done")
    assert result["connectors"][0]["final"] is True


def test_a_failed_task_is_restarted_once_and_then_reported(
    worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect import reconcile

    monkeypatch.setattr(reconcile, "RESTART_SECONDS", 0.1)
    failed = {SOURCE: entry("RUNNING", "FAILED")}
    wanted = run_config(worker)
    failed[SOURCE]["info"]["config"] = wanted
    worker.endless = (200, failed)
    worker.answers = [(200, failed), (202, {})]
    result = run_module(connect_mirror, params(worker, wait_timeout=5))
    assert result["error"]["code"] == "connector_failed"
    assert "task 0: x: no" in result["msg"]
    assert [method for method, path in worker.calls if "restart" in path] == ["POST"]


def test_an_unreachable_worker_is_reported_at_once_and_nothing_is_changed(worker: ScriptedWorker) -> None:
    result = run_module(connect_mirror, params(worker, connect_url="http://127.0.0.1:9", request_timeout=0.5))
    assert result["error"]["code"] == "connect_unreachable"
    assert (result["changed"], result["changes"]) == (False, [])


def test_the_info_module_finds_connectors_by_alias_and_not_by_name(worker: ScriptedWorker) -> None:
    others = {
        "b": entry("RUNNING", **{"source.cluster.alias": "X"}),
        "sink": {"info": {"config": {"connector.class": "S"}}},
    }
    offsets = {"offsets": [{"partition": {"cluster": "P", "partition": 0, "topic": "T"}, "offset": {"offset": 4}}]}
    worker.answers = [(200, {"a": entry("STOPPED", **{"x.password": "sesame"}), **others}), (200, offsets)]
    result = run_module(connect_mirror_info, {"connect_url": worker.url, "source_alias": "P"})
    (found,) = result["connectors"]
    assert (found["name"], found["part"], found["source"], found["target"], found["final"]) == (
        "a",
        "source",
        "P",
        "B",
        True,
    )
    assert found["offsets"] == [{"topic": "T", "partition": 0, "offset": 4}]
    assert "sesame" not in repr(result)


def test_waiting_for_a_flow_that_does_not_exist_is_an_error(worker: ScriptedWorker) -> None:
    worker.endless = (200, {})
    asked = {"connect_url": worker.url, "wait_for": "stopped", "wait_timeout": 0.2, "wait_sleep": 0.05}
    result = run_module(connect_mirror_info, asked)
    assert result["error"]["code"] == "connector_not_ready"
    assert "no such connector" in result["msg"]


def run_config(worker: ScriptedWorker) -> dict[str, str]:
    """The configuration that the module creates for these parameters, as the worker received it."""
    worker.answers = [*NO_CONNECTORS, NOT_FOUND, (200, PLUGINS), (200, {"configs": []}), (400, {"message": "no"})]
    run_module(connect_mirror, params(worker, state="present"))
    config: dict[str, str] = worker.asked[-1][2]["config"]
    return config

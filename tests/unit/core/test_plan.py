# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a check run: the order of the phases, the planned changes, and what is unknown."""

from __future__ import annotations

from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page_cutover import cutover_page
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.plan import cutover_plan, plan_lines

ROW = {
    "group": "g",
    "topic": "P.T",
    "partition": 0,
    "left": 7,
    "existing": 5,
    "offset": 7,
    "quality": "exact",
    "rereads": 0,
    "reason": "drained",
}


def client(name: str, role: str, **parts: Any) -> dict[str, Any]:
    base = {"name": name, "role": role, "hosts": "app1", "control": "command", "become": False, "after": []}
    commands = {"start": [name, "start"], "stop": [name, "stop"], "endpoint_file": f"/etc/{name}.env"}
    return {**base, **commands, "unit": None, "tasks_file": None, "workload": None, **parts}


PAIR: dict[str, Any] = {
    "spec": {
        "clusters": {alias: {"bootstrap_servers": f"{alias}:9092"} for alias in "PB"},
        "topics": ["T"],
        "groups": ["g"],
    },
    "policy": "default",
    "separator": ".",
    "engine": "connect",
    "clusters": {alias: {"bootstrap_servers": f"{alias}:9092", "client": {}, "cluster_id": None} for alias in "PB"},
    "topics": [{"name": "T"}],
    "groups": ["g"],
    "flow": {},
    "application": None,
    "parts": ["source", "checkpoint", "heartbeat"],
    "flows": {"P->B": {"source": "P", "target": "B"}, "B->P": {"source": "B", "target": "P"}},
    "clients": [
        client("api", "producer"),
        client("fraud", "processor", control="systemd", unit="fraud.service", hosts="both"),
        client("ledger", "consumer", control="tasks", tasks_file="ledger.yml", endpoint_file=""),
    ],
}


def status(**states: str) -> dict[str, Any]:
    def flow(name: str) -> dict[str, Any]:
        parts = {"source": "RUNNING", "checkpoint": "RUNNING" if name == "P->B" else "STOPPED", "heartbeat": "RUNNING"}
        return {"name": name, "connectors": [{"part": part, "state": state} for part, state in parts.items()]}

    return {"flows": [flow("P->B"), flow("B->P")]}


def facts(**parts: Any) -> dict[str, Any]:
    base = {
        "pair": PAIR,
        "hosts": {"both": ["app2", "app3"]},
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "status": status(),
        "forecast": {"details": [ROW], "rereads": 0},
        "survey": {},
        "durations": {},
    }
    return {**base, **parts}


def steps(kind: str) -> list[tuple[str, str, str]]:
    plan = cutover_plan(facts(type=kind, survey={"details": []} if kind == "disaster" else {}))
    return [(step["action"], step["client"], step["host"]) for step in plan["clients"]]


def test_a_cutoff_stops_every_application_before_it_starts_one() -> None:
    assert steps("cutoff") == [
        ("stop", "api", "app1"),
        ("stop", "ledger", "app1"),
        ("stop", "fraud", "app2"),
        ("stop", "fraud", "app3"),
        ("start", "api", "app1"),
        ("start", "fraud", "app2"),
        ("start", "fraud", "app3"),
        ("start", "ledger", "app1"),
    ]


def test_a_continuous_cutover_and_a_disaster_start_consumers_before_producers_stop() -> None:
    for kind in ("continuous", "disaster"):
        order = [(action, name) for action, name, _host in steps(kind)]
        assert order.index(("start", "ledger")) < order.index(("stop", "api")) < order.index(("start", "api"))
        # A processor writes, so it starts with the producers.
        assert order.index(("stop", "api")) < order.index(("start", "fraud"))


def test_each_step_shows_its_command_and_the_file_that_it_writes() -> None:
    shown = {(step["action"], step["client"]): step for step in cutover_plan(facts())["clients"]}
    assert shown["stop", "api"]["how"] == "api stop"
    assert (shown["stop", "api"]["on"], shown["stop", "api"]["endpoint_file"]) == ("P", None)
    assert (shown["start", "api"]["on"], shown["start", "api"]["endpoint_file"]) == ("B", "/etc/api.env")
    assert shown["start", "fraud"]["how"] == "systemctl start fraud.service"
    assert (shown["start", "ledger"]["how"], shown["start", "ledger"]["endpoint_file"]) == ("ledger.yml", None)


def test_only_connectors_whose_state_changes_are_named() -> None:
    rows = cutover_plan(facts())["connectors"]
    assert {row["connector"]: (row["now"], row["then"]) for row in rows} == {
        "P->B.MirrorCheckpointConnector": ("RUNNING", "STOPPED"),
        "B->P.MirrorCheckpointConnector": ("STOPPED", "RUNNING"),
    }
    assert cutover_plan(facts(pair={**PAIR, "engine": "srm"}))["connectors"] is None


def test_a_connector_that_does_not_exist_is_absent_and_one_that_was_not_observed_is_unknown() -> None:
    seen = status()
    seen["flows"][1]["connectors"][1]["state"] = None
    rows = {row["connector"]: row["now"] for row in cutover_plan(facts(status=seen))["connectors"]}
    assert rows["B->P.MirrorCheckpointConnector"] == "absent"
    rows = {row["connector"]: row["now"] for row in cutover_plan(facts(status={}))["connectors"]}
    assert rows["B->P.MirrorCheckpointConnector"] is None


def test_a_disaster_only_changes_connectors_beside_the_surviving_cluster() -> None:
    found = cutover_plan(
        facts(type="disaster", status={}, survey={"details": [ROW], "rereads": 3, "loss_lines": ["?"]})
    )
    assert {row["connector"]: (row["now"], row["then"]) for row in found["connectors"]} == {
        "P->B.MirrorSourceConnector": (None, "STOPPED"),
        "P->B.MirrorCheckpointConnector": (None, "STOPPED"),
    }
    assert (found["rereads"], found["loss_lines"]) == (3, ["?"])
    assert "loss: ?" in plan_lines(found, "disaster")


def test_unobserved_values_are_unknown_and_never_a_number() -> None:
    found = cutover_plan(facts(forecast={}, status={}))
    assert (found["committed_offsets"], found["rereads"], found["loss"], found["predicted"]) == (None, None, None, None)
    lines = plan_lines(found, "cutoff")
    assert "committed offsets: unknown" in lines
    assert "records read again: unknown" in lines
    assert lines[-1].startswith("duration: unknown")


def test_the_duration_only_uses_earlier_runs_of_the_same_type() -> None:
    took = {"last": 9.0, "median": 9.2, "runs": 2, "phases": {"drain": 2.5, "barrier": 1.0}}
    lines = plan_lines(cutover_plan(facts(durations={"cutoff": took})), "cutoff")
    assert lines[-1] == "duration: 9.2 s, the median of 2 completed runs (drain 2.5 s, barrier 1.0 s)"
    lines = plan_lines(cutover_plan(facts(durations={"cutoff": {**took, "phases": {}}})), "cutoff")
    assert lines[-1].endswith("(phases unknown)")
    assert cutover_plan(facts(durations={"disaster": took}))["predicted"] is None


def test_lines_name_clients_connectors_and_offsets() -> None:
    lines = plan_lines(cutover_plan(facts()), "cutoff")
    assert lines[0] == "would stop api (producer) on app1: api stop"
    assert "would start api (producer) on app1: api start, after writing /etc/api.env for B" in lines
    assert "would change P->B.MirrorCheckpointConnector: RUNNING -> STOPPED" in lines
    assert "would commit g P.T-0: 7 (now 5; exact, rereads at most 0)" in lines


def test_only_the_page_of_a_check_run_shows_the_plan() -> None:
    document = {"type": "cutoff", "from": "P", "to": "B", "outcome": "checked", "plan": cutover_plan(facts())}
    assert "would stop api (producer) on app1: api stop" in cutover_page(document)
    assert "What would be done" not in cutover_page({**document, "plan": None})
    assert "What would be done" not in cutover_page({**document, "plan": {"clients": 5}})

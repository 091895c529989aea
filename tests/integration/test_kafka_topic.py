# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kafka_topic and kafka_topic_info on a real cluster: create, repeat, check, diff, update, fail."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic, kafka_topic_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def cluster(lab: Any) -> dict[str, Any]:
    found: dict[str, Any] = lab.info()["clusters"]["P"]
    return found


@pytest.fixture
def apply(cluster: dict[str, Any]) -> Run:
    def run(topics: list[dict[str, Any]], check: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        base = {"bootstrap_servers": cluster["bootstrap_servers"], "expected_cluster_id": cluster["cluster_id"]}
        return run_module(kafka_topic, {**base, "topics": topics, **params}, check, diff)

    return run


@pytest.fixture
def observe(cluster: dict[str, Any]) -> Run:
    def run(name: str, **params: Any) -> dict[str, Any]:
        base = {"bootstrap_servers": cluster["bootstrap_servers"], "topics": [name]}
        found: dict[str, Any] = run_module(kafka_topic_info, {**base, **params})["topics"][0]
        return found

    return run


def apis(result: dict[str, Any]) -> list[str]:
    return [request["api"] for request in result["requests"]]


def actions(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(change["name"], change["action"], change["status"]) for change in result["changes"]]


def test_a_topic_is_created_and_the_second_run_changes_nothing(apply: Run, observe: Run, topic: str) -> None:
    wanted = {"name": topic, "partitions": 3, "replication_factor": 1, "config": {"retention.ms": "7d"}}

    first, again = apply([wanted]), apply([wanted])

    assert (first["changed"], actions(first)) == (True, [(topic, "create", "done")])
    assert (again["changed"], again["changes"]) == (False, [])
    found = observe(topic, offsets=True)
    assert (found["partitions"], found["replication_factor"], found["leaderless"]) == (3, 1, [])
    assert found["config"] == {"retention.ms": "604800000"}
    assert found["offsets"] == [{"partition": n, "start": 0, "end": 0} for n in range(3)]


def test_check_mode_shows_the_same_changes_and_creates_nothing(apply: Run, observe: Run, topic: str) -> None:
    wanted = [{"name": topic, "partitions": 2, "config": {"cleanup.policy": ["compact", "delete"]}}]

    planned = apply(wanted, check=True, diff=True)
    assert observe(topic)["exists"] is False
    done = apply(wanted, diff=True)

    assert actions(planned) == [(topic, "create", "planned")]
    assert (
        planned["diff"]
        == done["diff"]
        == {
            "before": {f"topic {topic}": None},
            "after": {
                f"topic {topic}": {"partitions": 2, "replication_factor": None, "cleanup.policy": "compact,delete"},
            },
        }
    )


def test_partitions_are_added_and_settings_merged(apply: Run, observe: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1, "config": {"segment.ms": "1h", "retention.ms": -1}}])

    result = apply([{"name": topic, "partitions": 4, "config": {"retention.ms": 1000, "min.insync.replicas": 1}}])

    assert actions(result) == [(topic, "add_partitions", "done"), (topic, "alter_config", "done")]
    # min.insync.replicas already has the broker's default, so no setting is changed.
    assert result["changes"][1]["before"] == {"retention.ms": "-1"}
    found = observe(topic)
    assert (found["partitions"], found["leaderless"]) == (4, [])
    assert found["config"] == {"segment.ms": "3600000", "retention.ms": "1000"}


def test_exact_removes_the_settings_that_are_not_named(apply: Run, observe: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1, "config": {"segment.ms": "1h", "retention.ms": "1d"}}])
    wanted = [{"name": topic, "config": {"retention.ms": "1d"}}]

    assert apply(wanted)["changed"] is False
    result = apply(wanted, config_mode="exact")

    assert result["changes"][0]["after"] == {"segment.ms": None}
    assert observe(topic)["config"] == {"retention.ms": "86400000"}
    assert apply(wanted, config_mode="exact")["changed"] is False


def test_a_setting_of_null_returns_to_its_default(apply: Run, observe: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1, "config": {"segment.ms": "1h"}}])

    assert apply([{"name": topic, "config": {"segment.ms": None}}])["changed"] is True
    assert observe(topic)["config"] == {}
    assert apply([{"name": topic, "config": {"segment.ms": None}}])["changed"] is False


def test_fewer_partitions_are_refused_with_the_next_step(apply: Run, observe: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 3, "config": {}}])

    result = apply([{"name": topic, "partitions": 2, "config": {"retention.ms": "1d"}}])

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "partitions_fewer")
    assert "has 3 partitions, wanted 2" in result["msg"]
    assert "Set partitions: 3" in result["error"]["hint"]
    assert (observe(topic)["partitions"], observe(topic)["config"]) == (3, {})


def test_another_replication_factor_is_refused_with_the_next_step(apply: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1}])

    result = apply([{"name": topic, "replication_factor": 3}], check=True)

    assert result["error"]["code"] == "replication_factor_differs"
    assert "Reassign" in result["error"]["hint"]


@pytest.mark.parametrize(
    ("item", "reason", "code"),
    [
        ({"replication_factor": 3}, "replication factor of 3 cannot be reached", "replication_factor_too_high"),
        ({"config": {"no.such.setting": 1}}, "no.such.setting", "topic_refused"),
        ({"config": {"retention.ms": "soon"}}, "soon", "topic_refused"),
        ({"partitions": 20000}, "large number of partitions", "topic_refused"),
    ],
)
def test_what_the_broker_would_refuse_is_refused_in_check_mode(
    apply: Run, topic: str, item: dict[str, Any], reason: str, code: str
) -> None:
    result = apply([{"name": topic, **item}], check=True)

    assert (result["failed"], result["error"]["code"]) == (True, code)
    assert reason in result["msg"]
    assert result["changes"][0]["status"] == "failed"


@pytest.mark.parametrize("item", [{"config": {"retention.ms": "soon"}}, {"config": {"no.such": 1}}])
def test_bad_settings_of_an_existing_topic_are_refused_in_check_mode(
    apply: Run, topic: str, item: dict[str, Any]
) -> None:
    apply([{"name": topic, "partitions": 1}])

    result = apply([{"name": topic, **item}], check=True)

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "topic_refused")


def test_one_refused_topic_does_not_prevent_the_others(apply: Run, observe: Run, topic: str) -> None:
    good, bad = f"{topic}-good", f"{topic}-bad"

    result = apply([{"name": bad, "replication_factor": 3}, {"name": good, "partitions": 2}])

    assert (result["failed"], result["changed"]) == (True, True)
    assert sorted(actions(result)) == [(bad, "create", "failed"), (good, "create", "done")]
    assert (observe(bad)["exists"], observe(good)["partitions"]) == (False, 2)


def test_absent_deletes_the_named_topic_and_the_second_run_changes_nothing(
    apply: Run, observe: Run, topic: str
) -> None:
    apply([{"name": topic, "partitions": 1}])

    assert actions(apply([{"name": topic}], state="absent", check=True)) == [(topic, "delete", "planned")]
    assert observe(topic)["exists"] is True
    assert actions(apply([{"name": topic}], state="absent")) == [(topic, "delete", "done")]
    assert observe(topic)["exists"] is False
    assert apply([{"name": topic}], state="absent")["changed"] is False


def test_a_list_with_an_internal_topic_deletes_nothing(apply: Run, observe: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1}])

    result = apply([{"name": topic}, {"name": "mm2-offset-syncs.B.internal"}], state="absent")

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "topic_internal")
    assert observe(topic)["exists"] is True


def test_the_wrong_cluster_is_refused_before_anything_else(apply: Run, observe: Run, topic: str) -> None:
    result = apply([{"name": topic}], expected_cluster_id="another-cluster")

    assert (result["failed"], result["changed"], result["error"]["code"]) == (True, False, "wrong_cluster")
    assert "another-cluster" in result["msg"]
    assert observe(topic)["exists"] is False


def test_a_broker_that_is_down_is_named(topic: str) -> None:
    # No process listens on port 1 of this host.
    params = {"bootstrap_servers": "127.0.0.1:1", "request_timeout": 2, "topics": [{"name": topic}]}

    result = run_module(kafka_topic, params)

    assert (result["failed"], result["error"]["code"]) == (True, "kafka_unreachable")
    assert "127.0.0.1:1" in result["msg"]


def test_reading_a_missing_topic_does_not_create_it(cluster: dict[str, Any], observe: Run, topic: str) -> None:
    assert observe(topic, offsets=True, config="all") == {
        "name": topic,
        "exists": False,
        **dict.fromkeys(
            (
                "topic_id",
                "partitions",
                "replication_factor",
                "leaderless",
                "config",
                "cleanup_policy",
                "timestamp_type",
                "offsets",
            )
        ),
    }
    everything = run_module(kafka_topic_info, {"bootstrap_servers": cluster["bootstrap_servers"], "internal": True})
    assert topic not in [one["name"] for one in everything["topics"]]


def test_listing_all_topics_omits_internal_ones(cluster: dict[str, Any], apply: Run, topic: str) -> None:
    apply([{"name": topic, "partitions": 1, "config": {"message.timestamp.type": "LogAppendTime"}}])
    params = {"bootstrap_servers": cluster["bootstrap_servers"]}

    ordinary = {one["name"]: one for one in run_module(kafka_topic_info, params)["topics"]}
    everything = {one["name"] for one in run_module(kafka_topic_info, {**params, "internal": True})["topics"]}

    assert ordinary[topic]["timestamp_type"] == "LogAppendTime"
    assert ordinary[topic]["cleanup_policy"] == "delete"
    internal = everything - set(ordinary)
    assert internal
    assert not {name for name in ordinary if name.startswith(("__", "connect-"))}


def test_more_records_than_the_controller_accepts_at_once_are_sent_in_several_requests(apply: Run, topic: str) -> None:
    wanted = [{"name": f"{topic}-{n}", "partitions": 100} for n in range(150)]

    planned = apply(wanted, check=True)

    assert planned["failed"] is False
    assert apis(planned).count("create_topics") == 2


def test_a_thousand_unchanged_topics_take_three_requests(apply: Run, topic: str) -> None:
    wanted = [{"name": f"{topic}-{n}", "partitions": 1, "config": {"retention.ms": "1d"}} for n in range(1000)]
    created = apply(wanted)
    try:
        unchanged, checked = apply(wanted), apply(wanted, check=True)
    finally:
        apply([{"name": one["name"]} for one in wanted], state="absent")

    assert len(created["changes"]) == 1000
    assert (unchanged["changed"], unchanged["changes"]) == (False, [])
    assert apis(unchanged) == apis(checked) == ["describe_cluster", "describe_topics", "describe_configs"]

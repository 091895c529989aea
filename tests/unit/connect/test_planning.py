# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps from the current to the desired state of a connector, and when a worker's response counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.planning import (
    DesiredConnector,
    masked,
    merged_config,
    plan,
    retained_settings,
    rivals,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import Connector, Task
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.validate import field_errors
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.watching import TASKLESS_SECONDS, Watch

NAME = "P->B.MirrorSourceConnector"
CLASS = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
CONFIG: dict[str, str | None] = {"name": NAME, "topics": "a"}


def desired(state: str, part: str = "source", **config: str | None) -> DesiredConnector:
    return DesiredConnector(NAME, part, state, {**CONFIG, **config})


def connector(state: str | None, *tasks: str, name: str = NAME, **config: str) -> Connector:
    found = tuple(Task(index, task, "boom" if task == "FAILED" else "") for index, task in enumerate(tasks))
    return Connector(name, state, found, {"name": name, "topics": "a", **config})


@pytest.mark.parametrize(
    ("state", "actual", "actions"),
    [
        ("present", None, ["create"]),
        ("running", None, ["create"]),
        ("stopped", None, []),
        ("absent", None, []),
        ("present", connector("RUNNING", "RUNNING"), []),
        ("present", connector("STOPPED"), []),
        ("present", connector("STOPPED", topics="b"), ["update"]),
        ("inactive", None, []),
        ("inactive", connector("STOPPED"), []),
        ("inactive", connector("STOPPED", topics="b"), ["update"]),
        ("running", connector("RUNNING", "RUNNING"), []),
        ("running", connector("RUNNING"), []),
        ("running", connector(None), []),
        ("running", connector("STOPPED"), ["resume"]),
        ("running", connector("PAUSED", "PAUSED"), ["resume"]),
        ("running", connector("STOPPED", topics="b"), ["update", "resume"]),
        ("running", connector("RUNNING", "RUNNING", "FAILED"), ["restart"]),
        ("running", connector("FAILED"), ["restart"]),
        ("stopped", connector("STOPPED"), []),
        ("stopped", connector("STOPPED", "RUNNING"), ["stop"]),
        ("stopped", connector("RUNNING", "RUNNING", topics="b"), ["stop"]),
        ("stopped", connector("FAILED"), ["stop"]),
        ("stopped", connector(None), ["stop"]),
        ("absent", connector("STOPPED"), ["delete"]),
        ("absent", connector("RUNNING", "RUNNING"), ["stop", "delete"]),
    ],
)
def test_the_planned_steps(state: str, actual: Connector | None, actions: list[str]) -> None:
    assert [change.action for change in plan(desired(state), actual)] == actions


def test_a_new_connector_starts_stopped_unless_it_is_to_run() -> None:
    assert [(plan(desired(state), None)[0].after or {})["state"] for state in ("present", "running")] == [
        "STOPPED",
        "RUNNING",
    ]


def test_an_update_only_names_differences_and_keeps_unmentioned_settings() -> None:
    actual = connector("RUNNING", topics="b", extra="1", old="2")
    wanted = desired("present", old=None, new="3")
    (change,) = plan(wanted, actual)
    assert change.before == {"new": None, "old": "2", "topics": "b"}
    assert change.after == {"new": "3", "old": None, "topics": "a"}
    assert merged_config(wanted, actual) == {"name": NAME, "topics": "a", "extra": "1", "new": "3"}
    assert retained_settings(wanted, actual) == ["extra"]


def test_a_changed_secret_is_detected_and_never_shown() -> None:
    key = "source.cluster.sasl.jaas.config"
    created, updated = plan(desired("present", **{key: "open sesame"}), None), None
    (updated,) = plan(desired("present", **{key: "open sesame"}), connector("RUNNING", **{key: "old word"}))
    assert "sesame" not in repr(created)
    assert "sesame" not in repr(updated)
    assert "old word" not in repr(updated)
    assert updated.before != updated.after
    assert plan(desired("present", **{key: "same"}), connector("RUNNING", **{key: "same"})) == []


@pytest.mark.parametrize(
    ("key", "hidden"),
    [
        ("source.cluster.sasl.jaas.config", True),
        ("target.cluster.ssl.keystore.password", True),
        ("target.cluster.ssl.keystore.key", True),
        ("source.cluster.ssl.truststore.location", False),
        ("sasl.oauthbearer.token.endpoint.url", False),
        ("topics", False),
    ],
)
def test_secrets_are_recognised_by_the_names_of_their_settings(key: str, hidden: bool) -> None:
    assert (masked({key: "value"})[key] != "value") == hidden


_KEYS = st.sampled_from(["topics", "groups", "a.password", "x", "y"])


@given(
    st.dictionaries(_KEYS, st.none() | st.sampled_from(["1", "2"])),
    st.dictionaries(_KEYS, st.sampled_from(["1", "2", "3"])),
)
def test_applying_an_update_leaves_nothing_to_update(wanted: dict[str, Any], had: dict[str, str]) -> None:
    want = DesiredConnector(NAME, "source", "present", wanted)
    after = Connector(NAME, "RUNNING", (), merged_config(want, Connector(NAME, "RUNNING", (), had)))
    assert plan(want, after) == []
    assert all(after.config[key] == value for key, value in had.items() if key not in wanted)


def test_a_second_connector_of_the_same_flow_is_a_rival_until_it_is_stopped() -> None:
    aliases = {"source.cluster.alias": "P", "target.cluster.alias": "B"}
    wanted = DesiredConnector(NAME, "source", "running", {**CONFIG, **aliases})
    twin = {**aliases, "connector.class": CLASS, "topics": "Payments"}
    other_way = {"source.cluster.alias": "B", "target.cluster.alias": "P", "connector.class": CLASS}
    found = {
        NAME: connector("RUNNING", **twin),
        "mine": connector("RUNNING", name="mine", **twin),
        "all": connector("RUNNING", name="all", **{**twin, "topics": ".*"}),
        "other": connector("RUNNING", name="other", **{**twin, "topics": r"Orders,orders\..*"}),
        "old": connector("STOPPED", name="old", **twin),
        "back": connector("RUNNING", name="back", **other_way),
        "sink": connector("RUNNING", name="sink"),
    }
    assert rivals(wanted, ["Payments"], found) == ["all", "mine"]
    assert rivals(wanted, ["Payments", "orders.eu"], found) == ["all", "mine", "other"]


def test_validation_errors_are_reported_by_field_without_secrets() -> None:
    values = [
        {"value": {"name": "offset.lag.max", "errors": ["Not a number of type LONG"]}},
        {"value": {"name": "source.cluster.sasl.jaas.config", "errors": ["Invalid value open sesame"]}},
        {"value": {"name": "topics", "errors": []}},
    ]
    found = field_errors({"configs": values})
    assert found == ['"offset.lag.max": Not a number of type LONG', '"source.cluster.sasl.jaas.config": not accepted']


# ---- when a response counts


@pytest.mark.parametrize(
    ("state", "actual", "reached"),
    [
        ("stopped", connector("STOPPED"), True),
        ("stopped", connector("STOPPED", "RUNNING"), False),
        ("stopped", connector("RUNNING"), False),
        ("stopped", connector(None), False),
        ("stopped", None, True),
        ("inactive", connector("STOPPED"), True),
        ("inactive", connector("STOPPED", "RUNNING"), False),
        ("inactive", connector("RUNNING"), False),
        ("inactive", None, True),
        ("present", connector(None), False),
        ("present", connector("RUNNING"), True),
        ("running", connector("RUNNING", "RUNNING"), True),
        ("running", connector("RUNNING", "UNASSIGNED"), False),
        ("running", None, False),
    ],
)
def test_the_state_of_an_unchanged_connector_counts_at_once(
    state: str, actual: Connector | None, reached: bool
) -> None:
    assert Watch(desired(state), changed=False).reached(actual, 0.0) == reached


def test_after_a_change_running_must_be_observed_twice_in_a_row() -> None:
    watch = Watch(desired("running"), changed=True)
    states = ["RUNNING", "UNASSIGNED", "RUNNING", "RUNNING"]
    assert [watch.reached(connector(state, "RUNNING"), 0.0) for state in states] == [False, False, False, True]


@pytest.mark.parametrize(
    ("state", "right", "wrong"),
    [
        ("running", connector("RUNNING", "RUNNING"), connector("UNASSIGNED", "RUNNING")),
        ("running", connector("RUNNING", "RUNNING"), connector("STOPPED", "RUNNING")),
        ("running", connector("RUNNING", "RUNNING"), connector("PAUSED", "RUNNING")),
        ("stopped", connector("STOPPED"), connector("RUNNING")),
        ("inactive", connector("STOPPED"), connector("RUNNING")),
        ("absent", connector("STOPPED"), connector("UNASSIGNED")),
    ],
)
def test_a_status_that_stays_wrong_is_stale_once(state: str, right: Connector, wrong: Connector) -> None:
    watch = Watch(desired(state), changed=False)
    observations = [(wrong, 0.0), (right, 4.0), (wrong, 4.5), (wrong, 9.4), (wrong, 9.6), (wrong, 60.0)]
    assert [watch.stale(actual, now, 0.0) for actual, now in observations] == [False] * 4 + [True, False]


def test_a_resume_without_tasks_may_take_longer() -> None:
    watch = Watch(desired("running", part="checkpoint"), changed=True)
    observations = [(connector("STOPPED"), now) for now in (0.0, 6.0, 29.0, 31.0, 90.0)]
    assert [watch.stale(actual, now, 0.0) for actual, now in observations] == [False] * 3 + [True, False]


@pytest.mark.parametrize(
    ("state", "actual"),
    [
        ("running", connector("FAILED")),
        ("running", connector("RUNNING", "FAILED")),
        ("running", connector(None)),
        ("stopped", connector("RUNNING", "RUNNING")),
        ("stopped", connector("STOPPED", "RUNNING")),
        ("present", connector("PAUSED")),
        ("running", connector("RUNNING", "RUNNING", "UNASSIGNED")),
    ],
)
def test_a_status_that_may_be_right_is_not_stale(state: str, actual: Connector) -> None:
    """A failure has its own restart, and a slow stop is not interrupted."""
    watch = Watch(desired(state), changed=False)
    assert not any(watch.stale(actual, now, 0.0) for now in (0.0, 6.0, 60.0))


def test_no_tasks_count_for_a_source_after_a_while_and_for_a_checkpoint_at_once() -> None:
    source, checkpoint = Watch(desired("running"), True), Watch(desired("running", part="checkpoint"), True)
    observations = [0.0, 0.3, TASKLESS_SECONDS - 0.1, TASKLESS_SECONDS + 0.1]
    assert [source.reached(connector("RUNNING"), now) for now in observations] == [False, False, False, True]
    assert [checkpoint.reached(connector("RUNNING"), now) for now in observations[:2]] == [False, True]

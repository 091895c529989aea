# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each single setting that carries a proof, removed, changed or left to a lower layer, is found by its name (R38)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.connector_client import ConnectorClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import (
    FlowSpec,
    check_settings,
    wanted_config,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import Connector
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.srm.replication_lines import (
    unsafe_lines,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS, naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.connector_settings import (
    IN_FORCE,
    PRODUCER,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import unsafe_settings
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.connect.engine import ConnectEngine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.site import Site

FLOW = FlowSpec(ClusterSpec("P", "p:9092"), ClusterSpec("B", "b:9092"), ("Payments",), ("settlement",))
IDEMPOTENT = ("enable.idempotence", "false"), ("acks", "1"), ("max.in.flight.requests.per.connection", "9")
#: Values with which a setting would break a proof, by the setting.
OTHER_VALUES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("key.converter", "value.converter", "header.converter"),
        ("org.apache.kafka.connect.json.JsonConverter", "${file:/etc/x:converter}"),
    ),
    "source.consumer.isolation.level": ("read_uncommitted",),
    "producer.override.acks": ("1", "0"),
    "producer.override.max.in.flight.requests.per.connection": ("5", "2"),
    "producer.override.delivery.timeout.ms": ("120000",),
    "producer.override.retries": ("0", "3"),
    "producer.override.interceptor.classes": ("org.example.Tracing",),
}
#: Settings that no lower layer supplies: a connector without them is safe.
ONLY_IN_THE_CONNECTOR: Mapping[str, tuple[str, ...]] = {
    "transforms": ("route",),
    "predicates": ("some",),
    "errors.tolerance": ("all",),
    "consumer.isolation.level": ("read_uncommitted",),
    "consumer.interceptor.classes": ("org.example.Filter",),
    "source.consumer.interceptor.classes": ("org.example.Filter",),
    "consumer.auto.offset.reset": ("latest",),
    "source.consumer.auto.offset.reset": ("latest",),
    "replication.policy.internal.topic.separator.enabled": ("false",),
    **{
        f"{prefix}{key}": (value,)
        for prefix in ("producer.", "source.producer.", "target.producer.")
        for key, value in IDEMPOTENT
    },
}
Configs = dict[str, dict[str, str]]


class Worker:
    """A worker that has these connectors, all of them RUNNING."""

    def __init__(self, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._configs = configs

    def connectors(self) -> dict[str, Connector]:
        return {
            FLOW.name(part): Connector(FLOW.name(part), "RUNNING", (), dict(config))
            for part, config in self._configs.items()
        }

    def offsets(self, name: str) -> dict[str, Any]:
        return {"offsets": []}


def enabled() -> Configs:
    """The three connectors as ``enable`` writes them."""
    return {
        part: {key: value for key, value in wanted_config(FLOW, part).items() if value is not None}
        for part in CONNECTORS
    }


def found(configs: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What readiness and the preflight of a move would report."""
    engine = ConnectEngine({"B": cast(ConnectorClient, Worker(configs))}, naming_of(), None)
    return unsafe_settings(engine.observe("P", "B").connectors)


def mutations() -> Iterator[tuple[str, str, str | None]]:
    """Every part, setting and wrong value; None: the connector does not have it, so a lower layer decides."""
    for part, settings in IN_FORCE.items():
        for key in settings:
            yield part, key, None
    for part in IN_FORCE:
        for key, values in {**OTHER_VALUES, **ONLY_IN_THE_CONNECTOR}.items():
            for value in values:
                yield part, key, value


def test_the_connectors_of_enable_are_safe() -> None:
    assert found(enabled()) == []
    assert set(OTHER_VALUES) == {key for settings in IN_FORCE.values() for key in settings}


@pytest.mark.parametrize(("part", "key", "value"), list(mutations()))
def test_one_setting_that_is_missing_or_changed_is_found_by_name(part: str, key: str, value: str | None) -> None:
    configs = enabled()
    if value is None:
        del configs[part][key]
    else:
        configs[part][key] = value
    (text,) = found(configs)
    assert f'"{key}"' in text
    assert text.startswith("The setting" if part == "source" else f"{part} connector: The setting")


def test_a_connector_of_an_earlier_version_is_found_with_all_that_it_lacks() -> None:
    """Counterexample: acks=1 and five requests in flight in the worker's file, and readiness answered YES."""
    configs = {
        part: {key: value for key, value in config.items() if key not in PRODUCER} for part, config in enabled().items()
    }
    text = " ".join(found(configs))
    assert all(f'"{key}"' in text for key in PRODUCER)
    assert "the file of its workers decides" in text
    # Sentences that are equal for two connectors are reported once.
    assert "connector: " not in text


@pytest.mark.parametrize("part", ["common", *CONNECTORS])
@pytest.mark.parametrize("key", list(OTHER_VALUES))
def test_an_inventory_can_neither_change_nor_remove_one(part: str, key: str) -> None:
    for value in (*OTHER_VALUES[key], None):
        with pytest.raises(DrError) as refused:
            check_settings(replace(FLOW, settings={part: {key: value}}), CONNECTORS)
        assert refused.value.code == "setting_refused"
        assert f'"{key}"' in refused.value.message


# ---- Streams Replication Manager: the layers of its lines

LINES = {
    "P->B.enabled": "true",
    **{
        f"P->B.{key}": value
        for settings in IN_FORCE.values()
        for key, value in settings.items()
        if key != "producer.override.interceptor.classes"
    },
}


def test_the_lines_of_enable_are_safe() -> None:
    assert unsafe_lines(LINES, "P", "B") == []


@pytest.mark.parametrize("key", [key for key in LINES if not key.endswith(".enabled")])
def test_a_flow_without_its_own_line_is_found_by_name(key: str) -> None:
    lines = {name: value for name, value in LINES.items() if name != key}
    (text,) = unsafe_lines(lines, "P", "B")
    assert f'"{key.removeprefix("P->B.")}"' in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key, values in OTHER_VALUES.items() for value in values),
        *((key, values[0]) for key, values in ONLY_IN_THE_CONNECTOR.items()),
    ],
)
def test_a_changed_line_is_found_in_every_layer_that_may_win(key: str, value: str) -> None:
    for prefix in ("P->B.", "connectors.", "P->B.connectors."):
        (text,) = unsafe_lines({**LINES, f"{prefix}{key}": value}, "P", "B")
        assert f'"{key}" is "{value}"' in text
        assert (f'Remove the line "{prefix}{key}"' in text) is (prefix != "P->B.")


@pytest.mark.parametrize(
    ("line", "value", "setting"),
    [
        ("errors.tolerance", "all", "errors.tolerance"),
        ("transforms", "route", "transforms"),
        ("P.consumer.auto.offset.reset", "latest", "source.consumer.auto.offset.reset"),
        ("P.producer.acks", "1", "source.producer.acks"),
        ("B.producer.acks", "1", "target.producer.acks"),
        ("B.producer.interceptor.classes", "org.example.Tracing", "producer.override.interceptor.classes"),
        ("workers.producer.interceptor.classes", "org.example.Tracing", "producer.override.interceptor.classes"),
        ("P->B.workers.producer.interceptor.classes", "org.example.Tracing", "producer.override.interceptor.classes"),
    ],
)
def test_a_line_of_a_lower_layer_is_found_and_named(line: str, value: str, setting: str) -> None:
    (text,) = unsafe_lines({**LINES, line: value}, "P", "B")
    assert f'"{setting}" is "{value}"' in text
    assert f'Remove the line "{line}"' in text


@pytest.mark.parametrize("line", ["P.consumer.isolation.level", "workers.producer.acks", "value.converter"])
def test_a_line_of_a_lower_layer_that_the_flow_overrides_is_not_reported(line: str) -> None:
    assert unsafe_lines({**LINES, line: "x"}, "P", "B") == []


# ---- workers that refuse them


@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        (None, False),
        ("All", False),
        ("org.example.OwnPolicy", False),
        ("None", True),
        ("Principal", True),
        ("org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy", True),
    ],
)
def test_a_kafkaconnect_that_refuses_overrides_is_named(policy: str | None, refused: bool) -> None:
    site = Site({"url": "https://127.0.0.1:1", "token": "x", "namespace": "kafka", "connect": "b"}, 1.0)
    config = {} if policy is None else {"connector.client.config.override.policy": policy}
    site.__dict__["worker"] = {"spec": {"config": config}}
    wanted = {**enabled()["source"], "name": FLOW.name("source")}
    if not refused:
        return site.require_overrides(wanted)
    with pytest.raises(DrError) as raised:
        site.require_overrides(wanted)
    assert raised.value.code == "overrides_refused"
    assert f'to "{policy}"' in raised.value.message
    # Stopping and deleting a connector writes no configuration.
    return site.require_overrides({"name": FLOW.name("source")})

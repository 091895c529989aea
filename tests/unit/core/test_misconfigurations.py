# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A misconfigured line is reported with the probable intention, and a valid line is not reported."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.misconfigurations import KNOWN, misconfigurations

PAIR = ("P", "B")


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("P->B", "true", '"P->B.enabled" enables a flow'),
        ("p->B.enabled", "true", 'Did you mean "P"'),
        ("P->b.topics", "T", 'Did you mean "B"'),
        ("X->B.enabled", "true", "The aliases are P, B"),
        ("p.bootstrap.servers", "x:9092", 'Did you mean "P"'),
        ("synch.group.offsets.enabled", "true", '"sync.group.offsets.enabled"'),
        ("P->B.sync.group.offset.interval.seconds", "5", '"sync.group.offsets.interval.seconds"'),
        ("workers.offset.flush.intervall.ms", "5", '"offset.flush.interval.ms"'),
        ("P.offset.lag.maxx", "5", '"offset.lag.max"'),
        ("P->B.enable", "true", '"enabled"'),
        ("P->B.topics", "Orders,P__Payments", '"P.Payments"'),
        ("topics", "B__x", '"B.x"'),
    ],
)
def test_a_misconfiguration_is_reported_with_the_probable_intention(key: str, value: str, expected: str) -> None:
    found = misconfigurations({key: value}, PAIR)
    assert len(found) == 1
    assert expected in found[0]
    assert f'"{key}"' in found[0]


@pytest.mark.parametrize("name", sorted(KNOWN))
@pytest.mark.parametrize("prefix", ["", "P->B.", "P.", "workers.", "connectors."])
def test_valid_lines_are_not_reported(prefix: str, name: str) -> None:
    assert misconfigurations({prefix + name: "1"}, PAIR) == []


@pytest.mark.parametrize(
    "key",
    [
        "P.ssl.truststore.location",
        "P->B.producer.override.linger.ms",
        "B.consumer.isolation.level",
        "connectors.producer.override.enable.idempotence",
        "streams.replication.manager.service.x",
    ],
)
def test_settings_of_clients_are_left_alone(key: str) -> None:
    assert misconfigurations({key: "1"}, PAIR) == []


def test_without_the_aliases_of_the_pair_only_its_own_flows_count() -> None:
    assert misconfigurations({"p->B.enabled": "true"}) == []
    assert "matches no topic" in misconfigurations({"P->B.enabled": "true", "topics": "P__T"})[0]
    assert misconfigurations({"topics": "P__T"}) == []
    assert misconfigurations({"topics": "P__T", "replication.policy.separator": "__"}, PAIR) == []

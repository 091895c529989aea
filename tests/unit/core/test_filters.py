# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which inventory topics and groups a connector's own settings leave out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import literal
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_filters import (
    Filter,
    filters_of,
    left_out,
)

KINDS = ("topics", "groups")
NAMES = st.text("abzAZ09._-", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        ({"topics": "Payments", "groups": "settlement"}, []),
        ({"topics": ".*", "groups": ".*"}, []),
        ({"topics": "Pay.*, Refunds", "groups": "a,settlement"}, []),
        ({"topics": "Pay", "groups": "settlement"}, ['the topic "Payments"']),
        ({"topics": "payments", "groups": "settlement"}, ['the topic "Payments"']),
        ({"topics": "Payments", "groups": ""}, ['the group "settlement"']),
        # Both are .* by default.
        ({}, []),
        ({"topics": ".*", "topics.exclude": "P.*", "groups": ".*"}, ['the topic "Payments"']),
        ({"topics": ".*", "groups": ".*", "groups.exclude": "settlement"}, ['the group "settlement"']),
    ],
)
def test_names_that_are_left_out_are_reported(config: dict[str, str | None], missing: list[str]) -> None:
    found = left_out(filters_of(config, KINDS), {"topics": ["Payments"], "groups": ["settlement"]})
    assert found == (missing, [])


@pytest.mark.parametrize(
    ("kind", "name"),
    [("topics", "prices.replica"), ("topics", "__x"), ("groups", "connect-sink"), ("groups", "console-consumer-1")],
)
def test_mirrormaker_2_leaves_some_names_out_by_default(kind: str, name: str) -> None:
    assert left_out(filters_of({kind: literal(name)}, [kind]), {kind: [name]})[0]
    config: dict[str, str | None] = {kind: literal(name), f"{kind}.exclude": "none"}
    assert left_out(filters_of(config, [kind]), {kind: [name]}) == ([], [])


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_only_the_names_that_the_collection_wrote_are_replicated(names: list[str]) -> None:
    config: dict[str, str | None] = {"topics": ",".join(literal(name) for name in names), "topics.exclude": "none"}
    (topics,) = filters_of(config, ["topics"])
    assert all(topics.takes(name) for name in names)
    assert not any(topics.takes(f"{name}x") for name in names if f"{name}x" not in names)


def test_an_expression_that_only_java_understands_is_unknown() -> None:
    odd = Filter("topics", ("(?<a>x)[&&b]*+(?<",), ())
    assert odd.takes("Payments") is None
    assert left_out([odd], {"topics": ["Payments"]}) == ([], ['the topic "Payments"'])
    # This expression is unknown, but another one includes the name; and an unknown exclude might leave the name out.
    assert Filter("topics", ("(?<", "Payments"), ()).takes("Payments")
    assert Filter("topics", ("Payments",), ("(?<",)).takes("Payments") is None

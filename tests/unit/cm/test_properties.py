# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which property is meant, what differs, and which values may be shown."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.properties import (
    find,
    plan_lines,
    plan_value,
    same,
    shown,
    unknown,
    value_text,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.shapes import Property
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError


def item(name: str = "a.b", **more: Any) -> Property:
    return Property.parse(None, {"name": name, **more})


def test_the_api_name_takes_precedence_over_the_property_key_and_that_over_the_ui_name() -> None:
    listed = [
        item("x", displayName="The Interval", relatedName="raw.key"),
        item("raw.key", displayName="Other"),
        item("the interval", displayName="Third"),
    ]
    assert [one.name for one in find("raw.key", listed)] == ["raw.key"]
    assert [one.name for one in find("raw.key", listed[:1])] == ["x"]
    assert [one.name for one in find("the interval", listed)] == ["the interval"]
    assert [one.name for one in find("  THE  interval ", listed)] == ["x"]
    assert find("", [item("y")]) == []
    assert [one.name for one in find("Manager's Configs", [item("z", displayName="Manager\u2019s configs")])] == ["z"]


@pytest.mark.parametrize(
    ("name", "one", "other", "equal"),
    [
        ("a", "True", "true", True),
        ("a", "030", "30", True),
        ("a", " x", "x ", True),
        ("a", "X", "x", False),
        ("a", None, "", True),
        ("a", "P,B", "P, B", False),
        ("clusters", "P,B", "P, B", True),
        ("clusters", "P,B", "B,P", False),
    ],
)
def test_values_are_compared_by_meaning(name: str, one: str | None, other: str | None, equal: bool) -> None:
    assert same(name, one, other) is same(name, other, one) is equal


def test_null_resets_only_values_that_differ_from_the_default() -> None:
    assert plan_value(item(value="600", default="600"), None, "on_create") is None
    assert plan_value(item(default="600"), "600", "on_create") is None
    reset = plan_value(item(value="5", default="600"), None, "on_create")
    assert reset is not None
    assert (reset.value, reset.change.action, reset.change.after) == (None, "reset", {"value": "600"})
    assert reset.taken(item(default="600"))
    assert not reset.taken(item(value="5", default="600"))
    assert not reset.taken(None)


@pytest.mark.parametrize(
    ("value", "wanted", "mode", "written"),
    [
        (None, "new", "on_create", True),
        ("old", "new", "on_create", False),
        ("REDACTED", "new", "on_create", False),
        ("old", "old", "always", True),
        ("old", None, "on_create", True),
        (None, None, "always", False),
    ],
)
def test_a_secret_is_never_compared_and_never_shown(
    value: str | None, wanted: str | None, mode: str, written: bool
) -> None:
    found = item(value=value, sensitive=True)
    made = plan_value(found, wanted, mode)
    assert (made is not None) is written
    if made is not None:
        assert {"old", "new"}.isdisjoint(repr(made.change).replace("'", " ").split())
        assert made.taken(item(value=wanted and "REDACTED", sensitive=True))


def test_editing_lines_of_a_hidden_text_is_refused_because_other_lines_would_be_lost() -> None:
    for hidden in (item(value="REDACTED"), item(value="a=1", sensitive=True), item(value="******")):
        with pytest.raises(DrError) as refused:
            plan_lines(hidden, {"a": "2"})
        assert refused.value.code == "cm_value_hidden"


def test_lines_start_with_the_default_and_removing_all_of_them_leaves_none() -> None:
    made = plan_lines(item(default="a=1"), {"b": "2"})
    assert made is not None
    assert made.value == "a=1|b=2"
    gone = plan_lines(item(value="a=1", default=""), {"a": None})
    assert gone is not None
    assert gone.value is None
    emptied = plan_lines(item(value="a=1", default="a=1"), {"a": None})
    assert emptied is not None
    assert emptied.value == ""
    assert emptied.taken(item(value="", default="a=1"))


def test_a_secret_line_is_hidden_in_the_change_and_in_the_text() -> None:
    made = plan_lines(item(value="P.sasl.jaas.config=old;|a=1"), {"P.sasl.jaas.config": "new;", "a": "2"})
    assert made is not None
    assert (made.change.before, made.change.after) == (
        {"P.sasl.jaas.config": "(secret)", "a": "1"},
        {"P.sasl.jaas.config": "(secret, written)", "a": "2"},
    )
    assert shown(item(), "a=1| P.ssl.key.password = x |b=2") == "a=1|P.ssl.key.password=(secret)|b=2"
    assert shown(item("some.password"), "x") == "(secret)"
    assert shown(item(sensitive=True), "x") == "(secret)"


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (30, "30"), (["P", " B"], "P,B"), (None, None), (" x ", "x"), (0.5, "0.5")]
)
def test_values_are_converted_to_text(value: Any, text: str | None) -> None:
    assert value_text("a", value) == text


def test_a_dictionary_must_be_given_as_lines() -> None:
    with pytest.raises(DrError, match="dictionary"):
        value_text("a", {"b": 1})


def test_an_unknown_property_is_reported_with_similar_names_or_the_version_it_needs() -> None:
    listed = [item("refresh.topics.interval.seconds", displayName="Refresh Topics Interval")]
    near = unknown("refresh.topic.interval.seconds", ["service"], listed, "7.3.2", "cm")
    assert "Similar names: refresh.topics.interval.seconds" in near.hint
    old = unknown("Reverse Checkpointing Enabled", ["service"], listed, "7.1.9", "cm")
    assert "needs Runtime 7.3.2; the cluster runs 7.1.9" in old.message
    assert "does not report" in unknown("reverse.checkpointing", [], listed, "", "cm").message

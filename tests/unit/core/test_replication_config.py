# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of one text: requested lines are there, and all others are unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.replication_config import (
    edit,
    meaning,
    parse,
    repeated,
    separator_of,
    wanted_lines,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError


@pytest.mark.parametrize(
    ("text", "wanted", "after"),
    [
        ("", {"P->B.enabled": "true"}, "P->B.enabled=true"),
        ("a=1|P->B.enabled=false|b=2", {"P->B.enabled": "true"}, "a=1|P->B.enabled=true|b=2"),
        ("a=1", {"b": "2", "c": "3"}, "a=1|b=2|c=3"),
        ("a=1|b=2|c=3", {"b": None}, "a=1|c=3"),
        ("a=1", {"a": None}, ""),
        (" odd = kept |x||a=1", {"a": "2"}, " odd = kept |x||a=2"),
        ("a=1", {"a": "2=3"}, "a=2=3"),
        # An equal meaning is not changed, not even in its whitespace.
        (" a = TRUE | b=030", {"a": "true", "b": "30"}, " a = TRUE | b=030"),
        # A repeated line: with one meaning it is valid, with two it is reduced to one.
        ("a=1|b=2|a=1", {"a": "1"}, "a=1|b=2|a=1"),
        ("a=1|b=2|a=3", {"a": "3"}, "a=3|b=2"),
        ("a=1|b=2|a=3", {"a": None}, "b=2"),
        ("a=1|b=2|a=3", {"b": "4"}, "a=1|b=4|a=3"),
        # Runtime before 7.1.1.
        ("a=1;b=2", {"b": "3", "c": "4"}, "a=1;b=3;c=4"),
        ("a=x;y", {"b": "1"}, "a=x;y|b=1"),
    ],
)
def test_a_text_is_edited_line_by_line(text: str, wanted: dict[str, str | None], after: str) -> None:
    assert edit(text, wanted).text == after


def test_the_diff_shows_only_lines_that_differ_and_all_values_of_a_repeated_one() -> None:
    made = edit("a=1|b=2|a=3|c=4", {"a": "3", "b": "2", "c": None, "d": "5"})
    assert dict(made.before) == {"a": "1|3", "c": "4", "d": None}
    assert dict(made.after) == {"a": "3", "c": None, "d": "5"}
    assert not edit("a=1", {"a": "1", "b": None}).changed


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("", "|"),
        ("a=1", "|"),
        ("a=1|b=2;c=3", "|"),
        ("a=1;b=2", ";"),
        (" P->B.enabled = true ; B->P.enabled=true;", ";"),
        ('P.sasl.jaas.config=Module required username="x" password="y";', "|"),
        ("a=1;rest", "|"),
    ],
)
def test_the_old_form_is_recognised_and_a_jaas_line_is_not_taken_for_it(text: str, separator: str) -> None:
    assert separator_of(text) == separator


def test_a_text_that_would_read_as_the_old_form_is_refused() -> None:
    all_desired: list[tuple[str, dict[str, str | None]]] = [("", {"a": "1;b=2"}), ("a=1|b=2;c=3", {"a": None})]
    for text, wanted in all_desired:
        with pytest.raises(DrError, match=r"before 7\.1\.1"):
            edit(text, wanted)


@pytest.mark.parametrize("wanted", [{"a": "x|y"}, {"P->B.topics": "|"}])
def test_a_bar_in_a_value_is_refused(wanted: dict[str, str]) -> None:
    with pytest.raises(DrError, match="separates lines"):
        edit("", wanted)
    with pytest.raises(DrError, match="separates lines"):
        edit("a=1;b=2", {"c": "x;y"})


@pytest.mark.parametrize("given_lines", [{"a b": 1}, {"a=b": 1}, {"": 1}, {"a": [1]}, {"a": {"b": 1}}, {"a": "1\n2"}])
def test_text_that_cannot_be_a_line_is_refused(given_lines: dict[str, Any]) -> None:
    with pytest.raises(DrError) as refused:
        wanted_lines(given_lines)
    assert refused.value.code == "cm_line_invalid"


def test_a_bare_flow_is_kept_and_the_effective_line_is_added_unless_it_exists() -> None:
    lines, reported = wanted_lines({"P->B": True, "B->P": True, "B->P.enabled": False, "a": 5})
    assert lines == {"P->B": "true", "B->P": "true", "B->P.enabled": "false", "a": "5", "P->B.enabled": "true"}
    assert [text for text in reported if '"P->B.enabled=true" is written' in text] == reported
    assert wanted_lines({"P->B": None}) == ({"P->B": None}, [])


@pytest.mark.parametrize(
    ("one", "other"), [("True", " true"), ("030", "30"), ("+5", "5"), ("-0", "0"), ("x ", "x"), (None, None)]
)
def test_values_are_compared_by_meaning(one: str | None, other: str | None) -> None:
    assert meaning(one) == meaning(other)


def test_text_that_only_looks_like_a_number_stays_text() -> None:
    assert [meaning(text) for text in ("1.0", "1e3", "\u0663", "0x1")] == ["1.0", "1e3", "\u0663", "0x1"]


KEYS = st.sampled_from(["P->B.enabled", "B->P.enabled", "topics", "workers.a", "offset.lag.max"])
VALUES = st.text(st.characters(exclude_characters="|\n", categories=("L", "N", "P", "Zs")), max_size=8).map(str.strip)
LINES = st.one_of(st.tuples(KEYS, VALUES).map("=".join), st.sampled_from(["", " ", "junk", " a = b ", "=x"]))
TEXTS = st.lists(LINES, max_size=8).map("|".join)
WANTED = st.dictionaries(KEYS, st.one_of(st.none(), VALUES), max_size=4)


@given(TEXTS, WANTED)
def test_an_edit_makes_the_requested_change_once_and_keeps_the_rest(text: str, wanted: dict[str, str | None]) -> None:
    separator = separator_of(text)
    try:
        made = edit(text, wanted)
    except DrError:
        # Only a semicolon can be the obstacle, because the values have no bar.
        assert ";" in text or any(";" in (value or "") for value in wanted.values())
        return
    now = parse(made.text)
    assert {key: meaning(now.get(key)) for key in wanted} == {key: meaning(value) for key, value in wanted.items()}
    assert not edit(made.text, wanted).changed
    keep, left = (
        [line for line in one.split(separator) if line.strip() and line.partition("=")[0].strip() not in wanted]
        for one in (text, made.text)
    )
    assert left == keep
    assert not set(repeated(made.text)) & set(made.after)
    assert made.changed or made.text == text

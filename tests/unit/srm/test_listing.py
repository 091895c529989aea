# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsing the output of srm-control: known texts, noise, and outputs that must not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.exports import parse_export
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.listing import (
    FlowList,
    Listing,
    is_entry,
    parse_listing,
)

TOPICS = FlowList("topics", "P", "B")
# The only published output, unchanged.
RECORDED = "Current whitelist:\nglobal_iot\nCurrent blacklist:\nDone.\n"


def unreadable(output: str) -> str:
    with pytest.raises(DrError) as refused:
        parse_listing(output, TOPICS)
    assert refused.value.code == "srm_list_unreadable"
    assert "topics list of P->B" in refused.value.message
    return refused.value.message


def test_the_published_output_is_read() -> None:
    assert parse_listing(RECORDED, TOPICS) == Listing(("global_iot",), ())


@pytest.mark.parametrize(
    "output",
    [
        "Current allowlist:\na\nb.*\nCurrent denylist:\nc\nDone.\n",
        "CURRENT ALLOWLIST\r\na\r\nb.*\r\ncurrent blackList :\r\nc\r\ndone.\r\n",
        "Current topic allowlist:\na\nb.*\nCurrent topic deny-list:\nc\nDone.",
        "Allowlist:\na\nb.*\nDenylist:\nc\nDone.\nlater\n",
        "Current blacklist:\nc\nCurrent whitelist:\na\n\nb.*\na\nDone.",
        "\x1b[1mCurrent whitelist:\x1b[0m\n  a\n\tb.*\nCurrent blacklist:\nc\nDone.",
        "Current whitelist:\na,b.*\nCurrent blacklist:\nc\nDone.",
        "Done.\nbefore\nCurrent whitelist:\na\nb.*\nCurrent blacklist:\nc\nDone.",
    ],
)
def test_other_wordings_are_read(output: str) -> None:
    seen = parse_listing(output, TOPICS)
    assert (seen.allowed, seen.denied) == (("a", "b.*"), ("c",))


def test_a_topic_may_have_the_name_of_a_list() -> None:
    assert parse_listing("Current whitelist:\nallowlist\nDone\nDone.", TOPICS).allowed == ("allowlist", "Done")


def test_a_missing_half_is_unknown_and_not_empty() -> None:
    assert parse_listing("Current allowlist:\na\nDone.", TOPICS).denied is None
    assert "it has no allowlist" in unreadable("Current denylist:\na\nDone.")


@pytest.mark.parametrize("length", range(len(RECORDED) - 1))
def test_an_output_that_is_truncated_anywhere_is_an_error(length: int) -> None:
    cut = RECORDED[:length]
    if cut.endswith("Done."):
        pytest.skip("only the end of the line is missing")
    unreadable(cut)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", "no header of an allowlist"),
        ("usage: srm-control [-h] {topics,groups,offsets}\n", "no header of an allowlist"),
        ("Current whitelist: a b\nDone.\n", "no header of an allowlist"),
        (RECORDED + "Current whitelist:\n", None),
        ("Current whitelist:\na\nCurrent whitelist:\nb\nDone.", "allowed entries twice"),
    ],
)
def test_an_output_without_a_list_is_an_error(output: str, expected: str | None) -> None:
    if expected is None:
        assert parse_listing(output, TOPICS).allowed == ("global_iot",)
    else:
        assert expected in unreadable(output)


# ---- render, add noise, parse

WORD = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=","), min_size=1, max_size=12)
ENTRY = WORD.filter(is_entry)
NOISE = st.one_of(
    st.sampled_from(
        [
            "",
            "   ",
            "WARNING:",
            "-----",
            "2026-01-01 10:00:00,123 INFO  [main] ConsumerConfig:347 - ConsumerConfig values: ",
            "SLF4J: Class path contains multiple SLF4J bindings.",
            "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes",
            "\tat org.apache.kafka.clients.NetworkClient.poll(NetworkClient.java:580)",
            "Reading the whitelist of P->B now",
            "WARN blacklist: deprecated word",
        ]
    ),
    st.lists(WORD, min_size=2, max_size=4).map(" ".join).filter(lambda line: not line.lower().startswith("current")),
)
BEFORE = st.lists(st.one_of(NOISE, ENTRY), max_size=5)
BETWEEN = st.lists(NOISE, max_size=3)


@given(st.data(), st.lists(ENTRY, unique=True, max_size=6), st.lists(ENTRY, unique=True, max_size=6))
def test_a_rendered_list_is_read_through_noise(data: st.DataObject, allowed: list[str], denied: list[str]) -> None:
    words = data.draw(
        st.sampled_from([("whitelist", "blacklist"), ("AllowList", "DENYLIST"), ("allowlist", "denylist")])
    )
    lines = data.draw(BEFORE)
    for word, entries in zip(words, (allowed, denied), strict=True):
        lines.append(f"Current {word}:")
        for entry in entries:
            lines += [*data.draw(BETWEEN), entry]
        lines += data.draw(BETWEEN)
    output = "\n".join([*lines, "Done.", *data.draw(BEFORE)])
    seen = parse_listing(output, TOPICS)
    assert (seen.allowed, seen.denied) == (tuple(allowed), tuple(denied))
    cut = "\n".join(lines)
    with pytest.raises(DrError):
        parse_listing(cut, TOPICS)


# ---- exported offsets


def rows(*found: tuple[str, int, int]) -> list[dict[str, object]]:
    return [{"topic": topic, "partition": partition, "offset": offset} for topic, partition, offset in found]


@pytest.mark.parametrize(
    "output",
    [
        "P.Payments,0,17\nP.Payments,1,0\n",
        "topic,partition,offset\nP.Payments,0,17\nP.Payments,1,0\n",
        "GROUP,TOPIC,PARTITION,OFFSET\r\ng,P.Payments,0,17\r\ng,P.Payments,1,0\r\n",
        "2026-01-01 10:00:00,123 INFO loading,0,5\nWARNING:\n\nP.Payments,0,17\nwarn, again\nP.Payments,1,0\nDone.\n",
        'g,P.Payments,0,17\n"g","P.Payments","1","0"\nP.Payments,1,0',
    ],
)
def test_exported_offsets_are_read(output: str) -> None:
    assert parse_export(output, "g") == rows(("P.Payments", 0, 17), ("P.Payments", 1, 0))


def test_a_group_name_may_have_commas_and_blanks() -> None:
    assert parse_export('"a, b",T,0,1\n', "a, b") == rows(("T", 0, 1))
    assert parse_export("a,b,T,0,1\n", "a,b") == rows(("T", 0, 1))


def test_an_unknown_group_has_no_rows() -> None:
    assert parse_export("", "g") == parse_export("topic,partition,offset\nDone.\n", "g") == []


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("T,0", "wanted topic,partition,offset"),
        ("T,0,", "wanted topic,partition,offset"),
        ("T,0,-1", "wanted topic,partition,offset"),
        ("T,0,1\nT,0,2", "another offset of T-0"),
        ("other,T,0,1", 'to the group "other"'),
        ("T/x,0,1", '"T/x" is not a valid topic name'),
    ],
)
def test_a_line_that_only_looks_like_a_row_is_an_error(output: str, expected: str) -> None:
    with pytest.raises(DrError) as refused:
        parse_export(output, "g")
    assert refused.value.code == "srm_export_unreadable"
    assert expected in refused.value.message

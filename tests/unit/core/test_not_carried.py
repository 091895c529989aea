# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data that Kafka does not replicate is named, and a pair without such data gets no notes."""

from __future__ import annotations

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.not_carried import not_carried
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import IdentityNaming, PrefixedNaming

OTHER = ("B", PrefixedNaming())


def test_a_plain_pair_has_no_notes() -> None:
    topics = [
        "Payments",
        "B.Payments",
        "__consumer_offsets",
        "connect-P-offsets",
    ]
    assert not_carried("P", topics, ["settlement", "fraud"], ["Payments"], *OTHER) == []


def test_each_kind_is_named_once() -> None:
    topics = ["_schemas", "settlement-sums-changelog", "settlement-by-key-repartition", "__share_group_state"]
    schemas, sink, streams = not_carried("P", topics, ["settlement", "connect-archive"], ["Payments"], *OTHER)
    assert "P has the topic _schemas" in schemas
    assert '"settlement" is a Kafka Streams application (2 internal topics such as settlement-by-key' in streams
    assert '"connect-archive" is a Kafka Connect sink' in sink


@pytest.mark.parametrize(
    ("naming", "schemas", "state"),
    [
        (
            PrefixedNaming(),
            "Its replica on B is P._schemas, which no Schema Registry reads",
            "their replicas on B, such as P.settlement-sums-changelog, are read by no application",
        ),
        (PrefixedNaming("_"), "Its replica on B is P__schemas", "such as P_settlement-sums-changelog"),
        (IdentityNaming(), "a Schema Registry on B must only read it", "after a disaster, it is from another moment"),
    ],
)
def test_a_declared_topic_keeps_its_note_which_says_what_the_policy_makes_of_it(
    naming: PrefixedNaming | IdentityNaming, schemas: str, state: str
) -> None:
    """The flow replicates them. Under another name, neither a registry nor an application reads them."""
    topics = ["_schemas", "settlement-sums-changelog", "settlement-by-key-repartition"]
    notes = not_carried("P", topics, ["settlement"], topics, "B", naming)
    assert len(notes) == 2
    assert "need the same ids" in notes[0]
    assert schemas in notes[0]
    assert "2 of its internal topics" in notes[1]
    assert state.replace("sums-changelog", "by-key-repartition") in notes[1]


def test_internal_topics_of_which_a_part_is_declared_get_both_notes() -> None:
    topics = ["settlement-a-changelog", "settlement-b-changelog"]
    left_out, replicated = not_carried("P", topics, ["settlement"], topics[:1], *OTHER)
    assert "1 internal topics such as settlement-b-changelog): its state is not replicated" in left_out
    assert "1 of its internal topics such as settlement-a-changelog" in replicated


def test_topics_outside_the_inventory_are_counted_and_some_are_named() -> None:
    """Such topics were probably created after the pair was set up."""
    (note,) = not_carried("P", ["Payments", "B.Payments", "heartbeats", "Refunds"], [], ["Payments"], *OTHER)
    assert note == "P has 1 topics that are not in the inventory: Refunds"
    (note,) = not_carried("P", [f"t{number}" for number in range(9)], [], [], *OTHER)
    assert note.endswith("t0, t1, t2, t3, t4 and 4 more")

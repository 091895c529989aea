# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data that Kafka does not replicate is named, and a pair without such data gets no notes."""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.not_carried import not_carried


def test_a_plain_pair_has_no_notes() -> None:
    topics = [
        "Payments",
        "B.Payments",
        "__consumer_offsets",
        "connect-P-offsets",
    ]
    assert not_carried("P", topics, ["settlement", "fraud"], ["Payments"], "B.") == []


def test_each_kind_is_named_once() -> None:
    topics = ["_schemas", "settlement-sums-changelog", "settlement-by-key-repartition", "__share_group_state"]
    schemas, sink, streams = not_carried("P", topics, ["settlement", "connect-archive"], ["Payments"])
    assert "P has the topic _schemas" in schemas
    assert '"settlement" is a Kafka Streams application (2 internal topics such as settlement-by-key' in streams
    assert '"connect-archive" is a Kafka Connect sink' in sink


def test_declared_topics_are_replicated() -> None:
    topics = ["_schemas", "settlement-sums-changelog"]
    assert not_carried("P", topics, ["settlement"], topics) == []


def test_topics_outside_the_inventory_are_counted_and_some_are_named() -> None:
    """Such topics were probably created after the pair was set up."""
    (note,) = not_carried("P", ["Payments", "B.Payments", "heartbeats", "Refunds"], [], ["Payments"], "B.")
    assert note == "P has 1 topics that are not in the inventory: Refunds"
    (note,) = not_carried("P", [f"t{number}" for number in range(9)], [], [])
    assert note.endswith("t0, t1, t2, t3, t4 and 4 more")

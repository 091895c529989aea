# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Kafka does not carry is told by names, and nobody is bothered where there is none of it."""

from __future__ import annotations

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.not_carried import not_carried


def test_a_plain_pair_has_no_notes() -> None:
    topics = [
        "Payments",
        "B.Payments",
        "settlement",
        "other-store-changelog",
        "__consumer_offsets",
        "connect-P-offsets",
    ]
    assert not_carried("P", topics, ["settlement", "fraud"], ["Payments"]) == []


def test_each_of_them_is_named_once() -> None:
    topics = ["_schemas", "settlement-sums-changelog", "settlement-by-key-repartition", "__share_group_state"]
    schemas, sink, streams, shares = not_carried("P", topics, ["settlement", "connect-archive"], ["Payments"])
    assert "P has the topic _schemas" in schemas
    assert '"settlement" is an application of Kafka Streams (2 internal topics such as settlement-by-key' in streams
    assert '"connect-archive" is a sink of Kafka Connect' in sink
    assert "share groups" in shares


def test_what_is_declared_is_carried() -> None:
    topics = ["_schemas", "settlement-sums-changelog"]
    assert not_carried("P", topics, ["settlement"], topics) == []

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topic ids, and the offset from which offset-syncs are about the current topics."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources import topic_ids
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topic_ids import CheckpointsEnd

FLOWS = {
    "P->B": {"source": "P", "target": "B", "replicas": {"T": "P.T"}},
    "B->P": {"source": "B", "target": "P", "replicas": {"T": "B.T"}},
}
IDS = {"P": {"T": "1", "B.T": "2"}, "B": {"T": "3", "P.T": "4"}}


def test_topic_ids_are_listed_by_alias() -> None:
    results = {"P": [{"name": "T", "topic_id": "1"}], "B": [{"name": "T", "topic_id": None}]}
    assert topic_ids.topic_ids(results) == {"P": {"T": "1"}, "B": {}}


def test_only_a_re_created_topic_is_named_and_not_a_deleted_or_new_one() -> None:
    """R11 and R22 need topic ids."""
    journaled = {"P": {"T": "1", "U": "2", "gone": "3"}}
    found = {"P": {"T": "1", "U": "9", "new": "4"}, "B": {"T": "7"}}
    assert topic_ids.recreated(journaled, found) == ['"U" on P (id 9, in the journal 2)']


def test_a_topic_without_its_journaled_id_on_any_cluster_is_new_to_the_pair() -> None:
    """R22: its records were not observed, so its cut is unknown."""
    journaled = {"P": {"T": "1", "U": "2", "gone": "3"}, "B": {"T": "5"}}
    found = {"P": {"T": "1", "U": "9", "new": "4"}, "B": {"T": "5", "new": "6"}}
    assert topic_ids.joined(journaled, found) == ["U", "new"]
    assert topic_ids.joined(journaled, {**found, "B": {"T": "7"}}) == ["T", "U", "new"]
    assert topic_ids.joined({}, found) == ["T", "U", "new"]
    assert topic_ids.joined(journaled, journaled) == []


def since(known: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    state = {"topic_ids": known, "offset_syncs_start": {"P->B": {"T": 7}, "B->P": {"T": 8}}}
    return topic_ids.offset_syncs_start(state, FLOWS, found, {"P->B": 100, "B->P": 200})


def test_the_start_of_the_offset_syncs_of_known_topics_is_kept() -> None:
    assert since(IDS, IDS) == {"P->B": {"T": 7}, "B->P": {"T": 8}}


def test_offset_syncs_of_a_new_topic_start_at_the_current_end() -> None:
    assert since({}, IDS) == {"P->B": {"T": 100}, "B->P": {"T": 200}}


def test_offset_syncs_from_before_either_topic_was_re_created_are_ignored() -> None:
    original = {**IDS, "P": {"T": "9", "B.T": "2"}}
    replica = {**IDS, "B": {"T": "3", "P.T": "9"}}
    gone = {**IDS, "B": {"T": "3"}}
    for found in (original, replica, gone):
        assert since(IDS, found) == {"P->B": {"T": 100}, "B->P": {"T": 8}}


def test_checkpoints_from_before_a_topic_joined_do_not_count() -> None:
    """R43: their place in the topic shows it, and no clock."""
    earlier, end = CheckpointsEnd(7, "c"), CheckpointsEnd(100, "c")
    state = {"topic_ids": IDS, "checkpoints_start": {"P->B": {"T": earlier}}}
    replica = {**IDS, "B": {"T": "3", "P.T": "9"}}
    none = CheckpointsEnd(0, "")
    assert topic_ids.checkpoints_start(state, FLOWS, IDS, {}) == {"P->B": {"T": earlier}, "B->P": {"T": none}}
    assert topic_ids.checkpoints_start(state, FLOWS, replica, {"P->B": end})["P->B"] == {"T": end}


def test_ends_by_flow_leave_out_a_topic_that_does_not_exist() -> None:
    results = {"P->B": [{"offsets": [{"partition": 0, "start": 0, "end": 5}]}], "B->P": [{"offsets": None}]}
    assert topic_ids.log_ends(results) == {"P->B": 5}


def test_a_broker_without_topic_ids_reports_the_id_zero() -> None:
    """KIP-516: Kafka before 2.8, or with an older inter.broker.protocol.version."""
    assert topic_ids.known_id("A" * 22) == ""
    assert topic_ids.known_id("AAAAAAAAAAAAAAAAAAAAAQ") == "AAAAAAAAAAAAAAAAAAAAAQ"


def test_an_existing_topic_without_an_id_is_refused_with_its_cluster() -> None:
    """Two topics of one name would be one topic (R11, R22)."""
    fine = [{"name": "T", "exists": True, "topic_id": "1"}, {"name": "new", "exists": False, "topic_id": None}]
    topic_ids.require_ids({"P": fine, "B": fine})
    with pytest.raises(DrError, match='"U" on B has no topic id') as refused:
        topic_ids.require_ids({"P": fine, "B": [*fine, {"name": "U", "exists": True, "topic_id": None}]})
    assert refused.value.code == "topic_ids_missing"

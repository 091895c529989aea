# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a stopped flow may continue from its stored offsets."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.flow_restart import (
    Begun,
    FlowPartition,
    ReplicaStart,
    forgotten,
    misfits,
    require_fit,
    would_start,
)

GOOD = FlowPartition(partition=0, last_replicated_offset=9, end=10, replica_end=10)
EMPTY = FlowPartition(partition=1, last_replicated_offset=9, end=10, replica_end=0)
MISSING = FlowPartition(partition=0, last_replicated_offset=0, end=1, replica_end=None)
PAST = FlowPartition(partition=0, last_replicated_offset=10, end=10, replica_end=10)


def begun(*places: FlowPartition, **more: Any) -> Begun:
    reported = {"flow": "P->B", "topic": "T", "replica": "P.T", "recreated": (), "held": False, **more}
    return Begun(places=places, **reported)


def test_a_flow_may_continue_if_all_replicated_records_exist() -> None:
    assert forgotten([begun(GOOD, held=True)], []) == []


def test_a_flow_without_stored_offsets_may_start() -> None:
    """The same is true for a re-created topic: it is replicated from its beginning anyway."""
    assert forgotten([begun(recreated=("T on P",))], []) == []
    assert forgotten([begun(recreated=("T on P",))], ["T"]) == []


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (begun(GOOD, recreated=('"T" on P',), held=True), 'recreated since the pair was enabled: "T" on P'),
        (begun(GOOD, EMPTY, held=True), 'T-1 is replicated up to 9, but the replica "P.T" was never written'),
        (begun(MISSING), 'T-0 is replicated up to 0, but the replica "P.T" does not exist'),
        (begun(PAST, held=True), "T-0 is replicated up to 10, but the source ends at 10"),
    ],
)
def test_a_flow_may_not_continue_if_replicated_records_are_missing(one: Begun, text: str) -> None:
    with pytest.raises(DrError) as refused:
        forgotten([one], ["Other"])
    assert refused.value.code == "topic_recreated"
    assert text in refused.value.message
    assert '{"kafka_dr_copy_again": ["T"]}' in refused.value.hint


def test_an_empty_replica_is_replicated_again() -> None:
    sound = begun(GOOD, flow="B->P", held=True)
    assert forgotten([begun(EMPTY), sound], ["T"]) == [begun(EMPTY)]


def test_a_recreated_original_that_was_never_written_needs_nothing_more() -> None:
    """The advice for a recreated topic names it in kafka_dr_copy_again, and the other flow replicates it as before."""
    idle = begun(flow="B->P", replica="B.T", recreated=("T on B", "B.T on P"))
    assert forgotten([begun(GOOD, held=True), idle], ["T"]) == []


def test_nothing_is_replicated_twice() -> None:
    for one in (begun(GOOD, recreated=("T on P",), held=True), begun(GOOD, held=True)):
        with pytest.raises(DrError) as refused:
            forgotten([one], ["T"])
        assert refused.value.code == "replica_not_empty"


def test_every_topic_must_be_given() -> None:
    with pytest.raises(DrError) as refused:
        forgotten([begun(EMPTY), begun(EMPTY, topic="U", replica="P.U")], ["T"])
    assert "U-1" in refused.value.message
    assert "T-1" not in refused.value.message
    assert '["T", "U"]' in refused.value.hint


def start(**more: Any) -> ReplicaStart:
    """A replica that another connector filled, and a connector of the pair that was just created."""
    reported: dict[str, Any] = {
        "flow": "P->B",
        "topic": "T",
        "partition": 0,
        "replica": "P.T",
        "replica_end": 250,
        "stored": None,
        "exists": True,
        "journaled": False,
        "source_end": 300,
    }
    return ReplicaStart(**{**reported, **more})


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (start(), "the connector has no stored offset"),
        (start(journaled=True), "the connector has no stored offset"),
        (start(exists=False), "no connector of this pair has written it"),
        (start(stored=249, equal=False, more=False), "another record than the one at the stored offset 249"),
        (start(stored=300, equal=None), "the stored offset is 300, the source ends at 300"),
        (start(stored=300, equal=None, more=False), "the stored offset is 300, the source ends at 300"),
        (start(stored=9, equal=None, more=True), "the record at the stored offset 9 is gone"),
        (start(stored=9, equal=None, more=None), "the record at the stored offset 9 is gone"),
        # A cluster was replaced, and its successor has written more records since.
        (start(journaled=True, replaced_below=249), "the connector has no stored offset"),
    ],
)
def test_a_flow_does_not_start_from_offsets_that_do_not_fit(one: ReplicaStart, reason: str) -> None:
    found = misfits([one])
    assert len(found) == 1
    assert reason in found[0]
    assert found[0].startswith('P->B T-0 (the replica "P.T" ends at 250')


@pytest.mark.parametrize(
    "one",
    [
        start(stored=249, equal=True, more=True),
        # Every record expired on both clusters, and nothing is left to replicate.
        start(stored=249, equal=None, more=False),
        # Records replicated since come a second time after a crash: a bounded resend, which the audit reports.
        start(stored=240, equal=False, journaled=True),
        start(stored=240, equal=None, more=True, journaled=True),
        # The connector was deleted. Its stored offsets can be read once it is created again.
        start(journaled=True, exists=False),
        start(journaled=True, replaced_below=250),
    ],
)
def test_a_flow_starts_from_offsets_that_fit(one: ReplicaStart) -> None:
    assert misfits([one]) == []


@pytest.mark.parametrize(
    ("state", "taken", "starts"),
    [
        (None, None, True),
        ("STOPPED", True, True),
        ("PAUSED", True, True),
        # It replicates already: Kafka Connect may not have stored its offset yet.
        ("RUNNING", True, False),
        ("FAILED", True, False),
        ("UNASSIGNED", True, False),
        # The topic is new; the connector replicates others already.
        ("RUNNING", False, True),
        ("RUNNING", None, True),
    ],
)
def test_only_flows_about_to_start_are_checked(state: str | None, taken: bool | None, starts: bool) -> None:
    assert would_start(state, taken) is starts


def test_the_refusal_names_the_connector_and_the_next_step() -> None:
    require_fit([start(stored=249, equal=True)], [], True)
    with pytest.raises(DrError) as refused:
        require_fit([start(partition=number) for number in range(7)], ["legacy"], True)
    assert refused.value.code == "offsets_do_not_fit"
    assert "7 partitions" in refused.value.message
    assert "T-4" in refused.value.message
    assert "and 2 more" in refused.value.message
    assert refused.value.hint.startswith("No source connector was started.")
    assert "kafka_dr_adopt" in refused.value.hint
    assert "legacy" in refused.value.hint


def test_adoption_is_suggested_only_if_the_engine_can_adopt() -> None:
    with pytest.raises(DrError) as refused:
        require_fit([start()], [], False)
    assert refused.value.hint.startswith("No source connector was started.")
    assert "kafka_dr_adopt" not in refused.value.hint
    assert "delete the replicas" in refused.value.hint

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster is active: journal, evidence and the operator's answer must agree (R18, R34)."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.residence import (
    SideEvidence,
    find_residence,
    missing_epochs,
    unsafe_journal,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.events import Event
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.resources.topics import ConfigValue, TopicState

QUIET = SideEvidence()
READ = SideEvidence(members=['group "settlement" by reader-1 at /10.0.0.7'])
WRITTEN = SideEvidence(writes=['a producer of "Payments-0"'])
LIVED = SideEvidence(traces=['"Payments" holds records there'])


def residence(p: SideEvidence, b: SideEvidence, journaled: str | None = None, asked: str = "") -> str:
    return find_residence({"P": p, "B": b}, "P", journaled, asked).active


def refusal(p: SideEvidence, b: SideEvidence, journaled: str | None = None, asked: str = "") -> DrError:
    with pytest.raises(DrError) as refused:
        residence(p, b, journaled, asked)
    return refused.value


@pytest.mark.parametrize(
    ("p", "b", "journaled", "asked", "active"),
    [
        (QUIET, QUIET, None, "", "P"),
        (READ, QUIET, None, "", "P"),
        (QUIET, READ, None, "", "B"),
        (QUIET, WRITTEN, None, "", "B"),
        (LIVED, READ, None, "", "B"),
        (QUIET, LIVED, None, "B", "B"),
        (QUIET, LIVED, None, "P", "P"),
        (QUIET, QUIET, "B", "", "B"),
        (QUIET, READ, "B", "", "B"),
        (READ, WRITTEN, "P", "", "P"),
        (QUIET, READ, "P", "B", "B"),
    ],
)
def test_the_active_cluster_follows_from_journal_answer_or_evidence(
    p: SideEvidence, b: SideEvidence, journaled: str | None, asked: str, active: str
) -> None:
    found = find_residence({"P": p, "B": b}, "P", journaled, asked)
    assert found.active == active
    named = "kafka_dr_applications_on" if asked else "the journal"
    assert (found.reason == f"named by {named}") == bool(asked or journaled)


@pytest.mark.parametrize(
    ("p", "b", "journaled", "asked", "code", "expected"),
    [
        (READ, READ, None, "", "active_side_contradicted", "members on both clusters: P (group"),
        (READ, READ, "P", "", "active_side_contradicted", "reader-1 at /10.0.0.7) and B (group"),
        (QUIET, READ, "P", "", "active_side_contradicted", "The journal names P, but applications are at work on B"),
        (READ, QUIET, None, "B", "active_side_contradicted", 'kafka_dr_applications_on is "B", but'),
        (WRITTEN, QUIET, None, "B", "active_side_contradicted", "at work on P: a producer"),
        (WRITTEN, READ, None, "", "active_side_unknown", "at work on both clusters"),
        (WRITTEN, WRITTEN, None, "", "active_side_unknown", "at work on both clusters"),
        (QUIET, LIVED, None, "", "active_side_unknown", 'this pair is not new: B: "Payments" holds records there'),
    ],
)
def test_a_contradiction_is_refused_and_an_unknown_active_cluster_is_asked_for(
    p: SideEvidence, b: SideEvidence, journaled: str | None, asked: str, code: str, expected: str
) -> None:
    error = refusal(p, b, journaled, asked)
    assert (error.code, expected in error.message) == (code, True), error.message
    assert error.hint
    assert "Nothing was changed" not in error.hint


def test_group_members_never_lead_to_the_other_cluster_in_any_combination() -> None:
    """All of 4 x 4 kinds of evidence, three journals and three answers."""
    kinds = (QUIET, READ, WRITTEN, LIVED)
    accepted = 0
    for p, b, journaled, asked in itertools.product(kinds, kinds, (None, "P", "B"), ("", "P", "B")):
        try:
            active = residence(p, b, journaled, asked)
        except DrError:
            continue
        accepted += 1
        other = b if active == "P" else p
        assert not other.members, (p, b, journaled, asked)
        if journaled is None:
            assert not other.writes, (p, b, journaled, asked)
    assert accepted > 40


# ---- the journal topic


def event(epoch: int, seq: int = 0) -> Event:
    return Event(epoch, seq, f"r{epoch}", "started", 0.0, {})


def test_a_journal_that_lost_epochs_is_recognised_by_its_gaps() -> None:
    assert missing_epochs([]) == []
    assert missing_epochs([event(1), event(2), event(2, 1), event(3)]) == []
    assert missing_epochs([event(3), event(5)]) == [1, 2, 4]


def test_in_random_journals_every_deleted_epoch_below_the_newest_is_found() -> None:
    for seed in range(500):
        draw = random.Random(seed)
        newest = draw.randrange(1, 12)
        kept = {epoch for epoch in range(1, newest + 1) if draw.random() < 0.7} | {newest}
        lost = [epoch for epoch in range(1, newest) if epoch not in kept]
        assert missing_epochs(event(epoch, seq) for epoch in kept for seq in range(3)) == lost, seed


def journal_topic(factor: int | None = 3, **settings: Any) -> TopicState:
    wanted = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
    values = {**wanted, **{name.replace("_", "."): value for name, value in settings.items()}}
    config = {name: ConfigValue(value, "topic") for name, value in values.items()}
    return TopicState("journal", "id", 1, factor, config=config)


@pytest.mark.parametrize(
    ("state", "brokers", "found"),
    [
        (journal_topic(), 3, []),
        (journal_topic(1), 1, []),
        (journal_topic(2), 3, []),
        (journal_topic(1), None, []),
        (journal_topic(1), 2, ['"journal" on B has replication factor 1 on 2 brokers, wanted at least 2']),
        (journal_topic(retention_ms="604800000"), 3, ['"journal" on B has retention.ms=604800000, wanted -1']),
        (journal_topic(retention_bytes="1"), 3, ['"journal" on B has retention.bytes=1, wanted -1']),
        (journal_topic(cleanup_policy="compact"), 3, ['"journal" on B has cleanup.policy=compact, wanted delete']),
    ],
)
def test_a_journal_topic_that_can_lose_events_is_reported(
    state: TopicState, brokers: int | None, found: list[str]
) -> None:
    assert unsafe_journal("B", state, brokers) == found

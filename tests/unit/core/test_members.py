# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A second inventory does not shrink the first (R42): nothing leaves the pair unless it is named, or nowhere."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.members import (
    Membership,
    Omitted,
    Place,
    membership,
    omitted,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import JournalState

IDS = {"P": "id-p", "B": "id-b"}
STATE = JournalState(
    active="P",
    enabled=True,
    topics={"Payments": 12, "Orders": 3},
    groups=["settlement", "fraud"],
    cluster_ids=dict(IDS),
)
ON_BOTH = [Place("P"), Place("B")]


def pair(topics: list[str], groups: list[str], **more: Any) -> PairSpec:
    clusters = {alias: {"bootstrap_servers": f"{alias}:1"} for alias in IDS}
    return PairSpec.of({"clusters": clusters, "topics": topics, "groups": groups, **more})


def found(spec: PairSpec, places: list[Place] | None = None, state: JournalState = STATE) -> Membership:
    there = {} if places is None else dict.fromkeys(omitted(spec, state), places)
    return membership(spec, state, IDS, there)


def test_the_inventory_of_a_second_team_is_refused_by_name_with_the_next_step() -> None:
    """The counterexample: enable for its own topic ends the replication of the first team's topics."""
    spec = pair(["Returns"], ["returns"])
    problem = found(spec, ON_BOTH).problem()
    for name in ("Payments", "Orders", "settlement", "fraud"):
        assert f'"{name}" (on P, on B)' in problem
    assert problem.startswith("4 members of the pair B-P are not in this inventory: ")
    step = found(spec, ON_BOTH).next_step()
    assert "docs/applications.md" in step
    assert "other aliases" in step
    option = re.search(r"-e '(\{.*\})'\.$", step)
    assert option is not None
    drop = json.loads(option[1])["kafka_dr_drop"]
    # The command in the message is enough.
    assert found(pair(["Returns"], ["returns"], drop=drop), ON_BOTH).texts() == []


@pytest.mark.parametrize(
    ("spec", "places", "texts"),
    [
        (pair(["Payments", "Orders"], ["settlement", "fraud"]), None, []),
        # Something more is no difference.
        (pair(["Payments", "Orders", "New"], ["settlement", "fraud", "late"]), None, []),
        # A group that stays on both clusters is listed, with a decision.
        (pair(["Payments", "Orders"], ["settlement"], local_groups=["fraud"]), ON_BOTH, []),
        (pair(["Payments", "Orders"], ["settlement"]), [Place("B")], ['the group "fraud" (on B)']),
        # A local group does not let the topic of the same name leave.
        (
            pair(["Payments"], ["settlement", "fraud"], local_groups=["Orders"]),
            ON_BOTH,
            ['the topic "Orders" (on P, on B)'],
        ),
        # Without an answer of a cluster, it may have the topic.
        (
            pair(["Payments"], ["settlement", "fraud"]),
            [Place("P", "not connected")],
            ['the topic "Orders" (unknown on P)'],
        ),
        (pair(["Payments"], ["settlement", "fraud"]), None, ['the topic "Orders" (unknown on P, unknown on B)']),
        # On no cluster.
        (pair(["Payments"], ["settlement", "fraud"]), [], []),
        (pair(["Payments"], ["settlement", "fraud"], drop=["Orders"]), ON_BOTH, []),
    ],
)
def test_what_is_omitted_leaves_only_if_it_is_named_or_nowhere(
    spec: PairSpec, places: list[Place] | None, texts: list[str]
) -> None:
    assert found(spec, places).texts() == texts


def test_what_leaves_without_a_refusal_is_named() -> None:
    gone = found(pair(["Payments"], ["settlement", "fraud"]), [])
    assert gone.notes() == [
        'Neither this inventory nor any cluster has the topic "Orders", so enable removes what is gone from the pair'
        " B-P."
    ]
    dropped = found(pair(["Payments"], ["settlement"], drop=["Orders", "fraud"]), ON_BOTH)
    (note,) = dropped.notes()
    assert note.startswith('kafka_dr_drop lets the topic "Orders", the group "fraud" leave the pair B-P.')
    assert "not ready for a disaster" in note
    # Its name may stay in the inventory.
    assert found(pair(["Payments", "Orders"], ["settlement", "fraud"], drop=["Former"])).notes() == []


def test_exchanged_clusters_are_refused_and_cannot_be_dropped() -> None:
    spec = pair(["Payments", "Orders"], ["settlement", "fraud"], drop=["P", "B"])
    exchanged = membership(spec, STATE, {"P": "id-b", "B": "id-p"}, {})
    assert exchanged.texts() == [
        'the alias "B" stands for the cluster with the id "id-p", and for "id-b" in the journal',
        'the alias "P" stands for the cluster with the id "id-b", and for "id-p" in the journal',
    ]
    assert exchanged.next_step().startswith("Correct bootstrap_servers.")
    # One cluster does not respond, or the journal is from before cluster ids were recorded.
    assert membership(spec, STATE, {"B": "id-b"}, {}).texts() == []
    assert membership(spec, JournalState(topics={}), {"P": "id-b"}, {}).texts() == []


NAMES = st.sets(st.sampled_from(["a", "b", "c", "P.a", "Tokens"]))
PLACES = st.lists(st.sampled_from([Place("P"), Place("B"), Place("B", "not connected")]), max_size=2)


@given(st.data(), NAMES, NAMES, NAMES, NAMES, NAMES, NAMES)
def test_nothing_leaves_silently(
    data: st.DataObject,
    topics: set[str],
    groups: set[str],
    listed: set[str],
    listed_groups: set[str],
    local: set[str],
    drop: set[str],
) -> None:
    """Each member of the journal is in the inventory, refused by name, named by the operator, or on no cluster."""
    state = JournalState(topics=dict.fromkeys(topics, 1), groups=sorted(groups))
    spec = pair([*sorted(listed), "x"], sorted(listed_groups), local_groups=sorted(local), drop=sorted(drop))
    places = {one: data.draw(PLACES) for one in omitted(spec, state) if data.draw(st.booleans())}
    result = membership(spec, state, IDS, places)
    for kind, names, kept in (("topic", topics, listed), ("group", groups, listed_groups | local)):
        for name in names:
            member = Omitted(kind, name)
            named = member in result.dropped or member in result.gone
            assert (name in kept) + (member in result.leaving) + named == 1
            assert (member in result.dropped) <= (name in drop)
            assert (member in result.gone) <= (places.get(member) == [])
            if member in result.leaving:
                assert f'the {kind} "{name}"' in result.problem()
            if named:
                assert f'the {kind} "{name}"' in " ".join(result.notes())
    assert bool(result.leaving) == bool(result.texts()) == bool(result.problem()) == bool(result.next_step())

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
""" "Already there" is PROVEN only if everything agrees.

A difference is REFUTED, and a missing observation is UNKNOWN (R32).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

import run_records
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.at_rest import judge_at_rest

World = dict[str, Any]

UNREAD = "P->B: whether a connector replicates back is unknown: no answer"


def at_rest() -> World:
    """A pair that moved from P to B, where a group consumes and a producer writes. Both flows run as they should."""
    flows = [
        {"name": f"{one}->{other}", "source": one, "target": other, "verdict": "PROVEN", "reason": "records arrive"}
        | {"partitions": [{"topic": "T", "partition": 0, "end": 40 if one == "P" else 900, "drained": "PROVEN"}]}
        for one, other in (("B", "P"), ("P", "B"))
    ]
    run = {"from": "P", "to": "B", "type": "cutoff"}
    left = {"P": {"ends": {"T": {"0": 40}}, "committed_offsets": {}}}
    return {
        "judgement": {"already": True, "problems": [], "text": "They live on B.", "verdict": "PROVEN"},
        "status": {"flows": flows, "missing": [], "not_observed": [], "out_of_scope": [], "unassigned": []},
        "journal": {
            "state": {"active": "B", "policy": "default", "run": run, "left": left},
            "missing_on": [],
            "leases": [{"kind": "checkpoint", "to": "P", "outcome": "done"}],
        },
        "activity": {"grown": {"P": [], "B": ['a producer of "T-0" (its log end on B increased)']}},
        "planned": [{"changed": False, "changes": []}],
        "fences": [
            {"item": {"alias": "P", "state": "fenced"}, "changes": [], "fenced": True},
            {"item": {"alias": "B", "state": "open"}, "changes": [], "fenced": False},
        ],
    }


def judged(world: World) -> dict[str, Any]:
    found = judge_at_rest(**world)
    judgement, status, journal = (world[name] for name in ("judgement", "status", "journal"))
    steps = {"status": {"status": {"flows": []}}, "preflight": {"judgement": judgement}, "journal": journal}
    steps["flowing"] = {"status": status}
    asked = {name: world[name] for name in ("activity", "planned", "fences")}
    assert run_records.judged("at_rest", "cutoff", steps, **asked) == found
    return found


def changed(change: Callable[[World], Any]) -> World:
    world = copy.deepcopy(at_rest())
    change(world)
    return world


def continuous(world: World) -> World:
    """The same pair after a continuous cutover: producers wrote 5 offsets on P after the barrier."""
    world["journal"]["state"]["run"]["type"] = "continuous"
    world["status"]["flows"][1]["partitions"][0]["end"] = 45
    return world


def flow(world: World, **values: Any) -> None:
    world["status"]["flows"][0].update(values)
    world["status"]["missing"].append(f"B->P: {world['status']['flows'][0]['reason']}")


PLAN = {"changes": [{"kind": "connector", "name": "B->P.MirrorSourceConnector", "action": "update"}]}
HIDDEN = {"group": "g", "alias": "B", "topic": "U", "evidence": "committed offset 3 on partition 0"}
REFUTES: dict[str, tuple[Callable[[World], Any], str]] = {
    "a producer writes on P": (
        lambda w: w["activity"]["grown"]["P"].append('a producer of "T-0"'),
        'producer of "T-0"',
    ),
    "a producer has written on P": (
        lambda w: w["status"]["flows"][1]["partitions"][0].update(end=45),
        "P T-0: 5 offsets were written since the applications left",
    ),
    "a connector differs": (
        lambda w: w.update(planned=[PLAN]),
        "B->P.MirrorSourceConnector is not in its desired state",
    ),
    "a flow failed": (lambda w: flow(w, verdict="REFUTED", reason="a task has failed"), "B->P is REFUTED: a task has"),
    "a foreign writer": (lambda w: w["status"]["missing"].append("B->P: B.T-0 is foreign"), "B.T-0 is foreign"),
    "a copy of the journal is gone": (lambda w: w["journal"]["missing_on"].append("P"), "topic is missing on P"),
    "a hidden topic": (lambda w: w["status"]["out_of_scope"].append(HIDDEN), 'uses the topic "U" on B'),
    "the fence is open": (lambda w: w["fences"][0].update(changes=["ban"]), "the fence on P is open, wanted fenced"),
    "the fence is closed": (lambda w: w["fences"][1].update(changes=["ban"]), "the fence on B is closed, wanted open"),
}
UNSEEN: dict[str, tuple[Callable[[World], Any], str]] = {
    "no producer writes on B": (lambda w: w["activity"]["grown"].update(B=[]), "no record was written on B"),
    "no consumer reads on B": (lambda w: w["judgement"].update(verdict="UNKNOWN"), "no group has members on B"),
    "a silent flow": (lambda w: flow(w, verdict="UNKNOWN", reason="no heartbeat"), "B->P is UNKNOWN: no heartbeat"),
    "a topic that nothing reads": (
        lambda w: w["status"]["unassigned"].append({"group": "g", "alias": "B", "topics": ["P.T"]}),
        'no member of the group "g" is assigned P.T',
    ),
    "settings not compared": (lambda w: w.update(planned=None), "settings of the flows were not compared"),
    "no settings compared": (lambda w: w.update(planned=[]), "settings of the flows were not compared"),
    "lists of topics and groups not compared": (
        lambda w: w["planned"][0].update(not_compared=["the lists of srm-control were not compared"]),
        "the lists of srm-control were not compared",
    ),
    "settings of one flow not compared": (
        lambda w: w["planned"].append({"skipped": True, "msg": "left out"}),
        "the flows could not be compared: left out",
    ),
    "one flow not observed": (lambda w: w["status"]["flows"].pop(), "1 of 2 flows were observed"),
    "no flow observed": (lambda w: w["status"]["flows"].clear(), "0 of 2 flows were observed"),
    "writes on the other side not observed": (lambda w: w["activity"]["grown"].pop("P"), "writes on P were not"),
    "no fence read": (lambda w: w.update(fences=[{"failed": True, "msg": "no answer"}]), "the fence could not be read"),
    "a fence without an answer": (lambda w: w["fences"][0].pop("fenced"), "P does not refuse writes"),
    "a worker does not answer": (
        lambda w: w.update(planned=[{"failed": True, "msg": "no answer"}]),
        "the flows could not be compared: no answer",
    ),
    "a check of the connectors failed": (
        lambda w: [w["status"][key].append(UNREAD) for key in ("missing", "not_observed")],
        "whether a connector replicates back is unknown",
    ),
    "the fence is not readable": (lambda w: w["fences"][0].update(failed=True, msg="no answer"), "could not be read"),
    "no authorizer runs": (
        lambda w: w["fences"][0].update(fenced=False, reason="no authorizer"),
        "P does not refuse writes: no authorizer",
    ),
    "presynced offsets failed": (
        lambda w: w["journal"]["leases"][0].update(outcome="failed"),
        "the last reverse_checkpoint to P failed",
    ),
}


# These changes remove what the other changes need.
WHOLE = {
    "settings not compared",
    "no settings compared",
    "a worker does not answer",
    "one flow not observed",
    "no flow observed",
    "writes on the other side not observed",
    "no fence read",
}


def test_a_pair_where_everything_agrees_is_proven() -> None:
    found = judged(at_rest())
    assert (found["verdict"], found["text"], found["already"]) == ("PROVEN", "They live on B.", True)


@pytest.mark.parametrize("name", REFUTES)
def test_each_difference_refutes_it_by_name(name: str) -> None:
    change, expected = REFUTES[name]
    found = judged(changed(change))
    assert found["verdict"] == "REFUTED", found
    assert expected in found["text"]


@pytest.mark.parametrize("name", UNSEEN)
def test_each_missing_observation_is_unknown_by_name(name: str) -> None:
    change, expected = UNSEEN[name]
    found = judged(changed(change))
    assert found["verdict"] == "UNKNOWN", found
    assert expected in found["text"]


def test_the_tail_of_a_disaster_is_not_taken_for_a_producer() -> None:
    world = at_rest()
    world["journal"]["state"]["left"]["P"]["disaster"] = True
    world["status"]["flows"][1]["partitions"][0]["end"] = 77
    assert judged(world)["verdict"] == "PROVEN"


def test_with_the_policy_identity_the_flow_is_the_writer_on_the_other_cluster() -> None:
    world = at_rest()
    world["journal"]["state"]["policy"] = "identity"
    world["activity"]["grown"]["P"].append('a producer of "T-0"')
    assert judged(world)["verdict"] == "PROVEN"


def test_after_a_continuous_cutover_the_flow_has_to_be_drained_beyond_the_barrier() -> None:
    """Producers write after the barrier until they move, so the ends at the barrier are no bound."""
    world = continuous(at_rest())
    assert judged(world)["verdict"] == "PROVEN"
    for drained in ("UNKNOWN", "REFUTED", None):
        world["status"]["flows"][1]["partitions"][0]["drained"] = drained
        assert judged(world)["verdict"] == "UNKNOWN"
        assert "P->B T-0 is not known to be drained" in judged(world)["text"]
    world["activity"]["grown"]["P"].append('a producer of "T-0"')
    assert judged(world)["verdict"] == "REFUTED"


def test_random_mixtures_are_proven_only_if_all_agree_and_refuted_by_one_difference() -> None:
    kinds = [(1, change) for change, _said in REFUTES.values()] + [
        (2, change) for name, (change, _said) in UNSEEN.items() if name not in WHOLE
    ]
    for seed in range(500):
        draw = random.Random(seed)
        drawn = draw.sample(kinds, draw.randrange(4))
        world = at_rest()
        if REFUTES["a producer has written on P"][0] not in [change for _kind, change in drawn] and draw.random() < 0.5:
            world = continuous(world)
        for _kind, change in drawn:
            change(world)
        # A fence that could not be read is not a difference.
        if world["fences"][0].get("failed"):
            world["fences"][0]["changes"] = []
            drawn = [one for one in drawn if one[1] is not REFUTES["the fence is open"][0]]
        wanted = {1: "REFUTED", 2: "UNKNOWN", 3: "PROVEN"}[min([kind for kind, _change in drawn], default=3)]
        assert judge_at_rest(**world)["verdict"] == wanted, seed

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where members of a pair are looked for that an inventory omits (R42). What cannot be seen counts as present."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import JournalState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.journal import members as module

STATE = JournalState(topics={"Payments": 1, "Orders": 1}, groups=["settlement", "fraud"])
TOPIC, GROUP = 'the topic "Orders"', 'the group "fraud"'


def spec(**more: Any) -> PairSpec:
    clusters = {alias: {"bootstrap_servers": f"{alias}:1"} for alias in ("P", "B")}
    return PairSpec.of({"clusters": clusters, "topics": ["Payments"], "groups": ["settlement"], **more})


class Cluster(SimpleNamespace):
    """A cluster with topics, committed offsets by group, and groups with members. ``hides``: it refuses to answer."""

    def __init__(self, *topics: str, offsets: Any = (), active: bool = False, hides: bool = False) -> None:
        super().__init__(cluster_id="", topics=topics, offsets=offsets, active=active, hides=hides)


@pytest.fixture(autouse=True)
def clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer as the clusters in a test do."""

    def answer(kafka: Any, value: Any) -> Any:
        if kafka.hides:
            raise DrError("not_authorized", "hidden from this account")
        return value

    def describe(kafka: Any, names: Any) -> Any:
        return answer(kafka, {name: name in kafka.topics or None for name in names})

    offsets = {"known_committed_offsets": lambda kafka, groups: answer(kafka, dict.fromkeys(groups, kafka.offsets))}
    monkeypatch.setattr(module, "describe_anew", describe)
    monkeypatch.setattr(module, "known_committed_offsets", offsets["known_committed_offsets"])
    monkeypatch.setattr(module, "may_have_members", lambda kafka, _group: kafka.active)


def texts(**kafkas: Cluster) -> list[str]:
    return module.members(spec(), STATE, kafkas).texts()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kafkas", "found"),
    [
        ({"P": Cluster(), "B": Cluster()}, []),
        ({"P": Cluster("Orders"), "B": Cluster()}, [f"{TOPIC} (on P)"]),
        # Only its replica is left, so only there its records are.
        ({"P": Cluster(), "B": Cluster("P.Orders")}, [f"{TOPIC} (on B)"]),
        ({"P": Cluster(offsets={Partition("Payments", 0): 5}), "B": Cluster()}, [f"{GROUP} (on P)"]),
        # An offset that is unavailable now is there.
        ({"P": Cluster(), "B": Cluster(offsets={Partition("P.Orders", 0): None})}, [f"{GROUP} (on B)"]),
        # It uses no topic of the pair.
        ({"P": Cluster(offsets={Partition("Other", 0): 5}), "B": Cluster()}, []),
        ({"P": Cluster(active=True), "B": Cluster()}, [f"{GROUP} (on P)"]),
        ({"P": Cluster(), "B": Cluster(hides=True)}, [f"{GROUP} (unknown on B)", f"{TOPIC} (unknown on B)"]),
        # A disaster: the other cluster does not respond.
        ({"B": Cluster()}, [f"{GROUP} (unknown on P)", f"{TOPIC} (unknown on P)"]),
    ],
)
def test_what_may_be_somewhere_does_not_leave(kafkas: dict[str, Cluster], found: list[str]) -> None:
    assert sorted(texts(**kafkas)) == found


def test_a_complete_inventory_sends_no_request() -> None:
    whole = spec(topics=["Payments", "Orders", "New"], groups=["settlement", "fraud"])
    kafkas: Any = {"P": Cluster(hides=True), "B": Cluster(hides=True)}
    assert module.members(whole, STATE, kafkas).texts() == []

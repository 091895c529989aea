# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dr_topics_info on two clusters: differences from the inventory and from the journal, and the original retention."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.switchback.kafka_dr.plugins.modules import dr_topics_info, kafka_topic
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

pytestmark = pytest.mark.integration

P, B = "TP", "TB"


def test_topics_are_compared_with_inventory_and_journal(lab: Any) -> None:
    found = lab.info()["clusters"]
    clusters = {
        alias: {key: found[name][key] for key in ("bootstrap_servers", "cluster_id")}
        for alias, name in ((P, "P"), (B, "B"))
    }
    name = f"topics-{uuid.uuid4().hex[:6]}"
    replica, syncs = f"{P}.{name}", f"{name}-syncs"

    def make(alias: str, state: str = "present", **topic: Any) -> None:
        servers = clusters[alias]["bootstrap_servers"]
        made = run_module(kafka_topic, {"bootstrap_servers": servers, "topics": [topic], "state": state})
        assert made["rc"] == 0, made

    def compare(**more: Any) -> dict[str, Any]:
        result = run_module(
            dr_topics_info,
            {
                "pair": {"clusters": clusters, "topics": [name]},
                "declared": [{"name": name, "partitions": 2, "config": {}}],
                "names": {P: [name], B: [name, replica]},
                "offset_syncs": {f"{P}->{B}": {"on": P, "topic": syncs}},
                **more,
            },
        )
        assert result["rc"] == 0, result
        return result

    make(P, name=name, partitions=2, config={"retention.ms": "1000"})
    make(B, name=name, partitions=1)
    make(B, name=replica, partitions=3)
    make(P, name=syncs, partitions=1)
    first = compare()
    assert first["cluster_ids"] == {alias: one["cluster_id"] for alias, one in clusters.items()}
    others = [{"name": f"{name}-other", "partitions": 1}, {"name": replica, "partitions": 3}]
    created = compare(flow_topics={B: others})
    assert created["missing"] == {P: [], B: others[:1]}
    assert created["topic_ids"] == first["topic_ids"]
    # The inventory has the larger count, to which the other topic grows.
    assert first["unequal"] == []
    fewer = compare(declared=[{"name": name, "partitions": 1, "config": {}}])["unequal"]
    assert fewer == [f'"{name}": 1 in the inventory, 1 on {B}, 2 on {P} (set partitions to 2)']
    assert first["larger_replicas"] == [f'"{replica}" has 3 partitions on {B}, "{name}" has 2']
    assert "known" not in first
    assert "retention" not in first

    producer = Producer({"bootstrap.servers": clusters[P]["bootstrap_servers"]})
    for _number in range(3):
        producer.produce(syncs, b"x")
    assert producer.flush(30) == 0
    empty: dict[str, Any] = {"topic_ids": {}, "held": {}, "left": {}}
    empty |= {"offset_syncs_start": {}, "checkpoints_start": {}}
    new = compare(state=empty)
    assert new["checkpoints"] == {}
    # P was lost when the applications left it. The topic with B's checkpoints does not exist there.
    lost = {P: {"disaster": True}, B: {"checkpoints": [5, "id"]}}
    assert compare(state={**empty, "left": lost})["checkpoints"] == {P: [0, ""]}
    assert (new["known"], new["joined"], new["recreated"]) == (False, [replica, name], [])
    assert new["offset_syncs_start"][f"{P}->{B}"] == {name: 3}

    journaled = {**empty, "topic_ids": new["topic_ids"], "offset_syncs_start": new["offset_syncs_start"]}
    known = compare(state=journaled)
    assert (known["known"], known["joined"]) == (True, [])
    assert known["offset_syncs_start"][f"{P}->{B}"] == {name: 3}
    # An unobserved cluster gives no information.
    assert compare(state=journaled, names={P: [name], B: []})["known"] is False

    held = compare(state=journaled, hold=True)["retention"]
    assert held["held"][P][name] == {"retention.bytes": None, "retention.ms": "1000"}
    assert {row["name"] for row in held["topics"][B]} == {name, replica}
    again = compare(state={**journaled, "held": held["held"]}, hold=False)["retention"]
    assert again["held"] == {}
    assert [row["config"]["retention.ms"] for row in again["topics"][P]] == ["1000"]

    make(B, "absent", name=replica)
    make(B, name=replica, partitions=2)
    other = compare(state=journaled)
    assert len(other["recreated"]) == 1
    assert f'"{replica}" on {B}' in other["recreated"][0]
    assert (other["known"], other["joined"]) == (False, [replica])
    for alias, topics in ((P, (name, syncs)), (B, (name, replica))):
        for topic in topics:
            make(alias, "absent", name=topic)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for flows counts the time in which no further partition starts, not the time of a large pair.

The wait for the last records may go on until their offsets are stored, which alone proves that they are replicated.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, Waited, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.base import PartState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import status as module
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import FlowObservation

STALL = 20.0
RUNNING = {part: PartState(part, part, "RUNNING", ("RUNNING",)) for part in CONNECTORS}


def wait(monkeypatch: pytest.MonkeyPatch, started: list[int]) -> Waited[dict[str, Any]]:
    """Wait while, second by second, this many of ten partitions have a replicated offset, which grows."""
    now = [0.0]
    views = [
        {
            "verdict": "PROVEN" if count == 10 else "UNKNOWN",
            "hopeless": "",
            "missing": [],
            "flows": [{"partitions": [{"last_replicated_offset": second if n < count else None} for n in range(10)]}],
        }
        for second, count in enumerate(started)
    ]
    monkeypatch.setattr(module, "_flowing_view", lambda *_args, **_options: views[min(int(now[0]), len(views) - 1)])
    monkeypatch.setattr(
        module,
        "wait_until",
        lambda *args: wait_until(*args, clock=(lambda: now[0], lambda seconds: now.__setitem__(0, now[0] + seconds))),
    )
    pair: Any = type("Pair", (), {"refresh": lambda self: None, "groups": ()})()
    request: Any = type("Request", (), {"bounds": Bounds(3600.0, 1.0, STALL)})()
    return module._wait_flowing(pair, request)


def test_a_wait_goes_on_while_partitions_start(monkeypatch: pytest.MonkeyPatch) -> None:
    slowly = [count for count in range(11) for _second in range(int(STALL) - 2)]
    waited = wait(monkeypatch, slowly)
    assert (waited.ended, waited.seconds) == ("done", 10 * (STALL - 2))
    assert waited.seconds > 3 * STALL


@pytest.mark.parametrize("started", [[9] * 200, [8, 9] * 100])
def test_records_of_other_partitions_do_not_hide_one_that_never_starts(
    monkeypatch: pytest.MonkeyPatch, started: list[int]
) -> None:
    waited = wait(monkeypatch, started)
    assert waited.ended == "stalled"
    assert waited.seconds <= STALL + 2


@pytest.mark.parametrize(
    ("stored_at", "stored_timeout", "seconds", "drained"),
    [
        # Equal last records end the wait, and prove nothing.
        (5.0, 0.0, 0.0, False),
        (5.0, 30.0, 5.0, True),
        (60.0, 30.0, 30.0, False),
        (0.0, 30.0, 0.0, True),
    ],
)
def test_the_last_records_are_proven_once_their_offsets_are_stored(
    monkeypatch: pytest.MonkeyPatch, stored_at: float, stored_timeout: float, seconds: float, drained: bool
) -> None:
    now = [0.0]
    clock = (lambda: now[0], lambda pause: now.__setitem__(0, now[0] + pause))

    def observe(_pair: Any) -> list[FlowObservation]:
        stored = 8 if now[0] >= stored_at else 4
        facts = PartitionFacts(0, 9, stored, data_after=stored < 8, tail_replicated=True)
        return [FlowObservation("P", "B", RUNNING, {Partition("T", 0): facts}, None)]

    monkeypatch.setattr(module, "observe_flows", observe)
    monkeypatch.setattr(module, "wait_until", lambda *args: wait_until(*args, clock=clock))
    monkeypatch.setattr(module.time, "monotonic", clock[0])
    request: Any = type("Request", (), {"bounds": Bounds(600.0, 1.0, 120.0), "groups_on": ""})()
    request.groups_timeout, request.groups_stall, request.stored_timeout = 10.0, 5.0, stored_timeout
    waited = module._wait_replicated(type("Pair", (), {})(), request)
    assert (waited.ended, waited.seconds) == ("done", seconds)
    assert (waited.state["flows"][0]["partitions"][0]["drained"] == "PROVEN") is drained

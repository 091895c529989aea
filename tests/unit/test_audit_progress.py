# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R50: which progress a flow had stored before an audit. What is not known is left out, and fails no audit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.journal.state import JournalState
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair import audit

CUT = {"from": "P", "to": "B", "ends": {"T": {"0": 5, "1": 5}}, "cut": {"T": {"0": 10, "1": 10}}}
LOG = {Partition("T", 0): (0, 20), Partition("T", 1): (0, 10)}


def stored(monkeypatch: pytest.MonkeyPatch, observe: Any, policy: str = "identity", **state: Any) -> Any:
    """The stored offsets at the end of a wait of no time, with records since the cut in partition 0 only."""
    observed = SimpleNamespace(kafka={"B": "client of B"}, engine=SimpleNamespace(observe=observe))
    monkeypatch.setattr(audit, "Pair", lambda *_arguments: observed)
    monkeypatch.setattr(audit, "log_ranges", lambda _client, keys: {key: LOG[key] for key in keys})
    monkeypatch.setattr(audit, "has_data", lambda _client, spans: dict.fromkeys(spans, True))
    pair = SimpleNamespace(topics=["T"], naming=naming_of(policy, "."), home="P")
    request: Any = SimpleNamespace(pair=pair, timeout=15.0, spark=SimpleNamespace(settle=0.0))
    return audit._stored(request, JournalState(active="B", **{"cuts": [CUT], **state}), {"T": 2}, "P")


def flow(offsets: dict[Partition, int]) -> Any:
    def observe(source: str, target: str) -> Any:
        assert (source, target) == ("B", "P")
        return SimpleNamespace(last_replicated_offset=offsets)

    return observe


def unreachable(*_arguments: object) -> None:
    raise DrError("unreachable", "The workers do not respond.", "Start them.")


def test_the_offset_after_the_last_stored_one_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    offsets = {Partition("T", 0): 14, Partition("T", 1): 9, Partition("heartbeats", 0): 3}
    assert stored(monkeypatch, flow(offsets)) == {Partition("T", 0): 15, Partition("T", 1): 10}


def test_a_partition_without_progress_does_not_fail_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stored(monkeypatch, flow({Partition("T", 1): 9})) == {Partition("T", 1): 10}


def test_without_workers_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stored(monkeypatch, unreachable) == {}


@pytest.mark.parametrize("more", [{"policy": "default"}, {"cuts": []}, {"cuts": [{**CUT, "disaster": True}]}])
def test_without_a_cut_nothing_is_observed(monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]) -> None:
    def refuse(*_arguments: object) -> None:
        raise AssertionError("it was observed")

    assert stored(monkeypatch, refuse, **more) == {}

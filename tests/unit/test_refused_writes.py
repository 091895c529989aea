# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A status that fails while brokers refuse writes names the topics: Kafka Connect alone only stays silent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, Waited
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation import status as module

SHORT = '"P.T" has too few in-sync replicas: 1, and min.insync.replicas is 2'
SILENT = Unreachable("connect_unreachable", "No answer within 30 s.", "Check that Kafka Connect runs.", "http://b")


class ShrunkPair:
    """A pair whose cluster B refuses writes; ``error``: that cannot be observed either."""

    def __init__(self, refused: dict[str, list[str]], error: DrError | None = None) -> None:
        self.kafka = dict.fromkeys("PB")
        self._refused, self._error = refused, error
        self.refreshed = False

    def refresh(self) -> None:
        self.refreshed = True

    def refusing_writes(self, alias: str) -> list[str]:
        if self._error is not None:
            raise self._error
        return self._refused.get(alias, [])


def fails(monkeypatch: pytest.MonkeyPatch, pair: Any) -> DrError:
    def silent(*_args: Any) -> Any:
        raise SILENT

    monkeypatch.setattr(module, "Pair", lambda *_args: pair)
    monkeypatch.setitem(module._WAITS, "none", silent)
    request: Any = SimpleNamespace(
        pair=None, flows=[], request_timeout=1.0, partial=False, restart_timeout=None, wait_for="none"
    )
    with pytest.raises(DrError) as raised:
        module.status(request)
    return raised.value


def test_a_silent_worker_is_explained_by_the_topics_that_refuse_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = ShrunkPair({"B": [SHORT, "x", "y", "z", "w"]})
    error = fails(monkeypatch, pair)
    assert pair.refreshed, "the cause is observed now"
    assert error.code == "writes_refused"
    assert f"on B, {SHORT}: start the missing brokers" in error.message
    assert "and 2 more topics" in error.message
    assert "No answer within 30 s" in error.message


@pytest.mark.parametrize("pair", [ShrunkPair({}), ShrunkPair({}, SILENT)], ids=["in sync", "unknown"])
def test_another_failure_stays_as_it_is(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fails(monkeypatch, pair) is SILENT


def test_a_wait_that_ends_names_them_first() -> None:
    waited: Any = Waited("timeout", {"missing": ["P->B T-0: replicated up to 5 of 9"]}, 30.0, 3)
    request: Any = SimpleNamespace(wait_for="replicated", bounds=Bounds(30.0))
    pair: Any = ShrunkPair({"B": [SHORT]})
    text = module._stuck(pair, request, waited).message
    assert text.index(SHORT) < text.index("replicated up to 5 of 9")

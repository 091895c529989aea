# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connectors stop while members leave: neither failure hides the other, nor what was changed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._module import Result
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets import barrier as barrier_file
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_barrier
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from run_records import recorded

STOPPED = Outcome(
    Change("connector", "P-to-B.MirrorSourceConnector", "stop", {"state": "RUNNING"}, {"state": "STOPPED"}), "done"
)
NOT_STOPPED = DrError("not_stopped", "The connector is RUNNING.", "Check the worker.")
MEMBERS = DrError("group_active", "1 group still has members.", "Stop its consumer.")


@pytest.mark.parametrize(
    ("of_stop", "of_members", "code"),
    [
        (None, MEMBERS, "group_active"),
        (NOT_STOPPED, None, "not_stopped"),
        (NOT_STOPPED, MEMBERS, "not_stopped"),
    ],
)
def test_the_failure_of_the_connectors_comes_first_and_their_changes_are_reported(
    monkeypatch: pytest.MonkeyPatch, of_stop: DrError | None, of_members: DrError | None, code: str
) -> None:
    asked = []

    class Waiting:
        def __init__(self, *_facts: Any) -> None:
            pass

        def wait_for_members(self) -> None:
            asked.append("members")
            if of_members is not None:
                raise of_members

        def run(self) -> Result:
            raise AssertionError("Nothing is translated after a failure.")

    engine = SimpleNamespace(
        capabilities=SimpleNamespace(bound=lambda stop, _restart: stop),
        stop=lambda *_facts: Result(outcomes=[STOPPED], failure=of_stop),
    )
    pair = SimpleNamespace(engine=engine)
    monkeypatch.setattr(barrier_file, "Pair", lambda *_facts: pair)
    monkeypatch.setattr(barrier_file, "FirstObservation", lambda _pair: SimpleNamespace(state=None))
    monkeypatch.setattr(barrier_file, "require_holder", lambda *_facts, **_named: None)
    monkeypatch.setattr(barrier_file, "Translation", Waiting)
    request: Any = SimpleNamespace(
        pair=SimpleNamespace(flows={}, require_alias=lambda _alias: None),
        claim=SimpleNamespace(run="r1", holder_generation=1),
        translation=lambda _run: SimpleNamespace(leave="P", enter="B"),
        request_timeout=1.0,
        stop_timeout=1.0,
        restart_timeout=1.0,
        final=True,
    )

    result = barrier_file.barrier(request, check=False)

    assert result.failure is not None
    assert (result.failure.code, result.outcomes, asked) == (code, [STOPPED], ["members"])


def test_a_barrier_needs_to_know_which_groups_had_no_members() -> None:
    """R9: without it, a reader with assign() that commits every 5 s would pass by the settle time alone."""
    pair = {"clusters": {"P": {}, "B": {}}, "topics": ["T"]}
    guard = {"clusters": {"P": {}, "B": {}}, "pair": "B-P", "topic": "journal", "run": "r1"}
    with recorded() as record:
        refused = run_module(dr_barrier, {"pair": pair, "guard": guard, "record": record})
    assert (refused["rc"], refused["error"]["code"]) == (1, "bad_option")
    assert "which groups had no members" in refused["msg"]

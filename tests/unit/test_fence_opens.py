# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the role cutover removes the ACLs of an earlier run's fence: by the condition in its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import as_variables
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.hooks import steps_by_phase
from yamls import load_yaml

ROLE = Path(__file__).parents[2] / "roles/cutover"
MOVE = {"cutover_principals": ["User:api"], "cutover_fences": True}


def holds(condition: str, kind: str, **facts: Any) -> bool:
    """Return whether a condition of the role holds for a run."""
    known = {**MOVE, "cutover_kind": as_variables()[kind], **facts}
    return bool(Environment().compile_expression(condition)(**known))


def opens_entered(kind: str, **facts: Any) -> bool:
    """Return whether a run opens the cluster being entered."""
    rows = load_yaml(ROLE / "vars/main.yml")["cutover_unneeded"]
    (left_out,) = (row["value"] for row in rows if row["key"] == "open_fence.yml")
    return not holds(left_out.removeprefix("{{").removesuffix("}}"), kind, **facts)


def opens_left(kind: str) -> bool:
    """Return whether the undo of a run opens the cluster being left."""
    tasks = load_yaml(ROLE / "tasks/undo.yml")
    (when,) = (task["when"] for task in tasks if task.get("vars", {}).get("fence_state") == "open")
    return all(holds(one, kind) for one in when)


@pytest.mark.parametrize("kind", ["cutoff", "continuous", "disaster"])
def test_the_cluster_being_entered_is_opened_no_matter_which_run_fenced_it(kind: str) -> None:
    """This run may fence nothing (kafka_dr_fence: none), but its producers start on a cluster
    that another run fenced.
    """
    assert opens_entered(kind, cutover_fences=False)
    assert not opens_entered(kind, cutover_principals=[])


@pytest.mark.parametrize(("kind", "phase"), [("cutoff", "start"), ("continuous", "move_producers")])
def test_writers_start_after_the_point_of_no_return_on_an_open_cluster(kind: str, phase: str) -> None:
    """R23: a continuous cutover starts consumers while producers still write on the other cluster,
    which is not fenced yet.
    """
    files = {name: [step["file"] for step in steps] for name, steps in steps_by_phase([])[kind].items()}
    start = "phase_start.yml" if phase == "start" else "start_writers.yml"
    at = files[phase].index("point_of_no_return.yml")
    assert files[phase][at:] == ["point_of_no_return.yml", "open_fence.yml", start]
    assert not any("open_fence.yml" in steps for name, steps in files.items() if name != phase)


def test_an_undo_opens_the_cluster_that_its_run_fenced() -> None:
    assert opens_left("cutoff")
    assert opens_left("continuous")


def test_the_undo_of_a_disaster_sends_nothing_to_the_lost_cluster() -> None:
    """It fenced nothing there, and an unreachable cluster must not prevent clients and flows from starting again."""
    assert not opens_left("disaster")

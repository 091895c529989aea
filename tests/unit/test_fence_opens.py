# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the role cutover removes the ACLs of an earlier run's fence: by the condition in its tasks."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import Environment

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.cutover_types import as_variables
from repository import ROOT, document

TASKS = ROOT / "roles/cutover/tasks/start_clients.yml"
CLIENTS = [{"name": "api", "role": "producer"}, {"name": "fraud", "role": "consumer"}]
MOVE = {
    "cutover_from": "P",
    "cutover_to": "B",
    "cutover_now": {"run": {"principals": ["User:api"], "fences": True}},
    "cutover_clients": CLIENTS,
}


def opens(kind: str, alias: str, **facts: Any) -> bool:
    """Return whether the cluster is opened when clients are started on ``alias``."""
    (task,) = (task for task in document(TASKS) if task.get("vars", {}).get("fence_state") == "open")
    when = task["when"] if isinstance(task["when"], list) else [task["when"]]
    known = {**MOVE, "cutover_kind": as_variables()[kind], "cutover_at": alias, **facts}
    return all(Environment().compile_expression(one)(**known) for one in when)


@pytest.mark.parametrize("kind", ["cutoff", "continuous", "disaster"])
def test_the_cluster_being_entered_is_opened_no_matter_which_run_fenced_it(kind: str) -> None:
    """This run may fence nothing (kafka_dr_fence: none), but its producers start on a cluster
    that another run fenced.
    """
    assert opens(kind, "B", cutover_now={"run": {"principals": ["User:api"], "fences": False}})
    assert not opens(kind, "B", cutover_now={"run": {"principals": [], "fences": False}})


def test_consumers_open_nothing() -> None:
    """R23: a continuous cutover starts them while producers still write on the other cluster,
    which is not fenced yet.
    """
    assert not opens("continuous", "B", cutover_clients=CLIENTS[1:])
    assert opens("continuous", "B", cutover_clients=[{"name": "join", "role": "processor"}])


def test_an_undo_opens_the_cluster_that_its_run_fenced() -> None:
    assert opens("cutoff", "P")
    assert opens("continuous", "P")


def test_the_undo_of_a_disaster_sends_nothing_to_the_lost_cluster() -> None:
    """An unreachable cluster must not prevent clients and flows from starting again."""
    assert not opens("disaster", "P")
    assert not opens("disaster", "P", cutover_probe_of_undo={"answers": False})


def test_the_undo_of_a_disaster_opens_a_cluster_that_responds_again() -> None:
    """R47: the run may have fenced it right before the point of no return."""
    assert opens("disaster", "P", cutover_probe_of_undo={"answers": True})

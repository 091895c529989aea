# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R25: whatever a cutover writes into the journal of its run says whose turn it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from yamls import load_yaml

TASKS = Path(__file__).parents[2] / "roles/cutover/tasks"
# These take run and turn from the option ``guard``, where a run without a turn is an error (``Claim.require``).
GUARDED = {f"switchback.kafka_dr.{name}" for name in ("dr_seed", "dr_barrier", "dr_disaster")}


def tasks(found: Any) -> Iterator[dict[str, Any]]:
    """Every task, those of blocks too."""
    for one in found:
        yield one
        for part in ("block", "rescue", "always"):
            yield from tasks(one.get(part, []))


def writers() -> dict[str, dict[str, Any]]:
    """Arguments of each module that notes a run, by file and event; who takes a run over has no turn yet."""
    return {
        f"{path.name} {values.get('event', module)}": values
        for path in sorted(TASKS.glob("*.yml"))
        for task in tasks(load_yaml(path))
        for module, values in task.items()
        if module in GUARDED
        or (module.startswith("switchback.kafka_dr.") and "run" in values and values.get("event") != "resumed")
    }


def test_a_controller_that_was_overtaken_is_refused_wherever_a_run_is_noted() -> None:
    assert len(writers()) >= 8
    assert {values["guard"] for values in writers().values() if "guard" in values} == {"{{ kafka_dr_guard }}"}
    assert [name for name, values in writers().items() if not {"holder_generation", "guard"} & values.keys()] == []

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R25: every task that journals an event of a run passes its holder generation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from repository import document, files

# These take the run and its holder generation from the option ``guard``, which must have both (``Claim.require``).
GUARDED = {f"switchback.kafka_dr.{name}" for name in ("dr_seed", "dr_barrier", "dr_disaster")}


def tasks(found: Any) -> Iterator[dict[str, Any]]:
    """Every task, including those in blocks."""
    for one in found:
        yield one
        for part in ("block", "rescue", "always"):
            yield from tasks(one.get(part, []))


def writers() -> dict[str, dict[str, Any]]:
    """The arguments of each module that journals a run, by file and event. A takeover has no holder generation yet."""
    return {
        f"{path.name} {values.get('event', module)}": values
        for path in files("roles/cutover/tasks/*.yml")
        for task in tasks(document(path))
        for module, values in task.items()
        if module in GUARDED
        or (module.startswith("switchback.kafka_dr.") and "run" in values and values.get("event") != "resumed")
    }


def test_every_task_that_journals_a_run_refuses_a_superseded_controller() -> None:
    assert len(writers()) >= 4
    assert {values["guard"] for values in writers().values() if "guard" in values} == {"{{ kafka_dr_guard }}"}
    assert [name for name, values in writers().items() if not {"holder_generation", "guard"} & values.keys()] == []

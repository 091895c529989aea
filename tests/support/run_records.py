# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of runs as their steps leave them, for tests of what follows from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.run.events import RunEvent
from ansible_collections.switchback.kafka_dr.plugins.module_utils._record import RunRecord
from ansible_collections.switchback.kafka_dr.plugins.modules import dr_run
from modules import run_module

#: The option ``pair`` of a run from P to B.
PAIR: dict[str, Any] = {
    "clusters": {"P": {"bootstrap_servers": "p:1"}, "B": {"bootstrap_servers": "b:1"}},
    "topics": ["T"],
    "name": "B-P",
}


def move(kind: str = "cutoff", **more: Any) -> dict[str, Any]:
    """A move of one application, as ``Move.of`` parses it."""
    api = {"name": "api", "role": "producer", "principal": None}
    alone = {"pair": "B-P", "bootstrap": {"P": "p:1", "B": "b:1"}, "applications": [api]}
    return {**alone, "type": kind, "source": "P", "target": "B", **more}


def reports_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The reports of runs in a folder of reports by type and alias, such as ``cutoff-B``, of each the newest one."""
    found = [json.loads(path.read_text()) for path in folder.glob("runs/*/report.json")]
    return {f"{one['type']}-{one['to']}": one for one in sorted(found, key=lambda one: str(one["began"]))}


def begun(
    reports: Path, kind: str = "cutoff", steps: Mapping[str, Mapping[str, Any]] | None = None, **more: Any
) -> RunRecord:
    """A run that has begun, with the results of these steps. ``more``: of its move."""
    began = {"move": move(kind, **more), "options": {"lower": "auto"}, "check": False}
    record = RunRecord.create(reports, "r1", began)
    for step, result in (steps or {}).items():
        record.append(RunEvent("returned", 1.0, {"step": step, "result": result}))
    return record


@contextmanager
def recorded(steps: Mapping[str, Mapping[str, Any]] | None = None, **more: Any) -> Iterator[str]:
    """The option ``record`` of a step after the steps that are given."""
    with TemporaryDirectory() as folder:
        yield str(begun(Path(folder), steps=steps, **more).folder)


def judged(kind: str, cutover: str, steps: Mapping[str, Mapping[str, Any]], pair: Any = None, **data: Any) -> Any:
    """What the event ``judge`` decides after these steps."""
    with TemporaryDirectory() as folder:
        record = begun(Path(folder), cutover, steps)
        asked = {"event": "judge", "pair": {**PAIR, **(pair or {})}, "record": str(record.folder)}
        answer = run_module(dr_run, {**asked, "data": {"kind": kind, **data}})
        assert "error" not in answer, answer
        run = record.read()
        return run.judgement

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the endpoint files and run the commands of applications on one host.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ._bounded import run_bounded
from ._core.changes import Change, Outcome
from ._core.errors import DrError
from ._files import is_as_wanted, write_whole
from ._guard import require_ownership
from ._host_tokens import Fencing, Gate
from ._module import Result

__all__ = ["control"]

_SHOWN = 400


def control(module: AnsibleModule, clients: list[dict[str, Any]], timeout: float, guard: Mapping[str, Any]) -> Result:
    """Handle all applications at the same time. A failed one does not prevent the others.

    ``timeout``: seconds until a command is killed. ``guard``: the module's option of this name.
    """
    fencing = Fencing(guard)
    with ThreadPoolExecutor(max_workers=max(1, min(16, len(clients)))) as pool:
        rows = list(pool.map(lambda client: _one(module, client, timeout, fencing), clients))
    outcomes = [outcome for row in rows for outcome in row.pop("outcomes")]
    refused = [cause for row in rows for cause in row.pop("refused")]
    warnings = fencing.warnings + [text for client in clients for text in _scale_warning(client)]
    result = Result(outcomes=outcomes, extra={"clients": rows}, warnings=warnings)
    failed = [row for row in rows if row["error"]]
    if refused:
        result.failure = refused[0]
    elif failed:
        names = ", ".join(row["name"] for row in failed)
        result.failure = DrError(
            "client_failed",
            f"{len(failed)} of {len(rows)} applications failed ({names}): {failed[0]['error']}",
            "Read the log of that application, then start the same playbook again.",
        )
    return result


def _scale_warning(client: Mapping[str, Any]) -> list[str]:
    """Warn of a command that scales a workload: it returns before the pods are gone, which may still flush records."""
    argv = [str(word) for word in client["argv"] or []]
    if not argv or Path(argv[0]).name not in ("kubectl", "oc") or "scale" not in argv:
        return []
    return [
        f'The command of {client["name"]} is "{" ".join(argv)}", which returns before the pods are gone or ready. Use'
        ' control "kubernetes", which waits for them (docs/kubernetes.md).'
    ]


def _one(module: AnsibleModule, client: Mapping[str, Any], timeout: float, fencing: Fencing) -> dict[str, Any]:
    began = time.monotonic()
    outcomes: list[Outcome] = []
    row: dict[str, Any] = {"name": client["name"], "rc": None, "error": None, "outcomes": outcomes, "refused": []}
    try:
        gate = fencing.of(client)
        if not module.check_mode:
            with gate():
                pass
        _write_endpoint(module, client, outcomes, gate)
        if client["argv"]:
            _run(module, client, timeout, row, gate)
    except OSError as error:
        row["error"] = f"{client['name']}: {error}"
    except DrError as error:
        row["error"] = error.sentence()
        row["refused"].append(error)
    row["changed"] = any(outcome.status in ("planned", "done") for outcome in outcomes)
    row["seconds"] = round(time.monotonic() - began, 3)
    return row


def _write_endpoint(module: AnsibleModule, client: Mapping[str, Any], outcomes: list[Outcome], gate: Gate) -> None:
    if not client["path"]:
        return
    path, mode = Path(client["path"]), int(client["mode"], 8)
    if is_as_wanted(path, client["content"], mode):
        return
    before = {"content": "as before"} if path.exists() else None
    change = Change("endpoint", str(path), "write", before, {"content": "for another cluster"})
    if module.check_mode:
        outcomes.append(Outcome(change, "planned"))
        return
    require_ownership()
    with gate():
        write_whole(path, client["content"], mode)
    outcomes.append(Outcome(change, "done"))


def _run(module: AnsibleModule, client: Mapping[str, Any], timeout: float, row: dict[str, Any], gate: Gate) -> None:
    argv = list(client["argv"])
    change = Change("command", client["name"], "run", None, {"argv": argv})
    if module.check_mode:
        row["outcomes"].append(Outcome(change, "planned"))
        return
    shown = " ".join(argv)
    require_ownership()
    ended = run_bounded(argv, {}, timeout, gate)
    row["rc"] = ended.rc
    if ended.rc == 0:
        if not _unchanged(ended.stdout):
            row["outcomes"].append(Outcome(change, "done"))
        return
    if ended.rc is not None:
        how = f"exited with {ended.rc}, wanted 0"
    elif ended.gone:
        how = f"did not exit within {timeout:g} s and was killed, with its child processes"
    else:
        how = f"did not exit within {timeout:g} s, could not be killed and may still run"
    output = (ended.stderr.strip() or ended.stdout.strip())[-_SHOWN:]
    row["error"] = f'"{shown}" {how}: {output or "no output"}'
    row["outcomes"].append(Outcome(change, "failed", row["error"]))


def _unchanged(printed: str) -> bool:
    """True if the last line of the output is JSON with ``changed`` false."""
    lines = printed.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("changed") is False

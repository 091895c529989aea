# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks: the user's own steps before or after a phase, such as a DNS change or a notification.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..cutover_types import CUTOVER_TYPES, needs_source
from ..schema import Key, nearest, unquoted

__all__ = ["HOOK_KEYS", "MOMENTS", "check_hook", "hook_lines", "hooks_at", "hooks_by_moment", "steps_by_phase"]

# By type, the moments of a run: its phases, ``run`` and ``undo``.
MOMENTS: dict[str, tuple[str, ...]] = {name: (*one.phases, "run", "undo") for name, one in CUTOVER_TYPES.items()}
# Task files around the file of a phase.
_BEFORE = {"drain": ("resume_flow.yml",)}
_AFTER = {"stop_producers": ("fence_producers.yml",), "stop_consumers": ("fence_processors.yml",)}
# Phases at whose end applications may write on the cluster being entered.
_STARTS = ("start", "move_producers")
HOOK_KEYS = {
    "name": Key(required=True),
    "when": Key(required=True, choices=("before", "after")),
    "phase": Key(required=True),
    "types": Key("list", default=list(MOMENTS)),
    "command": Key("list"),
    "tasks_file": Key(),
    "timeout": Key("int", default=60),
    "on_error": Key(default="stop", choices=("stop", "go_on")),
}


def check_hook(hook: Mapping[str, Any]) -> list[str]:
    """Problems of a hook whose keys have the right types, in sentences."""
    where = f'The hook "{hook["name"]}"'
    problems = [
        f'{where} names the unknown type "{name}", wanted some of: {", ".join(MOMENTS)}.{nearest(str(name), MOMENTS)}'
        for name in hook["types"]
        if name not in MOMENTS
    ]
    known = {moment for moments in MOMENTS.values() for moment in moments}
    phase, types = hook["phase"], [name for name in hook["types"] if name in MOMENTS]
    if phase not in known:
        problems.append(f'{where} names the unknown phase "{phase}".{nearest(phase, sorted(known))}')
    elif not any(phase in MOMENTS[name] for name in types) and not problems:
        kinds = " or ".join(types) or "type of cutover"
        problems.append(f'{where} would never run: no {kinds} has the phase "{phase}".')
    if (hook["command"] is None) == (hook["tasks_file"] is None):
        problems.append(f'{where} needs exactly one of the keys "command" and "tasks_file".')
    if hook["tasks_file"] is not None and not hook["tasks_file"].startswith("/"):
        problems.append(f'{where} has the tasks_file "{hook["tasks_file"]}", which must be an absolute path.')
    if hook["command"] is not None and not all(isinstance(word, str) and word for word in hook["command"] or [None]):
        hint = unquoted(hook["command"])
        problems.append(f"{where} needs a command that is a list of words: it does not run in a shell.{hint}")
    if hook["timeout"] < 1:
        problems.append(f"{where} needs a timeout of at least 1 s, found {hook['timeout']}.")
    return problems


def hooks_by_moment(hooks: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By type of cutover and moment ("before start"), the hooks that run then. Moments without hooks are omitted."""
    moments = [(when, phase) for when in ("before", "after") for phase in sorted({hook["phase"] for hook in hooks})]
    return {
        kind: {f"{when} {phase}": found for when, phase in moments if (found := hooks_at(hooks, when, phase, kind))}
        for kind in MOMENTS
    }


def hooks_at(hooks: Sequence[Mapping[str, Any]], when: str, phase: str, cutover_type: str) -> list[dict[str, Any]]:
    """The hooks of a moment, in the order of the inventory."""
    return [
        dict(hook) for hook in hooks if (hook["when"], hook["phase"]) == (when, phase) and cutover_type in hook["types"]
    ]


def steps_by_phase(
    hooks: Sequence[Mapping[str, Any]],
    awaited: Mapping[str, Mapping[str, Any]] | None = None,
    others: bool = False,
) -> dict[str, dict[str, list[dict[str, str]]]]:
    """By type of cutover and phase, the task files of the role ``cutover`` that run, in order.

    ``when`` is the moment of the hooks that a file runs. Phases without hooks have no file that would look for them.
    The role leaves out files that a run does not need (``cutover_unneeded``). ``awaited``: by type and phase, what of
    other teams' applications must be at rest before it. ``others``: whether there are such applications.
    """
    stops = awaited or {}

    def steps(kind: str, phase: str) -> list[dict[str, str]]:
        before, after = (["hooks.yml"] if hooks_at(hooks, when, phase, kind) else [] for when in ("before", "after"))
        # Once the applications work, and before the audit, which may take longer than the move.
        shown = ["arrived.yml"] if phase == "flows" else []
        stopped = ["await_stop.yml"] if phase in stops.get(kind, ()) else []
        announced = ["announce_start.yml"] if others and phase in _STARTS else []
        # Once the flows run again. What comes after it shows that nothing went on until the end.
        started = ["await_start.yml"] if others and phase == ("settled" if needs_source(kind) else "flows") else []
        own = [*_BEFORE.get(phase, ()), *stopped, f"phase_{phase}.yml", *_AFTER.get(phase, ()), *announced]
        own = [*started, *own] if needs_source(kind) else [*own, *started]
        files = [("before", file) for file in ("begin_phase.yml", *shown, "deadline.yml", *before, *own)]
        files += [("after", file) for file in after]
        return [{"phase": phase, "file": file, "when": when} for when, file in files]

    return {name: {phase: steps(name, phase) for phase in kind.phases} for name, kind in CUTOVER_TYPES.items()}


def hook_lines(hooks: Sequence[Mapping[str, Any]], cutover_type: str) -> list[str]:
    """The hooks that a run of this type would run, as lines of text, in the order of the phases."""
    wanted = [
        (moment, hook)
        for phase in MOMENTS[cutover_type]
        for when in ("before", "after")
        for moment, hook in ((f"{when} {phase}", hook) for hook in hooks_at(hooks, when, phase, cutover_type))
    ]
    return [f"hook {moment}: {hook['name']}, at most {hook['timeout']} s" for moment, hook in wanted]

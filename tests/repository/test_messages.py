# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of errors and failing tasks: complete sentences, a next step, and no claim that the code cannot know."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repository import document, files, name, nodes, read

# ---- "Nothing was changed"

# A module does not know which changes the tasks before it made, and a task file does not know which file includes it.
# These files do:
KNOWS = {
    "plugins/callback/console.py": "it looks for this sentence",
    "plugins/module_utils/_core/inventory/pair.py": "the inventory is checked before anything else",
    "plugins/module_utils/_core/reports/advice.py": "from the run: none was opened",
    "plugins/module_utils/_core/reports/outcome.py": "from the report's outcome",
    "roles/kafka_dr/tasks/main.yml": "the first task of each playbook",
    "roles/kafka_dr/tasks/confirm.yml": "stands before every effect, see below",
}
TASKS = ("playbooks/*.yml", "roles/*/tasks/*.yml")
CLAIM = re.compile(r"nothing[\s\"]+(was|has[\s\"]+been)[\s\"]+changed", re.IGNORECASE)


def test_only_code_that_knows_it_reports_that_nothing_was_changed() -> None:
    found = {name(path) for path in files("plugins/**/*.py", *TASKS) if CLAIM.search(read(path))}
    assert found - {"roles/lab/tasks/main.yml"} == set(KNOWS)


# These may come before the confirmation, because they only observe or set facts.
HARMLESS = re.compile(r"(ansible\.builtin\.(assert|set_fact|debug|fail|include_role)|.*_info|.*\.dr_journal)$")
KEYWORDS = {"name", "when", "vars", "register", "loop", "loop_control", "tags", "no_log", "delegate_to"}


def before_the_confirmation(path: Path) -> list[dict[str, Any]]:
    content = document(path)
    tasks = content[0]["tasks"] if path.parent.name == "playbooks" else content
    names = [str(task.get("ansible.builtin.include_role", {}).get("tasks_from")) for task in tasks]
    return tasks[: names.index("confirm")] if "confirm" in names else []


def test_the_tasks_before_the_confirmation_change_nothing() -> None:
    found = {path: before_the_confirmation(path) for path in files(*TASKS)}
    assert sum(bool(tasks) for tasks in found.values()) >= 8
    for path, tasks in found.items():
        for task in tasks:
            modules = set(task) - KEYWORDS
            assert all(HARMLESS.match(module) for module in modules), f"{path}: {task['name']}"
            assert (task.get("switchback.kafka_dr.dr_journal") or {}).get("event", "read") == "read"


# ---- sentences

# Errors without a next step: a value that only a developer can correct, or a text that includes the step.
STEP_WITHIN = {
    "bad_option",
    "bad_record",
    "group_out_of_scope",
    "journal_missing",
    "no_connect_url",
    "no_offsets",
    "no_srm_site",
    "srm_entries_invalid",
    "unknown_alias",
    "workers_away",
}


def raised() -> Iterator[tuple[str, str, str, str | None]]:
    """The location, code, message and hint (None: there is none) of every error, with ``{}`` for an inserted value."""
    for path in files("plugins/**/*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "DrError":
                hint = node.args[2] if len(node.args) > 2 else None
                hint = next((one.value for one in node.keywords if one.arg == "hint"), hint)
                where = f"{name(path)}:{node.lineno}"
                parts = (literal(node.args[0]), literal(node.args[1]), None if hint is None else literal(hint))
                yield (where, *parts)


def literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(value) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return literal(node.left) + literal(node.right)
    return "{}"


def test_every_error_consists_of_sentences_and_has_a_next_step() -> None:
    found = list(raised())
    assert len(found) > 200
    for where, code, message, hint in found:
        for text in (message, hint or "."):
            assert text.strip(), where
            assert ".." not in text.replace("...", ""), where
            assert re.search(r"[.?}]$", text.strip()), f"{where} does not end as a sentence: {text}"
        sentences = re.split(r"(?<=[.?]) ", f"{message} {hint or ''}".strip())
        whole = [text for text in sentences if text != "{}"]
        assert len(whole) == len(set(whole)), f"{where} repeats a sentence"
        assert hint or code in STEP_WITHIN | {"{}"}, f"{where} ({code}) has no next step"


def spoken(path: Path) -> Iterator[str]:
    """Every text with which a task fails."""

    def tasks(document: Any) -> Iterator[dict[str, Any]]:
        for task in document or []:
            yield task
            for part in ("block", "rescue", "always", "tasks"):
                yield from tasks(task.get(part))

    for task in tasks(document(path)):
        for module, key in (("ansible.builtin.assert", "fail_msg"), ("ansible.builtin.fail", "msg")):
            if isinstance(task.get(module), dict) and key in task[module]:
                yield task[module][key]


def test_every_failing_task_prints_complete_sentences() -> None:
    texts = [(path, text) for path in files(*TASKS) for text in spoken(path)]
    assert len(texts) > 30
    for path, text in texts:
        shown = re.sub(r"{{.*?}}", "{}", text, flags=re.DOTALL)
        assert re.search(r"[.?}]$", shown.strip()), f"{path}: {text}"
        assert ".." not in shown.replace("...", ""), f"{path}: {text}"

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specs, defaults, the checked inventory and the documentation name the same variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import RUN_VARIABLES, variables
from yamls import load_yaml, parse_yaml

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if (path / "tasks").is_dir())
PLAYBOOKS = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
PREFIX = "kafka_dr_"
# Facts and internal variables of the role kafka_dr: not part of the inventory.
INTERNAL = {f"kafka_dr_{name}" for name in ("known", "confirm_alias", "confirm_text", "lease")}


def specs(role: str) -> dict[str, dict[str, Any]]:
    """Options by entry point."""
    path = ROOT / "roles" / role / "meta" / "argument_specs.yml"
    return {name: entry.get("options", {}) for name, entry in load_yaml(path)["argument_specs"].items()}


def defaults(role: str) -> dict[str, Any]:
    path = ROOT / "roles" / role / "defaults" / "main.yml"
    return (load_yaml(path) or {}) if path.exists() else {}


def readme(role: str) -> str:
    return (ROOT / "roles" / role / "README.md").read_text(encoding="utf-8")


def inventory_options() -> dict[str, dict[str, Any]]:
    return specs("kafka_dr")["main"]


def known() -> dict[str, Any]:
    return {PREFIX + name: key for name, key in {**variables(), **RUN_VARIABLES}.items()}


@pytest.mark.parametrize("role", ROLES)
def test_every_role_documents_its_entry_points_and_has_a_readme_with_an_example(role: str) -> None:
    assert specs(role)
    examples = re.findall(r"^```yaml\n(.*?)^```$", readme(role), re.MULTILINE | re.DOTALL)
    assert any(f"switchback.kafka_dr.{role}" in example for example in examples)
    assert all(parse_yaml(example) for example in examples)


def declared(role: str) -> list[tuple[str, Any]]:
    """The defaults of all entry points in the specs."""
    entries = specs(role).values()
    return [(name, one["default"]) for entry in entries for name, one in entry.items() if "default" in one]


@pytest.mark.parametrize("role", [role for role in ROLES if defaults(role)])
def test_defaults_and_argument_specs_give_the_same_values(role: str) -> None:
    assert dict(declared(role)) == defaults(role)


def tasks_of(role: str) -> list[Path]:
    return sorted((ROOT / "roles" / role / "tasks").glob("*.yml"))


def written(role: str, name: str) -> list[Any]:
    """The values that tasks of a role use if the variable is not set."""
    filtered = re.compile(rf"\b{name} \| default\(([^()]*)\)")
    found = [text for path in tasks_of(role) for text in filtered.findall(path.read_text(encoding="utf-8"))]
    return [parse_yaml(text) for text in found]


def begun_with() -> dict[str, Any]:
    """The initial values of the facts that a cutover collects for the role report."""
    first = next(
        task for task in load_yaml(ROOT / "roles/cutover/tasks/begin.yml") if "ansible.builtin.set_fact" in task
    )
    facts: dict[str, Any] = first["ansible.builtin.set_fact"]
    return facts


# Ansible does not set a variable because an argument spec has a default: another file must.
@pytest.mark.parametrize(
    ("role", "name", "value"),
    [pytest.param(role, *one, id=f"{role}: {one[0]}") for role in ROLES for one in declared(role)],
)
def test_the_default_of_an_argument_spec_is_the_value_in_use(role: str, name: str, value: Any) -> None:
    given = [places[name] for places in (defaults(role), defaults("kafka_dr"), begun_with()) if name in places]
    taken = [*given, *written(role, name)]
    assert taken
    assert [other for other in taken if other != value] == []


def test_a_variable_of_several_argument_specs_has_one_default() -> None:
    found: dict[str, list[Any]] = {}
    for role in ROLES:
        for name, value in declared(role):
            found.setdefault(name, []).append(value)
    assert {name: values for name, values in found.items() if any(value != values[0] for value in values)} == {}


@pytest.mark.parametrize("role", ROLES)
def test_every_entry_point_with_its_own_task_file_exists(role: str) -> None:
    files = {path.stem for path in (ROOT / "roles" / role / "tasks").glob("*.yml")}
    assert set(specs(role)) <= files


def test_the_role_kafka_dr_documents_every_variable_of_the_inventory_and_of_a_run_and_no_other() -> None:
    assert set(inventory_options()) == set(known())


@pytest.mark.parametrize("role", ROLES)
def test_a_role_names_only_inventory_variables_that_the_inventory_check_knows(role: str) -> None:
    named = {name for entry in specs(role).values() for name in entry if name.startswith(PREFIX)}
    assert named <= set(known()) | INTERNAL


@pytest.mark.parametrize("role", ROLES)
def test_no_role_declares_the_pair(role: str) -> None:
    """Ansible resolves all declared variables for each use of a role, which takes 0.3 s for a large pair."""
    assert [entry for entry, options in specs(role).items() if "kafka_dr_pair" in options] == []


@pytest.mark.parametrize("name", sorted(known()))
def test_choices_and_defaults_of_a_variable_agree_with_the_inventory_check(name: str) -> None:
    option, key = inventory_options()[name], known()[name]
    # The engines are found by their folders, so the specification does not list them.
    assert tuple(option.get("choices", ())) == (() if name == "kafka_dr_engine" else key.choices)
    if "default" in option and name.removeprefix(PREFIX) in variables():
        assert option["default"] == key.default


@pytest.mark.parametrize("name", sorted(known()))
def test_no_variable_is_required_by_the_spec_so_that_a_misspelt_name_gets_our_message(
    name: str,
) -> None:
    assert not inventory_options()[name].get("required", False)


@pytest.mark.parametrize("name", sorted(known()))
def test_the_inventory_reference_explains_every_variable(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_playbook() -> None:
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == PLAYBOOKS


def module_calls(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every module of the collection in a list of tasks, with its arguments."""
    for task in value if isinstance(value, list) else []:
        for key, arguments in task.items():
            if key.startswith("switchback.kafka_dr.") and isinstance(arguments, dict):
                yield key.rpartition(".")[2], arguments
            elif key in ("block", "rescue", "always"):
                yield from module_calls(arguments)


def test_a_local_group_is_passed_to_no_module_by_name() -> None:
    """R8: connectors, reverse_checkpoint, rebuild and every cutover get only the groups of the pair that move.

    A group that stays is in ``spec.local_groups``, so that no preflight refuses it (R41).
    """
    calls = [call for path in (ROOT / "roles").glob("*/tasks/*.yml") for call in module_calls(load_yaml(path))]
    assert [name for name, arguments in calls if "local_groups" in str(arguments)] == []
    reported = {"dr_barrier", "dr_checkpoint", "dr_disaster"}
    given = {(name, arguments["pair"]) for name, arguments in calls if name in reported}
    assert given == {(name, "{{ kafka_dr_pair.spec }}") for name in reported}

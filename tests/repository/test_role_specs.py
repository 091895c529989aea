# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specs, defaults, the checked inventory and the documentation name the same variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import RUN_VARIABLES, variables
from repository import ROOT, document, files, read, require_none
from yamls import parse_yaml

ROLES = sorted({path.parents[1].name for path in files("roles/*/tasks/*.yml")})
PLAYBOOKS = {path.stem for path in files("playbooks/*.yml")}
PREFIX = "kafka_dr_"
# Facts and internal variables of the role kafka_dr: not part of the inventory.
INTERNAL = {f"kafka_dr_{name}" for name in ("known", "confirm_alias", "confirm_text", "lease")}


@cache
def specs(role: str) -> dict[str, dict[str, Any]]:
    """Options by entry point."""
    path = ROOT / "roles" / role / "meta" / "argument_specs.yml"
    return {name: entry.get("options", {}) for name, entry in document(path)["argument_specs"].items()}


def defaults(role: str) -> dict[str, Any]:
    path = ROOT / "roles" / role / "defaults" / "main.yml"
    return (document(path) or {}) if path.exists() else {}


def readme(role: str) -> str:
    return read(ROOT / "roles" / role / "README.md")


def inventory_options() -> dict[str, dict[str, Any]]:
    return specs("kafka_dr")["main"]


@cache
def known() -> dict[str, Any]:
    return {PREFIX + name: key for name, key in {**variables(), **RUN_VARIABLES}.items()}


def test_every_role_documents_its_entry_points_and_has_a_readme_with_an_example() -> None:
    for role in ROLES:
        assert specs(role)
        examples = re.findall(r"^```yaml\n(.*?)^```$", readme(role), re.MULTILINE | re.DOTALL)
        assert any(f"switchback.kafka_dr.{role}" in example for example in examples), role
        assert all(parse_yaml(example) for example in examples), role


def declared(role: str) -> list[tuple[str, Any]]:
    """The defaults of all entry points in the specs."""
    entries = specs(role).values()
    return [(name, one["default"]) for entry in entries for name, one in entry.items() if "default" in one]


def test_defaults_and_argument_specs_give_the_same_values() -> None:
    for role in filter(defaults, ROLES):
        assert dict(declared(role)) == defaults(role)


def written(role: str, name: str) -> list[Any]:
    """The values that tasks of a role use if the variable is not set."""
    filtered = re.compile(rf"\b{name} \| default\(([^()]*)\)")
    found = [text for path in files(f"roles/{role}/tasks/*.yml") for text in filtered.findall(read(path))]
    return [parse_yaml(text) for text in found]


# Ansible does not set a variable because an argument spec has a default: another file must.
def test_the_default_of_an_argument_spec_is_the_value_in_use() -> None:
    def in_use(role: str, name: str) -> list[Any]:
        given = [places[name] for places in (defaults(role), defaults("kafka_dr")) if name in places]
        return [*given, *written(role, name)]

    require_none(
        f"{role}: {name} is {value!r}, in use: {in_use(role, name)}"
        for role in ROLES
        for name, value in declared(role)
        if not in_use(role, name) or any(other != value for other in in_use(role, name))
    )


def test_a_variable_of_several_argument_specs_has_one_default() -> None:
    found: dict[str, list[Any]] = {}
    for role in ROLES:
        for name, value in declared(role):
            found.setdefault(name, []).append(value)
    assert {name: values for name, values in found.items() if any(value != values[0] for value in values)} == {}


def test_every_entry_point_with_its_own_task_file_exists() -> None:
    require_none(
        f"{role}: {entry}"
        for role in ROLES
        for entry in set(specs(role)) - {path.stem for path in files(f"roles/{role}/tasks/*.yml")}
    )


def test_the_role_kafka_dr_documents_every_variable_of_the_inventory_and_of_a_run_and_no_other() -> None:
    assert set(inventory_options()) == set(known())


def test_a_role_names_only_inventory_variables_that_the_inventory_check_knows() -> None:
    """And never the pair: Ansible resolves all declared variables for each use of a role, 0.3 s for a large pair."""
    require_none(
        f"{role} {entry}: {name}"
        for role in ROLES
        for entry, options in specs(role).items()
        for name in options
        if name.startswith(PREFIX) and name not in known().keys() | INTERNAL
    )


def test_a_variable_agrees_with_the_inventory_check_and_is_not_required() -> None:
    """A variable that the spec requires would get Ansible's message instead of ours if its name is misspelt."""
    for name, key in known().items():
        option = inventory_options()[name]
        # The engines are found by their folders, so the specification does not list them.
        assert tuple(option.get("choices", ())) == (() if name == "kafka_dr_engine" else key.choices), name
        assert not option.get("required", False), name
        if "default" in option and name.removeprefix(PREFIX) in variables():
            assert option["default"] == key.default, name


def test_the_readme_lists_every_playbook() -> None:
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", read(ROOT / "README.md"), re.MULTILINE))
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
    calls = [call for path in files("roles/*/tasks/*.yml") for call in module_calls(document(path))]
    assert [name for name, arguments in calls if "local_groups" in str(arguments)] == []
    reported = {"dr_barrier", "dr_checkpoint", "dr_disaster"}
    given = {(name, arguments["pair"]) for name, arguments in calls if name in reported}
    assert given == {(name, "{{ kafka_dr_pair.spec }}") for name in reported}

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specs, defaults, the checked inventory and the words about them name the same things."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory import RUN_VARIABLES, VARIABLES

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if (path / "tasks").is_dir())
PLAYBOOKS = {path.stem for path in (ROOT / "playbooks").glob("*.yml")}
PREFIX = "kafka_dr_"
# What the role kafka_dr makes, or takes for its own work: no inventory.
INTERNAL = {"kafka_dr_pair", "kafka_dr_known", "kafka_dr_confirm_alias", "kafka_dr_confirm_text"}


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def specs(role: str) -> dict[str, dict[str, Any]]:
    """Options by entry point."""
    path = ROOT / "roles" / role / "meta" / "argument_specs.yml"
    return {name: entry.get("options", {}) for name, entry in load(path)["argument_specs"].items()}


def defaults(role: str) -> dict[str, Any]:
    path = ROOT / "roles" / role / "defaults" / "main.yml"
    return (load(path) or {}) if path.exists() else {}


def inventory_options() -> dict[str, dict[str, Any]]:
    return specs("kafka_dr")["main"]


def known() -> dict[str, Any]:
    return {PREFIX + name: key for name, key in {**VARIABLES, **RUN_VARIABLES}.items()}


@pytest.mark.parametrize("role", ROLES)
def test_every_role_documents_its_entry_points_and_has_a_readme(role: str) -> None:
    assert specs(role)
    assert (ROOT / "roles" / role / "README.md").is_file()


@pytest.mark.parametrize("role", [role for role in ROLES if defaults(role)])
def test_defaults_and_argument_specs_give_the_same_values(role: str) -> None:
    declared = {
        name: option["default"]
        for entry in specs(role).values()
        for name, option in entry.items()
        if "default" in option
    }
    assert declared == defaults(role)


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


@pytest.mark.parametrize("name", sorted(known()))
def test_choices_and_defaults_of_a_variable_agree_with_the_inventory_check(name: str) -> None:
    option, key = inventory_options()[name], known()[name]
    assert tuple(option.get("choices", ())) == key.choices
    if "default" in option and name.removeprefix(PREFIX) in VARIABLES:
        assert option["default"] == key.default


@pytest.mark.parametrize("name", sorted(known()))
def test_no_variable_is_required_by_the_spec_so_that_a_misspelt_name_gets_the_message_with_the_right_one(
    name: str,
) -> None:
    assert not inventory_options()[name].get("required", False)


@pytest.mark.parametrize("name", sorted(known()))
def test_the_inventory_reference_explains_every_variable(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_playbook() -> None:
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == PLAYBOOKS

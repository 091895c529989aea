# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own files agree with each other."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.plugin_utils.local_run import Properties
from repository import ROOT, document, files, modules, name, nodes, read, require_none

CODE = ("plugins", "roles", "spark", "tests", "molecule", "playbooks")
HEADER = (
    "# Copyright (c) ",
    "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
    "# SPDX-License-Identifier: GPL-3.0-or-later",
)
PRIVATE = "Private to this collection: may change in any release."


def load(path: str) -> Any:
    return document(ROOT / path)


def code(suffix: str) -> list[Path]:
    """The files, without empty ones: `ansible-test sanity` requires each __init__.py in plugins to be empty."""
    return [path for path in files(*(f"{folder}/**/*{suffix}" for folder in CODE)) if read(path)]


def groups() -> dict[str, list[str]]:
    found: dict[str, list[str]] = load("meta/runtime.yml")["action_groups"]
    return found


def test_the_group_all_has_exactly_the_modules() -> None:
    assert set(groups()["all"]) == set(modules())


def test_exactly_the_modules_are_routed_to_the_action_plugin() -> None:
    """A module without a route is packed, sent and compiled in each task while applications are stopped."""
    (action,) = (path for path in files("plugins/action/*.py") if read(path))
    route = {"action_plugin": f"switchback.kafka_dr.{action.stem}"}
    assert load("meta/runtime.yml")["plugin_routing"] == {"modules": dict.fromkeys(modules(), route)}
    assert action.stem in modules(), "ansible-test wants a module of the action plugin's name"
    assert "plugin_utils.local_run import ActionModule" in read(action)


def test_each_declaration_of_a_module_about_itself_is_read() -> None:
    """One that is not read would only make the module slow, or silent."""
    declaring = [path.stem for path in files("plugins/modules/*.py") if "LOCAL_RUN" in read(path)]
    assert declaring
    undeclared = {name: Properties(repeatable=name.endswith("_info")) for name in declaring}
    assert [name for name in declaring if Properties.of(name) == undeclared[name]] == []


def test_every_module_is_in_the_group_of_its_subsystem() -> None:
    prefixes = set(groups()) - {"all", "run"}
    by_prefix = {prefix: {m for m in modules() if m.startswith(f"{prefix}_")} for prefix in prefixes}
    assert {prefix: set(members) for prefix, members in groups().items() if prefix in prefixes} == by_prefix


def test_the_group_run_has_exactly_the_steps_of_a_run() -> None:
    """The role cutover gives them its record: a step without it would be missing in the report."""
    steps = {path.stem for path in files("plugins/modules/*.py") if "record_options()" in read(path)}
    assert set(groups()["run"]) == {"dr_run", *steps}


def test_the_page_of_modules_names_every_module() -> None:
    text = read(ROOT / "docs" / "modules.md")
    assert [module for module in modules() if f"`{module}`" not in text] == []


def test_the_page_of_modules_lists_internal_modules_separately() -> None:
    """A user must see which modules may change in any release."""
    public, internal = read(ROOT / "docs" / "modules.md").split("## Internal steps")
    steps = {path.stem for path in files("plugins/modules/*.py") if "(internal step)\n" in read(path)}
    assert "dr_flows" in steps
    assert {module for module in modules() if f"`{module}`" in internal} == steps
    assert [module for module in sorted(steps) if f"`{module}`" in public] == []


def test_groups_are_sorted_and_without_repetition() -> None:
    assert groups() == {group: sorted(set(members)) for group, members in groups().items()}


def test_galaxy_describes_this_collection() -> None:
    galaxy = load("galaxy.yml")
    assert (galaxy["namespace"], galaxy["name"]) == ("switchback", "kafka_dr")
    assert galaxy["license"] == ["GPL-3.0-or-later"]
    assert galaxy["dependencies"] == {}
    assert "infrastructure" in galaxy["tags"]
    assert (ROOT / galaxy["readme"]).is_file()


def lines(path: str) -> list[str]:
    return read(ROOT / path).splitlines()


def locked(path: str) -> list[str]:
    return [line.removesuffix(" \\") for line in lines(path) if "==" in line]


def test_the_client_library_of_an_execution_environment_includes_the_tested_version() -> None:
    assert "confluent-kafka >= 2.6, < 3" in lines("meta/ee-requirements.txt")
    assert [line for line in locked("requirements.txt") if line.startswith("confluent-kafka==2.")]


@pytest.mark.parametrize("part", ["requirements", "requirements-run"])
def test_locked_requirements_have_every_requested_version_and_no_index(part: str) -> None:
    wanted = {line.lower() for line in lines(f"{part}.in") if "==" in line}
    assert wanted <= set(locked(f"{part}.txt"))
    text = "\n".join(lines(f"{part}.txt"))
    assert not [word for word in ("--index-url", "--find-links", "--trusted-host", "://") if word in text]


def test_the_runtime_requirements_are_a_part_of_all_requirements() -> None:
    assert set(locked("requirements-run.txt")) <= set(locked("requirements.txt"))


def test_every_file_of_code_states_its_licence() -> None:
    def licensed(path: Path) -> bool:
        head = [line for line in read(path).splitlines()[:5] if not line.startswith("#!")]
        return path.suffix == ".sh" or all(line.startswith(start) for line, start in zip(head, HEADER, strict=False))

    require_none(name(path) for path in code(".py") + code(".sh") if not licensed(path) or HEADER[2] not in read(path))


def test_a_module_util_states_that_it_is_private() -> None:
    require_none(
        name(path) for path in files("plugins/module_utils/**/*.py") if read(path) and PRIVATE not in read(path)
    )


def test_the_audit_never_calls_id() -> None:
    """An `id()` used as a key outlives its object, so the object itself must be the key."""
    require_none(
        f"{name(path)}:{node.lineno}"
        for path in files("spark/**/*.py")
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    )

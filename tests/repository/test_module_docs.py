# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation of each module: samples, requirements, references to options and values, and callers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from import_closure import closure
from repository import ROOT, modules, nodes, read, require_none
from yamls import parse_yaml

NAMES = modules()
TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": (int, float),
    "dict": dict,
    "list": list,
}
REFERENCE = re.compile(r"\b(O|RV)\(([^)=]+)(?:=[^)]*)?\)")
# A module whose only use of Kafka is to read the journal for its option guard works without the library.
GUARD = "module_utils/_pair/journal/guard.py"


@cache
def texts(path: Path) -> dict[str, str]:
    """The texts that a file assigns to names, at its top level or in a class."""
    return {
        str(getattr(node.targets[0], "id", "")): str(node.value.value)
        for node in nodes(path)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }


def module_texts(name: str) -> dict[str, str]:
    return texts(ROOT / "plugins" / "modules" / f"{name}.py")


def parts(name: str) -> list[str]:
    """The documentation of a module and of its fragments, as text."""
    own = module_texts(name)["DOCUMENTATION"]
    found = [own]
    for fragment in parse_yaml(own).get("extends_documentation_fragment", []):
        file, _dot, part = fragment.removeprefix("switchback.kafka_dr.").partition(".")
        found.append(texts(ROOT / "plugins" / "doc_fragments" / f"{file}.py")[part.upper() or "DOCUMENTATION"])
    return found


@cache
def documentation(name: str) -> dict[str, Any]:
    """The documentation of a module with the lists and options of its fragments."""
    found: dict[str, Any] = {"options": {}, "requirements": [], "notes": [], "seealso": []}
    for part in map(parse_yaml, reversed(parts(name))):
        merged = {key: [*found[key], *part.get(key, [])] for key in ("requirements", "notes", "seealso")}
        found = {**found, **part, **merged, "options": {**found["options"], **(part.get("options") or {})}}
    return found


@cache
def returned(name: str) -> dict[str, Any]:
    found: dict[str, Any] = parse_yaml(module_texts(name)["RETURN"])
    return found


# ---- samples


def test_every_return_value_has_a_sample_of_its_type_with_documented_keys() -> None:
    require_none(
        f"{name}: {key}"
        for name in NAMES
        for key, value in returned(name).items()
        if "sample" not in value or not fits(value["sample"], value)
    )


def fits(sample: Any, value: dict[str, Any]) -> bool:
    if not isinstance(sample, TYPES[value["type"]]) or (isinstance(sample, bool) and value["type"] != "bool"):
        return False
    rows = sample if isinstance(sample, list) else [sample]
    return "contains" not in value or all(set(row) <= set(value["contains"]) for row in rows)


# ---- references


def paths(tree: Mapping[str, Any], inner: str, prefix: str = "") -> Iterator[str]:
    for key, value in tree.items():
        yield f"{prefix}{key}"
        yield from paths(value.get(inner) or {}, inner, f"{prefix}{key}.")


def references(name: str) -> Iterator[tuple[str, str]]:
    for text in [*parts(name), module_texts(name)["RETURN"]]:
        yield from REFERENCE.findall(text)


def exists(name: str, kind: str, reference: str) -> bool:
    module, _hash, place = reference.rpartition("#module:")
    about = module.removeprefix("switchback.kafka_dr.") or name
    tree, inner = (documentation(about)["options"], "suboptions") if kind == "O" else (returned(about), "contains")
    return re.sub(r"\[[^]]*\]", "", place or reference) in set(paths(tree, inner))


def test_every_reference_names_an_option_or_a_return_value_that_exists() -> None:
    require_none(
        f"{name}: {kind}({reference})"
        for name in NAMES
        for kind, reference in references(name)
        if not reference.startswith("ignore:") and not exists(name, kind, reference)
    )


# ---- requirements


def library(name: str) -> list[str]:
    return [text for text in documentation(name)["requirements"] if text.startswith("confluent-kafka")]


def needs_library(name: str) -> bool:
    # dr_guard_info has nothing but the guard.
    without = () if name == "dr_guard_info" else (GUARD,)
    return any(path.startswith("module_utils/_kafka/") for path in closure(name, without))


def test_a_module_names_the_kafka_library_exactly_if_it_needs_it() -> None:
    require_none(name for name in NAMES if len(library(name)) != needs_library(name))


def test_the_versions_of_the_kafka_library_are_those_of_the_requirements() -> None:
    wanted = read(ROOT / "meta" / "ee-requirements.txt").splitlines()[-1]
    tested = re.search(r"^confluent-kafka==(\S+)$", read(ROOT / "requirements-run.in"), re.M)
    assert tested is not None
    text = library("kafka_topic")[0]
    assert text.startswith(f"{wanted} (")
    assert text.endswith(f"tested with {tested[1]})")


# ---- neighbours and callers


def neighbours(name: str) -> set[str]:
    named = [one["module"] for one in documentation(name)["seealso"] if "module" in one]
    return {one.removeprefix("switchback.kafka_dr.") for one in named if one.startswith("switchback.kafka_dr.")}


def test_a_module_names_its_neighbours() -> None:
    require_none(name for name in NAMES if not neighbours(name) or neighbours(name) - (set(NAMES) - {name}))


def internal(name: str) -> bool:
    return bool(documentation(name)["short_description"].endswith("(internal step)"))


def test_an_internal_module_says_so_and_names_tasks_that_call_it() -> None:
    for name in filter(internal, NAMES):
        found = documentation(name)
        assert [note for note in found["notes"] if note.startswith("This module is internal")], name
        files = re.findall(r"C\((roles/\w+/tasks/\w+\.yml)\)", " ".join(found["description"]))
        assert files, name
        require_none(f"{name}: {file}" for file in files if f"switchback.kafka_dr.{name}:" not in read(ROOT / file))


def test_an_example_of_a_public_module_needs_no_variable_of_the_roles() -> None:
    used = r"\{\{[^}]*?\b_?(?:kafka_dr_pair|kafka_dr_guard|kafka_dr_clusters)\b"
    require_none(name for name in NAMES if not internal(name) and re.search(used, module_texts(name)["EXAMPLES"]))

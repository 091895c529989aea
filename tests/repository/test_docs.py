# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages agree with the code: links, defaults, error codes and playbooks; and ansible-doc is complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from error_catalogue import COMPOSED, PAGE, PASSED_ON, entries, page
from repository import ROOT, document, files, modules, name, require_none, tree
from repository import read as read_file
from yamls import parse_yaml

PAGES = files("*.md", "docs/**/*.md", "roles/*/*.md", "spark/*.md", "molecule/*.md", "extensions/**/*.md")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)")
# Places where a page has words in place of a value, and the values they mean.
WORDS: dict[str, tuple[str, Any]] = {
    "kafka_dr_home": ("needed", None),
    "kafka_dr_clusters": ("needed", None),
    "kafka_dr_topics": ("needed", None),
    "kafka_dr_srm": ("", {}),
    "kafka_dr_aiven": ("", {}),
    "kafka_dr_strimzi": ("", {}),
    "kafka_dr_to": ("away from home; `failback`: home", None),
    "kafka_dr_rehearsal_dir": ("the report folder; `/var/tmp` on another host", ""),
    "kafka_dr_reason": ("names this collection", "Changed by the Ansible collection switchback.kafka_dr"),
    "kafka_dr_audit_dir": ("`audit` in the report folder", ""),
    "kafka_dr_discover_file": ("`discovered.yml` in the report folder", ""),
    "kafka_dr_spark_python": ("the module's own", ""),
}


def read(place: str) -> str:
    return read_file(ROOT / place)


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(path: Path) -> set[str]:
    """The anchors that a repository host and MkDocs create: lower case, no punctuation, hyphens for spaces."""
    heads = re.findall(r"^#+ (.+)$", without_code(read_file(path)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_the_links_of_a_page_point_to_files_and_headings_of_the_repository() -> None:
    assert ROOT / "docs" / "procedures" / "README.md" in PAGES
    require_none(f"{name(path)}: {link}" for path in PAGES for link in broken(path))


def broken(path: Path) -> Iterator[str]:
    for target, anchor in LINK.findall(without_code(read_file(path))):
        there = (path.parent / target).resolve() if target else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            yield f"{target}#{anchor}"


def test_every_playbook_is_described_among_the_procedures() -> None:
    text = "".join(map(read_file, files("docs/**/*.md")))
    playbooks = {path.stem for path in files("playbooks/*.yml")} - {"demo", "lab_up", "lab_down"}
    overview = read("docs/procedures/README.md") + read("docs/procedures/rehearse.md")
    assert [each for each in sorted(playbooks) if f"`{each}`" not in overview and f".{each} " not in overview] == []
    assert [each for each in sorted(playbooks) if f"ansible-playbook switchback.kafka_dr.{each} -i" not in text] == []


# ---- defaults -----------------------------------------------------------------------------------------------------


def inventory_options() -> dict[str, dict[str, Any]]:
    specs = document(ROOT / "roles/kafka_dr/meta/argument_specs.yml")["argument_specs"]
    found: dict[str, dict[str, Any]] = specs["main"]["options"]
    return found


def default_column() -> dict[str, str]:
    return {
        row[0]: row[1].strip()
        for row in re.findall(r"^\| `(kafka_dr_\w+)` \|([^|]*)\|", read("docs/inventory.md"), re.M)
    }


def test_the_inventory_reference_and_the_argument_specs_have_the_same_variables_and_defaults() -> None:
    column = default_column()
    assert set(column) == set(inventory_options())

    def agrees(variable: str, default: Any) -> bool:
        reported = column[variable]
        if variable in WORDS:
            return (reported, default) == WORDS[variable]
        return (parse_yaml(reported.strip("`")) if reported else None) == (default if default != "" else None)

    defaults = {variable: option.get("default") for variable, option in inventory_options().items()}
    require_none(f"{variable}: {default!r}" for variable, default in defaults.items() if not agrees(variable, default))


@pytest.mark.parametrize("page", ["README.md", "docs/inventory.md", "docs/kubernetes.md"])
def test_the_inventory_of_a_page_is_valid(page: str) -> None:
    """The first block of YAML is a whole inventory."""
    (block, *_more) = re.findall(r"^```yaml\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    given = {key.removeprefix("kafka_dr_"): value for key, value in parse_yaml(block).items()}
    pair = derive_pair(given, hosts={"all": ["a", "b"], "api": ["a"], "batch": ["b"]})
    assert set(pair["clusters"]) == {"P", "B"}


# ---- error codes --------------------------------------------------------------------------------------------------


def test_the_page_of_error_codes_is_what_the_generator_writes() -> None:
    assert read_file(PAGE) == page(), "docs/error-codes.md differs: run `make error-codes`"


def test_the_catalogue_has_every_way_in_which_a_code_is_chosen() -> None:
    found = entries()
    assert len(found) > 150
    by_status = {"connect_conflict", "connect_error", "cm_not_found", "cm_error"}
    by_prefix = {"connect_url_invalid", "cm_url_invalid", "connect_tls"}
    with_a_hint = {"srm_control_timeout", "srm_secret"}
    direct = {"topic_refused", "unknown_partition", "offset_not_written", "not_authorized", "not_replicated"}
    assert by_status | by_prefix | with_a_hint | direct <= set(found)


def test_every_code_has_a_cause_and_a_next_step() -> None:
    found = entries()
    assert [code for code in (*COMPOSED, *PASSED_ON) if code not in found] == []
    assert [code for code, entry in found.items() if not entry.messages and code not in COMPOSED] == []
    assert [code for code, entry in found.items() if not entry.hints and code not in PASSED_ON] == []


def test_every_code_that_troubleshooting_names_exists() -> None:
    cells = re.findall(r"^\| ((?:`[a-z]+(?:_[a-z]+)+`(?:, )?)+) \|", read("docs/troubleshooting.md"), re.MULTILINE)
    named = {code for cell in cells for code in re.findall(r"`([a-z_]+)`", cell)}
    assert len(named) > 10
    assert sorted(named - set(entries())) == []


# ---- ansible-doc --------------------------------------------------------------------------------------------------


def undescribed(options: dict[str, Any], inner: str, prefix: str = "") -> Iterator[str]:
    for key, option in options.items():
        if not option.get("description") or not option.get("type"):
            yield prefix + key
        yield from undescribed(option.get(inner) or {}, inner, f"{prefix}{key}.")


@cache
def entry_points() -> dict[tuple[str, str], dict[str, Any]]:
    """The argument specs, by role and entry point."""
    return {
        (path.parents[1].name, entry): spec
        for path in files("roles/*/meta/argument_specs.yml")
        for entry, spec in document(path)["argument_specs"].items()
    }


def test_an_entry_point_of_a_role_is_described_with_all_its_options() -> None:
    for (role, entry), spec in entry_points().items():
        require_none(f"{role} {entry}: {key}" for key in ("short_description", "description") if not spec[key])
        require_none(f"{role} {entry}: {option}" for option in undescribed(spec.get("options", {}), "options"))


def entered() -> set[tuple[str, str]]:
    """The role and entry point of each include, in playbooks and between roles."""
    found = set()
    for path in files("playbooks/*.yml", "roles/*/tasks/*.yml"):
        for role, entry in re.findall(
            r"name: switchback\.kafka_dr\.(\w+)\n(?: +(?:public: \w+|tasks_from: (\w+))\n)*", read_file(path)
        ):
            found.add((role, entry or "main"))
    return found


def test_every_entry_point_that_a_playbook_or_role_uses_is_documented() -> None:
    assert ("replication", "status") in entered()
    assert sorted(entered() - set(entry_points())) == []


def test_a_filter_is_documented_with_an_example_and_its_result() -> None:
    for path in files("plugins/filter/*.yml"):
        found = document(path)
        assert found["DOCUMENTATION"]["name"] == path.stem
        assert found["DOCUMENTATION"]["short_description"], path
        assert list(undescribed(found["DOCUMENTATION"].get("options", {}), "suboptions")) == [], path
        assert found["EXAMPLES"], path
        assert found["RETURN"], path


def documentation(path: Path) -> dict[str, str]:
    found = {}
    for node in tree(path).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            found[node.targets[0].id] = str(node.value.value)
    return found


def test_a_module_is_documented_with_examples_and_all_return_values() -> None:
    """A sanity test (validate-modules) checks that options and specs agree."""
    for module in modules():
        texts = documentation(ROOT / "plugins" / "modules" / f"{module}.py")
        doc, results = parse_yaml(texts["DOCUMENTATION"]), parse_yaml(texts["RETURN"])
        require_none(f"{module}: {option}" for option in undescribed(doc.get("options", {}), "suboptions"))
        require_none(f"{module}: {value}" for value in undescribed(results, "contains"))
        assert [task for task in parse_yaml(texts["EXAMPLES"]) if f"switchback.kafka_dr.{module}" in task], module

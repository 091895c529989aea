# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One version everywhere, a changelog that ends with it, and commands of hooks, CI and templates that exist."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pre_commit.clientlib import load_config

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.version import VERSION
from repository import ROOT, document, files, name, read, require_none

# How a page names the version: the tarball, or the release that it describes.
REPORTED = re.compile(r"switchback-kafka_dr-(\d+\.\d+\.\d+)\.tar\.gz|\brelease (\d+\.\d+\.\d+)\b", re.IGNORECASE)
FRAGMENTS = files("changelogs/fragments/*.yml")
PAGES = files("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")
PLAYBOOK = re.compile(r"ansible-playbook switchback\.kafka_dr\.([a-z_]+)")
SHORT = re.compile(r"^version_added: *\"?([0-9.]+)\"?$", re.MULTILINE)


def load(path: str) -> Any:
    return document(ROOT / path)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))


def releases() -> list[str]:
    return sorted(load("changelogs/changelog.yaml")["releases"], key=number)


def test_galaxy_and_modules_and_the_newest_release_of_the_changelog_have_one_version() -> None:
    assert load("galaxy.yml")["version"] == VERSION == releases()[-1]
    assert f"\n## v{VERSION}\n" in read(ROOT / "CHANGELOG.md").replace("\\.", ".")


def test_a_page_names_no_other_version() -> None:
    require_none(
        f"{name(path)}: {one or other}"
        for path in PAGES
        for one, other in REPORTED.findall(read(path))
        if (one or other) != VERSION
    )


def test_plugins_were_added_in_existing_releases() -> None:
    reported = {
        path.name: SHORT.findall(read(path).replace("  version_added", "version_added"))
        for path in files("plugins/modules/*.py", "plugins/filter/*.yml")
    }
    assert {name: versions for name, versions in reported.items() if not set(versions) & set(releases())} == {}


def test_every_fragment_is_in_a_release_word_for_word() -> None:
    """A text that is corrected after the release was written would reach no reader."""
    released = list(load("changelogs/changelog.yaml")["releases"].values())
    fragments = {path.name: load(f"changelogs/fragments/{path.name}") for path in FRAGMENTS}
    assert set(fragments) <= {name for one in released for name in one["fragments"]}
    reported: set[tuple[str, str]] = set()
    for one in released:
        for section, texts in one["changes"].items():
            reported |= {(section, " ".join(text.split())) for text in ([texts] if isinstance(texts, str) else texts)}
    wanted = {
        (section, " ".join(text.split()))
        for fragment in fragments.values()
        for section, texts in fragment.items()
        for text in ([texts] if isinstance(texts, str) else texts)
    }
    assert wanted - reported == set()
    # Fragments are kept: every text of the release is in a fragment.
    assert reported - wanted == set()


def test_no_sanity_ignore_file_exists() -> None:
    assert list((ROOT / "tests" / "sanity").glob("*")) == []
    assert not (ROOT / ".ansible-lint-ignore").exists()
    assert set(load(".ansible-lint")) == {"profile", "strict", "offline", "exclude_paths", "mock_modules"}
    assert (load(".ansible-lint")["profile"], load(".ansible-lint")["strict"]) == ("production", True)


def test_hooks_are_local_and_run_tools_of_the_environment_or_targets_of_the_makefile() -> None:
    """`load_config` is the function that `pre-commit validate-config` calls."""
    pinned = {line.split("==")[0] for line in read(ROOT / "requirements.in").splitlines() if "==" in line}
    config = load_config(str(ROOT / ".pre-commit-config.yaml"))
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    run = {hook["id"]: hook["entry"].split() for hook in hooks}
    wanted = {"ruff", "ruff-format", "yamllint", "ansible-lint", "mypy", "antsibull-changelog", "antsibull-docs"}
    assert wanted == set(run)
    for words in run.values():
        if words[0] == "make":
            assert words[-1] in targets() & pinned
        else:
            assert words[0].removeprefix(".venv/bin/") in pinned


def test_galaxy_links_to_homepage_documentation_issues_and_repository() -> None:
    galaxy = load("galaxy.yml")
    repository = galaxy["repository"]
    assert re.fullmatch(r"https://[^/]+/[^/]+/[^/]+", repository)
    assert galaxy["homepage"].startswith("https://")
    assert (galaxy["documentation"], galaxy["issues"]) == (f"{repository}/tree/main/docs", f"{repository}/issues")
    assert (ROOT / "docs").is_dir()


@pytest.mark.parametrize(
    "path",
    [".github/workflows/test.yml", ".ci/run", ".github/pull_request_template.md", ".devcontainer/devcontainer.json"],
)
def test_ci_templates_and_devcontainer_call_targets_that_exist(path: str) -> None:
    called = set(re.findall(r"""(?:^|[\s`"])make ([a-z-]+)""", read(ROOT / path), re.MULTILINE))
    assert called
    assert called - targets() == set()


def test_ci_runs_files_that_exist_and_issue_forms_are_complete() -> None:
    steps = load(".github/workflows/test.yml")["jobs"]["test"]["steps"]
    programs = [step["run"].split()[0] for step in steps if "run" in step]
    assert [program for program in programs if program != "make" and not (ROOT / program).is_file()] == []
    named = {name for path in (ROOT / ".github").rglob("*.y*ml") for name in PLAYBOOK.findall(path.read_text())}
    assert named == {"support_bundle"}
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        assert {"name", "description", "body"} <= set(document(path)), path.name


def test_the_devcontainer_is_built_from_its_folder() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()
    assert container["remoteEnv"]["ANSIBLE_COLLECTIONS_PATH"].endswith("/build/collections")


def test_help_lists_every_described_target_once_in_three_groups() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    _title, *blocks = done.stdout.strip().split("\n\n")
    listed = {block.splitlines()[0]: [line.split()[0] for line in block.splitlines()[1:]] for block in blocks}
    assert list(listed) == ["try it", "test it", "work on it"]
    shown = [name for names in listed.values() for name in names]
    described = set(re.findall(r"^([a-z-]+):.*  ## ", read(ROOT / "Makefile"), re.MULTILINE)) - {"help"}
    assert sorted(shown) == sorted(described)
    assert {"demo", "lab-up", "lab-down"} <= set(listed["try it"])
    assert {"test", "check", "unit", "playbooks"} <= set(listed["test it"])
    # Every target that a page names is public.
    pages = " ".join(map(read, PAGES))
    called = set(re.findall(r"(?:`|^)make ([a-z-]+)", pages, re.MULTILINE)) & targets()
    assert called - set(shown) - {"help"} == set()


def test_a_target_runs_each_test_file() -> None:
    """A whole folder, all files of a folder, or the file by name."""
    text = "\n".join(map(read, files("Makefile", "tests/support/*.sh")))

    def is_run(path: Path) -> bool:
        folders = [str(parent) for parent in path.parents if len(parent.parts) > 1]
        whole = (rf"(?<![\w/]){re.escape(folder)}(/test_(\*|%)\.py)?(?![\w/*])" for folder in folders)
        return str(path) in text or any(re.search(pattern, text) for pattern in whole)

    require_none(name(path) for path in files("tests/**/test_*.py") if not is_run(Path(name(path))))
    assert not is_run(Path("tests/docs/test_other.py"))

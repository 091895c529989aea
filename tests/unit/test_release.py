# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One version everywhere, a changelog that ends with it, and hooks that run the same commands as the Makefile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pre_commit.clientlib import load_config

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.version import VERSION
from yamls import load_yaml

ROOT = Path(__file__).resolve().parents[2]
# How a page names the version: the tarball, or the release that it describes.
REPORTED = re.compile(r"switchback-kafka_dr-(\d+\.\d+\.\d+)\.tar\.gz|\brelease (\d+\.\d+\.\d+)\b", re.IGNORECASE)
FRAGMENTS = sorted((ROOT / "changelogs" / "fragments").glob("*.yml"))
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")])
SHORT = re.compile(r"^version_added: *\"?([0-9.]+)\"?$", re.MULTILINE)


def load(path: str) -> Any:
    return load_yaml(ROOT / path)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def releases() -> list[str]:
    return sorted(load("changelogs/changelog.yaml")["releases"], key=number)


def test_galaxy_and_modules_and_the_newest_release_of_the_changelog_have_one_version() -> None:
    assert load("galaxy.yml")["version"] == VERSION == releases()[-1]
    assert f"\n## v{VERSION}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("\\.", ".")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_names_no_other_version(path: Path) -> None:
    reported = {one or other for one, other in REPORTED.findall(path.read_text(encoding="utf-8"))}
    assert reported <= {VERSION}


def test_plugins_were_added_in_existing_releases() -> None:
    files = [*(ROOT / "plugins" / "modules").glob("*.py"), *(ROOT / "plugins" / "filter").glob("*.yml")]
    reported = {
        path.name: SHORT.findall(path.read_text(encoding="utf-8").replace("  version_added", "version_added"))
        for path in files
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
    pinned = {line.split("==")[0] for line in (ROOT / "requirements.in").read_text().splitlines() if "==" in line}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    config = load_config(str(ROOT / ".pre-commit-config.yaml"))
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    run = {hook["id"]: hook["entry"].split() for hook in hooks}
    wanted = {"ruff", "ruff-format", "yamllint", "ansible-lint", "mypy", "antsibull-changelog", "antsibull-docs"}
    assert wanted == set(run)
    for words in run.values():
        if words[0] == "make":
            assert words[-1] in targets & pinned
        else:
            assert words[0].removeprefix(".venv/bin/") in pinned

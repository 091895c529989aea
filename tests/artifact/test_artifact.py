# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release tarball: its content, Galaxy's checks, and that it works without a checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WATCH = Path(__file__).resolve().parent / "watch"
IMPORTER = WATCH.with_name("importer.py")
BIN = Path(sys.executable).parent
# Folders and files at the top. The tarball has exactly the files that git tracks below them.
SHIPPED = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "changelogs",
    "docs",
    "extensions",
    "meta",
    "playbooks",
    "plugins",
    "roles",
    "spark",
}
# ansible-galaxy generates these from galaxy.yml.
MADE = {"FILES.json", "MANIFEST.json"}
pytestmark = pytest.mark.timeout(1500)


@pytest.fixture(scope="module")
def tarball() -> Path:
    script = ROOT / "tests" / "support" / "artifact.sh"
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", str(script)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(done.stdout.strip())


def held(tarball: Path) -> set[str]:
    with tarfile.open(tarball) as archive:
        return {entry.name for entry in archive if not entry.isdir()}


def test_the_tarball_is_named_after_the_version(tarball: Path) -> None:
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert tarball.name == "{namespace}-{name}-{version}.tar.gz".format(**galaxy)


def test_the_tarball_has_exactly_the_files_that_users_run_and_read(tarball: Path) -> None:
    copy = tarball.parent / "copy"
    known = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    wanted = {name for name in known if name.split("/")[0] in SHIPPED and not name.startswith("changelogs/fragments/")}
    assert {name.split("/")[0] for name in wanted} == SHIPPED
    assert held(tarball) == wanted | MADE


def test_galaxy_accepts_the_tarball(tarball: Path, tmp_path: Path) -> None:
    """Galaxy's own importer, with ansible-lint and ansible-doc on the unpacked tarball, without a network."""
    dead = "http://127.0.0.1:9"
    env = {**clean(tmp_path), "http_proxy": dead, "https_proxy": dead}
    command = [sys.executable, str(IMPORTER), str(tarball)]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "Importer processing completed successfully" in output
    assert re.findall(r"^(?:WARNING|ERROR|CRITICAL).*", output, re.MULTILINE) == [], output


def clean(home: Path, **more: str) -> dict[str, str]:
    """An environment without the caller's settings. ``home`` has only the files that the tools create."""
    return {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", **more}


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """A clean environment in which Python logs the files that it uses from the checkout and from the installation."""
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "switchback.kafka_dr"
    return clean(
        tmp_path / "home",
        ANSIBLE_COLLECTIONS_PATH=str(tmp_path / "collections"),
        KAFKA_DR_CACHE=os.environ.get("KAFKA_DR_CACHE") or str(cache),
        PYTHONPATH=str(WATCH),
        KAFKA_DR_WATCHED=os.pathsep.join([str(ROOT), str(tmp_path / "collections")]),
        KAFKA_DR_WATCH_LOG=str(tmp_path / "used.txt"),
    )


def used(watched: dict[str, str]) -> tuple[list[str], list[str]]:
    """The paths used from the installation, and from the checkout except for the tools in it."""
    paths = Path(watched["KAFKA_DR_WATCH_LOG"]).read_text().splitlines()
    tools = (f"{Path(sys.prefix)}/", f"{WATCH}")
    return (
        [path for path in paths if path.startswith(watched["ANSIBLE_COLLECTIONS_PATH"])],
        [path for path in paths if path.startswith(str(ROOT)) and not path.startswith(tools)],
    )


def test_every_use_of_the_checkout_is_detected(tmp_path: Path, watched: dict[str, str]) -> None:
    """Also by a program that is started, and by a child process of another one."""
    read = f"open({str(ROOT / 'galaxy.yml')!r})"
    program = str(ROOT / "roles" / "lab" / "files" / "lab" / "java.py")
    code = f"import subprocess as s, sys; s.run([sys.executable, '-c', {read!r}]); s.run(['true', {program!r}])"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "work", env=watched, check=True)
    assert set(used(watched)[1]) == {str(ROOT / "galaxy.yml"), program}


def test_the_installed_tarball_moves_a_pair_without_the_checkout(
    tarball: Path, tmp_path: Path, watched: dict[str, str]
) -> None:
    collections, work = tmp_path / "collections", tmp_path / "work"
    lab = work / "lab"

    def run(program: str, *words: str) -> str:
        command = [str(BIN / program), *words]
        done = subprocess.run(command, cwd=work, env=watched, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    run("ansible-galaxy", "collection", "install", str(tarball), "-p", str(collections))
    installed = collections / "ansible_collections" / "switchback" / "kafka_dr"
    assert {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()} == held(tarball)
    Path(watched["KAFKA_DR_WATCH_LOG"]).unlink()
    try:
        run("ansible-playbook", "switchback.kafka_dr.demo", "-e", f"lab_dir={lab}")
    finally:
        run("ansible-playbook", "switchback.kafka_dr.lab_down", "-e", f"lab_dir={lab}")
    for alias in ("B", "P"):
        report = json.loads((lab / "reports" / f"cutoff-{alias}.json").read_text())
        assert report["headline"] == f"MOVED to {alias}"
        assert (report["verdict"], report["evidence"]["text"]) == ("PROVEN", "PROVEN"), report["checks"]
    counted = json.loads((lab / "check.json").read_text())
    assert counted["verdict"] == "clean"
    assert counted["totals"]["acknowledged"] > 6000
    ours, checkout = used(watched)
    # This includes the programs that a play starts.
    for part in ("playbooks/demo.yml", "plugins/modules/dr_barrier.py", "spark/kafka_dr_audit/__main__.py"):
        assert str(installed / part) in ours
    assert checkout == []

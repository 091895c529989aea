# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The release tarball: its content, and Galaxy's checks. tests/docs/test_commands.py installs and uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from installed import ROOT, Site, clean, files, held, tarball

IMPORTER = Path(__file__).with_name("importer.py")
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


def test_the_tarball_is_named_after_the_version() -> None:
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert tarball().name == "{namespace}-{name}-{version}.tar.gz".format(**galaxy)


def test_the_tarball_has_exactly_the_files_that_users_run_and_read() -> None:
    known = files(tarball().parent / "copy")
    wanted = {name for name in known if name.split("/")[0] in SHIPPED and not name.startswith("changelogs/fragments/")}
    assert {name.split("/")[0] for name in wanted} == SHIPPED
    assert held() == wanted | MADE


def test_galaxy_accepts_the_tarball(tmp_path: Path) -> None:
    """Galaxy's own importer, with ansible-lint and ansible-doc on the unpacked tarball, without a network."""
    dead = "http://127.0.0.1:9"
    env = {**clean(tmp_path), "http_proxy": dead, "https_proxy": dead}
    command = [sys.executable, str(IMPORTER), str(tarball())]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "Importer processing completed successfully" in output
    assert re.findall(r"^(?:WARNING|ERROR|CRITICAL).*", output, re.MULTILINE) == [], output


def test_every_use_of_the_checkout_is_detected(tmp_path: Path) -> None:
    """Also by a program that is started, by a child process of another one, and beside the installation by a link."""
    site = Site(tmp_path / "site")
    site.collection.mkdir(parents=True)
    (site.collection / "Makefile").touch()
    (site.collection / "link").symlink_to(".")
    read = "\n".join(f"open({str(path)!r})" for path in (ROOT / "galaxy.yml", site.collection / "link" / "Makefile"))
    program = str(ROOT / "roles" / "lab" / "files" / "lab" / "java.py")
    code = f"import subprocess as s, sys; s.run([sys.executable, '-c', {read!r}]); s.run(['true', {program!r}])"
    subprocess.run([sys.executable, "-c", code], cwd=site.work, env=site.environment, check=True)
    assert site.used == ({"Makefile"}, {str(ROOT / "galaxy.yml"), program})

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ansible-builder finds in the built collection, and what it generates from the definitions in the guides."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from awx_project import PROJECT
from repository import ROOT

BIN = Path(sys.executable).parent
GUIDE = ROOT / "docs" / "awx.md"
EXAMPLE = PROJECT / "execution-environment" / "execution-environment.yml"


def run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(BIN / command[0]), *command[1:]], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder above ansible_collections with the files that an image would install."""
    folder = tmp_path_factory.mktemp("image")
    run("ansible-galaxy", "collection", "build", "--output-path", str(folder))
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "ansible_collections" / "switchback" / "kafka_dr", filter="data")
    return folder


def found(installed: Path, kind: str) -> list[str]:
    listed: dict[str, Any] = yaml.safe_load(run("ansible-builder", "introspect", "--sanitize", str(installed)))
    return [line.split("  #")[0] for line in listed[kind]]


def test_an_image_gets_the_client_library_java_and_the_kerberos_packages(installed: Path) -> None:
    assert found(installed, "python") == ["confluent-kafka >= 2.6, < 3"]
    assert sorted(found(installed, "system")) == [
        "cyrus-sasl-devel [compile platform:rpm]",
        "cyrus-sasl-gssapi [platform:rpm]",
        "gcc [compile platform:dpkg]",
        "gcc [compile platform:rpm]",
        "java-17-openjdk-headless [platform:rpm]",
        "krb5-user [platform:dpkg]",
        "krb5-workstation [platform:rpm]",
        "librdkafka-dev [compile platform:dpkg]",
        "libsasl2-dev [compile platform:dpkg]",
        "libsasl2-modules-gssapi-mit [platform:dpkg]",
        "openjdk-17-jre-headless [platform:dpkg]",
    ]


def test_the_example_adds_the_tested_spark_packages(tmp_path: Path) -> None:
    run("ansible-builder", "create", "-f", str(EXAMPLE), "-c", str(tmp_path))
    (line,) = [
        line for line in image(tmp_path).splitlines() if line.startswith("RUN $PYCMD -m pip install --no-cache-dir py")
    ]
    wanted = [word for word in shlex.split(line)[5:] if not word.startswith("-")]
    pinned = dict(line.split("==") for line in (ROOT / "requirements-run.in").read_text().splitlines() if "==" in line)
    assert sorted(wanted) == ["numpy", "pandas>=2,<3", "pyarrow", f"pyspark=={pinned['pyspark']}"]
    assert pinned["pandas"].startswith("2.")
    system = (tmp_path / "_build" / "bindep.txt").read_text().splitlines()
    assert sorted(system) == ["openssh-client [platform:dpkg]", "openssh-clients [platform:rpm]"]
    asked = (tmp_path / "_build" / "requirements.yml").read_text()
    assert asked == (PROJECT / "collections" / "requirements.yml").read_text()
    assert "&& $PYCMD -m kafka_dr_audit --prepare" in image(tmp_path)


def test_the_definition_with_kerberos_can_be_rendered(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "kerberos.md").read_text(encoding="utf-8")
    (definition,) = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "base_image" in block]
    (tmp_path / "execution-environment.yml").write_text(definition)
    (tmp_path / "librdkafka-2.15.1.tar.gz").touch()
    run("ansible-builder", "create", cwd=tmp_path)
    assert "--enable-gssapi" in image(tmp_path / "context")
    assert "RUN python3 " not in image(tmp_path / "context")


def test_the_example_uses_the_chosen_python_if_python3_of_the_base_is_older(tmp_path: Path) -> None:
    definition = yaml.safe_load(EXAMPLE.read_text())
    definition["dependencies"]["galaxy"] = str(PROJECT / "collections" / "requirements.yml")
    chosen = {"package_system": "python3.11", "python_path": "/usr/bin/python3.11"}
    assert f"{{package_system: {chosen['package_system']}, python_path: {chosen['python_path']}}}" in GUIDE.read_text()
    definition["dependencies"]["python_interpreter"] = chosen
    (tmp_path / "execution-environment.yml").write_text(yaml.safe_dump(definition))
    run("ansible-builder", "create", cwd=tmp_path)
    rendered = image(tmp_path / "context")
    assert 'ARG PYCMD="/usr/bin/python3.11"' in rendered
    assert "python3 " not in rendered


def image(context: Path) -> str:
    """The build file of the image. Podman and Docker use different names for it."""
    (path,) = [context / name for name in ("Containerfile", "Dockerfile") if (context / name).exists()]
    return path.read_text()

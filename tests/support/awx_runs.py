# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs as AWX 24.6.1 runs them: ansible-runner, the project awx/, an imported inventory, answers and credentials."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

from awx_project import PROJECT, inject, kind_of, lacking, launched, templates, written
from lab.lab import Lab
from repository import ROOT

BIN = Path(sys.executable).parent
# Jobs that need Spark or a lost cluster. tests/playbooks/test_awx_lost.py launches them, tests/runner all others.
LONG = {"verify", "failover_disaster", "salvage", "rebuild"}


@dataclass(frozen=True)
class Job:
    """The result that AWX stores of a job."""

    playbook: str
    checked: bool
    status: str
    stdout: str
    events: list[dict[str, Any]]
    #: Why AWX did not start the job. "": it started.
    explanation: str = ""

    @property
    def artifacts(self) -> dict[str, Any]:
        """The values that ``set_stats`` passed on."""
        found: dict[str, Any] = self._stats().get("artifact_data", {})
        return found

    @property
    def changed(self) -> int:
        return sum(self._stats()["changed"].values())

    @property
    def texts(self) -> list[str]:
        """All texts that every user with access to the job can read."""
        return [self.stdout, *(json.dumps(event) for event in self.events)]

    def _stats(self) -> dict[str, Any]:
        (last,) = (event for event in self.events if event["event"] == "playbook_on_stats")
        found: dict[str, Any] = last["event_data"]
        return found


def lab_credentials(lab: Lab) -> dict[str, dict[str, str]]:
    """The values of the credentials for a lab with logins."""
    security = lab.paths.security
    rest = security.rest_client()
    kafka = {"username": "admin", "password": security.password("admin")}
    connect = {"username": rest["url_username"], "password": rest["url_password"]}
    values = {
        f"Kafka DR {name}": {f"{side}_{key}": text for side in ("home", "away") for key, text in login.items()}
        for name, login in (("clients", kafka), ("Connect", connect))
    }
    values["Kafka DR clients"]["ca"] = security.ca.read_text()
    return values


@dataclass
class Awx:
    """The project and one inventory, in ``folder``.

    ``variables``: more variables of the inventory. ``credentials``: the values of each credential, by its name; those
    that are not listed are empty. ``image``: run each job in a container of this image, on the network of this machine.
    ``key``: the private key of a machine credential.
    """

    folder: Path
    inventory: Path
    variables: Mapping[str, Any]
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    image: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.synchronize()
        # AWX gives an imported inventory to jobs as a script that prints it.
        self.script = self.folder / "hosts"
        self.script.write_text(f"#!/bin/sh\nexec cat '{self.folder}/inventory.json'\n")
        self.script.chmod(0o700)

    def synchronize(self) -> None:
        """Import the inventory. Like AWX, this keeps variables of the group ``all`` that the inventory has lost."""
        command = [str(BIN / "ansible-inventory"), "-i", str(self.inventory), "--list", "--export"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | self._environment())
        imported = json.loads(done.stdout)
        stored = self.folder / "inventory.json"
        earlier = json.loads(stored.read_text())["all"]["vars"] if stored.exists() else {}
        imported["all"]["vars"] = {**earlier, **imported["all"].get("vars", {}), **self.variables}
        stored.write_text(json.dumps(imported))

    def successful(self, checked: bool) -> set[str]:
        """The playbooks with a successful job, in check mode or for real."""
        return {job.playbook for job in self.jobs if job.status == "successful" and job.checked == checked}

    def launch(self, playbook: str, options: str = "", **given: Any) -> Job:
        """Launch a job template with answers to its survey. Raises ``RefusedError`` where AWX answers with HTTP 400."""
        return self.run(playbook, launched(templates()[playbook], given), options)

    def run(self, playbook: str, variables: Mapping[str, Any], options: str = "") -> Job:
        """Run the playbook of a job template with these extra variables."""
        template = templates()[playbook]
        unfilled = [text for name in template["credentials"] if (text := lacking(name, self.credentials.get(name, {})))]
        if unfilled:
            job = Job(playbook, "--check" in options, "failed", "", [], unfilled[0])
        else:
            job = self._run(playbook, variables, options)
        self.jobs.append(job)
        return job

    def _run(self, playbook: str, variables: Mapping[str, Any], options: str) -> Job:
        template = templates()[playbook]
        place = self.folder / f"{len(self.jobs) + 1:02d}-{playbook}"
        shutil.copytree(PROJECT, place / "project")
        secret = place / "env"
        secret.mkdir()
        (secret / "extravars").write_text(written({"awx_job_id": 1, **variables}, template["extra_vars"]))
        given = [inject(kind_of(name), self.credentials[name], secret) for name in template["credentials"]]
        (place / "inventory").mkdir()
        shutil.copy(self.script, place / "inventory" / "hosts")
        # An image has its own programs and collections.
        environment = {} if self.image else self._environment()
        for one in given:
            environment |= one.environment
        done = ansible_runner.run(
            private_data_dir=str(place),
            playbook=template["playbook"],
            cmdline=shlex.join([*shlex.split(options), *(word for one in given for word in one.arguments)]) or None,
            envvars=environment,
            ssh_key=self.key or None,
            quiet=True,
            **self._container(),
        )
        with done.stdout as shown:
            return Job(playbook, "--check" in options, done.status, shown.read(), list(done.events))

    def _container(self) -> dict[str, Any]:
        """How ansible-runner starts the container of a job. Files keep their paths: those of the lab and of the job."""
        if not self.image:
            return {}
        lab = self.folder.parent
        return {
            "process_isolation": True,
            "process_isolation_executable": "docker",
            "container_image": self.image,
            "container_options": ["--network=host"],
            "container_volume_mounts": [f"{lab}:{lab}"],
        }

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
        }

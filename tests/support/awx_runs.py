# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs as AWX runs them: ansible-runner, the project awx/, an imported inventory, and survey answers as text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

from awx_project import PROJECT, ROOT, answered, templates

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


@dataclass
class Awx:
    """The project and one inventory, in ``folder``. ``variables``: more variables of the inventory."""

    folder: Path
    inventory: Path
    variables: Mapping[str, Any]
    jobs: list[Job] = field(default_factory=list)

    def __post_init__(self) -> None:
        # AWX imports an inventory as JSON and gives it to jobs as a script that prints it.
        command = [str(BIN / "ansible-inventory"), "-i", str(self.inventory), "--list", "--export"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | self._environment())
        imported = json.loads(done.stdout)
        imported["all"]["vars"] = imported["all"].get("vars", {}) | dict(self.variables)
        self.folder.mkdir(exist_ok=True)
        (self.folder / "inventory.json").write_text(json.dumps(imported))
        self.script = self.folder / "hosts"
        self.script.write_text(f"#!/bin/sh\nexec cat '{self.folder}/inventory.json'\n")
        self.script.chmod(0o700)

    def successful(self, checked: bool) -> set[str]:
        """The playbooks with a successful job, in check mode or for real."""
        return {job.playbook for job in self.jobs if job.status == "successful" and job.checked == checked}

    def launch(self, playbook: str, options: str = "", more: Mapping[str, Any] | None = None, **given: Any) -> Job:
        """Run a job template.

        ``more``: variables from credentials, and those that earlier jobs of a workflow passed on.
        """
        place = self.folder / f"{len(self.jobs) + 1:02d}-{playbook}"
        shutil.copytree(PROJECT, place / "project")
        template = templates()[playbook]
        answers = {name: str(value) for name, value in answered(template, **given).items()}
        done = ansible_runner.run(
            private_data_dir=str(place),
            playbook=template["playbook"],
            inventory=str(self.script),
            extravars={**(more or {}), **answers},
            cmdline=options or None,
            envvars=self._environment(),
            quiet=True,
        )
        with done.stdout as shown:
            job = Job(playbook, "--check" in options, done.status, shown.read(), list(done.events))
        self.jobs.append(job)
        return job

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "build" / "collections"),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
        }

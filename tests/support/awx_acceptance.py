# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make awx: load the folder awx/ into an AWX, and run enable, readiness and both approved workflows there.

AWX_HOST, AWX_TOKEN: the address of AWX, and an administrator's token. AWX_VARS: a file with the ``setup_*`` variables
of awx/vars/controller.yml, and with ``secrets``: by credential name, the values of its fields. ``reports`` is optional:
the folder of the reports, if this machine sees it. The applications move to the other cluster and back home.
"""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from awx_project import PROJECT
from repository import ROOT

ENDED = {"successful", "failed", "error", "canceled"}
# Objects of one loaded configuration, in the order in which AWX lets them go.
OWN = (
    *("schedules", "workflow_job_templates", "job_templates", "inventories", "projects", "execution_environments"),
    "credentials",
)
# Objects that other configurations may share. Only those that this run has created are deleted.
SHARED = ("credential_types", "organizations")
# The longest time for a job, and for a workflow without its approval.
JOB_SECONDS = 3600


class AcceptanceError(Exception):
    """AWX does not do what the configuration promises."""


@dataclass(frozen=True)
class Client:
    """AWX's REST API."""

    address: str
    token: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the content of the response. Raises for any status but 2xx."""
        request = urllib.request.Request(
            f"{self.address.rstrip('/')}/api/v2/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60, context=ssl.create_default_context()) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AcceptanceError(f"{method} {path}: HTTP {error.code} {error.read().decode()[:500]}") from None
        return json.loads(text) if text.startswith(("{", "[")) else text

    def named(self, kind: str, name: str) -> dict[str, Any]:
        """The object with that name."""
        (found,) = self.call("GET", f"{kind}/?name={quote(name)}")["results"]
        return dict(found)

    def ids(self, kind: str) -> set[int]:
        """The ids of all objects of a kind."""
        return {one["id"] for one in self.call("GET", f"{kind}/?page_size=200")["results"]}


@dataclass(frozen=True)
class Acceptance:
    """A loaded configuration. ``say`` shows what is done."""

    client: Client
    name: str
    home: str
    away: str
    reports: Path | None = None
    #: The verdict that a move must have.
    verdict: str = "PROVEN"
    say: Callable[[str], None] = print

    def fill(self, secrets: Mapping[str, Mapping[str, str]]) -> None:
        """Give the credentials their values."""
        for credential, inputs in secrets.items():
            one = self.client.named("credentials", f"{self.name} {credential}")
            self.client.call("PATCH", f"credentials/{one['id']}/", {"inputs": dict(inputs)})

    def run(self) -> None:
        """Set up the pair, and move the applications there and back. Raises at the first difference."""
        self.prepare()
        self.workflow("approved failover", "failover_cutoff", self.away)
        self.workflow("approved failback", "failback", self.home)

    def prepare(self) -> None:
        """Set up the pair, and check that it could move."""
        self.job("enable", kafka_dr_confirm=self.home)
        ready = self.job("readiness", kafka_dr_ready_require="controlled")
        self._same(ready, "readiness", {f"kafka_dr_ready_{way}": way for way in ("controlled", "disaster")})

    def job(self, playbook: str, **answers: Any) -> dict[str, Any]:
        """Launch a job template, and return the job, which must succeed."""
        template = self.client.named("job_templates", f"{self.name} {playbook}")
        launched = self.client.call("POST", f"job_templates/{template['id']}/launch/", {"extra_vars": answers})
        return self._successful(f"jobs/{launched['job']}")

    def workflow(self, name: str, move: str, to: str) -> None:
        """Launch a workflow that moves the applications to ``to``, approve it, and check every job of it."""
        template = self.client.named("workflow_job_templates", f"{self.name} {name}")
        path = f"workflow_job_templates/{template['id']}/launch/"
        number = self.client.call("POST", path, {"extra_vars": {"kafka_dr_confirm": to}})["workflow_job"]
        approval = self._until(lambda: self._asked(number), f"{name} asks for an approval")
        if approval is not True:
            self.say(f"    {name}: approved")
            self.client.call("POST", f"workflow_approvals/{approval}/approve/", {})
        self._until(lambda: self.client.call("GET", f"workflow_jobs/{number}/")["status"] in ENDED, f"{name} ends")
        ended = self.client.call("GET", f"workflow_jobs/{number}/")
        jobs = self._jobs_of(number)
        for job in jobs.values():
            self._successful(f"jobs/{job}")
        if ended["status"] != "successful":
            raise AcceptanceError(f"{name}: {ended['status']}")
        moved = self.client.call("GET", f"jobs/{jobs[f'{self.name} {move}']}/")
        outcome = {key: moved["artifacts"].get(f"kafka_dr_{key}") for key in ("outcome", "verdict")}
        if outcome != {"outcome": "completed", "verdict": self.verdict}:
            raise AcceptanceError(f"{move} passed on {outcome}, wanted completed and {self.verdict}")
        self._same(moved, "latest-move/report", {f"kafka_dr_{key}": key for key in ("outcome", "verdict", "run")})
        status = self.client.call("GET", f"jobs/{jobs[f'{self.name} status']}/")["artifacts"]
        if status != {"kafka_dr_verdict": "PROVEN", "kafka_dr_active": to}:
            raise AcceptanceError(f"status passed on {status}, wanted PROVEN and {to}")

    def _asked(self, number: int) -> int | bool | None:
        """The approval that a workflow waits for. True: the workflow has ended without it."""
        waiting = self.client.call("GET", "workflow_approvals/?status=pending")["results"]
        own = [one["id"] for one in waiting if self._workflow_of(one) == number]
        if own:
            return int(own[0])
        return self.client.call("GET", f"workflow_jobs/{number}/")["status"] in ENDED or None

    @staticmethod
    def _workflow_of(approval: Mapping[str, Any]) -> Any:
        known = approval["summary_fields"].get("workflow_job")
        return known["id"] if known else approval.get("workflow_job")

    def _jobs_of(self, number: int) -> dict[str, int]:
        """The jobs of a workflow by the name of their template."""
        nodes = self.client.call("GET", f"workflow_jobs/{number}/workflow_nodes/?page_size=200")["results"]
        jobs = [node["summary_fields"]["job"] for node in nodes if node["summary_fields"].get("job")]
        return {job["name"]: job["id"] for job in jobs if job.get("type", "job") == "job"}

    def _successful(self, path: str) -> dict[str, Any]:
        self._until(lambda: self.client.call("GET", f"{path}/")["status"] in ENDED, f"{path} ends")
        job: dict[str, Any] = self.client.call("GET", f"{path}/")
        self.say(f"    {job['name']}: {job['status']} {json.dumps(job['artifacts'])}")
        if job["status"] != "successful":
            shown = self.client.call("GET", f"{path}/stdout/?format=txt")
            raise AcceptanceError(f"{job['name']}: {job['status']} {job.get('job_explanation', '')}\n{shown[-4000:]}")
        return job

    def _same(self, job: Mapping[str, Any], report: str, keys: Mapping[str, str]) -> None:
        """Compare artifacts with the report on disk, if it is within reach."""
        if self.reports is None:
            return
        written = json.loads((self.reports / f"{report}.json").read_text(encoding="utf-8"))
        wanted = {artifact: written[key] for artifact, key in keys.items()}
        if job["artifacts"] != wanted:
            raise AcceptanceError(f"{job['name']} passed on {job['artifacts']}, but {report}.json has {wanted}")

    def _until(self, observe: Callable[[], Any], what: str) -> Any:
        """The first observation that is neither false nor empty. AWX announces nothing, so it is asked each second."""
        end = time.monotonic() + JOB_SECONDS
        while not (seen := observe()):
            if time.monotonic() > end:
                raise AcceptanceError(f"{what}: not within {JOB_SECONDS} s")
            time.sleep(0.2 if self.client.address.startswith("http://127.0.0.1") else 1)
        return seen

    def clean(self, before: Mapping[str, set[int]]) -> None:
        """Delete what was loaded, and of the shared kinds what does not exist in ``before``."""
        for kind in OWN:
            for one in self.client.call("GET", f"{kind}/?page_size=200")["results"]:
                if one["name"] == self.name or one["name"].startswith(f"{self.name} "):
                    self.client.call("DELETE", f"{kind}/{one['id']}/")
        for kind in SHARED:
            for number in self.client.ids(kind) - before[kind]:
                self.client.call("DELETE", f"{kind}/{number}/")


def load(client: Client, settings: Mapping[str, Any], folder: Path) -> str:
    """Run awx/load.yml with the real modules of awx.awx. Return its output. Raises if it fails."""
    script = ["bash", str(ROOT / "tests" / "support" / "awx_collection.sh")]
    collections = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    (folder / "settings.json").write_text(json.dumps(dict(settings)))
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, PROJECT / "load.yml", "-e", f"@{folder / 'settings.json'}"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": collections,
            "ANSIBLE_HOME": str(folder),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_PIPELINING": "true",
            "CONTROLLER_HOST": client.address,
            "CONTROLLER_OAUTH_TOKEN": client.token,
        },
    )
    if done.returncode:
        raise AcceptanceError(f"awx/load.yml failed:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return done.stdout


def main() -> int:
    """Return 1 if AWX does not do what the configuration promises."""
    address, token, variables = (os.environ.get(f"AWX_{name}", "") for name in ("HOST", "TOKEN", "VARS"))
    if not address:
        sys.stdout.write("==> awx: SKIPPED, because AWX_HOST has no address\n")
        return 0
    if not token or not variables:
        sys.stdout.write("==> awx: set AWX_TOKEN and AWX_VARS too, see docs/awx.md\n")
        return 1
    given: dict[str, Any] = yaml.safe_load(Path(variables).read_text(encoding="utf-8"))
    settings: dict[str, Any] = {"setup_name": "Kafka DR acceptance", "setup_home": "P", "setup_away": "B"}
    settings |= {name: value for name, value in given.items() if name.startswith("setup_")}
    settings.setdefault("setup_credentials", [f"{settings['setup_name']} {name}" for name in given["secrets"]])
    client = Client(address, token)
    reports = Path(given["reports"]) if "reports" in given else None
    own = Acceptance(client, settings["setup_name"], settings["setup_home"], settings["setup_away"], reports)
    before = {kind: client.ids(kind) for kind in SHARED}
    try:
        with tempfile.TemporaryDirectory() as folder:
            load(client, settings, Path(folder))
        own.fill(given["secrets"])
        own.run()
    except AcceptanceError as error:
        sys.stdout.write(f"==> awx: FAILED. {error}\n")
        return 1
    finally:
        own.clean(before)
    sys.stdout.write("==> awx: passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

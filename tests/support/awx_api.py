# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of AWX's REST API that the modules of awx.awx and `make awx` use: objects in memory, and jobs that run.

Source: AWX 24.6.1, awx/api/serializers.py, awx/api/views and awx/main/models.
"""

from __future__ import annotations

import itertools
import json
import traceback
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from awx_project import PROJECT, RefusedError, launched, merged
from awx_runs import Awx
from scripted import ScriptedServer

PREFIX = "/api/v2/"
TEMPLATES = ("job_templates", "workflow_job_templates", "projects", "inventory_sources", "workflow_approval_templates")
# Fields with the id of another object: AWX refuses an id that does not exist.
REFERENCES = {
    "organization": ("organizations",),
    "credential_type": ("credential_types",),
    "execution_environment": ("execution_environments",),
    "project": ("projects",),
    "source_project": ("projects",),
    "inventory": ("inventories",),
    "workflow_job_template": ("workflow_job_templates",),
    "unified_job_template": TEMPLATES,
}
# Variables of awx/vars/controller.yml by the kind of their objects, besides templates and workflows.
LOADED = {
    "organizations": "aap_organizations",
    "credential_types": "controller_credential_types",
    "credentials": "controller_credentials",
    "execution_environments": "controller_execution_environments",
    "projects": "controller_projects",
    "inventories": "controller_inventories",
    "inventory_sources": "controller_inventory_sources",
    "schedules": "controller_schedules",
}
# The fields that AWX stores of an approval. It drops all others that the module sends.
APPROVAL = ("name", "description", "timeout")


class AwxApi(ScriptedServer):
    """``objects`` are the loaded objects, by kind and id. ``links`` are their associated objects, by path.

    ``jobs`` runs the jobs of templates. None: they cannot be launched.
    """

    def __init__(self, jobs: Awx | None = None) -> None:
        super().__init__()
        self.jobs = jobs
        self._approved: dict[int, Event] = {}
        self._running: list[Thread] = []
        self.objects: dict[str, dict[int, dict[str, Any]]] = {}
        self.links: dict[str, list[int]] = {}
        self.surveys: dict[str, Any] = {}
        self._ids = itertools.count(1)
        self.endless = (200, {})

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        method, path, body = self.asked[-1]
        parts = urlsplit(path)
        kind, number, what = [*parts.path.removeprefix(PREFIX).strip("/").split("/"), "", ""][:3]
        if what:
            return self._below(method, kind, int(number), what, body)
        if not number and method == "POST":
            return self._create(kind, body)
        if not number:
            return 200, self._list(kind, dict(parse_qsl(parts.query)))
        if method == "DELETE":
            del self.objects[kind][int(number)]
            return 204, None
        one = self.objects[kind][int(number)]
        wrong = self._wrong(kind, body or {})
        one |= {} if wrong else body or {}
        return (400, wrong) if wrong else (200, one)

    def named(self, kind: str) -> dict[str, dict[str, Any]]:
        """The objects by name."""
        return {one["name"]: one for one in self.objects.get(kind, {}).values()}

    def join(self) -> None:
        """Wait for the end of every job."""
        for thread in self._running:
            thread.join()

    def _create(self, kind: str, fields: Mapping[str, Any]) -> tuple[int, Any]:
        if wrong := self._wrong(kind, fields):
            return 400, wrong
        return 201, self._made(kind, fields)

    def _made(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        path = f"{PREFIX}{kind}/{number}/"
        related = {"survey_spec": f"{path}survey_spec/", "update": f"{path}update/"}
        own = {"id": number, "url": path, "type": kind.removesuffix("s"), "related": related}
        made = {"scm_revision": "1", **fields, **own, "summary_fields": {}}
        self.objects.setdefault(kind, {})[number] = made
        return made

    def _wrong(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        wrong = {
            name: ["Invalid pk."]
            for name, kinds in REFERENCES.items()
            if name in fields and not any(fields[name] in self.objects.get(kind, {}) for kind in kinds)
        }
        if kind == "job_templates" and "playbook" in fields and not wrong:
            # AWX knows the playbooks of a project from its last successful synchronisation.
            files = self.objects["projects"][fields["project"]].get("playbook_files", [])
            wrong |= {} if fields["playbook"] in files else {"playbook": ["Playbook not found for project."]}
        return wrong

    def _list(self, kind: str, wanted: dict[str, str]) -> dict[str, Any]:
        kinds = TEMPLATES if kind == "unified_job_templates" else (kind,)
        known = (one for name in kinds for one in self.objects.get(name, {}).values())
        asked = {key: value for key, value in wanted.items() if key != "page_size"}
        matches = [one for one in known if all(str(one.get(key)) == value for key, value in asked.items())]
        return {"count": len(matches), "next": None, "previous": None, "results": matches}

    def _below(self, method: str, kind: str, number: int, what: str, body: Any) -> tuple[int, Any]:
        path = f"{kind}/{number}"
        if what == "survey_spec":
            if method == "POST":
                self.surveys[path] = body
            return 200, self.surveys.get(path, {})
        if what == "create_approval_template":
            status, made = self._create(
                "workflow_approval_templates", {key: body[key] for key in APPROVAL if key in body}
            )
            node = self.objects["workflow_job_template_nodes"][number]
            node["related"]["unified_job_template"] = made["url"]
            node["approval"] = made["id"]
            return status, made
        if what == "update":
            return self._synchronize(kind, self.objects[kind][number])
        if what == "launch":
            return self._launch(kind, number, body or {})
        if what == "approve":
            self.objects[kind][number]["status"] = "successful"
            self._approved[number].set()
            return 204, None
        if what == "workflow_nodes":
            nodes = [one for one in self.objects["workflow_job_nodes"].values() if one["workflow_job"] == number]
            return 200, {"count": len(nodes), "next": None, "results": nodes}
        if what == "stdout":
            return 200, self.objects[kind][number]["stdout"]
        linked = self.links.setdefault(f"{path}/{what}", [])
        if method == "POST":
            (linked.remove if body.get("disassociate") else linked.append)(body["id"])
            return 204, None
        return 200, {"count": len(linked), "next": None, "results": [{"id": number} for number in linked]}

    def _synchronize(self, kind: str, one: dict[str, Any]) -> tuple[int, Any]:
        if kind == "projects":
            one["playbook_files"] = [f"playbooks/{path.name}" for path in (PROJECT / "playbooks").glob("*.yml")]
        elif kind == "inventory_sources" and self.jobs:
            self.jobs.synchronize()
        update = self._made(
            f"{kind.removesuffix('s')}_updates", {"status": "successful", "finished": "now", "failed": False}
        )
        return 202, update

    # ---- jobs

    def _template(self, kind: str, number: int) -> dict[str, Any]:
        """A template as :func:`launched` expects it."""
        one = self.objects[kind][number]
        extra = json.loads(one.get("extra_vars") or "{}")
        return {**one, "extra_vars": extra, "survey_spec": self.surveys.get(f"{kind}/{number}", {})}

    def _launch(self, kind: str, number: int, body: Mapping[str, Any]) -> tuple[int, Any]:
        template = self._template(kind, number)
        try:
            variables = launched(template, body.get("extra_vars", {}))
        except RefusedError as error:
            return 400, error.args[0]
        if kind == "job_templates":
            job = self._made("jobs", {"status": "pending", "artifacts": {}, "name": template["name"]})
            self._begin(job, lambda: self._run(job, template, variables))
            return 201, {"job": job["id"], **job}
        job = self._made("workflow_jobs", {"status": "pending", "name": template["name"]})
        self._begin(job, lambda: self._run_workflow(job, number, variables))
        return 201, {"workflow_job": job["id"], **job}

    def _begin(self, job: dict[str, Any], run: Callable[[], None]) -> None:
        def begun() -> None:
            try:
                run()
            except BaseException:
                job.update({"status": "error", "stdout": traceback.format_exc()})
                raise

        thread = Thread(target=begun)
        self._running.append(thread)
        thread.start()

    def _run(self, job: dict[str, Any], template: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
        assert self.jobs
        credentials = self.objects["credentials"]
        linked = [credentials[number] for number in self.links.get(f"job_templates/{template['id']}/credentials", [])]
        self.jobs.credentials = {one["name"]: one.get("inputs", {}) for one in linked}
        job["status"] = "running"
        done = self.jobs.run(template["playbook"].split("/")[1].removesuffix(".yml"), variables)
        job |= {"artifacts": done.artifacts if done.events else {}, "stdout": done.stdout}
        job |= {"job_explanation": done.explanation, "status": done.status}

    def _run_workflow(self, job: dict[str, Any], template: int, variables: Mapping[str, Any]) -> None:
        """Run the nodes from the first one, each with the artifacts of those before it.

        A failed job fails the workflow only if no node follows it in any case.
        """
        job["status"] = "running"
        handed = dict(variables)
        outcome = "successful"
        node: dict[str, Any] | None = self._first_node(template)
        while node:
            worked = True
            if "approval" in node:
                approval = self._made("workflow_approvals", {"status": "pending", "workflow_job": job["id"]})
                self._approved[approval["id"]] = Event()
                self._approved[approval["id"]].wait()
            else:
                made = self._run_node(job, node, handed)
                handed |= made["artifacts"]
                worked = made["status"] == "successful"
            following = self._linked(node, "always_nodes") or (self._linked(node, "success_nodes") if worked else [])
            outcome = outcome if worked or following else "failed"
            node = self.objects["workflow_job_template_nodes"][following[0]] if following else None
        job["status"] = outcome

    def _run_node(self, job: Mapping[str, Any], node: Mapping[str, Any], handed: Mapping[str, Any]) -> dict[str, Any]:
        template = self._template("job_templates", node["unified_job_template"])
        made = self._made("jobs", {"status": "pending", "artifacts": {}, "name": template["name"]})
        listed = self._made("workflow_job_nodes", {"workflow_job": job["id"], "identifier": node["identifier"]})
        listed["summary_fields"] = {"job": made}
        self._run(made, template, merged(template, {**(node.get("extra_data") or {}), **handed}))
        return made

    def _first_node(self, template: int) -> dict[str, Any]:
        nodes = self.objects["workflow_job_template_nodes"].values()
        own = [node for node in nodes if node["workflow_job_template"] == template]
        later = {
            number for node in own for kind in ("success_nodes", "always_nodes") for number in self._linked(node, kind)
        }
        (first,) = [node for node in own if node["id"] not in later]
        return first

    def _linked(self, node: Mapping[str, Any], kind: str) -> list[int]:
        return self.links.get(f"workflow_job_template_nodes/{node['id']}/{kind}", [])

    def preload(self, configuration: Mapping[str, Any]) -> None:
        """Create the objects of awx/vars/controller.yml, as awx/load.yml does with the modules of awx.awx."""
        for kind, name in LOADED.items():
            for one in configuration[name]:
                self._made(kind, one)
        for project in self.objects["projects"].values():
            self._synchronize("projects", project)
        credentials = self.named("credentials")
        for one in configuration["controller_templates"]:
            made = self._made("job_templates", {**one, "extra_vars": json.dumps(one["extra_vars"])})
            path = f"job_templates/{made['id']}"
            self.surveys[path] = one.get("survey_spec", {})
            self.links[f"{path}/credentials"] = [credentials[name]["id"] for name in one["credentials"]]
        templates = self.named("job_templates")
        for one in configuration["controller_workflows"]:
            made = self._made("workflow_job_templates", one)
            self.surveys[f"workflow_job_templates/{made['id']}"] = one["survey_spec"]
            nodes = {node["identifier"]: self._preloaded_node(made, node, templates) for node in one["workflow_nodes"]}
            for node in one["workflow_nodes"]:
                for kind, following in node.get("related", {}).items():
                    path = f"workflow_job_template_nodes/{nodes[node['identifier']]['id']}/{kind}"
                    self.links[path] = [nodes[next_one["identifier"]]["id"] for next_one in following]

    def _preloaded_node(
        self, workflow: Mapping[str, Any], node: Mapping[str, Any], templates: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        fields = {"workflow_job_template": workflow["id"], "identifier": node["identifier"]}
        fields["extra_data"] = node.get("extra_data", {})
        asked = node["unified_job_template"]
        own = {"approval": True} if asked["type"] == "workflow_approval" else {}
        template = {} if own else {"unified_job_template": templates[asked["name"]]["id"]}
        return self._made("workflow_job_template_nodes", {**fields, **own, **template})

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of AWX's REST API that the modules of awx.awx use while they load: objects in memory, and no jobs."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import parse_qsl, urlsplit

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
# The fields that AWX stores of an approval. It drops all others that the module sends.
APPROVAL = ("name", "description", "timeout")


class AwxApi(ScriptedServer):
    """``objects`` are the loaded objects, by kind and id. ``links`` are their associated objects, by path."""

    def __init__(self) -> None:
        super().__init__()
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
            return self._below(method, f"{kind}/{number}", what, body)
        if not number and method == "POST":
            return self._create(kind, body)
        if not number:
            return 200, self._list(kind, dict(parse_qsl(parts.query)))
        found = self.objects[kind][int(number)]
        wrong = self._wrong(body or {})
        found |= {} if wrong else body or {}
        return (400, wrong) if wrong else (200, found)

    def named(self, kind: str) -> dict[str, dict[str, Any]]:
        """The objects by name."""
        return {one["name"]: one for one in self.objects.get(kind, {}).values()}

    def _create(self, kind: str, fields: dict[str, Any]) -> tuple[int, Any]:
        if wrong := self._wrong(fields):
            return 400, wrong
        number = next(self._ids)
        path = f"{kind}/{number}"
        related = {"survey_spec": f"{PREFIX}{path}/survey_spec/"}
        own = {"id": number, "url": f"{PREFIX}{path}/", "type": kind.removesuffix("s"), "related": related}
        made = {**fields, **own, "summary_fields": {}, "scm_revision": ""}
        self.objects.setdefault(kind, {})[number] = made
        return 201, made

    def _wrong(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {
            name: ["Invalid pk."]
            for name, kinds in REFERENCES.items()
            if name in fields and not any(fields[name] in self.objects.get(kind, {}) for kind in kinds)
        }

    def _list(self, kind: str, wanted: dict[str, str]) -> dict[str, Any]:
        kinds = TEMPLATES if kind == "unified_job_templates" else (kind,)
        known = (one for name in kinds for one in self.objects.get(name, {}).values())
        found = [one for one in known if all(str(one.get(key)) == value for key, value in wanted.items())]
        return {"count": len(found), "next": None, "previous": None, "results": found}

    def _below(self, method: str, path: str, what: str, body: Any) -> tuple[int, Any]:
        if what == "survey_spec":
            if method == "POST":
                self.surveys[path] = body
            return 200, self.surveys.get(path, {})
        if what == "create_approval_template":
            status, made = self._create(
                "workflow_approval_templates", {key: body[key] for key in APPROVAL if key in body}
            )
            node = self.objects["workflow_job_template_nodes"][int(path.split("/")[1])]
            node["related"]["unified_job_template"] = made["url"]
            return status, made
        linked = self.links.setdefault(f"{path}/{what}", [])
        if method == "POST":
            (linked.remove if body.get("disassociate") else linked.append)(body["id"])
            return 204, None
        return 200, {"count": len(linked), "next": None, "results": [{"id": number} for number in linked]}

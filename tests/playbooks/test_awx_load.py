# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""awx/load.yml with the real modules of awx.awx, against an API in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from awx_acceptance import OWN, SHARED, Acceptance, AcceptanceError, Client, load
from awx_api import AwxApi
from awx_project import configuration
from scripted import playing

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def awx() -> Iterator[AwxApi]:
    with playing(AwxApi()) as served:
        yield served


def test_objects_are_loaded_after_the_objects_they_need(awx: AwxApi, tmp_path: Path) -> None:
    load(Client(awx.url, "token"), {}, tmp_path)
    wanted = configuration()
    for kind, name in (("job_templates", "templates"), ("workflow_job_templates", "workflows")):
        assert set(awx.named(kind)) == {one["name"] for one in wanted[f"controller_{name}"]}
    for kind in ("credential_types", "credentials", "schedules", "projects", "inventories", "inventory_sources"):
        assert set(awx.named(kind)) == {one["name"] for one in wanted[f"controller_{kind}"]}
    given = {one["extra_vars"] for one in awx.objects["job_templates"].values()}
    assert [json.loads(text) for text in given] == [{"kafka_dr_run_on": "localhost"}]
    # Templates for AWX arrive unchanged.
    for one in wanted["controller_credential_types"]:
        assert awx.named("credential_types")[one["name"]]["injectors"] == one["injectors"]
    surveys = {path: spec for path, spec in awx.surveys.items() if spec}
    assert len(surveys) == sum(
        one["survey_enabled"] for kind in ("templates", "workflows") for one in wanted[f"controller_{kind}"]
    )
    nodes = awx.objects["workflow_job_template_nodes"].values()
    assert len(nodes) == sum(len(one["workflow_nodes"]) for one in wanted["controller_workflows"])
    assert [one["enabled"] for one in awx.objects["schedules"].values()] == [False] * len(
        wanted["controller_schedules"]
    )


def test_loading_again_synchronises_and_writes_the_approvals_only(awx: AwxApi, tmp_path: Path) -> None:
    """The module writes an approval each time, because AWX does not store every field."""
    schedule = next(iter(awx.objects["schedules"].values()))
    schedule["enabled"] = True
    awx.asked.clear()
    load(Client(awx.url, "token"), {}, tmp_path)
    written = {re.sub(r"/\d+/", "/N/", path) for method, path in awx.calls if method != "GET"}
    updates = {f"/api/v2/{kind}/N/update/" for kind in ("projects", "inventory_sources")}
    assert updates <= written <= updates | {"/api/v2/workflow_approval_templates/N/"}
    assert schedule["enabled"] is True


def test_a_template_is_refused_before_its_project_was_synchronised() -> None:
    with playing(AwxApi()) as empty:
        client = Client(empty.url, "token")
        project = client.call("POST", "projects/", {"name": "a"})["id"]
        template = {"name": "b", "project": project, "playbook": "playbooks/status.yml"}
        with pytest.raises(AcceptanceError, match=r"HTTP 400 .*Playbook not found for project\."):
            client.call("POST", "job_templates/", template)
        client.call("POST", f"projects/{project}/update/", {})
        assert client.call("POST", "job_templates/", template)["playbook"] == "playbooks/status.yml"


def test_what_was_loaded_is_deleted_and_nothing_else() -> None:
    with playing(AwxApi()) as loaded:
        client = Client(loaded.url, "token")
        kept = {
            kind: client.call("POST", f"{kind}/", {"name": "Kafka DRs"})["id"]
            for kind in ("inventories", "organizations")
        }
        before = {kind: client.ids(kind) for kind in SHARED}
        loaded.preload(configuration())
        Acceptance(client, "Kafka DR", "P", "B").clean(before)
        kinds = {*OWN, *SHARED}
        assert {kind: set(loaded.objects[kind]) for kind in kinds} == {
            kind: {kept[kind]} if kind in kept else set() for kind in kinds
        }

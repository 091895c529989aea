# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""awx/load.yml with the real modules of awx.awx, against an API in memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from awx_api import AwxApi
from awx_project import PROJECT, ROOT, configuration
from scripted import playing

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def collections() -> str:
    """The folder of the collection awx.awx, which is downloaded if it is not in the cache."""
    script = str(ROOT / "tests" / "support" / "awx_collection.sh")
    done = subprocess.run(["bash", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def awx() -> Iterator[AwxApi]:
    with playing(AwxApi()) as served:
        yield served


def load(awx: AwxApi, collections: str, folder: Path) -> str:
    own = {"ANSIBLE_COLLECTIONS_PATH": collections, "ANSIBLE_HOME": str(folder), "ANSIBLE_NOCOLOR": "1"}
    own |= {"CONTROLLER_HOST": awx.url, "CONTROLLER_OAUTH_TOKEN": "token", "ANSIBLE_LOCALHOST_WARNING": "false"}
    own |= {"ANSIBLE_PIPELINING": "true"}
    command = [str(Path(sys.executable).parent / "ansible-playbook"), str(PROJECT / "load.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | own)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_objects_are_loaded_after_the_objects_they_need(awx: AwxApi, collections: str, tmp_path: Path) -> None:
    load(awx, collections, tmp_path)
    wanted = configuration()
    for kind, name in (("job_templates", "templates"), ("workflow_job_templates", "workflows")):
        assert set(awx.named(kind)) == {one["name"] for one in wanted[f"controller_{name}"]}
    for kind in ("credential_types", "credentials", "schedules", "projects", "inventories", "inventory_sources"):
        assert set(awx.named(kind)) == {one["name"] for one in wanted[f"controller_{kind}"]}
    # Templates for AWX arrive unchanged.
    for one in wanted["controller_credential_types"]:
        assert awx.named("credential_types")[one["name"]]["injectors"] == one["injectors"]
    surveys = {path: spec for path, spec in awx.surveys.items() if spec}
    assert len(surveys) == sum(
        one["survey_enabled"] for kind in ("templates", "workflows") for one in wanted[f"controller_{kind}"]
    )
    nodes = awx.objects["workflow_job_template_nodes"].values()
    assert len(nodes) == sum(len(one["workflow_nodes"]) for one in wanted["controller_workflows"])


def test_loading_again_only_writes_the_approvals(awx: AwxApi, collections: str, tmp_path: Path) -> None:
    """The module writes an approval each time, because AWX does not store every field."""
    awx.asked.clear()
    load(awx, collections, tmp_path)
    written = {re.sub(r"/\d+/", "/N/", path) for method, path in awx.calls if method != "GET"}
    assert written <= {"/api/v2/workflow_approval_templates/N/"}

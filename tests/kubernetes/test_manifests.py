# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server accepts the manifests that users copy, with no field that it does not know."""

from __future__ import annotations

import pytest
import yaml

from kube_apiserver import ROOT
from strimzi.kube import Kube, KubeError

FOLDERS = {"Job": "/apis/batch/v1/namespaces/{}/jobs", "Pod": "/api/v1/namespaces/{}/pods"}
STRICT = {"dryRun": "All", "fieldValidation": "Strict"}


@pytest.mark.parametrize("name", ["job.yml", "container-group.yml"])
def test_a_manifest_is_accepted(kube: Kube, namespace: str, name: str) -> None:
    body = yaml.safe_load((ROOT / "awx" / "kubernetes" / name).read_text())
    body["metadata"] = {"name": "x"}  # AWX names its pods; the namespace is that of the test
    folder = FOLDERS[body["kind"]].format(namespace)
    kube.call("POST", folder, body, STRICT)
    body["spec"]["no-such-field"] = 1
    with pytest.raises(KubeError, match="unknown field"):
        kube.call("POST", folder, body, STRICT)

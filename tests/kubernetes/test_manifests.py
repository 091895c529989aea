# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server accepts the manifests that users copy and those that the engine writes, with no unknown field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.flow import reconcile_flow
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.mirror import FlowSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import ClusterSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from kube_apiserver import ROOT
from kube_place import BOUNDS, SOURCE, Place
from strimzi.kube import Kube, KubeError
from strimzi_crds import CONNECT_SPEC, GROUP, VENDOR, mirror_spec

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


def vendor(version: str) -> Any:
    """With the definitions of the vendor instead of our own, which are reduced."""
    reason = f"no definitions of Strimzi {version} in the folder of KAFKA_DR_CRDS"
    return pytest.param(f"vendor {version}", marks=pytest.mark.skipif(not (VENDOR / version).is_dir(), reason=reason))


@pytest.mark.parametrize("place", [vendor(version) for version in ("0.45.0", "0.49.1", "1.2.0")], indirect=True)
def test_what_the_engine_writes_is_valid_by_the_vendors_definitions(place: Place) -> None:
    """All three connectors with their whole configuration, each state, looks, offsets. Each write is strict."""
    spec = FlowSpec(ClusterSpec("P", "p:9092"), ClusterSpec("B", "b:9092"), ("T",), ("g",), replication_factor=1)

    def bring(state: str) -> None:
        result = reconcile_flow(place.client(), spec, list(CONNECTORS), state, BOUNDS, False)
        assert result.failure is None, result.failure.sentence()

    bring("present")
    own = place.engine().offsets("P", "B")
    own.replace({Partition("T", 0): 41})
    own.update({Partition("T", 0): 7}, "")
    assert own.read() == {Partition("T", 0): 7}
    bring("running")
    assert len(place.workers.states()) == len(CONNECTORS)
    for wrong in ({"state": "STOPPED"}, {"listOffsets": {"toConfigMap": None}}, {"no-such-field": 1}):
        client = place.client()
        place.refused(
            "kubernetes_invalid", lambda wrong=wrong, client=client: client._resources.change(SOURCE, wrong, {})
        )
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None
    place.client().restart_failed(SOURCE)
    bring("absent")
    assert place.kube.get(place.path()) is None
    if place.api == "v1":
        # The resources of these tests from which the engine reads.
        for kind, plural, content in (
            ("KafkaConnect", "kafkaconnects", CONNECT_SPEC),
            ("KafkaMirrorMaker2", "kafkamirrormaker2s", mirror_spec("T")),
        ):
            body = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "x"}, "spec": content}
            place.kube.call("POST", place.path(plural, "").rstrip("/"), body, STRICT)

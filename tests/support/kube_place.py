# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One namespace of a real API server for a test of the engine strimzi, and what the test may compare there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.client import StrimziClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.engine import StrimziEngine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.site import Site
from fake_connect import FakeConnect
from kube_apiserver import ACCESS, Cluster, until
from manifests import role_and_binding
from strimzi.cluster_operator import Operator
from strimzi.kube import Kube, KubeError
from strimzi_crds import GROUP

SOURCE, CHECKPOINT = "P->B.MirrorSourceConnector", "P->B.MirrorCheckpointConnector"
MADE = "p-b.mirrorsourceconnector"
OFFSETS, PAUSE = "strimzi.io/connector-offsets", "strimzi.io/pause-reconciliation"
BOUNDS = Bounds(20.0, 0.02)
CONFIG = {
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "tasks.max": "2",
    "source.cluster.alias": "P",
    "target.cluster.alias": "B",
    "topics": "T",
}
_KINDS = ("kafkaconnectors", "kafkaconnects", "kafkamirrormaker2s")


class NoTopic:
    """The offsets topic, which these tests do not have."""

    def last_replicated_offset(self) -> dict[Partition, int]:
        return {}


@dataclass
class Place:
    """One namespace with a KafkaConnect, its workers and its operator."""

    cluster: Cluster
    kube: Kube
    name: str
    version: str
    workers: FakeConnect
    operator: Operator | None
    user: str = "admin"
    connect: str = "dr"
    policy: str = "default"
    #: Seconds for a request to the API server.
    timeout: float = 5.0
    #: Seconds for an answer of the operator.
    patience: float = 20.0
    #: Keys of the site that replace address and token.
    login: dict[str, Any] = field(default_factory=dict)

    @property
    def api(self) -> str:
        return "v1" if tuple(int(part) for part in self.version.split(".")) >= (0, 49) else "v1beta2"

    def path(self, kind: str = "kafkaconnectors", name: str = MADE) -> str:
        return f"/apis/{GROUP}/{self.api}/namespaces/{self.name}/{kind}/{name}"

    def engine(self) -> StrimziEngine:
        """A new engine, which has no memory of earlier calls."""
        token = {"url": self.cluster.url, "ca_path": str(self.cluster.ca), "token": self.cluster.tokens[self.user]}
        site = Site({**(self.login or token), "namespace": self.name, "connect": self.connect}, self.timeout)
        client = StrimziClient(site, lambda *_key: NoTopic(), lambda _group: "id-of-B")
        client._resources.operator_bounds = Bounds(self.patience, 0.05)
        return StrimziEngine({"B": client}, naming_of(self.policy), None)

    def client(self) -> StrimziClient:
        return self.engine().rest("P", "B")

    def running(self) -> None:
        client = self.client()
        client.create(SOURCE, CONFIG, "RUNNING")
        client.create(
            CHECKPOINT,
            {**CONFIG, "connector.class": CONFIG["connector.class"].replace("Source", "Checkpoint")},
            "RUNNING",
        )
        until(lambda: all(one.running for one in self.client().connectors().values()))

    def annotate(self, key: str, value: str | None, **place: str) -> None:
        self.kube.patch(self.path(**place), {"metadata": {"annotations": {key: value}}})

    def alters(self) -> int:
        return sum(call == ("PATCH", f"/connectors/{MADE}/offsets") for call in self.workers.calls)

    def grant(self, lacking: tuple[str, str] | None = None) -> None:
        """Give the user ``dr`` the documented Role, without one verb of one resource. Waits until it has effect."""
        folder = f"/apis/{ACCESS}/v1/namespaces/{self.name}"
        role, binding = role_and_binding("account.yml")
        for rule in role["rules"]:
            rule["verbs"] = [verb for verb in rule["verbs"] if (rule["resources"][0], verb) != lacking]
        role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
        for body, plural in ((role, "roles"), (binding, "rolebindings")):
            body["metadata"]["namespace"] = self.name
            self.kube.write(f"{folder}/{plural}", body)
        # The authorizer reads roles from a cache.
        missing = [f"{lacking[1]} {lacking[0]}"] if lacking else []
        until(lambda: self.client().site._missing_rights() == missing)

    # ---- nothing is changed

    def resources(self) -> dict[str, Any]:
        """What people and programs wrote: everything of all Strimzi resources and ConfigMaps but the status."""
        found = {}
        for folder in (*(f"/apis/{GROUP}/{self.api}/{kind}" for kind in _KINDS), "/api/v1/configmaps"):
            for resource in self._listed(folder):
                metadata = resource["metadata"]
                written = {key: metadata.get(key) for key in ("uid", "generation", "labels", "annotations")}
                content = {key: resource.get(key) for key in ("spec", "data")}
                found[f"{folder} {metadata['namespace']}/{metadata['name']}"] = {**written, **content}
        return found

    def _listed(self, folder: str) -> list[dict[str, Any]]:
        try:
            return self.kube.items(folder)
        except KubeError as error:
            if error.status != 404:
                raise
            return []  # without a definition there are no resources

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """No resource and no connector is changed in this block."""
        before = self.resources(), self.workers.states()
        yield
        assert (self.resources(), self.workers.states()) == before

    def refused(self, code: str, work: Callable[[], Any]) -> str:
        """Do work that fails with this error and changes nothing. Return the message."""
        with self.unchanged(), pytest.raises(DrError) as error:
            work()
        assert error.value.code == code, error.value.sentence()
        assert error.value.hint
        return error.value.sentence()

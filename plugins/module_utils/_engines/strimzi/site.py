# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One site of the engine ``strimzi``: a namespace with the KafkaConnect whose workers write to one Kafka cluster.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..._connect.rest import PACKAGE
from ..._connect.validate import overrides_refused
from ..._core.errors import DrError
from ..._core.names import CONNECTORS
from ..._core.resources.connector_settings import PRODUCER
from ..._kubernetes.access import access_of
from ..._kubernetes.api import Kind, KubernetesApi, KubernetesError, Resource
from .resources import PAUSED, annotation

__all__ = ["CONFIG_MAPS", "Site", "old_operator"]

GROUP = "kafka.strimzi.io"
USE_RESOURCES = "strimzi.io/use-connector-resources"
CONFIG_MAPS = Kind("v1", "configmaps")
_VERSIONS = ("v1", "v1beta2")
_RIGHTS = {
    "kafkaconnectors": ("get", "list", "patch", "create", "delete"),
    "kafkaconnects": ("get",),
    "kafkamirrormaker2s": ("list",),
    "configmaps": ("get", "create", "update", "delete"),
}


class Site:
    """One namespace of an API server, and the KafkaConnect there."""

    def __init__(self, given: Mapping[str, Any], timeout: float) -> None:
        self.api = KubernetesApi(access_of(given), timeout)
        self.namespace = str(given["namespace"])
        self.connect = str(given["connect"])

    def kind(self, plural: str) -> Kind:
        """A kind of Strimzi's resources, in the preferred version that the server has."""
        return Kind(f"{GROUP}/{self.version}", plural)

    @cached_property
    def version(self) -> str:
        """``v1`` where it is served (Strimzi 0.49 and later), else ``v1beta2``. Raises ``no_strimzi_api``."""
        try:
            listed = self.api.call("GET", f"/apis/{GROUP}").get("versions") or []
        except KubernetesError as error:
            if error.status != 404:
                raise
            listed = []
        served = [str(item.get("version")) for item in listed]
        version = next((known for known in _VERSIONS if known in served), None)
        if version is None:
            raise DrError(
                "no_strimzi_api",
                f'Kubernetes at "{self.api.url}" serves {", ".join(served) or "no version"} of {GROUP}, wanted v1 or'
                " v1beta2.",
                "Install Strimzi or Cloudera Streams Messaging Operator there, or correct kafka_dr_strimzi.",
                self.api.url,
            )
        return version

    @cached_property
    def worker(self) -> Resource:
        """The KafkaConnect. Raises an error if its connectors cannot be controlled by resources."""
        resource = self.api.find(self.kind("kafkaconnects"), self.namespace, self.connect)
        where = f'The KafkaConnect "{self.connect}" in the namespace "{self.namespace}"'
        if resource is None:
            raise DrError(
                "no_kafka_connect",
                f'{where} does not exist on "{self.api.url}".',
                "Correct namespace and connect in kafka_dr_strimzi, or create the KafkaConnect.",
                self.api.url,
            )
        use = annotation(resource, USE_RESOURCES)
        if use != "true":
            raise DrError(
                "resources_not_used",
                f'{where} has the annotation {USE_RESOURCES} "{use or "not set"}", wanted'
                ' "true": the operator ignores KafkaConnector resources.',
                "Set the annotation. The operator then deletes every connector of these workers that has no resource.",
                self.api.url,
            )
        self.require_reconciled(resource, where)
        return resource

    def require_usable(self) -> None:
        """Raise the errors of :attr:`worker`."""
        _usable = self.worker

    def require_reconciled(self, resource: Resource, where: str) -> None:
        """Raise ``reconciliation_paused`` if the operator leaves a resource alone."""
        if annotation(resource, PAUSED) == "true":
            raise DrError(
                "reconciliation_paused",
                f"{where} has the annotation {PAUSED}: the operator carries out no change, and reports no state.",
                "Remove the annotation, then start the same playbook again.",
                self.api.url,
            )

    # ---- what the KafkaConnect names

    @property
    def group_id(self) -> str:
        """The group of the workers on their Kafka cluster. The defaults are those of Strimzi before v1."""
        return self._setting("groupId", "group.id", "connect-cluster")

    @property
    def offsets_topic(self) -> str:
        """The topic of the stored source offsets."""
        return self._setting("offsetStorageTopic", "offset.storage.topic", "connect-cluster-offsets")

    def _setting(self, field: str, key: str, default: str) -> str:
        spec = self.worker.get("spec") or {}
        return str(spec.get(field) or (spec.get("config") or {}).get(key) or default)

    def require_overrides(self, config: Mapping[str, str]) -> None:
        """Raise ``overrides_refused`` if the workers refuse ``producer.override.*`` of connectors (R38)."""
        settings = (self.worker.get("spec") or {}).get("config") or {}
        policy = str(settings.get("connector.client.config.override.policy") or "All")
        refused = [key for key in PRODUCER if key in config]
        kind = policy.rsplit(".", 1)[-1].removesuffix("ConnectorClientConfigOverridePolicy")
        if refused and kind in ("None", "Principal"):
            reason = f'the KafkaConnect "{self.connect}" sets connector.client.config.override.policy to "{policy}".'
            raise overrides_refused(config["name"], refused, reason, self.api.url)

    def plugins(self) -> dict[str, str]:
        """The connector classes of the workers with their versions, as the operator read them from a worker."""
        listed = (self.worker.get("status") or {}).get("connectorPlugins") or []
        return {str(plugin.get("class")): str(plugin.get("version") or "") for plugin in listed}

    def kafka_version(self) -> str:
        """The version of Kafka on the workers, from the plugin of MirrorMaker 2; "": unknown."""
        plugin = self.plugins().get(PACKAGE + CONNECTORS["source"], "")
        return plugin or str((self.worker.get("spec") or {}).get("version") or "")

    # ---- what the operator and this account can do

    def lists_offsets(self) -> bool:
        """Whether the installed resource definition has ``spec.listOffsets`` (Strimzi 0.44 and later)."""
        schemas = self.api.call("GET", f"/openapi/v3/apis/{GROUP}/{self.version}").get("components", {})
        for schema in (schemas.get("schemas") or {}).values():
            kinds = schema.get("x-kubernetes-group-version-kind") or []
            if any(kind.get("kind") == "KafkaConnector" for kind in kinds):
                fields = schema.get("properties", {}).get("spec", {}).get("properties", {})
                return "listOffsets" in fields
        return False

    def require_rights(self) -> None:
        """Raise ``rights_missing`` with every right that this account lacks in the namespace."""
        missing = self._missing_rights()
        if missing:
            self.api.await_ready()
            missing = self._missing_rights()
        if missing:
            raise DrError(
                "rights_missing",
                f'The account of kafka_dr_strimzi may not {"; ".join(missing)} in the namespace "{self.namespace}" of'
                f' "{self.api.url}".',
                "Check the key namespace, apply the Role and the RoleBinding of docs/kubernetes.md, then start the same"
                " playbook again.",
                self.api.url,
            )

    def _missing_rights(self) -> list[str]:
        missing = []
        for plural, verbs in _RIGHTS.items():
            kind = CONFIG_MAPS if plural == CONFIG_MAPS.plural else self.kind(plural)
            lacking = [verb for verb in verbs if not self.api.may(kind, self.namespace, verb)]
            missing += [f"{', '.join(lacking)} {plural}"] if lacking else []
        return missing


def old_operator(site: Site, what: str) -> DrError:
    """The error for an operator that cannot read or set offsets by resource. ``what``: what needs them."""
    return DrError(
        "operator_too_old",
        f'The KafkaConnector definition on "{site.api.url}" has no spec.listOffsets, which {what} needs.',
        "Upgrade to Strimzi 0.44 or later, or to Cloudera Streams Messaging Operator 1.3 or later, with its resource"
        " definitions.",
        site.api.url,
    )

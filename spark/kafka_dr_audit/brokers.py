# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read ids, settings and offsets from the brokers, with Kafka's own Java client inside Spark's JVM.

Source: org.apache.kafka.clients.admin.Admin (describeTopics, describeConfigs, listOffsets).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError

from .errors import AuditError
from .plan import Cluster

SECONDS = 30
SETTINGS = ("cleanup.policy", "message.timestamp.type", "retention.ms", "retention.bytes")

TopicPartition = tuple[str, int]  # topic, partition


@dataclass(frozen=True)
class TopicDescription:
    """One topic as its brokers describe it."""

    topic_id: str
    #: Number of partitions.
    partitions: int
    #: Values of ``SETTINGS``.
    settings: Mapping[str, str]

    @property
    def keeps_timestamps(self) -> bool:
        """True if the topic keeps the timestamps of producers."""
        return self.settings["message.timestamp.type"] == "CreateTime"

    @property
    def compacts(self) -> bool:
        """True if the topic is compacted."""
        return "compact" in self.settings["cleanup.policy"]

    @property
    def expires(self) -> bool:
        """True if the topic's retention deletes old records."""
        by = (self.settings["retention.ms"], self.settings["retention.bytes"])
        return "delete" in self.settings["cleanup.policy"] and any(int(value) >= 0 for value in by)


class Brokers:
    """One cluster. Each request raises `AuditError` if the cluster does not answer within `SECONDS`."""

    def __init__(self, jvm: Any, cluster: Cluster) -> None:
        self._jvm, self._cluster = jvm, cluster
        self._kafka = jvm.org.apache.kafka
        properties = jvm.java.util.Properties()
        for name, value in {
            "default.api.timeout.ms": str(SECONDS * 1000),
            "request.timeout.ms": "10000",
            **cluster.client,
            "bootstrap.servers": cluster.bootstrap_servers,
        }.items():
            properties.setProperty(name, value)
        self._admin = self._ask("a connection", lambda: self._kafka.clients.admin.AdminClient.create(properties))

    def close(self) -> None:
        """Close the admin client."""
        self._admin.close(self._jvm.java.time.Duration.ofSeconds(5))

    def cluster_id(self) -> str:
        """Read the cluster id."""
        return str(self._get("its cluster id", self._admin.describeCluster().clusterId()))

    def topics(self, names: Iterable[str]) -> dict[str, TopicDescription]:
        """Read topics by name. Topics that do not exist are left out."""
        wanted = sorted(set(names))
        values = self._admin.describeTopics(self._list(wanted)).topicNameValues()
        found: dict[str, Any] = {}
        for name in wanted:
            try:
                found[name] = values.get(name).get(SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS)
            except Py4JJavaError as error:
                if "UnknownTopicOrPartitionException" not in _cause(error):
                    raise self._unanswered(f"the topic {name}", error) from None
        settings = self._settings(sorted(found))
        return {
            name: TopicDescription(described.topicId().toString(), described.partitions().size(), settings[name])
            for name, described in found.items()
        }

    def _settings(self, names: list[str]) -> dict[str, dict[str, str]]:
        kind = self._kafka.common.config.ConfigResource.Type.TOPIC
        resources = {name: self._kafka.common.config.ConfigResource(kind, name) for name in names}
        configs = self._get("topic settings", self._admin.describeConfigs(self._list(resources.values())).all())
        return {
            name: {key: str(configs.get(resource).get(key).value()) for key in SETTINGS}
            for name, resource in resources.items()
        }

    def starts(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Read the log start offset of each partition."""
        earliest = self._kafka.clients.admin.OffsetSpec.earliest()
        return self._offsets(places, earliest, "read_uncommitted", "log start offsets")

    def ends(self, places: Iterable[TopicPartition], isolation: str) -> dict[TopicPartition, int]:
        """Read the end offset of each partition: for read_committed the last stable offset, else the high watermark."""
        return self._offsets(places, self._kafka.clients.admin.OffsetSpec.latest(), isolation, "end offsets")

    def _offsets(
        self, places: Iterable[TopicPartition], spec: Any, isolation: str, what: str
    ) -> dict[TopicPartition, int]:
        wanted = {place: self._kafka.common.TopicPartition(*place) for place in places}
        if not wanted:
            return {}
        request = self._jvm.java.util.HashMap()
        for partition in wanted.values():
            request.put(partition, spec)
        level = getattr(self._kafka.common.IsolationLevel, isolation.upper())
        options = self._kafka.clients.admin.ListOffsetsOptions(level)
        found = self._get(what, self._admin.listOffsets(request, options).all())
        return {place: int(found.get(partition).offset()) for place, partition in wanted.items()}

    def _list(self, items: Iterable[Any]) -> Any:
        result = self._jvm.java.util.ArrayList()
        for item in items:
            result.add(item)
        return result

    def _get(self, what: str, future: Any) -> Any:
        return self._ask(what, lambda: future.get(SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS))

    def _ask(self, what: str, question: Any) -> Any:
        try:
            return question()
        except Py4JJavaError as error:
            raise self._unanswered(what, error) from None

    def _unanswered(self, what: str, error: Py4JJavaError) -> AuditError:
        where = f"Cluster {self._cluster.alias} ({self._cluster.bootstrap_servers})"
        cause = _cause(error)
        if "Authentication" in cause or "SaslAuth" in cause or "SslAuth" in cause or "SSL" in cause:
            return AuditError("not_authenticated", f"{where} refused the client's credentials or certificate: {cause}")
        if "Authorization" in cause:
            return AuditError("not_authorized", f"{where} does not allow this client to read {what}: {cause}")
        return AuditError(
            "cluster_unreachable", f"{where} did not return {what} within {SECONDS} s: {cause}. Check that it runs."
        )


def _cause(error: Py4JJavaError) -> str:
    """Return class and message of the innermost exception."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return f"{cause.getClass().getSimpleName()}: {cause.getMessage()}"

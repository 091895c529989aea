# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ACLs of a cluster of the lab, in the words of Aiven's API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from .errors import ApiError
from .kafka_acls import Entry

# librdkafka's name of the resource type Cluster.
_CLUSTER = "BROKER"
_SECONDS = 15.0


class LabBroker:
    """See :class:`.kafka_acls.Broker`."""

    def __init__(self, bootstrap_servers: str, client: Mapping[str, str]) -> None:
        self._admin = AdminClient({**client, "bootstrap.servers": bootstrap_servers, "log_level": 0})

    def entries(self) -> set[Entry]:
        any_text: Any = None  # the library accepts None, its type hints do not
        place = (ResourceType.ANY, any_text, ResourcePatternType.ANY)
        every = AclBindingFilter(*place, any_text, any_text, AclOperation.ANY, AclPermissionType.ANY)
        (bindings,) = _results([self._admin.describe_acls(every, request_timeout=_SECONDS)])
        return {_entry(binding) for binding in bindings}

    def create(self, entry: Entry) -> None:
        _results(self._admin.create_acls([AclBinding(*_fields(entry))], request_timeout=_SECONDS).values())

    def delete(self, entry: Entry) -> None:
        _results(self._admin.delete_acls([AclBindingFilter(*_fields(entry))], request_timeout=_SECONDS).values())


def _results(futures: Iterable[Future[Any]]) -> list[Any]:
    try:
        return [future.result() for future in futures]
    except KafkaException as error:
        raise ApiError(503, f"Kafka: {error}") from error


def _entry(binding: Any) -> Entry:
    kind = binding.restype.name
    return Entry(
        principal=binding.principal,
        resource_type="Cluster" if kind == _CLUSTER else _camel(kind),
        resource_name=binding.name,
        pattern_type=binding.resource_pattern_type.name,
        operation=_camel(binding.operation.name),
        permission_type=binding.permission_type.name,
        host=binding.host,
    )


def _fields(entry: Entry) -> tuple[Any, ...]:
    kind = _CLUSTER if entry.resource_type == "Cluster" else _upper(entry.resource_type)
    return (
        ResourceType[kind],
        entry.resource_name,
        ResourcePatternType[entry.pattern_type],
        entry.principal,
        entry.host,
        AclOperation[_upper(entry.operation)],
        AclPermissionType[entry.permission_type],
    )


def _camel(text: str) -> str:
    return "".join(word.capitalize() for word in text.split("_"))


def _upper(text: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", text).upper()

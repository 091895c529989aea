# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A few of an API server's rules in memory, for unit tests. `make kubernetes` uses a real API server instead.

It has: generations that count changes of ``spec``, resource versions with conflicts, merge patches, the subresource
``status``, and label selectors.
"""

from __future__ import annotations

import copy
import itertools
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from scripted import ScriptedServer
from strimzi.kube import KubeError


class KubeMemory:
    """Resources by path. ``changed``: called with the path after each change of a resource other than its status."""

    def __init__(self) -> None:
        self.resources: dict[str, dict[str, Any]] = {}
        self.changed: Callable[[str], None] = lambda _path: None
        self._versions = itertools.count(1)
        self._lock = threading.RLock()

    def get(self, path: str) -> dict[str, Any] | None:
        with self._lock:
            return copy.deepcopy(self.resources.get(path))

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        key, _equals, value = query.get("labelSelector", "").partition("=")
        with self._lock:
            found = [one for place, one in sorted(self.resources.items()) if place.rpartition("/")[0] == path]
            return [
                copy.deepcopy(one)
                for one in found
                if not key or (one["metadata"].get("labels") or {}).get(key) == value
            ]

    def write(self, folder: str, body: dict[str, Any]) -> dict[str, Any]:
        path = f"{folder}/{body['metadata']['name']}"
        with self._lock:
            made = copy.deepcopy(body)
            made["metadata"].update(uid=path, generation=1, resourceVersion=str(next(self._versions)))
            self.resources[path] = made
        self.changed(path)
        return self.get(path) or made

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        is_status = path.endswith("/status")
        place = path.removesuffix("/status")
        with self._lock:
            present = self.resources.get(place)
            if present is None:
                raise KubeError(404, f"{place} not found")
            metadata = present["metadata"]
            version = (body.get("metadata") or {}).get("resourceVersion")
            if version not in (None, metadata["resourceVersion"]):
                raise KubeError(409, "the object has been modified")
            before = copy.deepcopy(present.get("spec"))
            keys = ("status",) if is_status else ("metadata", "spec")
            merge(present, {key: body[key] for key in keys if key in body})
            metadata["resourceVersion"] = str(next(self._versions))
            metadata["generation"] += present.get("spec") != before
        if not is_status:
            self.changed(place)
        return self.get(place) or present

    def delete(self, path: str) -> None:
        with self._lock:
            if self.resources.pop(path, None) is None:
                raise KubeError(404, f"{path} not found")
        self.changed(path)


def merge(into: dict[str, Any], patch: dict[str, Any]) -> None:
    """Apply a merge patch (RFC 7386)."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict):
            present = into.get(key)
            into[key] = present if isinstance(present, dict) else {}
            merge(into[key], value)
        else:
            into[key] = value


class KubeServer(ScriptedServer):
    """Serves a :class:`KubeMemory` and the discovery documents of one group."""

    def __init__(self, served: dict[str, Any], documents: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.memory = KubeMemory()
        self.versions, self.documents = served, documents or {}
        self.silent = False
        #: Status and message of each create whose name begins so.
        self.refused: dict[str, tuple[int, str]] = {}
        #: Verbs and resources that this login lacks, such as ``delete configmaps``.
        self.denied: set[str] = set()

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        if self.silent:
            return 503, "unavailable"
        if (status, content) != (500, {"message": "unexpected call"}):
            return status, content
        method, path, body = self.asked[-1]
        try:
            return self._reply(method, *path.partition("?")[::2], body)
        except KubeError as error:
            return error.status, {"kind": "Status", "message": str(error)}

    def _reply(self, method: str, path: str, query: str, body: Any) -> tuple[int, Any]:
        if path.endswith("selfsubjectaccessreviews"):
            wanted = body["spec"]["resourceAttributes"]
            return 201, {"status": {"allowed": f"{wanted['verb']} {wanted['resource']}" not in self.denied}}
        if path in self.documents:
            return 200, self.documents[path]
        if path == "/apis/kafka.strimzi.io":
            return 200, {"versions": [{"version": version} for version in self.versions]}
        if method == "POST":
            name = body["metadata"]["name"]
            for start, (status, text) in self.refused.items():
                if name.startswith(start):
                    raise KubeError(status, text)
            if self.memory.get(f"{path}/{name}"):
                raise KubeError(409, f"{name} already exists")
            return 201, self.memory.write(path, body)
        if method == "PUT":
            return 200, self.memory.write(path.rpartition("/")[0], body)
        if method == "PATCH":
            return 200, self.memory.patch(path, body)
        if method == "DELETE":
            self.memory.delete(path)
            return 200, {"kind": "Status"}
        found = self.memory.get(path)
        if found is not None:
            return 200, found
        # The path of a kind has an odd number of segments after the version, that of a resource an even one.
        segments = path.split("/")
        if segments[-2] == "namespaces" or segments[-3] == "namespaces":
            return 200, {"items": self.memory.items(path, **{key: one[0] for key, one in parse_qs(query).items()})}
        raise KubeError(404, f"{path} not found")

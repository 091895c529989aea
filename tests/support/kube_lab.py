# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine ``strimzi`` on a lab: a real API server, and for each cluster a KafkaConnect with an emulated operator.

The workers of the lab are those of the KafkaConnects. They stay processes of the lab; everything else is ended by
``close``.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from kube_apiserver import ACCESS, ROOT, Cluster, define, end, running, until
from lab.lab import Lab
from manifests import role_and_binding
from strimzi.kube import Kube
from strimzi_crds import GROUP

_OPERATOR = ROOT / "roles" / "lab" / "files" / "strimzi"


class KubeLab:
    """The Kubernetes part of a pair, in a folder of the lab's. It also gets the token of the playbooks, as a file."""

    def __init__(self, folder: Path, version: str = "0.49.1") -> None:
        self._folder, self._version = folder, version
        self._api = "v1" if tuple(int(part) for part in version.split(".")) >= (0, 49) else "v1beta2"
        self._stack = ExitStack()
        self._operators: dict[str, subprocess.Popen[bytes]] = {}
        self._workers: dict[str, str] = {}
        self._server: Cluster | None = None

    @property
    def server(self) -> Cluster:
        assert self._server is not None, "the API server was not started"
        return self._server

    @property
    def kube(self) -> Kube:
        """An administrator, with the field manager of a person."""
        return self.server.kube()

    @property
    def token_file(self) -> Path:
        """The token of the playbooks, whose account has the Role of awx/kubernetes/account.yml."""
        return self._folder / "dr.token"

    # ---- start and stop

    def up(self, inventory: Path, lab: Mapping[str, Any]) -> None:
        """Start what does not run, create the KafkaConnects, and change the inventory. ``lab``: lab.json."""
        if self._server is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._server = self._stack.enter_context(running(self._folder))
            self.renew(self.server.tokens["dr"])
        define(self.kube, self._version)
        for alias, cluster in lab["clusters"].items():
            self._prepare(alias, cluster["bootstrap_servers"])
            self._workers[alias] = cluster["connect_url"]
            self.restart(alias)
        self._write(inventory / "group_vars" / "all" / "kafka_dr.yml")

    def close(self) -> None:
        """End the operators and the API server."""
        for alias in list(self._operators):
            self.stop(alias)
        self._stack.close()
        self._server = None

    def renew(self, token: str) -> None:
        """Write the token of the playbooks."""
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(token)

    # ---- operators

    def restart(self, alias: str, delay: float = 0.0) -> None:
        """Start the operator of a cluster, or end it and start it again. ``delay``: see ``Operator``."""
        self.stop(alias)
        token = self._folder / "admin.token"
        token.touch(mode=0o600)
        token.write_text(self.server.tokens["admin"])
        place = ["--namespace", namespace(alias), "--connect", connect(alias), "--workers", self._workers[alias]]
        kind = ["--version", self._version, "--delay", str(delay)]
        login = ["--url", self.server.url, "--ca", str(self.server.ca), "--token-file", str(token)]
        client = self._folder / "workers.json"
        client.touch(mode=0o600)
        client.write_text(json.dumps(Lab(self._folder.parent, quiet=True).connect_client()))
        login += ["--workers-client", str(client)]
        with (self._folder / f"operator-{alias}.log").open("ab") as log:
            command = [sys.executable, str(_OPERATOR), *login, *place, *kind]
            self._operators[alias] = subprocess.Popen(command, stdout=log, stderr=log)
        if not delay:
            until(lambda: self._reports(alias), 60.0)

    def stop(self, alias: str) -> None:
        """End the operator of a cluster, also if it is paused."""
        process = self._operators.pop(alias, None)
        if process is not None:
            process.send_signal(signal.SIGCONT)
            end(process)

    def pause(self, alias: str) -> None:
        """Let the operator of a cluster do nothing."""
        self._operators[alias].send_signal(signal.SIGSTOP)

    def resume(self, alias: str) -> None:
        """Let an operator that was paused continue, if it still runs."""
        process = self._operators.get(alias)
        if process is not None:
            process.send_signal(signal.SIGCONT)

    def _reports(self, alias: str) -> bool:
        """Whether the operator has read the plugins of the workers."""
        process = self._operators[alias]
        assert process.poll() is None, f"the operator of {alias} ended with {process.returncode}"
        found = self.kube.get(f"{self.path(alias, 'kafkaconnects')}/{connect(alias)}") or {}
        return bool((found.get("status") or {}).get("connectorPlugins"))

    # ---- resources

    def path(self, alias: str, plural: str = "kafkaconnectors") -> str:
        """The folder of the resources of one kind."""
        return f"/apis/{GROUP}/{self._api}/namespaces/{namespace(alias)}/{plural}"

    def connectors(self, alias: str) -> dict[str, dict[str, Any]]:
        """The KafkaConnectors of the workers that write to a cluster, by name."""
        return {resource["metadata"]["name"]: resource for resource in self.kube.items(self.path(alias))}

    def specs(self) -> dict[str, Any]:
        """What a run could change: each KafkaConnector with its version, and the names of all ConfigMaps."""
        found: dict[str, Any] = {}
        for alias in self._workers:
            for name, resource in self.connectors(alias).items():
                metadata = resource["metadata"]
                found[name] = (metadata["generation"], metadata.get("annotations"), resource["spec"])
            maps = self.kube.items(f"/api/v1/namespaces/{namespace(alias)}/configmaps")
            found[f"ConfigMaps of {alias}"] = sorted(item["metadata"]["name"] for item in maps)
        return found

    def _prepare(self, alias: str, bootstrap_servers: str) -> None:
        """Create the namespace, the Role of awx/kubernetes/account.yml and the KafkaConnect."""
        kube, name = self.kube, namespace(alias)
        if kube.get(f"/api/v1/namespaces/{name}") is None:
            kube.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        access = f"/apis/{ACCESS}/v1/namespaces/{name}"
        for body, plural in zip(role_and_binding("account.yml"), ("roles", "rolebindings"), strict=True):
            if kube.get(f"{access}/{plural}/{body['metadata']['name']}") is None:
                kube.call("POST", f"{access}/{plural}", body)
        resource = f"{self.path(alias, 'kafkaconnects')}/{connect(alias)}"
        if kube.get(resource) is not None:
            kube.call("DELETE", resource)
        for left in self.connectors(alias):
            kube.call("DELETE", f"{self.path(alias)}/{left}")
        annotations = {"strimzi.io/use-connector-resources": "true"}
        body = {
            "apiVersion": f"{GROUP}/{self._api}",
            "kind": "KafkaConnect",
            "metadata": {"name": connect(alias), "annotations": annotations},
            # Names of the lab's workers.
            "spec": {
                "replicas": 1,
                "bootstrapServers": bootstrap_servers,
                "groupId": f"connect-{alias}",
                "configStorageTopic": f"connect-{alias}-configs",
                "offsetStorageTopic": f"connect-{alias}-offsets",
                "statusStorageTopic": f"connect-{alias}-status",
            },
        }
        kube.call("POST", self.path(alias, "kafkaconnects"), body)

    def sites(self) -> dict[str, Any]:
        """``kafka_dr_strimzi``."""
        login = {"url": self.server.url, "ca_path": str(self.server.ca), "token_file": str(self.token_file)}
        return {alias: {**login, "namespace": namespace(alias), "connect": connect(alias)} for alias in self._workers}

    def _write(self, path: Path) -> None:
        """Change the inventory that the lab wrote for the engine ``connect``."""
        variables = yaml.safe_load(path.read_text())
        for cluster in variables["kafka_dr_clusters"].values():
            for key in ("connect_url", "connect_client"):
                cluster.pop(key, None)
        variables |= {"kafka_dr_engine": "strimzi", "kafka_dr_strimzi": self.sites()}
        path.write_text(yaml.safe_dump(variables, sort_keys=False))


def namespace(alias: str) -> str:
    """The namespace of the KafkaConnect whose workers write to a cluster."""
    return f"kafka-{alias.lower()}"


def connect(alias: str) -> str:
    """The name of that KafkaConnect."""
    return f"dr-{alias.lower()}"

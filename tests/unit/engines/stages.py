# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The systems that the engines control, for the contract tests: create flows, inspect them, and make them misbehave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import unquote

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _engines
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.replication_config import REPLICATION_CONFIGS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.layout import laid_out
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.inventory.pair import derive_pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import CONNECTORS, connector_name
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven import engine as aiven_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.aiven.group_sync import (
    Evidence,
    SyncedCheckpoint,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm import engine as srm_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi import engine as strimzi_engine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.strimzi.resources import NAME, resource_name
from ansible_collections.switchback.kafka_dr.tests.support.scripted import UNEXPECTED, ScriptedServer, playing
from ansible_collections.switchback.kafka_dr.tests.unit.connect.worker import ScriptedWorker
from fake_connect import FakeConnect
from kube_memory import KubeServer
from strimzi.reconciliation import Reconciler

__all__ = ["ENDS", "STAGES", "AivenStage", "ConnectStage", "SrmStage", "Stage", "StrimziStage", "derived"]

ENDS = {"P->B": ("P", "B"), "B->P": ("B", "P")}
Stored = dict[Partition, int]


class Stage(Protocol):
    """The system that an engine controls. A flow is named ``P->B`` or ``B->P``."""

    #: ``kafka_dr_pair``, laid out.
    pair: dict[str, Any]
    #: The engine's options for Kafka.
    kafka: dict[str, Any]

    def be(self, flow: str, state: str) -> None:
        """Bring replication and group sync of a flow into ``state``: ``missing``, ``running`` or ``stopped``."""

    def store(self, flow: str, offsets: Stored) -> None:
        """Store these offsets for the flow."""

    def changes(self) -> list[Any]:
        """Requests that changed something."""

    def refuse(self, flow: str) -> None:
        """Do not start the flow from now on."""

    def linger(self, flow: str) -> bool:
        """Keep replicating after a stop from now on.

        Return False if replication always ends together with group sync.
        """

    def silence(self) -> None:
        """Answer no request from now on."""

    def rival(self, name: str, state: str) -> bool:
        """Create another flow P->B of the same topic. Return False if that is impossible."""


def derived(engine: str, **given: Any) -> dict[str, Any]:
    clusters = {alias: {"bootstrap_servers": f"{alias}:9092"} for alias in ("P", "B")}
    topics = [{"name": "T", "partitions": 2}]
    known = {"engine": engine, "home": "P", "clusters": clusters, "topics": topics, "groups": ["g"]}
    return laid_out(derive_pair({**known, **given}))


# ---- connect


class ScriptedWorkers(ScriptedWorker):
    """Kafka Connect beside one cluster, with the connectors that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.connectors: dict[str, dict[str, Any]] = {}
        self.offsets: dict[str, list[dict[str, Any]]] = {}
        self.refused = self.lingers = ""
        self.version = "4.3.1"

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        method, path, body = self.asked[-1]
        known = (status, content) != UNEXPECTED
        return super().sent(*((status, content) if known else self.reply(method, path, body)))

    def reply(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        parts = [unquote(part) for part in path.partition("?")[0].split("/")[1:]]
        if parts[0] == "connector-plugins":
            found = [{"class": f"org.apache.kafka.connect.mirror.{name}"} for name in CONNECTORS.values()]
            return 200, found if len(parts) == 1 else {"configs": []}
        if parts[0] != "connectors":
            return 200, {"kafka_cluster_id": "", "version": self.version}
        if len(parts) == 1:
            return self.listed() if method == "GET" else self.create(body)
        return self.one(method, parts[1], parts[2] if len(parts) > 2 else "", body)

    def listed(self) -> tuple[int, Any]:
        return 200, {
            name: {
                "status": {
                    "connector": {"state": one["state"]},
                    "tasks": [{"id": 0, "state": "RUNNING"}] * one["tasks"],
                },
                "info": {"config": one["config"], "tasks": [{"task": 0}] * one["tasks"]},
            }
            for name, one in self.connectors.items()
        }

    def create(self, body: Any) -> tuple[int, Any]:
        if self.refused and body["name"].startswith(self.refused):
            return 400, {"message": "refused"}
        self.connectors[body["name"]] = {"config": body["config"]}
        self.bring(body["name"], body["initial_state"])
        return 201, {}

    def bring(self, name: str, state: str) -> None:
        one = self.connectors[name]
        lingers = self.lingers and name == f"{self.lingers}.MirrorSourceConnector" and one.get("tasks")
        one.update(state=state, tasks=1 if state == "RUNNING" or lingers else 0)

    def one(self, method: str, name: str, what: str, body: Any) -> tuple[int, Any]:
        if name not in self.connectors:
            return 404, {"message": f"Connector {name} not found"}
        one = self.connectors[name]
        if what == "offsets":
            return self.change_offsets(method, name, body)
        if method == "DELETE":
            del self.connectors[name]
        elif what in ("stop", "resume"):
            self.bring(name, "STOPPED" if what == "stop" else "RUNNING")
        elif what == "config" and method == "PUT":
            one["config"] = body
        return 200, [{"config": one["config"]}] if what == "tasks" else one["config"]

    def change_offsets(self, method: str, name: str, body: Any) -> tuple[int, Any]:
        have = self.offsets.setdefault(name, [])
        if method != "GET" and (self.connectors[name]["state"] != "STOPPED" or self.connectors[name]["tasks"]):
            return 400, {"message": "Connectors must be in the STOPPED state before their offsets can be modified"}
        if method == "DELETE":
            have.clear()
        for entry in body["offsets"] if method == "PATCH" else ():
            have[:] = [one for one in have if one["partition"] != entry["partition"]]
            have += [entry] if entry["offset"] is not None else []
        return 200, {"offsets": have}


class ConnectStage:
    """Workers beside both clusters."""

    def __init__(self, workers: dict[str, ScriptedWorkers]) -> None:
        self.workers, self.kafka = workers, {}
        clusters = {
            alias: {"bootstrap_servers": f"{alias}:9092", "connect_url": one.url} for alias, one in workers.items()
        }
        self.pair = derived("connect", clusters=clusters)

    def be(self, flow: str, state: str) -> None:
        source, target = ENDS[flow]
        for part, name in CONNECTORS.items() if state != "missing" else ():
            config = {
                "connector.class": f"org.apache.kafka.connect.mirror.{name}",
                "source.cluster.alias": source,
                "target.cluster.alias": target,
                "topics": "T",
            }
            own = connector_name(source, target, part)
            self.workers[target].connectors[own] = {"config": config}
            self.workers[target].bring(own, state.upper())

    def store(self, flow: str, offsets: Stored) -> None:
        source, target = ENDS[flow]
        entries = [
            {"partition": {"cluster": source, "topic": topic, "partition": index}, "offset": {"offset": at}}
            for (topic, index), at in offsets.items()
        ]
        self.workers[target].offsets[connector_name(source, target, "source")] = entries

    def changes(self) -> list[Any]:
        asked = [call for one in self.workers.values() for call in one.calls]
        return [(method, path) for method, path in asked if method != "GET" and not path.endswith("/validate")]

    def refuse(self, flow: str) -> None:
        self.workers[ENDS[flow][1]].refused = flow

    def linger(self, flow: str) -> bool:
        self.workers[ENDS[flow][1]].lingers = flow
        return True

    def silence(self) -> None:
        for one in self.workers.values():
            one.endless = (503, {"message": "unavailable"})

    def rival(self, name: str, state: str) -> bool:
        self.be("P->B", state)
        connectors = self.workers["B"].connectors
        connectors[name] = connectors.pop("P->B.MirrorSourceConnector")
        return True


# ---- srm


class ScriptedManager(ScriptedServer):
    """Cloudera Manager of one site with its only service. Written values take effect after a restart."""

    def __init__(self) -> None:
        super().__init__()
        self.state, self.value, self.running, self.deployed = "STARTED", "x=y", "x=y", "x=y"
        self.refuses = self.refuses_config = self.silent = False

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        method, path, body = self.asked[-1]
        return (503, "") if self.silent else self.reply(method, path.partition("?")[0].rpartition("/")[2], body)

    def reply(self, method: str, what: str, body: Any) -> tuple[int, Any]:
        if what == "config" and method == "PUT" and self.refuses_config:
            return 403, {"message": "no"}
        if what == "config":
            for item in body["items"] if method == "PUT" else ():
                self.value = item["value"]
            return 200, {"items": [{"name": REPLICATION_CONFIGS, "value": self.value}]}
        if method == "POST":
            return self.command(what)
        if what == "roles":
            return 200, {"items": [{"name": "driver", "roleState": self.state}]}
        if what == "srm":
            fresh = ["FRESH" if had == self.value else "STALE" for had in (self.running, self.deployed)]
            stale = {"configStalenessStatus": fresh[0], "clientConfigStalenessStatus": fresh[1]}
            kind = "STREAMS_REPLICATION_MANAGER"
            return 200, {"name": "srm", "type": kind, "serviceState": self.state, **stale}
        return 200, {"items": []}

    def command(self, name: str) -> tuple[int, Any]:
        done = {"id": -1, "name": name, "active": False}
        if self.refuses:
            return 200, {**done, "success": False, "resultMessage": "refused"}
        if name == "deployClientConfig":
            self.deployed = self.value
        else:
            self.state = "STOPPED" if name == "stop" else "STARTED"
            self.running = self.value
        return 200, {**done, "success": True}


class OffsetsTopic:
    """Replaces :class:`ConnectOffsets`, which needs Kafka."""

    def __init__(self, stored: dict[str, Stored], flow: str) -> None:
        self.stored, self.flow = stored, flow

    def last_replicated_offset(self) -> Stored:
        return dict(self.stored.get(self.flow, {}))

    def forget(self) -> None:
        self.stored.pop(self.flow)


class SrmStage:
    """A site beside each cluster."""

    def __init__(self, managers: dict[str, ScriptedManager], patch: pytest.MonkeyPatch) -> None:
        self.managers, self.kafka = managers, {"P": "P", "B": "B"}
        self.stored: dict[str, Stored] = {}
        site = {"cluster": "C", "service": "srm", "host": "h"}
        sites = {alias: {**site, "url": f"{one.url}/api/v54"} for alias, one in managers.items()}
        self.pair = derived("srm", srm=sites)
        patch.setattr(
            srm_engine,
            "ConnectOffsets",
            lambda kafka, _topic, _connector, source: OffsetsTopic(self.stored, f"{source}->{kafka}"),
        )
        patch.setattr(srm_engine, "delete", lambda _kafka, _names, _check: [])
        patch.setattr(srm_engine, "_CM_SECONDS", 0.5)

    def be(self, flow: str, state: str) -> None:
        one = self.managers[ENDS[flow][1]]
        on = json.dumps(state != "missing")
        lines = (f"{flow}.enabled={on}", f"{flow}.sync.group.offsets.enabled={on}")
        one.value = one.running = one.deployed = "|".join(("x=y", *lines))
        one.state = "STOPPED" if state == "stopped" else "STARTED"

    def store(self, flow: str, offsets: Stored) -> None:
        self.stored[flow] = offsets

    def changes(self) -> list[Any]:
        return [call for one in self.managers.values() for call in one.calls if call[0] != "GET"]

    def refuse(self, flow: str) -> None:
        self.managers[ENDS[flow][1]].refuses = True

    def linger(self, flow: str) -> bool:
        return False

    def silence(self) -> None:
        for one in self.managers.values():
            one.silent = True

    def rival(self, name: str, state: str) -> bool:
        return False


# ---- aiven


class ScriptedAiven(ScriptedServer):
    """Aiven's API with one MirrorMaker 2 service for both flows."""

    def __init__(self) -> None:
        super().__init__()
        self.flows: dict[str, dict[str, Any]] = {}
        self.refused: set[str] = set()
        self.silent = False

    def sent(self, status: int, content: Any) -> tuple[int, Any]:
        method, path, body = self.asked[-1]
        return (503, "") if self.silent else self.reply(method, [unquote(part) for part in path.split("/")], body)

    def reply(self, method: str, parts: list[str], body: Any) -> tuple[int, Any]:
        what = parts[6:]
        if what == ["integration"]:
            kind = "kafka_mirrormaker"
            rows = [{"integration_type": kind, "user_config": {"cluster_alias": alias}} for alias in ("P", "B")]
            return 200, {"service_integrations": rows}
        if not what:
            return 200, {"service": {"service_type": "kafka_mirrormaker", "state": "RUNNING", "user_config": {}}}
        if method == "GET":
            rows = [dict(zip(("source_cluster", "target_cluster"), ENDS[name], strict=True)) for name in self.flows]
            return 200, {
                "replication_flows": [row | self.flows[name] for name, row in zip(self.flows, rows, strict=True)]
            }
        ends = what[2:] or [body.pop("source_cluster"), body.pop("target_cluster")]
        name = "->".join(ends)
        if name in self.refused:
            return 400, {"message": "refused", "errors": []}
        if method == "DELETE":
            del self.flows[name]
            return 200, {}
        self.flows[name] = {**self.flows.get(name, {}), **body}
        return 200, {"replication_flow": self.flows[name]}


class AivenStage:
    """A service at Aiven, and the evidence about its group sync in Kafka."""

    def __init__(self, api: ScriptedAiven, patch: pytest.MonkeyPatch) -> None:
        self.api, self.kafka = api, {"P": "P", "B": "B"}
        self.stored: dict[str, Stored] = {}
        #: Flows whose group sync goes on although the API reports it as off.
        self.syncing: set[str] = set()
        site = {"url": f"{api.url}/v1", "project": "p", "service": "mm", "token": "t0ken"}
        self.pair = derived("aiven", aiven={"P": site, "B": site})
        patch.setattr(
            aiven_engine,
            "ConnectOffsets",
            lambda kafka, _topic, _connector, source: OffsetsTopic(self.stored, f"{source}->{kafka}"),
        )
        patch.setattr(aiven_engine, "read_evidence", self.evidence)
        patch.setattr(aiven_engine, "_API_SECONDS", 0.5)
        patch.setattr(aiven_engine, "_CHECKPOINT_SECONDS", 0.5)

    def evidence(self, kafka: str, _naming: Any, source: str, now: float) -> Evidence:
        """A new checkpoint at each read, and an old one. Group sync commits them all at once."""
        flow = f"{source}->{kafka}"
        key = Partition(f"{source}.T", 0)
        syncs = flow in self.syncing or self.api.flows.get(flow, {}).get("sync_group_offsets_enabled") is True
        checkpoints = tuple(SyncedCheckpoint("g", key, 5, now - age) for age in (500.0, 0.0))
        # Time passes faster here: the checkpoint after a change is old enough at the next read.
        later = SyncedCheckpoint("g", key, 6, now + 1000.0 * len(self.api.asked))
        newest = SyncedCheckpoint("g", key, 6, later.time + 500.0)
        return Evidence((*checkpoints, later, newest), {"g": {key: 6 if syncs else 4}}, frozenset({"g"}), now)

    def be(self, flow: str, state: str) -> None:
        if state == "missing":
            self.api.flows.pop(flow, None)
            return
        on = state == "running"
        fields = {"enabled": on, "sync_group_offsets_enabled": on, "exactly_once_delivery_enabled": True}
        self.api.flows[flow] = {**fields, "topics": ["T"], "offset_syncs_topic_location": "target"}

    def store(self, flow: str, offsets: Stored) -> None:
        self.stored[flow] = offsets

    def changes(self) -> list[Any]:
        return [call for call in self.api.calls if call[0] != "GET"]

    def refuse(self, flow: str) -> None:
        self.api.refused.add(flow)

    def linger(self, flow: str) -> bool:
        return False

    def silence(self) -> None:
        self.api.silent = True

    def rival(self, name: str, state: str) -> bool:
        return False


# ---- strimzi


class LingeringConnect(FakeConnect):
    """Kafka Connect whose states follow at once, except that one source connector keeps its tasks after a stop."""

    def __init__(self) -> None:
        super().__init__(delay=0.0)
        self.lingers = ""

    def _advance(self, one: Any) -> None:
        super()._advance(one)
        if one.config["name"] == self.lingers and one.state == "STOPPED":
            one.tasks = 1


class StrimziStage:
    """A namespace of one API server for each cluster, whose operator works within each request."""

    def __init__(self, servers: dict[str, KubeServer], patch: pytest.MonkeyPatch) -> None:
        self.servers, self.kafka = servers, {alias: SimpleNamespace(cluster_id="", alias=alias) for alias in servers}
        self.workers = {alias: LingeringConnect() for alias in servers}
        for alias, server in servers.items():
            self._serve(server, self.workers[alias])
        site = {"token": "t", "namespace": NAMESPACE, "connect": "dr"}
        self.pair = derived("strimzi", strimzi={alias: {**site, "url": one.url} for alias, one in servers.items()})
        patch.setattr(strimzi_engine, "may_have_members", lambda _kafka, _group: True)
        patch.setattr(
            strimzi_engine,
            "ConnectOffsets",
            lambda kafka, _topic, connector, source: StoredByWorker(self.workers[kafka.alias], connector, source),
        )

    @staticmethod
    def _serve(server: KubeServer, workers: FakeConnect) -> None:
        memory = server.memory
        operator = Reconciler(memory, workers, NAMESPACE, "v1", (0, 49))

        def changed(path: str) -> None:
            if not path.startswith(f"{operator.connectors}/"):
                return
            name = path.rpartition("/")[2]
            if memory.get(path) is None and name in workers.connectors:
                workers.call("DELETE", f"/connectors/{name}")
            # Its own write of the status makes the operator work again.
            for _event in range(2):
                if (resource := memory.get(path)) is not None:
                    operator.reconcile(resource)

        plugins = workers.call("GET", "/connector-plugins")
        metadata = {"name": "dr", "annotations": {"strimzi.io/use-connector-resources": "true"}}
        folder = operator.connectors.replace("kafkaconnectors", "kafkaconnects")
        memory.write(folder, {"metadata": metadata, "spec": {}, "status": {"connectorPlugins": plugins}})
        memory.changed = changed

    def be(self, flow: str, state: str) -> None:
        for part in CONNECTORS if state != "missing" else ():
            self._create(flow, connector_name(*ENDS[flow], part), part, state)

    def _create(self, flow: str, name: str, part: str, state: str) -> None:
        source, target = ENDS[flow]
        config = {"source.cluster.alias": source, "target.cluster.alias": target, "topics": "T"}
        spec = {"class": f"org.apache.kafka.connect.mirror.{CONNECTORS[part]}", "state": state, "config": config}
        metadata = {"name": resource_name(name), "labels": {"strimzi.io/cluster": "dr"}, "annotations": {NAME: name}}
        body = {"apiVersion": "kafka.strimzi.io/v1", "kind": "KafkaConnector", "metadata": metadata, "spec": spec}
        self.servers[target].memory.write(PATHS, body)

    def store(self, flow: str, offsets: Stored) -> None:
        source, target = ENDS[flow]
        entries = [
            {"partition": {"cluster": source, "topic": topic, "partition": index}, "offset": {"offset": at}}
            for (topic, index), at in offsets.items()
        ]
        name = resource_name(connector_name(source, target, "source"))
        self.workers[target].stored.setdefault(name, [])[:] = entries

    def changes(self) -> list[Any]:
        return [
            (method, path)
            for server in self.servers.values()
            for method, path, body in server.asked
            if method != "GET" and "accessreviews" not in path and "/configmaps" not in path and not is_look(body)
        ]

    def refuse(self, flow: str) -> None:
        source, target = ENDS[flow]
        self.servers[target].refused[f"{source}-{target}.".lower()] = (422, "refused")

    def linger(self, flow: str) -> bool:
        self.workers[ENDS[flow][1]].lingers = resource_name(connector_name(*ENDS[flow], "source"))
        return True

    def silence(self) -> None:
        for server in self.servers.values():
            server.silent = True

    def rival(self, name: str, state: str) -> bool:
        self._create("P->B", name, "source", state)
        return True


NAMESPACE = "kafka"
PATHS = f"/apis/kafka.strimzi.io/v1/namespaces/{NAMESPACE}/kafkaconnectors"


def is_look(body: Any) -> bool:
    """A patch that only asks for the offsets."""
    return list((body or {}).get("spec", {})) == ["listOffsets"]


class StoredByWorker:
    """Replaces :class:`ConnectOffsets`, which needs Kafka."""

    def __init__(self, workers: FakeConnect, connector: str, source: str) -> None:
        self.workers, self.connector, self.source = workers, connector, source

    def last_replicated_offset(self) -> Stored:
        return {
            Partition(entry["partition"]["topic"], entry["partition"]["partition"]): entry["offset"]["offset"]
            for entry in self.workers.stored.get(self.connector, [])
            if entry["partition"]["cluster"] == self.source
        }


# ---- toy


class ToyStage:
    """Lists and threads."""

    def __init__(self) -> None:
        self.kafka: dict[str, Any] = {}
        logs = {(alias, topic): ["r"] * 5 for alias in ("P", "B") for topic in ("T", "P.T", "B.T")}
        # Import it as the product does: from the folder that the fixture adds.
        self.toy: Any = import_module(f"{_engines.__name__}.toy.engine")
        self.world: Any = self.toy.World(logs)
        self.toy.WORLDS["w"] = self.world
        self.pair = derived("toy", toy={"P": {"world": "w"}, "B": {"world": "w"}})

    def flow(self, name: str, ends: str) -> Any:
        return self.world.flows.setdefault(name, self.toy.ToyFlow(self.world, ENDS[ends], ("T",)))

    def be(self, flow: str, state: str, name: str = "") -> None:
        made = self.flow(name or flow, flow)
        for part in CONNECTORS if state != "missing" else ():
            made.bring(part, state)
        if state == "stopped" and made.thread:
            made.thread.join()

    def store(self, flow: str, offsets: Stored) -> None:
        self.flow(flow, flow).stored = dict(offsets)

    def changes(self) -> list[Any]:
        return list(self.world.orders)

    def refuse(self, flow: str) -> None:
        self.flow(flow, flow).refuses = True

    def linger(self, flow: str) -> bool:
        self.flow(flow, flow).lingers = True
        return True

    def silence(self) -> None:
        self.world.answers = False

    def rival(self, name: str, state: str) -> bool:
        self.be("P->B", state, name)
        return True

    def end(self) -> None:
        """Check that no thread survives its test."""
        for flow in self.world.flows.values():
            flow.lingers = False
            flow.parts["source"] = self.toy.STOPPED
            if flow.thread:
                flow.thread.join()


@contextmanager
def connect(_patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield ConnectStage({alias: stack.enter_context(playing(ScriptedWorkers())) for alias in ("P", "B")})


@contextmanager
def srm(patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield SrmStage({alias: stack.enter_context(playing(ScriptedManager())) for alias in ("P", "B")}, patch)


@contextmanager
def aiven(patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with playing(ScriptedAiven()) as api:
        yield AivenStage(api, patch)


@contextmanager
def threads(_patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    stage = ToyStage()
    try:
        yield stage
    finally:
        stage.end()


@contextmanager
def strimzi(patch: pytest.MonkeyPatch) -> Iterator[Stage]:
    schema = {
        "x-kubernetes-group-version-kind": [{"kind": "KafkaConnector"}],
        "properties": {"spec": {"properties": {"listOffsets": {}}}},
    }
    documents = {"/openapi/v3/apis/kafka.strimzi.io/v1": {"components": {"schemas": {"it": schema}}}}
    with ExitStack() as stack:
        servers = {alias: stack.enter_context(playing(KubeServer({"v1": {}}, documents))) for alias in ("P", "B")}
        yield StrimziStage(servers, patch)


#: The stage of each engine.
STAGES = {"aiven": aiven, "connect": connect, "srm": srm, "strimzi": strimzi, "toy": threads}

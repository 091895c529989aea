# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""R35: every wait of the collection goes on after each retriable error, until its bound, and then reports the last one.

Every wait is registered here, with what its observation meets. The observation itself is replaced by a script; the
wait, its bounds and what is reported are the real ones. The clock is simulated, so no test takes real time.
"""

from __future__ import annotations

import ast
import importlib
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from ansible_collections.switchback.kafka_dr.plugins.module_utils import _http
from ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven.http import AivenTransport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._aiven.service import Service as AivenService
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.http import CmTransport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.shapes import Command, Service
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import Transport
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.observation import Filter
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.planning import DesiredConnector
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import Connector
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core import retriable, waiting
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.changes import Change, Outcome
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.other_applications import (
    OtherApplications,
    Standstill,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, LockedOut
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.open_transactions import StableEnds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds, Waited, wait_until
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.client import kafka_error
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.access import Access
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.api import KubernetesApi
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.flows import FlowObservation
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.listing import FlowList, Listing
from ansible_collections.switchback.kafka_dr.plugins.module_utils._srm.planning import DesiredLists, Step
from repository import files, name, nodes, read, tree

PACKAGE = "ansible_collections.switchback.kafka_dr.plugins."
BOUNDS = Bounds(30.0, 1.0, 20.0)
MARK = "injected"

# ---- the errors


def broker(name: str) -> DrError:
    """The error of a broker or of librdkafka, as the Kafka client raises it."""
    return kafka_error(KafkaException(KafkaError(getattr(KafkaError, name), MARK)), "read", "kafka:9092")


def client_of(kind: type[Any]) -> Any:
    """A client of Kafka Connect, of Cloudera Manager or of Aiven's API."""
    url = "http://localhost:1/api/v54" if kind is CmTransport else "http://localhost:1"
    return kind(url, "token", {}, 0.0) if kind is AivenTransport else kind(url, {}, 0.0)


def http(kind: type[Any], status: int, text: str, content_type: str = "application/json") -> DrError:
    """The error that the client of Kafka Connect or of Cloudera Manager raises for this response."""
    client = client_of(kind)
    client.exchange = lambda *_request, **_more: _http.Answer(status, text, {"content-type": content_type})
    with pytest.raises(DrError) as raised:
        client.call("GET", "/x")
    return raised.value


def unanswered(kind: type[Any], cause: OSError) -> DrError:
    """The error for a request without a response."""
    client = client_of(kind)
    error: DrError = client._no_answer(cause, f"GET /{MARK}", 1.0)
    return error


def connect(status: int, message: str, own: bool = True) -> DrError:
    text = f'{{"error_code": {status}, "message": "{message} {MARK}"}}' if own else f"<html>{MARK}</html>"
    return http(Transport, status, text, "application/json" if own else "text/html")


NO_ANSWERS = (ConnectionRefusedError(MARK), ConnectionResetError(MARK), TimeoutError(MARK))


def kafka_errors() -> dict[str, DrError]:
    return {name: broker(name) for name in sorted(retriable.BROKER_ERRORS | retriable.LIBRARY_ERRORS)}


def connect_errors() -> dict[str, DrError]:
    found = {
        "409 rebalance": connect(409, "Cannot complete request momentarily due to stale configuration"),
        "500 rebalance": connect(500, "Cannot complete request because a rebalance is expected"),
        "500 storage": connect(500, "Error writing root configuration"),
        "500 offsets": connect(500, "Failed to retrieve offsets for source connector"),
        "404 starting": connect(404, "", own=False),
        "409 starting": connect(409, "", own=False),
        "500 ending": connect(500, "", own=False),
    }
    found |= {f"{status}": connect(status, "", own=False) for status in sorted(retriable.HTTP_STATUSES)}
    return found | {type(cause).__name__: unanswered(Transport, cause) for cause in NO_ANSWERS}


def cm_errors() -> dict[str, DrError]:
    found = {f"{status}": http(CmTransport, status, MARK) for status in sorted(retriable.HTTP_STATUSES)}
    return found | {type(cause).__name__: unanswered(CmTransport, cause) for cause in NO_ANSWERS}


def aiven_errors() -> dict[str, DrError]:
    statuses = sorted({409, 500, *retriable.HTTP_STATUSES})
    found = {f"{status}": http(AivenTransport, status, MARK) for status in statuses}
    return found | {type(cause).__name__: unanswered(AivenTransport, cause) for cause in NO_ANSWERS}


def lasting_aiven() -> dict[str, DrError]:
    return {
        **{str(status): http(AivenTransport, status, MARK) for status in (302, 400, 401, 403, 404)},
        "HTML": http(AivenTransport, 200, f"<html>{MARK}</html>", "text/html"),
        "unknown host": unanswered(AivenTransport, socket.gaierror(MARK)),
    }


def kubernetes(status: int, text: str, own: bool = True) -> DrError:
    """The error that the client of Kubernetes raises for this response."""
    client = KubernetesApi(Access("http://localhost:1", {}, "t"), 0.0)
    body = f'{{"kind": "Status", "message": "{text} {MARK}"}}' if own else f"<html>{MARK}</html>"
    client.exchange = lambda *_request, **_more: _http.Answer(status, body, {})  # type: ignore[method-assign]
    with pytest.raises(DrError) as raised:
        client.call("GET", "/x")
    return raised.value


def kubernetes_unanswered(cause: OSError) -> DrError:
    error: DrError = KubernetesApi(Access("http://localhost:1", {}, "t"), 0.0)._no_answer(cause, f"GET /{MARK}", 1.0)
    return error


def kubernetes_errors() -> dict[str, DrError]:
    found = {"409 conflict": kubernetes(409, "the object has been modified"), "500": kubernetes(500, "etcdserver")}
    found |= {f"{status}": kubernetes(status, "", own=False) for status in sorted(retriable.HTTP_STATUSES)}
    return found | {type(cause).__name__: kubernetes_unanswered(cause) for cause in NO_ANSWERS}


def lasting_kubernetes() -> dict[str, DrError]:
    found = {str(status): kubernetes(status, "refused") for status in (400, 401, 403, 404, 422)}
    return found | {
        "login page": kubernetes(200, "", own=False),
        "unknown host": kubernetes_unanswered(socket.gaierror(MARK)),
    }


def srm_errors() -> dict[str, DrError]:
    return {"refused": DrError("srm_control_refused", MARK, retriable=True)}


def lasting_kafka() -> dict[str, DrError]:
    names = ("TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED", "_RESOLVE")
    failed = KafkaException(KafkaError(KafkaError._TIMED_OUT, MARK))
    return {
        **{name: broker(name) for name in (*names, "_AUTHENTICATION", "INVALID_REQUEST", "UNSUPPORTED_VERSION")},
        "unknown host": kafka_error(failed, "read", "kafka:9092", "kafka:9092: Failed to resolve 'kafka:9092'"),
        "rejected login": kafka_error(failed, "read", "kafka:9092", "SASL authentication error: Authentication failed"),
    }


def lasting_connect() -> dict[str, DrError]:
    return {
        "401": connect(401, ""),
        "403": connect(403, ""),
        "404": connect(404, "Connector not found"),
        "409 exists": connect(409, "Connector x already exists"),
        "500": connect(500, "internal"),
        "login page": connect(200, "", own=False),
        "unknown host": unanswered(Transport, socket.gaierror(MARK)),
    }


def lasting_cm() -> dict[str, DrError]:
    return {
        **{str(status): http(CmTransport, status, MARK) for status in (401, 403, 404)},
        "unknown host": unanswered(CmTransport, socket.gaierror(MARK)),
    }


#: By kind: the retriable errors that a wait meets, and examples of the others.
KINDS: dict[str, tuple[Callable[[], dict[str, DrError]], Callable[[], dict[str, DrError]]]] = {
    "kafka": (kafka_errors, lasting_kafka),
    "connect": (connect_errors, lasting_connect),
    "flow": (lambda: kafka_errors() | connect_errors(), lambda: lasting_kafka() | lasting_connect()),
    "cm": (cm_errors, lasting_cm),
    "aiven": (aiven_errors, lasting_aiven),
    "kubernetes": (kubernetes_errors, lasting_kubernetes),
    "srm": (srm_errors, lambda: {"other": DrError("srm_control_missing", MARK)}),
}

# ---- one trial of a wait


class Over(Exception):  # noqa: N818 - ends a trial
    """Ends a trial when the wait has ended well, so that nothing after it needs a cluster."""


class Clock:
    """Advances only in sleep."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 1e-6)


@dataclass
class Trial:
    """Raises ``error`` for the first ``times`` observations; None: for all."""

    patch: pytest.MonkeyPatch
    module: ModuleType
    error: DrError
    times: int | None
    clock: Clock = field(default_factory=Clock)
    observations: int = 0
    bounds: Bounds | None = None
    waited: Waited[Any] | None = None

    def observing(self, good: Any) -> Callable[..., Any]:
        """A replacement for what the observation calls: raises, then returns ``good``."""

        def observe(*_args: Any, **_named: Any) -> Any:
            self.observations += 1
            if self.times is None or self.observations <= self.times:
                raise self.error
            return good

        return observe

    def replace(self, name: str, good: Any) -> None:
        """Replace the function ``name`` of the module, which may be one of an imported module (``groups.describe``)."""
        self.patch.setattr(f"{self.module.__name__}.{name}", self.observing(good))

    def begin(self) -> None:
        self.patch.setattr(waiting, "time", self.clock)
        self.patch.setattr(self.module, "wait_until", self._wait)

    def _wait(self, observe: Any, done: Any, bounds: Bounds, *args: Any, **named: Any) -> Waited[Any]:
        self.bounds = bounds
        waited = wait_until(observe, done, bounds, *args, **named)
        if self.times is not None:
            assert waited.error is None
            self.waited = waited
            raise Over
        return waited


@dataclass(frozen=True)
class Wait:
    """A registered wait."""

    kind: str
    run: Callable[[Trial], Any]


#: By file and function. A function with several waits that observe the same has one entry.
WAITS: dict[str, Wait] = {}
#: Waits whose observation meets no error of a server.
LOCAL = {
    "module_utils/_host_tokens.py:_lock": "a file lock on this host",
    "module_utils/_pair/journal/events.py:_wait_for_children": "processes on this host",
    "module_utils/_run/publish.py:_lock": "a file lock on this host",
}


def wait(kind: str, where: str) -> Callable[[Callable[[Trial], Any]], Callable[[Trial], Any]]:
    def register(run: Callable[[Trial], Any]) -> Callable[[Trial], Any]:
        WAITS[f"module_utils/{where}" if where.startswith("_") else where] = Wait(kind, run)
        return run

    return register


def stub(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


NO_OTHERS = OtherApplications()
KAFKA = stub(bootstrap_servers="kafka:9092", timeout=15.0, requests=[], seen_topics=None)
ONE = Partition("T", 0)


@wait("kafka", "_kafka/acls.py:wait_for_broker")
def _acls(trial: Trial) -> Any:
    trial.replace("_unsettled", [])
    return trial.module.wait_for_broker(KAFKA, [Outcome(Change("acl", "x", "create", None, {}), "done")], BOUNDS)


@wait("kafka", "_kafka/client.py:Kafka.patiently")
def _patiently(trial: Trial) -> Any:
    return trial.module.Kafka.patiently(KAFKA, trial.observing("read"))


@wait("kafka", "_kafka/client.py:Kafka.in_attempts")
def _in_attempts(trial: Trial) -> Any:
    kafka = stub(**vars(KAFKA), attempt=lambda read, seconds: read(seconds))
    return trial.module.Kafka.in_attempts(kafka, trial.observing("read"))


@wait("kafka", "_kafka/committing.py:_hold")
def _hold(trial: Trial) -> Any:
    trial.replace("kafka_groups.committed_offsets", {})
    return trial.module._hold(KAFKA, [], 6.0)


@wait("kafka", "_kafka/salvage.py:Replayer.__init__")
def _replayer(trial: Trial) -> Any:
    good = trial.observing({Partition("state", 0): (0, 5)})
    first = iter([{Partition("state", 0): (0, 5)}])
    trial.patch.setattr(trial.module, "log_ranges", lambda *args: next(first, None) or good(*args))
    kafka = stub(**vars(KAFKA), producer=lambda **_settings: stub(init_transactions=lambda _timeout: None))
    return trial.module.Replayer(kafka, "p", "state")


@wait("kafka", "_kafka/topics.py:_reported")
def _reported(trial: Trial) -> Any:
    return trial.module._reported(trial.observing({ONE: (0, 1)}), [ONE])


@wait("kafka", "_kafka/topics.py:delete")
def _delete_topics(trial: Trial) -> Any:
    trial.patch.setattr(trial.module, "describe", lambda *_args: {})
    trial.patch.setattr(trial.module, "plan_absent", lambda *_args: stub(changes=[]))
    trial.replace("unsettled", [])
    return trial.module.delete(KAFKA, ["T"], check=False)


@wait("kafka", "modules/kafka_topic.py:wait_for_brokers")
def _topics(trial: Trial) -> Any:
    trial.replace("unsettled", [])
    params = {"wait_timeout": 30.0, "wait_sleep": 1.0, "stall_timeout": 20.0}
    return trial.module.wait_for_brokers(KAFKA, [Outcome(Change("topic", "T", "create", None, {}), "done")], params)


@wait("kafka", "modules/kafka_group_info.py:Watch.until")
def _groups(trial: Trial) -> Any:
    params = {"wait_timeout": 30.0, "wait_sleep": 1.0, "stall_timeout": 20.0, "settle_seconds": 5.0}
    watch = trial.module.Watch(KAFKA, ["g"], {**params, "check_data": False, "wait_for": "empty"})
    watch.observe = trial.observing([])
    watch.quiet = stub(decided=True)
    return watch.until("empty")


@wait("kafka", "modules/kafka_group_info.py:Watch.until 2")
def _idle_groups(trial: Trial) -> Any:
    params = {"wait_timeout": 30.0, "wait_sleep": 1.0, "stall_timeout": 0.0, "settle_seconds": 5.0}
    watch = trial.module.Watch(KAFKA, ["g"], {**params, "check_data": False, "wait_for": None})
    watch.observe = trial.observing([])
    watch.quiet = stub(decided=True)
    return watch.until(None)


@wait("connect", "_pair/flows/adoption.py:_Adoption._await_stopped")
def _adoption(trial: Trial) -> Any:
    rest = stub(url="http://connect", patience=0.0, connectors=trial.observing({"x": CONNECTOR}))
    return trial.module._Adoption._await_stopped(stub(_bounds=BOUNDS), rest, ["x"])


@wait("kafka", "_pair/journal/copies.py:_read_whole")
def _journal(trial: Trial) -> Any:
    good = trial.observing({Partition("journal", 0): (0, 5)})
    first = iter([{Partition("journal", 0): (0, 5)}])
    trial.patch.setattr(trial.module, "describe", lambda *_args: {"journal": stub()})
    trial.patch.setattr(trial.module, "log_ranges", lambda *args: next(first, None) or good(*args))
    return trial.module._read_whole(KAFKA, "journal")


@wait("kafka", "_pair/journal/leases.py:_outwait_others")
def _leases(trial: Trial) -> Any:
    trial.replace("open_leases_of", [])
    return trial.module._outwait_others({"P": KAFKA}, "state", "p", None, None, BOUNDS)


@wait("kafka", "_pair/observation/leaving.py:wait_for_members_to_leave")
def _leaving(trial: Trial) -> Any:
    trial.replace("describe_known_types", {})
    trial.patch.setattr(trial.module, "confirm_absent", lambda _kafka, states: states)
    return trial.module.wait_for_members_to_leave({"P": KAFKA}, ["g"], BOUNDS)


@wait("kafka", "_pair/observation/probe.py:probe")
def _probe(trial: Trial) -> Any:
    kafka = stub(**vars(KAFKA), identify=lambda _id: "id")
    trial.patch.setattr(trial.module, "time", trial.clock)
    # Its first wait is for a port of a broker, which is no request.
    trial.patch.setattr(trial.module, "_listens", lambda *_args: True)
    trial.patch.setattr(
        trial.module, "wait_until", lambda *args: wait_until(*args) if args[2].timeout < 10 else trial._wait(*args)
    )
    trial.patch.setattr(trial.module, "Kafka", lambda *_args: kafka)
    trial.patch.setattr(trial.module, "describe", lambda *_args: {"T": stub(partitions=1)})
    trial.replace("known_ranges", {ONE: (0, 1)})
    result = trial.module.probe({"bootstrap_servers": "kafka:9092"}, ["T"], 15.0)
    raise DrError("not_answering", result.reason)


def pair_of(trial: Trial, **fields: Any) -> Any:
    pair = stub(kafka={"P": KAFKA, "B": KAFKA}, topics=["T"], groups=["g"], requests=[], **fields)
    if hasattr(trial.module, "Pair"):
        trial.patch.setattr(trial.module, "Pair", lambda *_args, **_named: pair)
    return pair


@wait("flow", "_pair/observation/rescue.py:rescue")
def _rescue(trial: Trial) -> Any:
    good = stub(last_replicated_offset={ONE: 0})
    pair_of(trial, existing=lambda *_args: {ONE}, engine=stub(observe=trial.observing(good)))
    trial.patch.setattr(trial.module, "known_ranges", lambda *_args: {ONE: (0, 1)})
    return trial.module.rescue(stub(leave="P", enter="B", pair=None, request_timeout=15.0, bounds=BOUNDS))


@wait("flow", "_pair/observation/status.py:_wait_flowing")
def _flowing(trial: Trial) -> Any:
    pair = pair_of(trial, refresh=lambda: None)
    view = {"verdict": "PROVEN", "hopeless": "", "flows": [], "groups": []}
    trial.patch.setattr(trial.module, "_flowing_view", trial.observing(view))
    return trial.module._wait_flowing(pair, stub(bounds=BOUNDS))


@wait("kafka", "_pair/observation/status.py:_groups_at_last")
def _groups_of_all(trial: Trial) -> Any:
    trial.replace("_groups_everywhere", {})
    return trial.module._groups_at_last(pair_of(trial), BOUNDS)


@wait("kafka", "_pair/observation/status.py:_assigned_groups")
def _groups_after_a_rebalance(trial: Trial) -> Any:
    trial.replace("_groups_everywhere", {})
    return trial.module._assigned_groups(pair_of(trial))


@wait("flow", "_pair/observation/status.py:_wait_replicated")
def _replicated(trial: Trial) -> Any:
    pair = pair_of(trial)
    trial.replace("observe_flows", [])
    request = stub(bounds=BOUNDS, groups_on="", groups_timeout=10.0, groups_stall=5.0, stored_timeout=0.0)
    return trial.module._wait_replicated(pair, request)


@wait("flow", "_pair/observation/status.py:judged_flows")
def _judged(trial: Trial) -> Any:
    good = stub(name="P->B", away="", facts={}, connectors={})
    before = stub(name="P->B", away="", facts={ONE: None}, connectors={}, heartbeat_limit=10.0)
    pair = pair_of(trial)
    trial.replace("observe_again", good)
    finding = stub(verdict="UNKNOWN", reason="no record waits")
    trial.patch.setattr(trial.module, "_flow_finding", lambda *_args: finding)
    trial.patch.setattr(trial.module, "_alive", lambda *_args: set())
    trial.patch.setattr(trial.module, "_unreplicated", lambda _observation: ["T-0"])
    return trial.module.judged_flows(pair, [before], 3.0)


@wait("kafka", "_pair/observation/open_transactions.py:_on_one")
def _open_transactions(trial: Trial) -> Any:
    trial.replace("_stable_ends", StableEnds(1.0, 1.0, {}))
    pair = stub(kafka={"P": KAFKA}, topics=["T"], existing=lambda *_asked: {ONE})
    return trial.module._on_one(pair, "P")


@wait("flow", "_pair/readiness/workflow.py:before_stop")
def _before_stop(trial: Trial) -> Any:
    clusters = stub(journal=lambda: (None, [], []), opened=stub(requests=[]))
    trial.patch.setattr(trial.module, "Clusters", lambda _request: clusters)
    trial.replace("_facts", None)
    trial.patch.setattr(trial.module, "refusals_before_stop", lambda *_args: [])
    return trial.module.before_stop(stub(accept=()))


@wait("flow", "_pair/readiness/waiting_records.py:await_replication")
def _await_replication(trial: Trial) -> Any:
    row = stub(most=1, topic="T", partition=0, first=5, first_certain=5)
    fresh = FlowObservation(
        "P", "B", {}, {ONE: PartitionFacts(0, 9, 4)}, None, source_log={ONE: (0, 5)}, observed_at=1.0
    )
    trial.replace("observe_again", fresh)
    trial.patch.setattr(trial.module, "unreplicated", lambda *_args: {ONE: stub(most=0)})
    return trial.module.await_replication(pair_of(trial), fresh, {ONE: row}, [], 60.0)


@wait("kafka", "_pair/offsets/arrival.py:arrival")
def _arrival(trial: Trial) -> Any:
    barrier = stub(run=stub(phases={"barrier": {"cut": {}, "entered": []}}))
    trial.patch.setattr(trial.module, "connect_one", lambda *_args: KAFKA)
    trial.patch.setattr(trial.module, "read_state", lambda *_args: barrier)
    trial.replace("kafka_groups.describe", {})
    pair = stub(require_alias=lambda _alias: None, connections={"B": {}})
    return trial.module.arrival(
        stub(pair=pair, enter="B", groups=["g"], not_awaited=NO_OTHERS, bounds=BOUNDS, request_timeout=15.0)
    )


@wait("kafka", "_pair/observation/standstill.py:_watched")
def _watched(trial: Trial) -> Any:
    watch = stub(needed=1.0, settled=True, look=trial.observing(Standstill({}, [], {}, 1.0)))
    return trial.module._watched(watch, BOUNDS)


@wait("kafka", "_pair/offsets/disaster_barrier.py:_require_decided")
def _disaster(trial: Trial) -> Any:
    return trial.module._require_decided(stub(y="B", ranges=trial.observing({})), BOUNDS)


@wait("flow", "_pair/offsets/forecast.py:forecast")
def _forecast(trial: Trial) -> Any:
    pair_of(trial)
    trial.patch.setattr(trial.module, "gather", trial.observing(None))
    trial.patch.setattr(trial.module, "read_state", lambda *_args: None)
    trial.patch.setattr(trial.module.JournalFacts, "toward", lambda *_args: None)
    trial.patch.setattr(trial.module, "find_offsets", lambda *_args: ([], 0))
    bounds = {"request_timeout": 15.0, "replicated": BOUNDS}
    request = stub(leave="P", enter="B", pair=None, flows=[], accept_skips=(), lower="fail", **bounds)
    return trial.module.forecast(request)


@wait("kafka", "_pair/offsets/presync.py:_Job._at_work")
def _at_work(trial: Trial) -> Any:
    trial.replace("open_leases_of", [])
    job = stub(pair=stub(kafka={}), _spec=stub(state_topic="state", name="p"), _run="r", _seconds=30.0)
    return trial.module._Job._at_work(job)


@wait("flow", "_pair/offsets/translation.py:Translation._replicated_observations")
def _translation(trial: Trial) -> Any:
    trial.patch.setattr(trial.module, "_lagging", lambda *_args: [])
    request = stub(final=False, replicated=BOUNDS)
    trial.patch.setattr(trial.module, "observe_groups", lambda *_args, **_named: {})
    trial.replace("observe_flow", stub())
    translation = stub(_request=request, pair=stub(topics=["T"]), x="P", y="B", _reads={}, _observe_back=lambda: None)
    return trial.module.Translation._replicated_observations(translation)


@wait("kafka", "_pair/offsets/translation.py:_require_decided")
def _decided(trial: Trial) -> Any:
    return trial.module._require_decided(stub(topics=["T"], ranges=trial.observing({})), "B", BOUNDS)


@wait("flow", "_pair/rehearsal/removal.py:remove")
def _removal(trial: Trial) -> Any:
    side = stub(remove_connectors=lambda _check: [], remove=lambda _check: [], requests=[])
    side.observe = trial.observing({"left": {}})
    trial.patch.setattr(trial.module, "_open", lambda *_args: {"P": side})
    return trial.module.remove(stub(), stub(), 15.0, check=False)


@wait("flow", "_pair/rehearsal/removal.py:_await")
def _removed(trial: Trial) -> Any:
    return trial.module._await(trial.observing([]), BOUNDS, "group", "has members", "kafka:9092")


CONNECTOR = Connector("x", "STOPPED", (), {"connector.class": "MirrorSourceConnector"})
STOPPED = DesiredConnector("x", "source", "stopped", {})


@wait("connect", "_connect/observation.py:_wait")
def _connectors(trial: Trial) -> Any:
    rest = stub(url="http://connect", patience=0.0, connectors=trial.observing({"x": CONNECTOR}))
    wanted = Filter(None, None, ("source",))
    return trial.module._wait(rest, wanted, "stopped", BOUNDS, [])[1]


@wait("connect", "_connect/offsets.py:read_back")
def _read_back(trial: Trial) -> Any:
    trial.replace("replicated_offsets", {})
    return trial.module.read_back(stub(), "x", "P", lambda offsets: offsets == {})


@wait("connect", "_connect/reconcile.py:_Settling.run")
def _reconciled(trial: Trial) -> Any:
    rest = stub(url="http://connect", patience=0.0, connectors=trial.observing({"x": CONNECTOR}))
    report = trial.module.Report()
    watch = trial.module.Watch(STOPPED, changed=True)
    trial.module._Settling(rest, BOUNDS, {"x": watch}, report, {}).run()
    return report.failure


@wait("connect", "_connect/reconcile.py:Reconciler._delete_one")
def _deleted(trial: Trial) -> Any:
    rest = stub(url="http://connect", find=trial.observing(None), delete=lambda _name: None)
    change = Change("connector", "x", "delete", {}, None)
    outcome = trial.module.Reconciler(rest, BOUNDS)._delete_one(change, trial.module.Report())
    return DrError("connector_step_failed", outcome.error)


RESOURCE = {"metadata": {"name": "x", "generation": 1, "resourceVersion": "1", "annotations": {}}, "spec": {}}


def kafka_connectors(trial: Trial, **site: Any) -> Any:
    api = stub(url="http://kubernetes", requests=[], patch=lambda *_args: RESOURCE)
    checks = {"require_usable": lambda: None, "require_reconciled": lambda *_args: None, "kind": lambda _plural: None}
    made = trial.module.KafkaConnectors(stub(api=api, namespace="n", **checks, **site))
    made.find = trial.observing(RESOURCE)
    return made


@wait("kubernetes", "_engines/strimzi/changing.py:KafkaConnectors.change")
def _changed(trial: Trial) -> Any:
    made = kafka_connectors(trial)
    # The resource is read in a wait of its own, which is the next one here.
    made._free = made.require
    return made.change("x", {"state": "stopped"}, {})


@wait("kubernetes", "_engines/strimzi/changing.py:KafkaConnectors._free")
def _free(trial: Trial) -> Any:
    return kafka_connectors(trial)._free("x")


@wait("kubernetes", "_engines/strimzi/changing.py:KafkaConnectors.settle")
def _worked(trial: Trial) -> Any:
    return kafka_connectors(trial).settle("x", "alter")


@wait("kubernetes", "_engines/strimzi/looks.py:Looks.finish")
def _looked(trial: Trial) -> Any:
    looks = trial.module.Looks(stub(operator_bounds=BOUNDS, site=stub(api=stub(url="http://kubernetes"))))
    looks._finished = trial.observing(stub())
    return looks.finish("x")


@wait("kubernetes", "_engines/strimzi/creating.py:Creation.await_stopped")
def _created(trial: Trial) -> Any:
    resources = stub(operator_bounds=BOUNDS, site=stub(api=stub(url="http://kubernetes")))
    resource = {**RESOURCE, "spec": {"state": "stopped", "config": {"topics": "(?!)"}}}
    return trial.module.Creation(resources, trial.observing({"x": CONNECTOR})).await_stopped(resource)


def workload(trial: Trial) -> Any:
    status = {"observedGeneration": 1, "readyReplicas": 1, "updatedReplicas": 1}
    found = {**RESOURCE, "spec": {"replicas": 1, "selector": {}}, "status": status}
    api = stub(url="http://kubernetes", find=trial.observing(found), patch=lambda *_args: found)
    return trial.module.Workload(api, "n", "Deployment", "x")


@wait("kubernetes", "_kubernetes/workloads.py:Workload._scale")
def _scaled(trial: Trial) -> Any:
    return workload(trial)._scale(lambda _replicas, _resource: 0, BOUNDS, check=False)


@wait("kubernetes", "_kubernetes/workloads.py:Workload._await_gone")
def _gone(trial: Trial) -> Any:
    made = workload(trial)
    made._left = trial.observing([])
    return made._await_gone(BOUNDS)


@wait("kubernetes", "_kubernetes/workloads.py:Workload._await_ready")
def _ready(trial: Trial) -> Any:
    return workload(trial)._await_ready(BOUNDS)


SERVICE = Service.parse({"name": "srm", "serviceState": "STARTED", "configStalenessStatus": "FRESH"})
RUNNING = Command.parse({"id": 7, "name": "Restart", "active": True})
ENDED = Command.parse({"id": 7, "name": "Restart", "active": False, "success": True})


def runner(trial: Trial, **service: Any) -> Any:
    client = stub(url="http://cm", timeout=15.0)
    return trial.module.Runner(stub(name="srm", client=client, **service), BOUNDS)


@wait("cm", "_cm/commands.py:Runner._adopt")
def _adopted(trial: Trial) -> Any:
    observed = runner(trial, active_commands=trial.observing([RUNNING]))
    return observed._adopt("restart", SERVICE, stub(message="no response."))


@wait("cm", "_cm/commands.py:Runner._ended")
def _command(trial: Trial) -> Any:
    return runner(trial, read_command=trial.observing(ENDED))._ended(RUNNING)


def control(trial: Trial, read: Any) -> Any:
    service = stub(name="srm", client=stub(url="http://cm", timeout=15.0), read_service=read)
    desired = trial.module.DesiredService("started")
    made = trial.module._Control(service, desired, BOUNDS)
    made._seen = Service.parse({"name": "srm"})
    return made


@wait("cm", "_cm/control.py:_Control._require_definite")
def _definite(trial: Trial) -> Any:
    return control(trial, trial.observing(SERVICE))._require_definite()


@wait("cm", "_cm/control.py:_Control._settle")
def _settled(trial: Trial) -> Any:
    made = control(trial, None)
    made._observe = trial.observing((SERVICE, True))
    return made._settle(False)


@wait("srm", "_srm/reconcile.py:_Sender.send_until_listed")
def _srm(trial: Trial) -> Any:
    where = FlowList("topics", "P", "B")
    tool = stub(list=trial.observing(Listing(("T",), ())), change=lambda *_args: None)
    desired = DesiredLists(where, ("T",), None, "present")
    sender = trial.module._Sender(tool, desired, (Step("allowed", "add", "T"),), Listing((), ()))
    return sender.send_until_listed(BOUNDS)[1]


def aiven_sites(observe: Any) -> Any:
    site = stub(full_name="p/s", client=stub(url="http://aiven"), delete_flow=lambda *_ends: None)
    site.change_settings = lambda _settings: None
    return stub(site=lambda _target: site, observe=observe)


FLOWS_AT_AIVEN = stub(flows={"P->B": {"enabled": True}}, service=AivenService("RUNNING", {"groups": "x"}))


@wait("aiven", "_engines/aiven/applying.py:_delete")
def _aiven_deleted(trial: Trial) -> Any:
    seen = [FLOWS_AT_AIVEN]
    after = trial.observing(stub(flows={}))
    sites = aiven_sites(lambda _target, anew=False: seen.pop() if seen else after())
    return trial.module._delete(sites, "P->B", ("P", "B"), BOUNDS, False)


@wait("aiven", "_engines/aiven/applying.py:_await_fields")
def _aiven_fields(trial: Trial) -> Any:
    sites = aiven_sites(trial.observing(FLOWS_AT_AIVEN))
    return trial.module._await_fields(sites, ("P", "B"), {"enabled": True}, BOUNDS)


@wait("aiven", "_engines/aiven/applying.py:_change_service")
def _aiven_service(trial: Trial) -> Any:
    seen = [FLOWS_AT_AIVEN]
    after = trial.observing(stub(service=AivenService("RUNNING", {"groups": "x,g"})))
    sites = aiven_sites(lambda _target, anew=False: seen.pop() if seen else after())
    pair = stub(groups=["g"], flows={"P->B": ("P", "B")})
    return trial.module._change_service(sites, pair, ["P->B"], BOUNDS, False)


@wait("kafka", "_engines/aiven/engine.py:AivenEngine._require_proof")
def _aiven_proof(trial: Trial) -> Any:
    watch = stub(judged=trial.observing(stub(verdict="PROVEN", reason="")), may_ripen=False, name="P->B", target="B")
    return trial.module.AivenEngine._require_proof(stub(), watch, trial.module.Result(), 1.0, BOUNDS)


@wait("aiven", "_aiven/acls.py:AivenAcls.wait")
def _aiven_acls(trial: Trial) -> Any:
    store = stub(_pending=trial.observing([]), _mirrored=False, _client=stub(url="http://aiven"))
    return trial.module.AivenAcls.wait(store, [stub(status="done")], BOUNDS)


@wait("kafka", "_pair/fence.py:_answers")
def _fenced(trial: Trial) -> Any:
    trial.replace("_asked_as", False)
    request = stub(asked={"User:a": {}}, bounds=BOUNDS)
    return trial.module._answers(KAFKA, stub(effect_seconds=BOUNDS.timeout), request, wanted=False)


@wait("flow", "_pair/audit.py:_await_progress")
def _progress_since_the_cut(trial: Trial) -> Any:
    state = stub(last_replicated_offset={ONE: 5})
    pair = stub(engine=stub(observe=trial.observing(state)))
    return trial.module._await_progress(pair, ("B", "P"), {ONE: 5}, BOUNDS)


@wait("flow", "_pair/offsets/translation.py:Translation._observe_drained")
def _drained(trial: Trial) -> Any:
    trial.replace("observe_flow", stub(facts={}))
    engine = stub(capabilities=stub(stop_provable=False))
    translation = stub(_request=stub(replicated=BOUNDS), pair=stub(engine=engine), x="P", y="B")
    return trial.module.Translation._observe_drained(translation)


# ---- the tests


def waits_in_source() -> set[str]:
    """File and function of each wait; a number follows from the second wait of a function on."""
    found: list[str] = []

    def search(node: ast.AST, path: str, names: tuple[str, ...]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inner = (*names, child.name) if isinstance(child, (ast.ClassDef, ast.FunctionDef)) else names
            if isinstance(child, ast.Call) and getattr(child.func, "id", "") == "wait_until":
                yield f"{path}:{'.'.join(inner)}"
            yield from search(child, path, inner)

    for file in files("plugins/**/*.py"):
        if "wait_until(" in read(file):
            found += search(tree(file), name(file).removeprefix("plugins/"), ())
    return {one if found[:at].count(one) == 0 else f"{one} {found[:at].count(one) + 1}" for at, one in enumerate(found)}


#: The port that a probe tries first: no request is sent.
NO_REQUEST = {"module_utils/_pair/observation/probe.py:probe 2"}


def test_every_wait_is_registered() -> None:
    assert waits_in_source() == {*WAITS, *LOCAL, *NO_REQUEST}


#: Pauses of a fixed length, because stillness or movement is the evidence, and the one loop of all waits.
PAUSES = {
    "module_utils/_bounded.py",
    "module_utils/_core/waiting.py",
    "module_utils/_pair/flows/adoption.py",
    "module_utils/_pair/journal/residence.py",
    "module_utils/_pair/observation/foreign_writers.py",
    "module_utils/_pair/observation/undeclared_groups.py",
    "module_utils/_pair/offsets/disaster_barrier.py",
    "module_utils/_pair/offsets/translation.py",
    "plugin_utils/local_run.py",
}


def test_no_other_loop_waits() -> None:
    sleeping = set()
    for file in files("plugins/**/*.py"):
        calls = (node for node in (nodes(file) if "sleep" in read(file) else ()) if isinstance(node, ast.Call))
        if any(
            isinstance(call.func, (ast.Name, ast.Attribute)) and "sleep" in ast.unparse(call.func) for call in calls
        ):
            sleeping.add(name(file).removeprefix("plugins/"))
    # `_http.py` repeats one request within its time-out, with the same definition of retriable.
    assert sleeping == PAUSES | {"module_utils/_http.py"}


@contextmanager
def trial_of(name: str, error: DrError, times: int | None) -> Iterator[Trial]:
    path = name.partition(":")[0].removesuffix(".py").replace("/", ".")
    with pytest.MonkeyPatch.context() as patch:
        trial = Trial(patch, importlib.import_module(PACKAGE + path), error, times)
        trial.begin()
        yield trial


def reported(run: Callable[[Trial], Any], trial: Trial) -> str:
    """Run a wait to its bound, and return what it reports."""
    try:
        result = run(trial)
    except DrError as error:
        return error.sentence()
    assert isinstance(result, DrError), f"no error was reported, but {result!r}"
    return result.sentence()


@pytest.mark.parametrize("name", WAITS)
def test_a_retriable_error_does_not_end_a_wait_before_its_bound(name: str) -> None:
    for kind, error in KINDS[WAITS[name].kind][0]().items():
        assert error.retriable, kind
        with trial_of(name, error, None) as trial:
            text = reported(WAITS[name].run, trial)
        assert trial.bounds is not None
        limit = min(trial.bounds.timeout, trial.bounds.stall or trial.bounds.timeout)
        assert trial.clock.now - 1000.0 >= limit, f"{kind}: ended too early"
        assert trial.observations > 1, kind
        assert MARK in text, f"{kind}: the last error is missing in: {text}"


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_succeeds_after_a_retriable_error(name: str) -> None:
    for kind, error in KINDS[WAITS[name].kind][0]().items():
        with trial_of(name, error, 3) as trial, pytest.raises(Over):
            WAITS[name].run(trial)
        assert trial.waited is not None, kind
        assert trial.observations > 3, kind


@pytest.mark.parametrize("name", WAITS)
def test_another_error_ends_a_wait_at_once(name: str) -> None:
    for kind, error in KINDS[WAITS[name].kind][1]().items():
        assert not error.retriable, kind
        with trial_of(name, error, None) as trial:
            text = reported(WAITS[name].run, trial)
        assert trial.observations == 1, kind
        # The first observation of some waits sends no request.
        assert trial.bounds is not None
        assert trial.clock.now - 1000.0 <= trial.bounds.sleep, f"{kind}: waited"
        assert error.message in text or MARK in text, kind


def test_every_code_is_known_to_the_library() -> None:
    assert all(hasattr(KafkaError, name) for name in retriable.BROKER_ERRORS | retriable.LIBRARY_ERRORS)
    assert not retriable.is_retriable_code("TOPIC_AUTHORIZATION_FAILED")
    assert not retriable.is_retriable_status(500)


def test_a_rejected_client_is_not_retriable() -> None:
    assert isinstance(lasting_kafka()["rejected login"], LockedOut)

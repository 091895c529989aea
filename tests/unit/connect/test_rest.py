# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client against a real HTTP server that plays a worker, response by response."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect import offsets
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.http import (
    RefusedError,
    Reply,
    Transport,
    quoted,
    retry_reason,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.offsets import (
    replicated_offsets,
    set_offsets,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._connect.rest import ConnectClient
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.waiting import Bounds
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.connect.offsets import ConnectStoredOffsets
from ansible_collections.switchback.kafka_dr.tests.unit.connect.worker import ScriptedWorker

STARTING = (503, '{"status": "starting", "message": "Worker is still starting up."}')
JETTY = {"servlet": "-", "message": "Not Found", "url": "/connectors", "status": "404"}
HTML = "<html><body><h2>HTTP ERROR 404</h2></body></html>"


class Clock:
    """A clock that only advances during a sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def pair(self) -> tuple[Any, Any]:
        return lambda: self.now, self.sleep

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def client(worker: ScriptedWorker, timeout: float = 15.0, **connect_client: Any) -> ConnectClient:
    return ConnectClient(worker.url, connect_client, timeout, Clock().pair())


# ---- which requests are repeated


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, HTML, "starting"),
        (404, JETTY, "starting"),
        (200, "<html>login</html>", "starting"),
        (503, None, "starting"),
        (409, {"message": "Cannot complete request momentarily due to stale configuration"}, "rebalance"),
        # R35: Kafka 4.3.1 returns this for GET .../tasks right after a change of the configuration.
        (500, {"message": "Request cannot be completed because a rebalance is expected"}, "rebalance"),
        (404, {"message": "No status found for connector X"}, "status"),
        (500, {"message": "Error writing root configuration to Kafka"}, "storage"),
        (500, {"message": "Failed to retrieve offsets for source connector it"}, "offsets"),
    ],
)
def test_a_retriable_response_is_repeated(worker: ScriptedWorker, status: int, body: Any, reason: str) -> None:
    worker.answers = [(status, body), (status, body), (200, {"version": "4.3.1"})]
    rest = client(worker)
    assert rest.call("PUT", "/connectors/X/stop") == {"version": "4.3.1"}
    assert rest.requests == [{"method": "PUT", "path": "/connectors/X/stop", "attempts": 3}]
    text = body["message"] if isinstance(body, dict) else str(body)
    assert retry_reason(Reply(status, isinstance(body, dict) and body is not JETTY, body, text)) == reason


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "Connectors must be in the STOPPED state before their offsets can be modified", "connect_invalid"),
        (404, "Connector X not found", "connect_not_found"),
        (404, "Unknown connector X", "connect_not_found"),
        (409, "Connector X already exists", "connect_conflict"),
        (500, "has an invalid value -1 for the 'partition' key, which cannot be negative", "connect_error"),
    ],
)
def test_a_refusal_is_not_repeated_and_reported_in_its_own_words(
    worker: ScriptedWorker, status: int, message: str, code: str
) -> None:
    worker.answers = [(status, {"error_code": status, "message": message})]
    with pytest.raises(RefusedError) as refused:
        client(worker).call("PATCH", "/connectors/X/offsets", {"offsets": []})
    assert (refused.value.code, refused.value.status, refused.value.text) == (code, status, message)
    assert len(worker.asked) == 1


def test_repeated_html_ends_at_the_bound_and_the_error_quotes_it(worker: ScriptedWorker) -> None:
    worker.answers = [(404, HTML)] * 4
    with pytest.raises(Unreachable) as unreachable:
        client(worker, timeout=1.0).call("GET", "/connectors")
    assert unreachable.value.code == "connect_not_json"
    assert "HTTP ERROR 404" in unreachable.value.message
    assert "path prefix" in unreachable.value.hint


def test_the_outcome_is_unknown_if_a_worker_stays_busy(worker: ScriptedWorker) -> None:
    worker.answers = [(500, {"message": "Error writing root configuration to Kafka"})] * 4
    with pytest.raises(Unreachable) as busy:
        client(worker, timeout=1.0).stop("X")
    assert busy.value.code == "connect_busy"
    assert "root configuration" in busy.value.message


def test_a_missing_status_is_waited_for_only_a_few_seconds(worker: ScriptedWorker) -> None:
    worker.answers = [(404, {"message": "No status found for connector X"})] * 20
    with pytest.raises(RefusedError, match="No status found"):
        client(worker, timeout=60.0).call("GET", "/connectors/X/status")


def test_a_refused_connection_is_repeated_until_the_bound() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    rest = ConnectClient(url, {}, 2.0, Clock().pair())
    with pytest.raises(Unreachable) as unreachable:
        rest.connectors()
    assert unreachable.value.code == "connect_unreachable"
    assert "refused" in unreachable.value.message
    assert rest.requests[0]["attempts"] == 8


def test_a_worker_that_accepts_a_connection_and_never_responds_ends_at_the_bound() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        rest = ConnectClient(f"http://127.0.0.1:{silent.getsockname()[1]}", {}, 0.6)
        with pytest.raises(Unreachable, match="no answer within"):
            rest.connectors()
    assert "attempts" not in rest.requests[0]


@contextmanager
def port(listens: bool) -> Iterator[str]:
    """The address of a port that refuses connections, or accepts them and never answers."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        if listens:
            own.listen()
        yield f"http://127.0.0.1:{own.getsockname()[1]}"


@pytest.mark.parametrize("silent", [False, True], ids=["refuses", "is silent"])
def test_a_read_goes_to_the_next_worker_of_the_list(silent: bool, worker: ScriptedWorker) -> None:
    worker.answers = [(200, {"X": {}}), (200, {"Y": {}})]
    with port(silent) as first:
        rest = ConnectClient(f"{first},{worker.url}", {}, 4.0)
        assert list(rest.connectors()) == ["X"]
        began = time.monotonic()
        assert list(rest.connectors()) == ["Y"]
    assert time.monotonic() - began < 4.0, "the worker that answered is asked first"


def test_a_write_goes_to_the_next_worker_only_if_nothing_was_sent(worker: ScriptedWorker) -> None:
    worker.answers = [(204, None)]
    with port(listens=False) as first:
        ConnectClient(f"{first}, {worker.url}", {}, 2.0).call("PUT", "/connectors/X/stop")
    assert len(worker.asked) == 1
    with port(listens=True) as first, pytest.raises(Unreachable, match="no answer within"):
        ConnectClient(f"{first},{worker.url}", {}, 0.6).call("PUT", "/connectors/X/stop")
    assert len(worker.asked) == 1


def test_every_worker_of_the_list_is_tried_before_the_bound_ends_the_call() -> None:
    with port(listens=False) as first, port(listens=False) as second:
        rest = ConnectClient(f"{first},{second}", {}, 1.0)
        with pytest.raises(Unreachable, match="refused"):
            rest.connectors()


def test_wrong_credentials_are_not_repeated_even_without_json(worker: ScriptedWorker) -> None:
    worker.answers = [(401, "<html>401</html>")]
    with pytest.raises(DrError) as refused:
        client(worker, url_username="dr", url_password="wrong").connectors()
    assert refused.value.code == "connect_not_authorized"


# ---- what is sent


def test_the_empty_list_of_a_starting_worker_does_not_count(worker: ScriptedWorker) -> None:
    """Observed with exactly-once workers: a worker that died in a transaction lists no connectors for a minute."""
    worker.answers = [(200, {}), STARTING, STARTING, (200, {"status": "healthy"}), (200, {"X": {}})]
    assert list(client(worker, timeout=5.0).connectors()) == ["X"]


def test_a_worker_that_does_not_get_ready_is_reported_and_an_old_release_is_accepted(worker: ScriptedWorker) -> None:
    worker.answers = [(200, {})]
    worker.endless = STARTING
    with pytest.raises(Unreachable, match="still starting up"):
        client(worker, timeout=1.0).connectors()
    worker.answers = [(200, {}), (404, {"error_code": 404, "message": "HTTP 404 Not Found"}), (200, {})]
    assert client(worker).connectors() == {}


def test_the_first_call_has_user_and_password(worker: ScriptedWorker) -> None:
    worker.answers = [(200, {}), (200, {"status": "healthy"}), (200, {})]
    client(worker, url_username="dr", url_password="word").connectors()
    assert worker.headers[0]["Authorization"] == "Basic ZHI6d29yZA=="


def test_names_are_encoded_and_a_path_prefix_is_kept(worker: ScriptedWorker) -> None:
    worker.answers = [(204, None)]
    rest = ConnectClient(worker.url + "/prefix/", {}, 5.0)
    rest.stop("P->B.MirrorSourceConnector")
    assert worker.calls == [("PUT", "/prefix/connectors/P-%3EB.MirrorSourceConnector/stop")]
    assert quoted("a/b", "c d") == "/a%2Fb/c%20d"


@pytest.mark.parametrize("url", ["b1:8083", "ftp://b1", "http://", "http://dr:word@b1:8083", "http://b1/?x=1"])
def test_an_invalid_address_is_refused_and_no_password_is_shown(url: str) -> None:
    with pytest.raises(DrError) as refused:
        Transport(url, {}, 1.0)
    assert refused.value.code == "connect_url_invalid"
    assert "word" not in refused.value.sentence().replace("password", "")


def test_a_misspelt_key_of_connect_client_is_named_with_the_right_one() -> None:
    with pytest.raises(DrError, match=r'"url_passwort".*"url_password"'):
        Transport("http://b1", {"url_passwort": "x"}, 1.0)


# ---- responses


def test_a_create_that_is_repeated_after_it_succeeded_is_a_success(worker: ScriptedWorker) -> None:
    worker.answers = [
        (409, {"message": "Cannot complete request momentarily due to stale configuration"}),
        (409, {"message": "Connector X already exists"}),
        (200, {"name": "X", "topics": "Payments", "more": "1"}),
    ]
    client(worker).create("X", {"name": "X", "topics": "Payments"}, "STOPPED")
    assert worker.asked[0][2] == {
        "name": "X",
        "config": {"name": "X", "topics": "Payments"},
        "initial_state": "STOPPED",
    }


def test_a_create_with_the_name_of_another_connector_is_an_error(worker: ScriptedWorker) -> None:
    worker.answers = [(409, {"message": "Connector X already exists"}), (200, {"topics": "Orders"})]
    with pytest.raises(RefusedError, match="already exists"):
        client(worker).create("X", {"topics": "Payments"}, "STOPPED")


def test_offsets_are_read_by_partition_and_null_or_unrelated_ones_are_unknown(worker: ScriptedWorker) -> None:
    def entry(topic: str, partition: int, offset: Any, cluster: str = "P") -> dict[str, Any]:
        return {"partition": {"cluster": cluster, "partition": partition, "topic": topic}, "offset": offset}

    entries = [entry("T", 0, {"offset": 0}), entry("T", 1, None), entry("T", 2, {"offset": 7}, "X")]
    worker.answers = [(200, {"offsets": entries}), (200, {"offsets": entries})]
    assert replicated_offsets(client(worker), "X", "P") == {("T", 0): 0}
    assert replicated_offsets(client(worker), "X") == {("T", 0): 0, ("T", 2): 7}


def test_offsets_that_were_set_may_appear_late_and_other_offsets_are_an_error(
    worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (
        {"partition": {"cluster": "P", "partition": number, "topic": "T"}, "offset": {"offset": 5}} for number in (0, 1)
    )
    none, set_ = (200, {"offsets": []}), (200, {"message": "The Connect framework-managed offsets have been altered"})
    worker.answers = [none, set_, none, (200, {"offsets": [one]}), (200, {"offsets": [one, two]})]
    set_offsets(client(worker), "X", "P", {Partition("T", 0): 5, Partition("T", 1): 5})
    assert [method for method, _path in worker.calls] == ["GET", "PATCH", "GET", "GET", "GET"]

    monkeypatch.setattr(offsets, "_SHOWN", Bounds(timeout=0.0))
    worker.answers = [none, set_, (200, {"offsets": [one]})]
    with pytest.raises(DrError, match="T-1: wanted 5, found None"):
        set_offsets(client(worker), "X", "P", {Partition("T", 0): 5, Partition("T", 1): 5})


def test_offsets_of_a_connector_that_does_not_exist_are_unknown(worker: ScriptedWorker) -> None:
    worker.answers = [(404, {"message": "Connector X not found"})]
    assert replicated_offsets(client(worker), "X") == {}


def test_a_task_without_a_status_is_not_running(worker: ScriptedWorker) -> None:
    status = {"connector": {"state": "RUNNING"}, "tasks": [{"id": 0, "state": "RUNNING"}]}
    info = {"config": {}, "tasks": [{"connector": "X", "task": 0}, {"connector": "X", "task": 1}]}
    worker.answers = [(200, {"X": {"status": status, "info": info}})]
    assert not client(worker).connectors()["X"].running


def test_a_trace_is_cut_to_its_head_and_its_innermost_cause(worker: ScriptedWorker) -> None:
    trace = (
        "ConnectException: Unrecoverable\n\tat a.b(C.java:1)\nCaused by: X: first\n\tat d\nCaused by: Y: no rights\n"
    )
    status = {"connector": {"state": "RUNNING"}, "tasks": [{"id": 3, "state": "FAILED", "trace": trace}]}
    worker.answers = [(200, {"X": {"status": status}})]
    found = client(worker).connectors()["X"]
    assert found.failures == ("task 3: ConnectException: Unrecoverable / Caused by: Y: no rights",)
    assert not found.running


def test_unrelated_json_is_not_taken_for_an_empty_worker(worker: ScriptedWorker) -> None:
    worker.answers = [(200, ["P->B.MirrorSourceConnector"])]
    with pytest.raises(DrError) as unexpected:
        client(worker).connectors()
    assert unexpected.value.code == "connect_unexpected"


def test_an_update_with_a_negative_offset_removes_that_offset_and_verifies_it(worker: ScriptedWorker) -> None:
    place = {"cluster": "P", "partition": 0, "topic": "T"}
    shown = [{"partition": place, "offset": {"offset": 4}}]
    left = [{"partition": {**place, "partition": 1}, "offset": {"offset": 9}}]
    worker.answers = [(200, {"message": "altered"}), (200, {"offsets": shown + left}), (200, {"offsets": left})]
    ConnectStoredOffsets(client(worker), "X", "P").update({("T", 0): -1}, "Start again.")
    assert worker.asked[0] == ("PATCH", "/connectors/X/offsets", {"offsets": [{"partition": place, "offset": None}]})
    assert [method for method, _path in worker.calls] == ["PATCH", "GET", "GET"]


def test_an_offset_that_stays_after_an_update_is_an_error(
    worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets, "_SHOWN", Bounds(0.05))
    place = {"cluster": "P", "partition": 0, "topic": "T"}
    worker.answers = [(200, {"message": "altered"})]
    worker.endless = (200, {"offsets": [{"partition": place, "offset": {"offset": 4}}]})
    with pytest.raises(DrError) as refused:
        ConnectStoredOffsets(client(worker), "X", "P").update({("T", 0): -1}, "Start again.")
    assert (refused.value.code, refused.value.hint) == ("offsets_not_set", "Start again.")

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client against a real HTTP server that plays a Cloudera Manager, response by response."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._cm.http import CmTransport, UnsureError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError, Unreachable
from ansible_collections.switchback.kafka_dr.tests.support.scripted import ScriptedServer, playing

SESSION = {"Set-Cookie": "CLOUDERA_MANAGER_SESSIONID=one; Path=/; HttpOnly"}
HTML = "<html>Log in</html>"


@pytest.fixture
def script() -> Iterator[ScriptedServer]:
    with playing(ScriptedServer()) as served:
        yield served


def client(script: ScriptedServer, timeout: float = 5.0, path: str = "/api/v54", **more: Any) -> CmTransport:
    """A client whose pauses take no time."""
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    given = {"url_username": "dr", "url_password": "word", **more}
    return CmTransport(script.url + path, given, timeout, None, (lambda: passed[0], sleep))


# ---- address and version --------


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("cm.example.com:7180", "http://cm.example.com:7180/api"),
        ("cm.example.com:7183", "https://cm.example.com:7183/api"),
        ("cm.example.com", "https://cm.example.com:7183/api"),
        ("https://cm.example.com/", "https://cm.example.com/api"),
        ("https://cm-api.example.com", "https://cm-api.example.com/api"),
        ("https://knox:8443/gateway/x/cm-api", "https://knox:8443/gateway/x/cm-api"),
        ("https://knox:8443/gateway/x/cm-api/v54", "https://knox:8443/gateway/x/cm-api/v54"),
        ("http://[::1]:7180/api/v41/", "http://[::1]:7180/api/v41"),
    ],
)
def test_an_address_may_be_short_or_complete(url: str, base: str) -> None:
    assert CmTransport(url, {}, 1.0).url == base


@pytest.mark.parametrize(
    "url", ["", "ftp://cm", "http://", "http://dr:word@cm:7180", "http://cm/?x=1", "cm:port", "https://cm:0"]
)
def test_an_invalid_address_is_refused_and_no_password_is_shown(url: str) -> None:
    with pytest.raises(DrError) as refused:
        CmTransport(url, {}, 1.0)
    assert refused.value.code == "cm_url_invalid"
    assert "word" not in refused.value.sentence().replace("password", "")


def test_the_version_is_requested_once_and_a_given_one_is_used(script: ScriptedServer) -> None:
    script.answers = [(200, "v54\n"), (200, {}), (200, {})]
    rest = client(script, path="")
    rest.call("GET", "/clusters")
    rest.call("GET", "/clusters")
    assert [path for _method, path in script.calls] == ["/api/version", "/api/v54/clusters", "/api/v54/clusters"]
    script.answers = [(200, {})]
    CmTransport(script.url, {}, 1.0, "41").call("GET", "/clusters")
    assert script.calls[-1] == ("GET", "/api/v41/clusters")
    with pytest.raises(DrError, match="cm_api_version"):
        CmTransport(script.url, {}, 1.0, "latest")


@pytest.mark.parametrize("body", [HTML, "54", {"version": "v54"}])
def test_a_server_without_a_version_is_not_a_cloudera_manager(script: ScriptedServer, body: Any) -> None:
    script.answers = [(200, body)]
    with pytest.raises(DrError) as refused:
        client(script, path="").call("GET", "/clusters")
    assert refused.value.code == "cm_not_json"


@pytest.mark.parametrize(
    "location", ["http://cm.example.com/api/version", "/login", "", "https://127.0.0.1:1/x/api/v1"]
)
def test_a_redirect_to_another_address_is_reported(script: ScriptedServer, location: str) -> None:
    script.answers = [(302, None, {"Location": location})]
    with pytest.raises(DrError) as refused:
        client(script, path="").call("GET", "/clusters")
    assert refused.value.code == "cm_redirect"


def test_a_redirect_to_itself_ends(script: ScriptedServer) -> None:
    script.answers = [(302, None, {"Location": "/api/version"})] * 3
    with pytest.raises(DrError, match="still redirects after"):
        client(script, path="").call("GET", "/clusters")


# ---- credentials and session


def test_the_first_call_has_the_password_and_later_calls_have_the_session_cookie(script: ScriptedServer) -> None:
    script.answers = [(200, {}, SESSION), (200, {})]
    rest = client(script)
    rest.call("GET", "/clusters")
    rest.call("GET", "/clusters")
    assert script.headers[0]["Authorization"] == "Basic ZHI6d29yZA=="
    assert "Cookie" not in script.headers[0]
    assert script.headers[1]["Cookie"] == "CLOUDERA_MANAGER_SESSIONID=one"


def test_an_expired_session_is_renewed_once_even_for_a_post(script: ScriptedServer) -> None:
    script.answers = [(200, {}, SESSION), (401, {"message": "expired"}), (200, {"id": 1}, SESSION)]
    rest = client(script)
    rest.call("GET", "/clusters")
    assert rest.call("POST", "/x/commands/stop") == {"id": 1}
    assert ["Cookie" in headers for headers in script.headers] == [False, True, False]
    script.answers = [(401, {"message": "expired"}), (401, {"message": "no"}, SESSION)]
    with pytest.raises(DrError, match=r"\(401\): no"):
        rest.call("GET", "/clusters")


def test_a_wrong_password_is_sent_once_and_not_shown(script: ScriptedServer) -> None:
    script.answers = [(401, HTML, SESSION)]
    with pytest.raises(DrError) as refused:
        client(script).call("GET", "/clusters")
    assert refused.value.code == "cm_not_authorized"
    assert "word" not in refused.value.sentence().replace("password", "")


# ---- which requests are repeated -------


@pytest.mark.parametrize("status", [0, 502, 503, 504])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_retriable_response_is_repeated_for_a_get_and_a_put(script: ScriptedServer, status: int, method: str) -> None:
    script.answers = [(status, HTML), (status, HTML), (200, {"items": []})]
    rest = client(script)
    assert rest.call(method, "/x", {"items": []}) == {"items": []}
    assert rest.requests == [{"method": method, "path": "/x", "attempts": 3}]


@pytest.mark.parametrize("status", [0, 502, 503, 504])
def test_a_post_is_sent_once_and_its_outcome_is_unknown(script: ScriptedServer, status: int) -> None:
    script.answers = [(status, HTML)]
    with pytest.raises(UnsureError):
        client(script).call("POST", "/x")
    assert len(script.asked) == 1


def test_a_post_that_times_out_is_sent_once(script: ScriptedServer) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        rest = CmTransport(f"http://127.0.0.1:{silent.getsockname()[1]}/api/v54", {}, 0.6)
        with pytest.raises(UnsureError, match="no answer within"):
            rest.call("POST", "/x")
    assert rest.requests == [{"method": "POST", "path": "/x"}]


def test_a_refused_connection_sent_nothing_so_even_a_post_is_repeated() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/api/v54"
    passed = [0.0]
    rest = CmTransport(url, {}, 2.0, None, (lambda: passed[0], lambda seconds: passed.append(passed.pop() + seconds)))
    with pytest.raises(Unreachable) as refused:
        rest.call("POST", "/x")
    assert not isinstance(refused.value, UnsureError)
    assert rest.requests[0]["attempts"] == 8


def test_a_server_that_is_never_ready_ends_at_the_bound(script: ScriptedServer) -> None:
    script.endless = (503, {"message": "starting"})
    with pytest.raises(Unreachable) as busy:
        client(script, timeout=1.0).call("GET", "/x")
    assert (busy.value.code, "starting" in busy.value.message) == ("cm_busy", True)


# ---- responses


@pytest.mark.parametrize(
    ("status", "code"), [(400, "cm_invalid"), (403, "cm_forbidden"), (404, "cm_not_found"), (500, "cm_error")]
)
def test_a_refusal_is_reported_in_its_own_words(script: ScriptedServer, status: int, code: str) -> None:
    script.answers = [(status, {"message": "Not\n so", "causes": None})]
    with pytest.raises(DrError, match="Not so") as refused:
        client(script).call("PUT", "/x", {})
    assert refused.value.code == code
    assert refused.value.endpoint == f"{script.url}/api/v54"


@pytest.mark.parametrize(("status", "body", "found"), [(204, None, None), (202, "", None), (201, {"a": 1}, {"a": 1})])
def test_every_2xx_is_a_success_and_may_be_empty(script: ScriptedServer, status: int, body: Any, found: Any) -> None:
    script.answers = [(status, body)]
    assert client(script).call("PUT", "/x", {}) == found


def test_an_html_page_with_200_or_a_redirect_after_discovery_is_an_error(script: ScriptedServer) -> None:
    script.answers = [(200, HTML, {"Content-Type": "text/html"}), (302, None, {"Location": "/login?secret=1"})]
    with pytest.raises(DrError, match="text/html"):
        client(script).call("GET", "/x")
    with pytest.raises(DrError, match="redirects") as moved:
        client(script).call("POST", "/x")
    assert "secret" not in moved.value.message

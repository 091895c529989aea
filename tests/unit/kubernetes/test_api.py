# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of a Kubernetes API server: what it repeats, what it refuses, and how it logs in."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.access import Access, access_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kubernetes.api import Kind, KubernetesApi
from ansible_collections.switchback.kafka_dr.tests.support.scripted import ScriptedServer, playing

MAPS = Kind("v1", "configmaps")
PATH = "/api/v1/namespaces/n/configmaps/c"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with playing(ScriptedServer()) as script:
        yield script


def api(server: ScriptedServer, timeout: float = 2.0, **access: Any) -> KubernetesApi:
    return KubernetesApi(Access(server.url, {}, **{"token": "t", **access}), timeout)


def status(code: int, message: str) -> tuple[int, dict[str, Any]]:
    return code, {"kind": "Status", "code": code, "message": message}


def code_of(server: ScriptedServer, method: str = "GET", timeout: float = 2.0) -> tuple[str, str]:
    with pytest.raises(DrError) as error:
        api(server, timeout).call(method, PATH, None if method == "GET" else {})
    return error.value.code, error.value.message


@pytest.mark.parametrize("answer", [status(429, "too many"), (503, "<html>"), (502, "<html>bad gateway")])
def test_a_temporary_error_is_repeated(server: ScriptedServer, answer: tuple[int, Any]) -> None:
    server.answers = [answer, answer, (200, {"kind": "ConfigMap"})]
    assert api(server, 5.0).call("PATCH", PATH, {}) == {"kind": "ConfigMap"}


def test_only_a_read_is_repeated_after_500(server: ScriptedServer) -> None:
    server.answers = [status(500, "etcdserver: request timed out"), (200, {})]
    assert api(server, 5.0).call("GET", PATH) == {}
    server.answers = [status(500, "etcdserver: request timed out")]
    assert code_of(server, "PATCH")[0] == "kubernetes_unexpected"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (status(401, "Unauthorized"), "kubernetes_not_authorized"),
        (status(403, 'configmaps "c" is forbidden'), "kubernetes_forbidden"),
        (status(404, 'configmaps "c" not found'), "kubernetes_not_found"),
        ((404, "404 page not found"), "kubernetes_not_found"),
        ((404, "<html>"), "kubernetes_unexpected"),
        ((200, "<html>login"), "kubernetes_unexpected"),
        (status(409, "the object has been modified"), "kubernetes_conflict"),
        (status(422, "spec.state: Unsupported value"), "kubernetes_invalid"),
    ],
)
def test_each_refusal_has_its_code(server: ScriptedServer, answer: tuple[int, Any], code: str) -> None:
    server.endless = answer
    found, message = code_of(server, timeout=0.3)
    assert (found, server.url in message) == (code, True)
    # A server that has just started forbids everything, its health too.
    asked = [path for _method, path, *_rest in server.asked if path != "/readyz"]
    assert asked == ([PATH, PATH] if answer[0] == 403 else [PATH])


FORBIDDEN = status(403, 'User "dr" cannot get path "/apis/kafka.strimzi.io"')


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_a_server_that_has_not_read_its_roles_is_waited_for(server: ScriptedServer, method: str) -> None:
    server.answers = [
        FORBIDDEN,
        FORBIDDEN,
        (500, "[-]poststarthook/rbac/bootstrap-roles failed"),
        (200, "ok"),
        (200, {}),
    ]
    assert api(server, 5.0).call(method, PATH, None if method == "GET" else {}) == {}


def test_an_error_that_lasts_ends_within_the_time_out(server: ScriptedServer) -> None:
    server.endless = status(429, "too many requests")
    code, message = code_of(server, timeout=0.6)
    assert (code, "429" in message, len(server.asked) > 1) == ("kubernetes_unexpected", True, True)


def test_a_long_refusal_shows_its_reason(server: ScriptedServer) -> None:
    """The API server puts the whole resource before it."""
    server.endless = status(400, f'{"x" * 2000}: strict decoding error: unknown field "spec.listOffsets"')
    code, message = code_of(server, "PATCH")
    assert (code, 'unknown field "spec.listOffsets"' in message, "xxx" in message) == (
        "kubernetes_invalid",
        True,
        False,
    )


def test_a_write_names_its_field_manager_and_refuses_unknown_fields(server: ScriptedServer) -> None:
    server.endless = (200, {})
    api(server).patch(MAPS, "n", "c", {"data": {}})
    assert server.asked[0][:2] == ("PATCH", f"{PATH}?fieldManager=switchback.kafka_dr&fieldValidation=Strict")
    assert server.headers[0]["Content-Type"] == "application/merge-patch+json"


def test_a_missing_resource_is_none_and_its_deletion_no_error(server: ScriptedServer) -> None:
    server.endless = status(404, "not found")
    assert api(server).find(MAPS, "n", "c") is None
    api(server).delete(MAPS, "n", "c")


def test_requests_hold_no_content(server: ScriptedServer) -> None:
    server.endless = (200, {})
    client = api(server)
    client.replace(MAPS, "n", "c", {"data": {"password": "secret-1"}})
    assert "secret-1" not in str(client.requests)
    assert server.headers[0]["Authorization"] == "Bearer t"


# ---- access


def test_a_token_file_is_read_for_each_request(server: ScriptedServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    client = api(server, token=None, token_file=str(file))
    server.endless = (200, {})
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        client.call("GET", PATH)
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer first", "Bearer second"]


def kubeconfig(tmp_path: Path, user: dict[str, Any], **cluster: Any) -> str:
    document = {
        "current-context": "b",
        "contexts": [{"name": name, "context": {"cluster": name, "user": "u"}} for name in ("a", "b")],
        "clusters": [
            {"name": "a", "cluster": {"server": "https://a:6443"}},
            {"name": "b", "cluster": {"server": "https://b:6443", **cluster}},
        ],
        "users": [{"name": "u", "user": user}],
    }
    file = tmp_path / "config"
    file.write_text(json.dumps(document))
    return str(file)


def test_a_kubeconfig_gives_address_login_and_certificates(tmp_path: Path) -> None:
    ca = base64.b64encode(b"CA").decode()
    name = kubeconfig(tmp_path, {"token": "t"}, **{"certificate-authority-data": ca})
    found = access_of({"kubeconfig": name})
    assert (found.url, found.bearer()) == ("https://b:6443", "t")
    path = Path(found.client["ca_path"])
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"CA", 0o600)
    assert access_of({"kubeconfig": name, "context": "a"}).url == "https://a:6443"


def test_a_relative_token_file_is_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "own.token").write_text("t2")
    assert access_of({"kubeconfig": kubeconfig(tmp_path, {"tokenFile": "own.token"})}).bearer() == "t2"


@pytest.mark.parametrize(
    ("user", "text"),
    [
        ({"exec": {"command": "aws"}}, 'logs in with "exec", which starts a program'),
        ({}, "has neither a token nor a client certificate"),
    ],
)
def test_a_login_that_cannot_be_used_is_named(tmp_path: Path, user: dict[str, Any], text: str) -> None:
    with pytest.raises(DrError, match=text) as error:
        access_of({"kubeconfig": kubeconfig(tmp_path, user)})
    assert error.value.code == "kubeconfig_unusable"


@pytest.mark.parametrize(("content", "text"), [("{", "not YAML"), ("[]", "not a mapping"), ("{}", 'no context "None"')])
def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, content: str, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(content)
    with pytest.raises(DrError, match=text):
        access_of({"kubeconfig": str(file)})
    with pytest.raises(DrError, match="does not exist"):
        access_of({"kubeconfig": str(tmp_path / "nothing")})

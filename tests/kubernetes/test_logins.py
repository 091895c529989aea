# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each way to log in to a real API server, as the user ``dr`` with the documented Role."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from certificates import issue
from kube_place import BOUNDS, Place

_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def kubeconfig(folder: Path, place: Place, user: dict[str, Any], ca: dict[str, Any]) -> dict[str, Any]:
    """The keys of a site with a kubeconfig whose current context is another one."""
    document = {
        "current-context": "other",
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in ("other", "b")],
        "clusters": [
            {"name": "other", "cluster": {"server": "https://127.0.0.1:1"}},
            {"name": "b", "cluster": {"server": place.cluster.url, **ca}},
        ],
        "users": [{"name": "other", "user": {"token": "x"}}, {"name": "b", "user": user}],
    }
    file = folder / "config"
    file.write_text(json.dumps(document))
    return {"kubeconfig": str(file), "context": "b"}


def login(kind: str, place: Place, folder: Path) -> dict[str, Any]:
    cluster, own = place.cluster, place.cluster.client
    inline_ca = {"certificate-authority-data": encoded(cluster.ca)}
    if kind == "kubeconfig with data":
        user = {"client-certificate-data": encoded(own.certificate), "client-key-data": encoded(own.key)}
        return kubeconfig(folder, place, user, inline_ca)
    if kind == "kubeconfig with a token":
        return kubeconfig(folder, place, {"token": cluster.tokens["dr"]}, inline_ca)
    if kind in ("kubeconfig with files", "kubeconfig with a token file"):
        # Paths in a kubeconfig are relative to its folder.
        for name, file in {"ca": cluster.ca, "certificate": own.certificate, "key": own.key}.items():
            (folder / f"{name}.pem").write_bytes(file.read_bytes())
        (folder / "token").write_text(cluster.tokens["dr"])
        files = {"client-certificate": "certificate.pem", "client-key": "key.pem"}
        user = files if kind.endswith("files") else {"tokenFile": "token"}
        return kubeconfig(folder, place, user, {"certificate-authority": "ca.pem"})
    server = {"url": cluster.url, "ca_path": str(cluster.ca)}
    if kind == "certificate":
        return {**server, "client_cert": str(own.certificate), "client_key": str(own.key)}
    if kind == "token file":
        (folder / "token").write_text(f"{cluster.tokens['dr']}\n")
        return {**server, "token_file": str(folder / "token")}
    return {**server, "token": cluster.tokens["dr"]}


KINDS = (
    "token",
    "token file",
    "certificate",
    "kubeconfig with data",
    "kubeconfig with files",
    "kubeconfig with a token",
    "kubeconfig with a token file",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_login_is_that_of_the_account(place: Place, kind: str, tmp_path: Path) -> None:
    place.login = login(kind, place, tmp_path)
    place.grant()
    found = place.client().site.api.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", _REVIEW)
    assert found["status"]["userInfo"]["username"] == "dr"
    assert place.engine().about("P", "B") == ("id-of-B", "4.1.1")


def test_a_certificate_changes_resources(place: Place, tmp_path: Path) -> None:
    place.login = login("certificate", place, tmp_path)
    place.grant()
    place.running()
    assert place.engine().stop("P", "B", True, BOUNDS, check=False).failure is None


def test_a_token_file_may_change_between_two_requests(place: Place, tmp_path: Path) -> None:
    place.login = login("token file", place, tmp_path)
    place.grant()
    place.running()
    engine, file = place.engine(), Path(place.login["token_file"])
    own = engine.rest("P", "B")
    assert own.connectors()
    file.write_text("one-that-has-expired")
    text = place.refused("kubernetes_not_authorized", own.connectors)
    assert "one-that-has-expired" not in text
    file.write_text(place.cluster.tokens["dr"])
    assert engine.stop("P", "B", True, BOUNDS, check=False).failure is None


@pytest.mark.parametrize("kind", ["certificate", "kubeconfig with data"])
def test_a_certificate_of_another_authority_is_refused(place: Place, kind: str, tmp_path: Path) -> None:
    other = issue(tmp_path / "other", subject="dr")
    if kind == "certificate":
        place.login = {
            **login(kind, place, tmp_path),
            "client_cert": str(other.certificate),
            "client_key": str(other.key),
        }
    else:
        user = {"client-certificate-data": encoded(other.certificate), "client-key-data": encoded(other.key)}
        place.login = kubeconfig(tmp_path, place, user, {"certificate-authority-data": encoded(place.cluster.ca)})
    text = place.refused("kubernetes_not_authorized", lambda: place.engine().about("P", "B"))
    assert "client_cert" in text


def test_an_authority_that_did_not_sign_the_server_is_refused(place: Place, tmp_path: Path) -> None:
    place.login = {**login("token", place, tmp_path), "ca_path": str(issue(tmp_path / "other").ca)}
    assert "ca_path" in place.refused("kubernetes_tls", lambda: place.engine().about("P", "B"))

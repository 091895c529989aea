# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An untrusted certificate is reported with its reason, for brokers, workers and Cloudera Manager."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import (
    cm_config_info,
    connect_mirror_info,
    dr_probe_info,
    kafka_topic_info,
)
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from certificates import DAY, Served, issue, shown
from cm_server import cm_server

pytestmark = pytest.mark.integration

RENEW = "Renew the certificate of the"
BAD = {
    "expired": ("certificate has expired", RENEW),
    "of an unknown CA": ("unable to get local issuer certificate", "Correct ca_path"),
    "of another host": ("IP address mismatch", "Correct ca_path"),
}
PEERS = ("broker", "worker", "manager")


@pytest.fixture(params=BAD)
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Served]:
    """The fault, and the certificate of the server. ``ca`` is the certificate that clients trust."""
    kind = str(request.param)
    if kind == "expired":
        return kind, issue(tmp_path / "tls", until=-DAY)
    if kind == "of an unknown CA":
        return kind, replace(issue(tmp_path / "tls"), ca=issue(tmp_path / "other").ca)
    return kind, issue(tmp_path / "tls", address="192.0.2.7")


def ask(peer: str, served: Served, tmp_path: Path) -> dict[str, Any]:
    if peer == "manager":
        options = ("--certificate", str(served.certificate), "--key", str(served.key))
        with cm_server(tmp_path / "cm", *options) as server:
            params = server.params()
            params["cm_client"]["ca_path"] = str(served.ca)
            return run_module(cm_config_info, params)
    with shown(served) as address:
        if peer == "worker":
            params = {"connect_url": f"https://{address}", "connect_client": {"ca_path": str(served.ca)}}
            return run_module(connect_mirror_info, {**params, "request_timeout": 5})
        client = {"security.protocol": "SSL", "ssl.ca.location": str(served.ca)}
        params = {"bootstrap_servers": address, "client": client, "topics": ["none"], "request_timeout": 3}
        return run_module(kafka_topic_info, params)


@pytest.mark.parametrize("peer", PEERS)
def test_the_reason_for_a_refused_certificate_is_reported_in_one_line(
    bad: tuple[str, Served], peer: str, tmp_path: Path
) -> None:
    kind, served = bad
    result = ask(peer, served, tmp_path)
    reason, remedy = BAD[kind]
    codes = {"broker": "kafka_unreachable", "worker": "connect_tls", "manager": "cm_tls"}
    assert (result["rc"], result["error"]["code"]) == (1, codes[peer])
    assert reason in result["msg"]
    if peer == "broker" and remedy != RENEW:
        remedy = "the client's security settings"
    assert remedy in result["error"]["hint"]
    assert "\n" not in result["msg"]


def test_a_refused_certificate_is_not_taken_for_a_lost_cluster(tmp_path: Path) -> None:
    served = issue(tmp_path / "tls", until=-DAY)
    with shown(served) as address:
        client = {"security.protocol": "SSL", "ssl.ca.location": str(served.ca)}
        found = run_module(
            dr_probe_info, {"bootstrap_servers": address, "client": client, "topics": ["T"], "timeout": 3}
        )
    assert (found["answers"], found["locked_out"]) == (False, True), found["reason"]


def test_a_valid_certificate_is_accepted(tmp_path: Path) -> None:
    """This uses the same certificates, so the table above finds only the faults in it."""
    served = issue(tmp_path / "tls")
    assert ask("manager", served, tmp_path)["rc"] == 0
    for peer in ("worker", "broker"):
        assert "certificate" not in ask(peer, served, tmp_path)["msg"]

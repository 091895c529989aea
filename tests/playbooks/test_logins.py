# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection and the flows log in with a certificate (mutual TLS), and with a token (OAUTHBEARER).

Both are users with the exact ACLs of their accounts. The token is Kafka's own unsecured one, which needs no server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.modules import kafka_topic_info
from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module
from certificates import issue
from granted import Granted
from lab.lab import Lab
from lab.ports import choose
from scenario import Scenario
from snapshot import read_inventory

pytestmark = pytest.mark.long

OPERATOR, FLOW = "dr-mover", "flow"
ACCOUNTS = {"operator": f"User:{OPERATOR}"}
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """A secured lab whose brokers also accept certificates, on a port of its own, and tokens."""
    with Scenario(tmp_path_factory.mktemp("logins"), 3, secure=True).up() as made:
        lab = Lab(made.folder, quiet=True)
        for user in (OPERATOR, FLOW):
            served = issue(made.folder / "certificates" / user, subject=user)
            store = served.key.read_text() + served.certificate.read_text()
            (served.ca.parent / "store.pem").write_text(store)
        trusted = made.folder / "certificates" / "ca.pem"
        trusted.write_text("".join(path.read_text() for path in sorted(trusted.parent.glob("*/ca.pem"))))
        for alias, port in zip("PB", choose(made.folder, 2), strict=True):
            config = made.folder / alias / "broker.properties"
            config.with_suffix(".extra").write_text(extra(config.read_text(), port, trusted))
            lab.restart(alias, "broker")
        granted = Granted(made, lab, ACCOUNTS)
        for alias in "PB":
            granted.create("operator", alias, granted.wanted("operator", alias))
        yield made


def extra(config: str, port: int, trusted: Path) -> str:
    """The lines that add a listener for mutual TLS on ``port``, and OAUTHBEARER to the one for SASL."""
    values = dict(line.split("=", 1) for line in config.splitlines())
    added = {
        **{key: f"{values[key]},SSL://127.0.0.1:{port}" for key in ("listeners", "advertised.listeners")},
        "listener.security.protocol.map": f"{values['listener.security.protocol.map']},SSL:SSL",
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.ssl.ssl.truststore.type": "PEM",
        "listener.name.ssl.ssl.truststore.location": str(trusted),
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/",
        "sasl.enabled.mechanisms": f"{values['sasl.enabled.mechanisms']},OAUTHBEARER",
        "listener.name.sasl_ssl.oauthbearer.sasl.jaas.config": f'{MODULE} unsecuredLoginStringClaim_sub="broker";',
    }
    return "".join(f"{key}={value}\n" for key, value in added.items())


def mutual_tls(secured: Scenario, alias: str) -> dict[str, Any]:
    """The part of a cluster in the inventory that logs in with certificates."""
    config = dict(line.split("=", 1) for line in (secured.folder / alias / "broker.extra").read_text().splitlines())
    folder = secured.folder / "certificates"
    common = {"security.protocol": "SSL", "ssl.ca.location": str(secured.folder / "secure" / "ca.pem")}
    store = {"java.ssl.keystore.type": "PEM", "java.ssl.keystore.location": str(folder / FLOW / "store.pem")}
    own = {
        "ssl.certificate.location": folder / OPERATOR / "server.pem",
        "ssl.key.location": folder / OPERATOR / "server.key",
    }
    return {
        "bootstrap_servers": config["listeners"].rpartition("SSL://")[2],
        "client": {**common, **store},
        "admin_client": {**common, **{key: str(path) for key, path in own.items()}},
    }


def token(secured: Scenario, _alias: str) -> dict[str, Any]:
    """The same with tokens."""
    ca = str(secured.folder / "secure" / "ca.pem")
    common = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "ssl.ca.location": ca}
    own = {"enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": f"principal={OPERATOR}"}
    login = f'{MODULE} unsecuredLoginStringClaim_sub="{FLOW}";'
    return {"client": {**common, "java.sasl.jaas.config": login}, "admin_client": {**common, **own}}


@pytest.mark.parametrize("login", [mutual_tls, token])
def test_a_pair_is_enabled_and_ready(secured: Scenario, login: Any) -> None:
    clusters: dict[str, Any] = read_inventory(secured.inventory)["kafka_dr_clusters"]
    for alias, cluster in clusters.items():
        cluster |= login(secured, alias)
    variables = {"kafka_dr_clusters": clusters}
    enabled = secured.playbook("enable", {**variables, "kafka_dr_confirm": "P"})
    assert "PROVEN: applications live on P" in enabled["output"]
    # Groups that have read: without committed offsets nothing is ready.
    secured.start()
    secured.traffic(300)
    secured.stop()
    secured.playbook("status", variables)
    secured.playbook("readiness", variables)
    report = json.loads((secured.reports / "readiness.json").read_text())
    assert (report["controlled"], report["disaster"]) == ("YES", "YES"), report["checks"]


@pytest.mark.parametrize("login", [mutual_tls, token])
def test_a_wrong_login_is_an_error(secured: Scenario, login: Any) -> None:
    """A certificate of another CA, and a token without a principal."""
    other = issue(secured.folder / "other", subject=OPERATOR)
    wrong = {
        mutual_tls: {"ssl.certificate.location": str(other.certificate), "ssl.key.location": str(other.key)},
        token: {"sasl.oauthbearer.config": "scope=none"},
    }
    cluster = {**Lab(secured.folder, quiet=True).info()["clusters"]["P"], **login(secured, "P")}
    client = {**cluster["admin_client"], **wrong[login]}
    params = {"bootstrap_servers": cluster["bootstrap_servers"], "client": client, "topics": ["Payments"]}
    result = run_module(kafka_topic_info, {**params, "request_timeout": 5})
    assert result["failed"]
    assert result["error"]["hint"]
    print(result["error"])

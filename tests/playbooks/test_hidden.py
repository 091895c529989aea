# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No output of a playbook has a secret, with the most detail that Ansible shows. No cluster responds (R44)."""

from __future__ import annotations

import json
import random
import socket
import tarfile
from pathlib import Path
from typing import Any

import pytest

from scenario import Scenario
from secret_words import OAUTH, Option, found_in, options

pytestmark = pytest.mark.long

SEED = random.SystemRandom().randrange(1, 10**6)
LINE = "MIIFHDBOBgkqhkiG9w0BBQ" * 2
PEM = f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{LINE}\n{LINE}\n-----END ENCRYPTED PRIVATE KEY-----"
# With these, librdkafka fails before it connects, and quotes what it refuses.
LOGIN = [
    Option("sasl.oauthbearer.assertion.private.key.passphrase", "hQ70419925533", ("hQ70419925533",)),
    Option("sasl.oauthbearer.assertion.private.key.pem", PEM, (LINE,)),
    Option("ssl.key.pem", PEM, (LINE,)),
    Option("sasl.password", "zQ22004455661", ("zQ22004455661",)),
]
HOOK = Option("command", "kQ99118822773", ("kQ99118822773",))


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def inventory(client: dict[str, Any]) -> dict[str, Any]:
    """A pair of which nothing responds."""
    clusters = {
        alias: {
            "bootstrap_servers": f"127.0.0.1:{closed_port()}",
            "connect_url": f"http://127.0.0.1:{closed_port()}",
            "client": {"security.protocol": "PLAINTEXT"},
            "admin_client": client,
            "connect_client": {"url_username": "joe", "url_password": LOGIN[-1].value},
        }
        for alias in ("P", "B")
    }
    return {
        "kafka_dr_home": "P",
        "kafka_dr_clusters": clusters,
        "kafka_dr_topics": [{"name": "Tokens", "partitions": 3}],
        "kafka_dr_groups": ["token-service"],
        "kafka_dr_hooks": [
            {
                "name": "page",
                "when": "before",
                "phase": "start",
                "command": ["page", "-p", "kQ99118822773"],
                "timeout": 5,
            }
        ],
    }


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return Scenario(tmp_path, verbosity=3)


def written(folder: Path) -> str:
    """The text of every file below the report folder, and of the files within archives."""
    texts = []
    for path in folder.rglob("*"):
        if path.suffix == ".gz":
            with tarfile.open(path) as archive:
                files = [archive.extractfile(member) for member in archive.getmembers() if member.isfile()]
                texts += [file.read().decode() for file in files if file is not None]
        elif path.is_file():
            texts.append(path.read_text())
    return "\n".join(texts)


@pytest.mark.parametrize("kind", ["refused by the client", "not connected"])
def test_neither_the_output_nor_the_support_bundle_has_a_secret(scenario: Scenario, kind: str) -> None:
    generated = [one for one in options(random.Random(SEED), 12) if "." in one.name and one.name not in OAUTH]
    hidden = [*LOGIN, *generated]
    client = {one.name: one.value for one in (*LOGIN, *generated)}
    if kind == "not connected":
        client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "joe"}
        client |= {LOGIN[-1].name: LOGIN[-1].value}
    variables = inventory(client)
    failed = scenario.playbook("status", variables, expect=2)
    packed = scenario.playbook("support_bundle", variables)
    output = failed["output"] + packed["output"]
    bundle = written(scenario.reports)
    assert '"invocation": {' in failed["output"]
    for option in hidden:
        assert found_in(output, option) == [], (SEED, option, failed["log"], packed["log"])
        assert found_in(bundle, option) == [], (SEED, option)
    # Arguments of commands may hold a password in any form.
    assert found_in(bundle, HOOK) == []
    # A topic and a group are no secrets, also with such names.
    assert json.dumps("Tokens") in bundle
    assert json.dumps("token-service") in bundle

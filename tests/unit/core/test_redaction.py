# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret is shown: it is recognised by the name of its key, by its value in any text, and by
how a text writes it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.redaction import (
    HIDDEN,
    is_secret,
    redacted,
    secrets_of,
    without_secrets,
)

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="flow" password="hun\\"ter2";'
WORDS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=8, max_size=12).map("Zq".__add__)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "sasl.jaas.config = org.x required username=u password='a b';",
            f"sasl.jaas.config = {HIDDEN} required username=u password={HIDDEN};",
        ),
        ('{"keystore_password": "abc", "alias": "P"}', f'{{"keystore_password": {HIDDEN}, "alias": "P"}}'),
        ('{\\"sasl.password\\": \\"abc\\"}', f'{{\\"sasl.password\\": {HIDDEN}'),
        ("ssl.truststore.location=/x", "ssl.truststore.location=/x"),
        ("Secure store password not set", "Secure store password not set"),
        ("https://joe:abc@cm.example.com/api", f"https://joe:{HIDDEN}@cm.example.com/api"),
        ("https://cm.example.com:7183/api?x=joe@example.com", "https://cm.example.com:7183/api?x=joe@example.com"),
        ("Authorization: Basic am9lOmFiYw==", f"Authorization: Basic {HIDDEN}"),
        ("a\n-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nb", None),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII", None),
    ],
)
def test_a_text_is_shown_without_its_secrets(text: str, shown: str | None) -> None:
    reported = without_secrets(text)
    assert reported == shown if shown is not None else "MII" not in reported
    assert without_secrets(reported) == reported


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"sasl.username": "joe", "sasl.password": "abc"}, {"abc"}),
        ({"P": {"client": {"java.sasl.jaas.config": JAAS}}}, {JAAS, 'hun"ter2'}),
        ({"connect_url": "https://joe:abc@c:8083"}, {"abc"}),
        ({"fence_logins": [{"ssl.key.pem": "MII"}]}, {"MII"}),
        ({"passwords": {"a": ["x", 3, None]}}, {"x"}),
        ({"list": [{"sasl.jaas.config": "c"}]}, {"c"}),
        ({"clusters": {"P": {"sasl.password": "a"}, "B": {"ssl.key.password": "b"}}}, {"a", "b"}),
        ("text", set()),
        ({"ssl.ca.location": "/ca", "secret": "", "keystore_path": "/k"}, set()),
    ],
)
def test_the_secrets_of_an_inventory_are_found(value: Any, found: set[str]) -> None:
    assert secrets_of(value) == found


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (["ctl", "--password", "abc", "-v"], ["ctl", "--password", HIDDEN, "-v"]),
        (["ctl", "--password=abc"], ["ctl", f"--password={HIDDEN}"]),
        ({"secret": None, "token": "", "password": True}, {"secret": None, "token": "", "password": True}),
        ({"secret": 42, "password": {"a": "b"}}, {"secret": HIDDEN, "password": HIDDEN}),
        ({"lag": 3, "known": False, "text": "abc"}, {"lag": 3, "known": False, "text": HIDDEN}),
        ({"abc": 1}, {HIDDEN: 1}),
    ],
)
def test_data_keep_their_structure(value: Any, shown: Any) -> None:
    assert redacted(value, ["abc", ""]) == shown


@given(WORDS, WORDS, st.sampled_from(["{}", "x{}y", "https://u:{}@h", 'password="{}"', "said {}", "{}{}"]))
def test_a_known_secret_is_removed_everywhere(secret: str, other: str, form: str) -> None:
    inventory = {"client": {"sasl.password": secret, "note": other}}
    value = {form.format(secret, secret): [form.format(secret, secret), {"deep": (form.format(secret, secret),)}]}
    shown = json.dumps(redacted(value, secrets_of(inventory)))
    assert secret not in shown
    assert other in json.dumps(redacted({"note": other}, [secret])) or secret in other


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("sasl.password", True),
        ("SASL.PASSWORD", True),
        ("java.sasl.jaas.config", True),
        ("source.cluster.sasl.jaas.config", True),
        ("ssl.key.pem", True),
        ("ssl.key.password", True),
        ("ssl.keystore.key", True),
        ("basic.auth.user.info", True),
        ("sasl.oauthbearer.assertion.private.key.passphrase", True),
        ("SASL_OAUTHBEARER-ASSERTION.PRIVATE_KEY.pem", True),
        ("sasl.oauthbearer.assertion.private.key.file", False),
        ("sasl.oauthbearer.client.secret", True),
        ("ssl.key.location", False),
        ("ssl.truststore.location", False),
        ("sasl.oauthbearer.token.endpoint.url", False),
        ("url_password_file", False),
        ("sasl.username", False),
        ("bootstrap.servers", False),
    ],
)
def test_secrets_are_recognised_by_their_names(key: str, secret: bool) -> None:
    assert is_secret(key) is secret

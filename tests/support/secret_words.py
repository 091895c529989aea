# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates options that hold a secret, by name or by value, for tests that search outputs for them (R44)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["HARMLESS", "OAUTH", "Option", "found_in", "options"]

_PREFIXES = ("", "sasl", "ssl", "source.cluster.sasl", "java.sasl.oauthbearer.assertion", "my_own", "x-api")
_WORDS = ("password", "passphrase", "secret", "token", "private.key", "jaas", "key.password", "client.secret")
_SUFFIXES = ("", "value", "config", "pem", "1")
_SEPARATORS = (".", "_", "-", "")
#: Options of OAuth assertions and of mutual TLS, as librdkafka and Kafka name them.
OAUTH = (
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.client.credentials.client.secret",
    "ssl.key.pem",
    "ssl.keystore.key",
    "java.ssl.keystore.key",
)
#: Options whose value users need to see.
HARMLESS = (
    *("ssl.truststore.location", "ssl.ca.location", "token_file", "sasl.oauthbearer.token.endpoint.url"),
    *("sasl.oauthbearer.assertion.private.key.file", "sasl.login.callback.handler.class", "sasl.username"),
    *("bootstrap.servers", "ssl.keystore.location", "group.id", "ssl.key.location"),
)


@dataclass(frozen=True)
class Option:
    """One option of a client."""

    name: str
    value: str
    #: Texts that must not be shown, in any of the spellings of `found_in`.
    secrets: tuple[str, ...]


def options(rng: random.Random, count: int) -> Iterator[Option]:
    """Options whose name or value shows that they hold a secret."""
    for number in range(count):
        word = f"{rng.choice('ghkmz')}Q{rng.randrange(10**11, 10**12)}{rng.choice(('', '/+', 'xY'))}"
        kind = rng.choice(("name", "name", "oauth", "pem", "pem", "url", "jaas"))
        if kind == "name":
            yield Option(_name(rng), word, (word,))
        elif kind == "oauth":
            yield Option(rng.choice(OAUTH), word, (word,))
        elif kind == "pem":
            block, lines = _pem(rng)
            yield Option(f"my.option.{number}", rng.choice((block, block.replace("\n", "\\n"), f"\n{block}\n")), lines)
        elif kind == "url":
            plain = word.replace("/+", "")
            yield Option(f"proxy.{number}", f"https://joe:{plain}@proxy.example.com:8080/x", (plain,))
        else:
            value = f'org.x.ScramLoginModule required username="joe" password="{word}";'
            yield Option(f"my{number}.sasl.jaas.config", value, (word,))


def found_in(output: str, option: Option) -> list[str]:
    """The secrets of ``option`` that occur in ``output``, also in JSON, also twice encoded."""
    spelt = {form for one in option.secrets for form in (one, json.dumps(one)[1:-1], json.dumps(json.dumps(one))[3:-3])}
    return sorted(form for form in spelt if form in output)


def _name(rng: random.Random) -> str:
    separator = rng.choice(_SEPARATORS)
    word = rng.choice(_WORDS).replace(".", rng.choice((".", "_", "-", "")))
    name = separator.join(part for part in (rng.choice(_PREFIXES), word, rng.choice(_SUFFIXES)) if part)
    return rng.choice((name, name.upper(), name.title()))


def _pem(rng: random.Random) -> tuple[str, tuple[str, ...]]:
    kind = rng.choice(("PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "CERTIFICATE"))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    lines = tuple("".join(rng.choice(letters) for _letter in range(64)) for _line in range(rng.randrange(1, 4)))
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"]), lines

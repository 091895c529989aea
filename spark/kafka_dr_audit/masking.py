# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets in messages (R44): known by the name of their option, or recognised by their form.

The collection has the same rule in its own code. An audit shares no code with what it audits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

HIDDEN = "********"
# Parts of option names, without separators and in lower case.
WORDS = (
    *("password", "passphrase", "passwd", "secret", "token", "privatekey", "jaas"),
    *("keypem", "keystorekey", "keytabpem", "userinfo"),
)
_HARMLESS = re.compile(r"[._-](?:location|file|path|class|endpoint[._-]url)$")
_BLOCK = re.compile(r"(-----BEGIN [A-Z0-9 ]*-----).*?(-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL)
_LOGIN = re.compile(r"""([A-Za-z][\w+.-]*://[^\s/:@]*):([^\s/@"'<>]+)@""")
# An option in a JAAS line.
_OPTION = re.compile(r'([\w.-]+)\s*=\s*"((?:[^"\\]|\\.)+)"')
_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
# Secrets of the plan and of the command line, in each spelling.
_known: set[str] = set()


def is_secret(name: str) -> bool:
    """Return whether the name of an option shows that its value is a secret."""
    folded = re.sub(r"[._\-\s]+", "", name.lower())
    return any(word in folded for word in WORDS) and not _HARMLESS.search(name.lower())


def remember(options: Mapping[str, str]) -> None:
    """Remember the secrets among ``options``, so that `masked` removes them from every later message."""
    for name, value in options.items():
        secrets = (
            {value, *(word for key, word in _OPTION.findall(value) if is_secret(key))} if is_secret(name) else set()
        )
        for block in _BLOCK.finditer(value):
            secrets |= {line for line in re.split(r"(?:\\+[nr]|\s)+", block[0]) if _LINE.fullmatch(line)}
        _known.update(form for secret in filter(None, secrets) for form in (secret, json.dumps(secret)[1:-1]))


def masked(text: str) -> str:
    """Return ``text`` without remembered secrets, PEM blocks and passwords in addresses."""
    for secret in sorted(_known, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _LOGIN.sub(rf"\1:{HIDDEN}@", _BLOCK.sub(rf"\1{HIDDEN}\2", text))

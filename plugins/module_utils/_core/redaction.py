# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the values of secrets from data and texts before they are shown.

A secret is recognised by the name of its key, by its occurrence in the inventory, or by its form in a text.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .security import is_secret

__all__ = ["HIDDEN", "redacted", "secrets_of", "without_secrets"]

HIDDEN = "********"
# key=value and key: value, also in JSON within a text.
_ASSIGNED = re.compile(
    r"""(?P<key>[\w.-]+)(?P<middle>(?:\\*")?\s*[=:]\s*)(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;]+)"""
)
_LOGIN = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*://)(?P<user>[^\s/:@]*):(?P<word>[^\s/@]+)@")
_HEADER = re.compile(r"(?P<kind>\b(?:Basic|Bearer|Negotiate))\s+[\w+/=.~-]{6,}")
_KEY = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)+)"|'([^']+)'""")


def redacted(value: Any, secrets: Collection[str] = ()) -> Any:
    """The same data without secrets. The item after an option such as ``--password`` in a list is a secret, too."""
    if isinstance(value, Mapping):
        return {
            without_secrets(str(key), secrets): HIDDEN
            if is_secret(str(key)) and inner and not isinstance(inner, bool)
            else redacted(inner, secrets)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        shown = [redacted(inner, secrets) for inner in value]
        hidden = {index + 1 for index, inner in enumerate(value) if _asks_for_one(inner)}
        return [HIDDEN if index in hidden else inner for index, inner in enumerate(shown)]
    return without_secrets(value, secrets) if isinstance(value, str) else value


def without_secrets(text: str, secrets: Collection[str] = ()) -> str:
    """``text`` without any of ``secrets``, and without values that look like a secret."""
    # The longest first: a secret may be part of another one.
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    text = _KEY.sub(rf"\1{HIDDEN}\2", text)
    text = _LOGIN.sub(rf"\g<scheme>\g<user>:{HIDDEN}@", text)
    text = _HEADER.sub(rf"\g<kind> {HIDDEN}", text)
    return _ASSIGNED.sub(
        lambda found: f"{found['key']}{found['middle']}{HIDDEN}" if is_secret(found["key"]) else found[0], text
    )


def secrets_of(value: Any) -> set[str]:
    """Every secret in the data: below a key for secrets, quoted in a JAAS line, or in an address."""
    found: set[str] = set()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            found |= _of_secret(inner) if is_secret(str(key)) else secrets_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            found |= secrets_of(inner)
    elif isinstance(value, str):
        found |= {match["word"] for match in _LOGIN.finditer(value)}
    return found


def _of_secret(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return {secret for inner in value.values() for secret in _of_secret(inner)}
    if isinstance(value, list | tuple):
        return {secret for inner in value for secret in _of_secret(inner)}
    if not isinstance(value, str) or not value:
        return set()
    # The user name in a JAAS line is not secret: the same word may name an application.
    return {value} | _words(match for match in _ASSIGNED.finditer(value) if is_secret(match["key"]))


def _words(found: Iterable[re.Match[str]]) -> set[str]:
    words = set()
    for match in found:
        quoted = _QUOTED.fullmatch(match["value"])
        words.add(match["value"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1] or quoted[2]))
    return words


def _asks_for_one(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("-") and "=" not in word and is_secret(word)

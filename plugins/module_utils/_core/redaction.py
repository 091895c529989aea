# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes secrets from data and texts before they are shown (R44).

A secret is recognised by the name of its option, by its form (a PEM block, a login in an address), by its occurrence in
the inventory, or by the way in which a text writes it. Every output of the collection uses these functions.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

__all__ = [
    "HIDDEN",
    "is_secret",
    "looks_secret",
    "may_have_forms",
    "names_of",
    "redacted",
    "secrets_of",
    "shown",
    "without_forms",
    "without_login",
    "without_secrets",
]

HIDDEN = "********"
# Parts of names, without separators and in lower case.
_WORDS = (
    *("password", "passphrase", "passwd", "secret", "token", "privatekey", "jaas"),
    # Private keys, and logins, of clients and of Schema Registry.
    *("keypem", "keystorekey", "keytabpem", "userinfo"),
)
# The last words of names whose value is the place of a secret, or a class, and not the secret.
_HARMLESS = re.compile(r"[._-](?:location|file|path|class|endpoint[._-]url)$")
_SEPARATORS = re.compile(r"[._\-\s]+")
# Names of resources are no options. Keys of data that hold such names.
_RESOURCES = re.compile(r"(?:^|_)(?:topics?|groups?)$")
_PEM = "-----BEGIN"
# Line ends may be escaped, also twice: a text may hold JSON, which holds a PEM block.
_BLOCK = re.compile(r"(-----BEGIN [A-Z0-9 ]*-----).*?(-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL)
# A line of a PEM block that is long enough to be searched for.
_PEM_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")
# key=value and key: value, also in JSON within a text.
_ASSIGNED = re.compile(
    r"""(?P<key>(?<![\w.-])[\w.-]+)(?P<middle>(?:\\*")?\s*[=:]\s*)(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;]+)"""
)
_LOGIN = re.compile(r"""(?P<scheme>[A-Za-z][\w+.-]*://)(?P<user>[^\s/:@]*):(?P<word>[^\s/@"'<>]+)@""")
_HEADER = re.compile(r"(?P<kind>\b(?:Basic|Bearer|Negotiate))\s+[\w+/=.~-]{6,}")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)+)"|'([^']+)'""")


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """True for an option whose name shows that its value is a secret. Names of files and classes are not secret."""
    lowered = name.lower()
    folded = _SEPARATORS.sub("", lowered)
    return any(word in folded for word in _WORDS) and not _HARMLESS.search(lowered)


def looks_secret(value: Any) -> bool:
    """True for a text with a PEM block, or with an address that has a password."""
    return isinstance(value, str) and (_PEM in value or ("://" in value and _LOGIN.search(value) is not None))


def shown(name: str, value: Any, hidden: str = HIDDEN) -> Any:
    """The value of an option, or ``hidden`` in place of a secret."""
    return hidden if value and (is_secret(name) or looks_secret(value)) else value


def redacted(value: Any, secrets: Collection[str] = (), names: Collection[str] = ()) -> Any:
    """The same data without secrets. The item after an option such as ``--password`` in a list is a secret, too.

    ``names``: topics and groups, whose names are not those of options (see :func:`names_of`).
    """
    return _Redactor(secrets, names).data(value)


def without_secrets(text: str, secrets: Collection[str] = (), names: Collection[str] = ()) -> str:
    """``text`` without any of ``secrets``, and without values that look like a secret. ``names``: see `redacted`."""
    return _Redactor(secrets, names).text(text)


class _Redactor:
    """Known secrets in all their spellings, and names that are not those of options."""

    def __init__(self, secrets: Collection[str], names: Collection[str]) -> None:
        # The longest first: a secret may be part of another one.
        spelt = {form for secret in secrets if secret for form in _spellings(secret)}
        self._secrets, self._names = sorted(spelt, key=len, reverse=True), names

    def data(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            by_name = _keyed_by_names(value, self._names)
            return {
                self.text(str(key)): HIDDEN
                if not by_name and is_secret(str(key)) and _may_be_secret(inner)
                else self.data(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            hidden = {index + 1 for index, inner in enumerate(value) if _asks_for_one(inner)}
            return [HIDDEN if index in hidden else self.data(inner) for index, inner in enumerate(value)]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = _HEADER.sub(rf"\g<kind> {HIDDEN}", without_forms(text))
        folded = _SEPARATORS.sub("", text.lower())
        return _ASSIGNED.sub(self._value, text) if any(word in folded for word in _WORDS) else text

    def _value(self, assigned: re.Match[str]) -> str:
        if not is_secret(assigned["key"]) or _is_resource(assigned["key"], self._names):
            return assigned[0]
        return f"{assigned['key']}{assigned['middle']}{HIDDEN}"


def without_forms(text: str) -> str:
    """``text`` without PEM blocks and passwords in addresses. Safe for every text: it reads no names."""
    if not may_have_forms(text):
        return text
    return _LOGIN.sub(rf"\g<scheme>\g<user>:{HIDDEN}@", _BLOCK.sub(rf"\1{HIDDEN}\2", text))


def may_have_forms(text: str) -> bool:
    """Whether a text, which may be JSON, can have what :func:`without_forms` masks."""
    return _PEM in text or ("://" in text and "@" in text)


def without_login(address: str) -> str:
    """An address, or a text that should be one, without the login before its host."""
    start = address.find("://") + 3 if "://" in address else 0
    login, at, host = address[start:].rpartition("@")
    return f"{address[:start]}{HIDDEN}@{host}" if at and login else address


def secrets_of(value: Any) -> set[str]:
    """Every secret in the data: below the name of a secret, quoted in a JAAS line, in a PEM block, or in an address."""
    finder = _Finder(value)
    finder.walk(value)
    return finder.found


class _Finder:
    """Finds secrets. The names of topics and groups are looked up only if one of them is the name of a secret.

    Modules call it with all their arguments, which may be rows of many partitions. So it copies nothing.
    """

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self.found: set[str] = set()

    @cached_property
    def _names(self) -> set[str]:
        return names_of(self._whole)

    def walk(self, value: Any) -> None:
        if isinstance(value, str):
            if ("://" in value and "@" in value) or _PEM in value:
                self.found |= {match["word"] for match in _LOGIN.finditer(value)} | _of_blocks(value)
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                if is_secret(str(key)) and not self._is_name(key, inner, value):
                    self.found |= _of_secret(inner)
                else:
                    self.walk(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                self.walk(inner)

    def _is_name(self, key: Any, inner: Any, mapping: Mapping[Any, Any]) -> bool:
        """Whether the key is a topic or group. What is below it counts only if it holds text."""
        return not _may_be_secret(inner) or _keyed_by_names(mapping, self._names)


def names_of(value: Any) -> set[str]:
    """Names of topics and groups in the data: below keys such as ``topics``, ``kafka_dr_groups`` and ``topic``."""
    names: set[str] = set()
    _add_names(value, False, names)
    return names


def _add_names(value: Any, below: bool, names: set[str]) -> None:
    """``below``: the value belongs to a key such as ``topics``. The keys of a mapping there are names."""
    if isinstance(value, str):
        if below:
            names.add(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if below:
                names.add(str(key))
            _add_names(inner, _holds_names(str(key)), names)
    elif isinstance(value, list | tuple):
        for inner in value:
            if isinstance(inner, Mapping):
                for key, part in inner.items():
                    _add_names(part, below if key == "name" else _holds_names(str(key)), names)
            else:
                _add_names(inner, below, names)


@lru_cache(maxsize=4096)
def _holds_names(key: str) -> bool:
    return _RESOURCES.search(key) is not None


def _keyed_by_names(value: Mapping[Any, Any], names: Collection[str]) -> bool:
    """Whether the keys of a mapping are topics or groups: all of them, so that no option is among them."""
    suspicious = bool(names) and any(is_secret(str(key)) for key in value)
    return suspicious and all(_is_resource(str(key), names) for key in value)


def _is_resource(key: str, names: Collection[str]) -> bool:
    """Whether a key names a topic, its replica, or a group. A name that is a word for secrets remains one."""
    if _SEPARATORS.sub("", key.lower()) in _WORDS:
        return False
    return key in names or any(key.endswith(f"{separator}{name}") for separator in "._-" for name in names)


def _may_be_secret(value: Any) -> bool:
    """Whether a value below the name of a secret is one. Numbers in a mapping are not: a fencing token has some."""
    if isinstance(value, Mapping):
        return any(isinstance(inner, str) and inner for inner in value.values()) or any(
            _may_be_secret(inner) for inner in value.values() if isinstance(inner, Mapping | list | tuple)
        )
    return bool(value) and not isinstance(value, bool)


def _of_secret(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return {secret for inner in value.values() for secret in _of_secret(inner)}
    if isinstance(value, list | tuple):
        return {secret for inner in value for secret in _of_secret(inner)}
    if not isinstance(value, str) or not value:
        return set()
    # The user name in a JAAS line is not secret: the same word may name an application.
    assigned = _words(match for match in _ASSIGNED.finditer(value) if is_secret(match["key"]))
    return {value} | assigned | _of_blocks(value)


def _of_blocks(value: str) -> set[str]:
    """PEM blocks, and their lines: an error message may show a part."""
    blocks = [match[0] for match in _BLOCK.finditer(value)] if _PEM in value else []
    lines = [line for block in blocks for line in re.split(r"(?:\\+[nr]|\s)+", block)]
    return {*blocks, *(line for line in lines if _PEM_LINE.fullmatch(line))}


def _spellings(secret: str) -> set[str]:
    """A secret as it is, and as a text in JSON, once and twice."""
    once = json.dumps(secret, ensure_ascii=False)[1:-1]
    ascii_only = json.dumps(secret)[1:-1]
    return {secret, once, ascii_only, json.dumps(once, ensure_ascii=False)[1:-1]}


def _words(found: Iterable[re.Match[str]]) -> set[str]:
    words = set()
    for match in found:
        quoted = _QUOTED.fullmatch(match["value"])
        words.add(match["value"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted[1] or quoted[2]))
    return words


def _asks_for_one(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("-") and "=" not in word and is_secret(word)

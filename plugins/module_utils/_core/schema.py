# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small schema for the inventory: types, choices, defaults, and the nearest known name for a misspelt one.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from .redaction import HIDDEN, is_secret, without_forms, without_login, without_secrets

__all__ = [
    "Key",
    "check_mapping",
    "check_url",
    "is_set",
    "names",
    "nearest",
    "number",
    "one_line",
    "printable",
    "unquoted",
]

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list, tuple),
    "dict": (Mapping,),
    # A number of seconds, records and so on. -e NAME=VALUE passes it as text. See `number`.
    "number": (int, float, str),
    # A list of texts, none of them empty.
    "words": (list, tuple),
    # A truth value, or another of its choices. -e NAME=VALUE passes it as text.
    "flag": (bool, str),
    # A list, or one line of text with commas, as -e NAME=VALUE and a survey of AWX pass it.
    "names": (list, tuple, str),
}
_FLAGS = frozenset({"true", "false", "yes", "no", "on", "off", "1", "0"})


def is_set(flag: bool | str) -> bool:
    """The value of a key of type ``flag`` that was checked."""
    return str(flag).lower() in ("true", "yes", "on", "1")


def names(given: Sequence[str] | str) -> list[str]:
    """The value of a key of type ``names``: text is split at commas and line ends."""
    parts = re.split(r"[,\n]", given) if isinstance(given, str) else given
    return [name for part in parts if (name := str(part).strip())]


def number(given: Any) -> float | None:
    """The value of a key of type ``number``; None unless it is finite and not negative."""
    try:
        value = float(given)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 and not isinstance(given, bool) else None


@dataclass(frozen=True)
class Key:
    """One known key of a mapping."""

    type: str = "str"
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    #: Minimum and maximum of a key of type ``number``.
    least: float = 0
    most: float = 1e9


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint " Did you mean ...?" for a misspelt name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def unquoted(value: Any) -> str:
    """A hint for a text that YAML has read as a number, a truth value or a date, alone or in a list; otherwise "".

    What it was cannot be restored: ``0123`` and ``1:23`` are the number 83.
    """
    values = value if isinstance(value, (list, tuple)) else [value]
    read = any(isinstance(one, (int, float, date)) for one in values)
    return " YAML reads it as a text only in quotes: quote it." if read else ""


def check_mapping(where: str, value: Any, keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[str]]:
    """``value`` with defaults filled in, and every problem found, each as one sentence."""
    if not isinstance(value, Mapping):
        return {}, [f"{where} must be a dictionary, found {_kind(value)}.{unquoted(value)}"]
    unknown = [str(name) for name in value if name not in keys]
    problems = [f'{where} has the unknown key "{name}".{nearest(name, keys)}' for name in unknown]
    filled: dict[str, Any] = {}
    for name, key in keys.items():
        if value.get(name) is None:
            if key.required:
                problems.append(f'{where} needs the key "{name}".')
            filled[name] = key.default
            continue
        filled[name] = value[name]
        problems += _check_value(f"{where}.{name}", value[name], key)
    return filled, problems


def _check_value(where: str, value: Any, key: Key) -> list[str]:
    wrong_bool = isinstance(value, bool) and key.type in ("int", "float")
    if wrong_bool or not isinstance(value, _TYPES[key.type]):
        hint = unquoted(value) if key.type in ("str", "names") else ""
        return [f"{where} must be of type {key.type}, found {_kind(value, is_secret(where))}.{hint}"]
    if key.type == "flag" and str(value).lower() not in (key.choices or _FLAGS):
        return [f"{where} must be {' or '.join(key.choices or ('true', 'false'))}, found {_kind(value)}."]
    if key.type == "number" and ((found := number(value)) is None or not key.least <= found <= key.most):
        return [f"{where} must be a number from {key.least:g} to {key.most:g}, found {_kind(value)}."]
    if key.type == "words" and not _all_texts(value):
        wanted = "a list of texts that are neither empty nor contain NUL"
        return [f"{where} must be {wanted}, found {_kind(value)}.{unquoted(value)}"]
    if key.type == "names" and not isinstance(value, str) and not _all_texts(value):
        return [f"{where} must be a list of names, found {_kind(value)}.{unquoted(value)}"]
    if key.choices and key.type != "flag" and value not in key.choices:
        hint = nearest(str(value), key.choices)
        return [f'{where} is "{value}", wanted one of: {", ".join(key.choices)}.{hint}']
    return []


def _all_texts(values: Any) -> bool:
    return all(isinstance(text, str) and text.strip() and "\0" not in text for text in values)


def _kind(value: Any, hidden: bool = False) -> str:
    # Ansible passes its own subclasses; users know the plain types.
    known = (bool, int, float, str, list, dict, datetime, date)
    plain = next((kind for kind in known if isinstance(value, kind)), type(value))
    shown = HIDDEN if hidden else without_secrets(f'"{value}"' if plain is str else str(value))
    return f"{plain.__name__} {shown if len(shown) <= 40 else shown[:37] + '...'}"


def check_url(where: str, url: str) -> list[str]:
    """Why ``url`` is not the address of an HTTP interface, in words. Refuses a login in the URL."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", url)
        port = parts.port
    except ValueError:
        return [f'{where} is "{one_line(without_login(url))}", which is not a URL.']
    if "@" in parts.netloc:
        return [f"{where} contains a user name or a password. Give them in connect_client or client instead."]
    if not whole or port == 0 or parts.query or parts.fragment:
        return [f'{where} is "{one_line(without_login(url))}", wanted an address such as "https://host:8083".']
    return []


def printable(text: str) -> str:
    """``text`` on one line, with escapes for characters that a terminal does not show."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def one_line(text: str) -> str:
    """``text`` as part of a message: printable, and at most 60 characters long."""
    shown = printable(without_forms(text))
    return shown if len(shown) <= 60 else shown[:57] + "..."

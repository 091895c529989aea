# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small schema for the inventory: types, choices, defaults, and the nearest right name for a wrong one.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Key", "check_mapping", "is_set", "names", "nearest"]

_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list, tuple),
    "dict": (Mapping,),
    "any": (object,),
    # A truth value as -e NAME=VALUE gives it, which is text.
    "flag": (bool, str),
    # A list, or one line of text with commas, as -e NAME=VALUE and a survey of AWX give it.
    "names": (list, tuple, str),
}
_FLAGS = frozenset({"true", "false", "yes", "no", "on", "off", "1", "0"})


def is_set(flag: bool | str) -> bool:
    """The value of a key of type ``flag``, which was checked."""
    return str(flag).lower() in ("true", "yes", "on", "1")


def names(given: Sequence[str] | str) -> list[str]:
    """The value of a key of type ``names``: text is split at commas and line ends."""
    parts = re.split(r"[,\n]", given) if isinstance(given, str) else given
    return [name for part in parts if (name := str(part).strip())]


@dataclass(frozen=True)
class Key:
    """One known key: its type, whether it must be there, its default and its choices."""

    type: str = "str"
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint " Did you mean ...?" for a misspelt name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def check_mapping(where: str, value: Any, keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[str]]:
    """``value`` with defaults filled in, and every problem found, each as one sentence."""
    if not isinstance(value, Mapping):
        return {}, [f"{where} must be a dictionary, found {_kind(value)}."]
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
        return [f"{where} must be of type {key.type}, found {_kind(value)}."]
    if key.type == "flag" and str(value).lower() not in _FLAGS:
        return [f"{where} must be true or false, found {_kind(value)}."]
    if key.choices and value not in key.choices:
        hint = nearest(str(value), key.choices)
        return [f'{where} is "{value}", wanted one of: {", ".join(key.choices)}.{hint}']
    return []


def _kind(value: Any) -> str:
    # Ansible hands over subclasses of its own; people know the plain types.
    plain = next((kind for kind in (bool, int, float, str, list, dict) if isinstance(value, kind)), type(value))
    shown = f'"{value}"' if plain is str else str(value)
    return f"{plain.__name__} {shown if len(shown) <= 40 else shown[:37] + '...'}"

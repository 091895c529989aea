# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML text with comments that Ansible reads back as the same values.

Names on a cluster are free texts. None of them may end a comment, or become a template that Ansible evaluates.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from ..schema import printable

__all__ = ["comment", "flow", "is_template", "remark"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
# Words that YAML 1.1 reads as a truth value or as null.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ESCAPES = {'"': '\\"', "\\": "\\\\"}
_WIDTH = 118


def is_template(text: str) -> bool:
    """True if Ansible would evaluate the text when it reads it from an inventory."""
    return any(mark in text for mark in ("{{", "{%", "{#"))


def flow(value: Any) -> str:
    """``value`` on one line, in YAML's flow style."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key))}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else _scalar(str(value))


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() and ord(character) < 0xFFFF else f"\\U{ord(character):08x}"


def comment(text: str, indent: str = "") -> list[str]:
    """The lines of a comment, each one printable and at most 120 characters long if its words allow it."""
    body = textwrap.wrap(
        printable(text), _WIDTH - len(indent), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return [f"{indent}# {line}" for line in body]


def remark(text: str) -> str:
    """A comment at the end of a line; "" without text."""
    return f"  # {printable(text)}" if text else ""

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Topic configuration values: what a user may write, what the broker returns, and when the two are equal.

The broker uses text only. Users write booleans, numbers, lists, and words like ``7d`` or ``1GiB``. This module converts
both to one text form per type. A value that it does not understand stays unchanged, so that the broker refuses it.
Source of the types: org.apache.kafka.storage.internals.log.LogConfig (4.3).

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

__all__ = ["file_mode", "heap_bytes", "kind_of", "same", "text_of"]

_KINDS = {
    "cleanup.policy": "list",
    "follower.replication.throttled.replicas": "list",
    "leader.replication.throttled.replicas": "list",
    "compression.gzip.level": "number",
    "compression.lz4.level": "number",
    "compression.zstd.level": "number",
    "flush.messages": "number",
    "min.insync.replicas": "number",
    "min.cleanable.dirty.ratio": "number",
    "preallocate": "bool",
    "remote.copy.disable": "bool",
    "remote.log.delete.on.disable": "bool",
    "remote.storage.enable": "bool",
    "unclean.leader.election.enable": "bool",
}
_SUFFIXES = {".ms": "duration", ".bytes": "size", ".enable": "bool", ".ratio": "number"}
_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
_MILLISECONDS = {
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
}
_BYTES = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")
# Kafka has no longer numbers (a long has 19 digits), and they would be slow or huge to expand.
_LONGEST_NUMBER = 40


def kind_of(name: str) -> str:
    """``list``, ``bool``, ``number``, ``duration``, ``size`` or ``text``. The suffix decides for unknown settings."""
    if name in _KINDS:
        return _KINDS[name]
    return next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), "text")


def text_of(name: str, value: Any) -> str:
    """A user's value in the broker's text form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(text_of(name, item) for item in value)
    text = str(value).strip()
    kind = kind_of(name)
    if kind == "bool":
        return _BOOLEANS.get(text.lower(), text)
    if kind == "duration":
        return _quantity(text, _MILLISECONDS)
    if kind == "size":
        return _quantity(text.lower(), _BYTES)
    if kind == "number":
        return _number(text)
    return text


def same(name: str, wanted: str, found: str | None) -> bool:
    """Whether two texts (see :func:`text_of`) mean the same to the broker. ``found`` None: the broker returned none."""
    if found is None:
        return False
    if wanted == found:
        return True
    kind = kind_of(name)
    if kind == "list":
        return _items(wanted) == _items(found)
    return kind != "text" and text_of(name, wanted) == text_of(name, found)


def _items(text: str) -> list[str]:
    return sorted({item.strip() for item in text.split(",") if item.strip()})


def _quantity(text: str, units: Mapping[str, int]) -> str:
    match = _QUANTITY.fullmatch(text)
    if match is None or len(text) > _LONGEST_NUMBER or match.group(2) not in units:
        return _number(text)
    amount = Decimal(match.group(1)) * units[match.group(2)]
    return str(int(amount)) if amount == int(amount) else text


def _number(text: str) -> str:
    """One form per number: 604800000 for 6.048E+8 and 604800000.0, 0.5 for 0.50."""
    if len(text) > _LONGEST_NUMBER:
        return text
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST_NUMBER:
        return text
    return str(int(number)) if number == int(number) else f"{number.normalize():f}"


def file_mode(text: str) -> int | None:
    """The permission bits of a file from octal digits such as "0640"; None if the text has another form."""
    return int(text, 8) if re.fullmatch(r"0?[0-7]{3,4}", text) else None


def heap_bytes(text: str) -> int | None:
    """The bytes of a Java heap size such as ``2g``, as ``-Xmx`` accepts it; None if the text has another form."""
    found = re.fullmatch(r"([0-9]{1,15})([kmgt])", text.lower())
    return int(found[1]) * 1024 ** (1 + "kmgt".index(found[2])) if found else None

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of partitions as one compressed string, for their way from one module to another through Ansible.

Ansible marks, copies and templates each value of a result separately: 24,000 rows take a minute in a cutover, one
string takes no time.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["compress", "compress_at", "dropped_at", "expand", "json_text"]

_MARK = "compressed rows: "
_FASTEST = 1


def json_text(rows: Any) -> str:
    """Return JSON values as short JSON text."""
    return json.dumps(rows, separators=(",", ":"))


def compress(text: str) -> str:
    """Return rows, given as :func:`json_text`, as one string for :func:`expand`."""
    return _MARK + base64.b64encode(zlib.compress(text.encode(), _FASTEST)).decode()


def expand(value: Any) -> Any:
    """Return ``value`` with the rows in place of each string of :func:`compress`, at any depth."""
    if isinstance(value, str):
        return json.loads(zlib.decompress(base64.b64decode(value[len(_MARK) :]))) if value.startswith(_MARK) else value
    if isinstance(value, Mapping):
        return {key: expand(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand(inner) for inner in value]
    return value


def compress_at(value: Any, path: Sequence[str], to_text: Callable[[Any], str]) -> Any:
    """Return ``value`` with the rows at ``path`` compressed; "*" in the path is each item. ``to_text`` makes the text.

    Empty rows, what is not a list or dictionary, and a path that does not exist stay as they are.
    """
    if not path:
        return compress(to_text(value)) if value and isinstance(value, (list, dict)) else value
    key, rest = path[0], path[1:]
    if isinstance(value, list):
        return [compress_at(inner, rest, to_text) for inner in value] if key == "*" else value
    if not isinstance(value, Mapping):
        return value
    return {name: compress_at(inner, rest, to_text) if key in (name, "*") else inner for name, inner in value.items()}


def dropped_at(value: Any, path: Sequence[str]) -> Any:
    """Return ``value`` without the rows at ``path``, as :func:`compress_at` finds them."""
    key, rest = path[0], path[1:]
    if isinstance(value, list):
        return [dropped_at(inner, rest) if rest else inner for inner in value] if key == "*" else value
    if not isinstance(value, Mapping):
        return value
    here = {name for name in value if key in (name, "*")}
    if rest:
        return {name: dropped_at(inner, rest) if name in here else inner for name, inner in value.items()}
    return {name: inner for name, inner in value.items() if name not in here or not isinstance(inner, (list, dict))}

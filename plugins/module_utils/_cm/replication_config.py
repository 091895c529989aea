# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and edit Streams Replication Manager's Replication Configs: ``key=value`` lines in one text, joined by ``|``.

An edit keeps all other lines unchanged, in their order, including blanks: another user may have written them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._core.errors import DrError

__all__ = ["REPLICATION_CONFIGS", "Edit", "edit", "meaning", "parse", "repeated", "separator_of", "wanted_lines"]

#: API name of the property that holds the Replication Configs.
REPLICATION_CONFIGS = "streams.replication.manager.config"
SEPARATOR = "|"
# The separator of Runtime before 7.1.1.
OLD_SEPARATOR = ";"
# A key at the start of a line. It has no blanks, so that a part of a JAAS line does not match.
_KEYED = re.compile(r"\s*[\w.>\-]+\s*=")
_KEY = re.compile(r"[^\s=|;]+")
_BARE_FLOW = re.compile(r"[^.\s]+->[^.\s]+")


@dataclass(frozen=True)
class Edit:
    """The result of an edit."""

    #: The whole text after the edit.
    text: str
    #: Old values of the changed lines by key. None: no such line existed.
    before: Mapping[str, str | None]
    #: New values of the changed lines by key. None: the line is removed.
    after: Mapping[str, str | None]

    @property
    def changed(self) -> bool:
        """Whether a line changes."""
        return bool(self.after)


def meaning(value: str | None) -> str | None:
    """Normalize a value: strip it, write booleans in lower case, and whole numbers without leading zeros."""
    if value is None:
        return None
    text = value.strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return str(int(text)) if re.fullmatch(r"[+-]?\d{1,40}", text, re.ASCII) else text


def separator_of(text: str) -> str:
    """The separator of a text: ``;`` if it has the form of Runtime before 7.1.1, else ``|``."""
    parts = [part for part in text.split(OLD_SEPARATOR) if part.strip()]
    old = SEPARATOR not in text and len(parts) > 1 and all(_KEYED.match(part) for part in parts)
    return OLD_SEPARATOR if old else SEPARATOR


def parse(text: str) -> dict[str, str]:
    """Return the lines by key, stripped. If a key occurs more than once, the last line counts."""
    return {key: value for key, value in map(_split, text.split(separator_of(text))) if key}


def repeated(text: str) -> list[str]:
    """Return the keys that occur more than once."""
    keys = [key for key, _value in map(_split, text.split(separator_of(text))) if key]
    return sorted({key for key in keys if keys.count(key) > 1})


def wanted_lines(given: Mapping[str, Any]) -> tuple[dict[str, str | None], list[str]]:
    """Convert a user's lines to texts, and return them with warnings. None removes a line.

    Cloudera's documentation shows ``P->B=true``, which is silently ignored. Such a line is kept, and the effective line
    ``P->B.enabled=true`` is added. Raises ``cm_line_invalid`` for a key or value that cannot be a line.
    """
    lines = {str(key).strip(): _text(str(key).strip(), value) for key, value in given.items()}
    reported = []
    for key, value in list(lines.items()):
        if not _KEY.fullmatch(key):
            raise DrError(
                "cm_line_invalid",
                f'"{key}" is not a valid key of a line.',
                "Use a key without blanks and without the characters =, | and ;.",
            )
        if value is not None and _BARE_FLOW.fullmatch(key) and f"{key}.enabled" not in lines:
            lines[f"{key}.enabled"] = value
            reported.append(f'The line "{key}={value}" has no effect, so "{key}.enabled={value}" is written as well.')
    return lines, reported


def edit(text: str, wanted: Mapping[str, str | None]) -> Edit:
    """Set the ``wanted`` lines in ``text``: replace existing lines, append new ones, remove those with None.

    If a wanted key occurs more than once with different values, only its first line remains. Raises
    ``cm_line_invalid`` if a value contains a separator.
    """
    separator = separator_of(text)
    lines = text.split(separator) if text.strip() else []
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for key, value in wanted.items():
        if value is not None and (SEPARATOR in value or (separator in value)):
            raise DrError(
                "cm_line_invalid",
                f'The value of the line "{key}" contains "{separator if separator in value else SEPARATOR}", '
                "which separates lines.",
                "It cannot be escaped: use a value without it.",
            )
        places = [index for index, line in enumerate(lines) if _split(line)[0] == key]
        found = [_split(lines[index])[1] for index in places]
        if _as_wanted(found, value):
            continue
        before[key] = separator.join(found) if found else None
        after[key] = value
        keep = places[:1] if value is not None else []
        for index in keep:
            lines[index] = f"{key}={value}"
        lines = [line for index, line in enumerate(lines) if index not in places or index in keep]
        if value is not None and not places:
            lines.append(f"{key}={value}")
    made = separator.join(lines) if after else text
    if after and separator == SEPARATOR and separator_of(made) == OLD_SEPARATOR:
        raise DrError(
            "cm_line_invalid",
            f'The only line of the text would contain "{OLD_SEPARATOR}", so a reader would take it for several lines '
            "in the form of Runtime before 7.1.1.",
            "Keep another line, or add one.",
        )
    return Edit(made, before, after)


def _as_wanted(found: list[str], value: str | None) -> bool:
    meanings = {meaning(one) for one in found}
    return not found if value is None else meanings == {meaning(value)}


def _split(line: str) -> tuple[str, str]:
    """Split a line at the first ``=`` into key and value. A line without ``=``: ("", line)."""
    key, equals, value = line.partition("=")
    return (key.strip(), value.strip()) if equals else ("", line)


def _text(key: str, value: Any) -> str | None:
    if value is None:
        return None
    text = ("true" if value else "false") if isinstance(value, bool) else str(value).strip()
    if isinstance(value, (Mapping, list, tuple)) or "\n" in text:
        hint = "Use text, a number, true or false, or null to remove the line."
        raise DrError("cm_line_invalid", f'The value of the line "{key}" is not a single value.', hint)
    return text

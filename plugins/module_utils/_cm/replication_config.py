# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams Replication Manager's Replication Configs: many ``key=value`` lines in one text, joined by ``|``.

Lines that nobody asked for are somebody's work: they stay as they are, in their order, down to the blanks.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._core.errors import DrError

__all__ = ["REPLICATION_CONFIGS", "Edit", "edit", "meaning", "parse", "repeated", "separator_of", "wanted_lines"]

#: The property that holds them.
REPLICATION_CONFIGS = "streams.replication.manager.config"
SEPARATOR = "|"
# How Runtime before 7.1.1 joins them.
OLD_SEPARATOR = ";"
# A key as it begins a line: no blanks, so that the inside of a JAAS line is not taken for one.
_KEYED = re.compile(r"\s*[\w.>\-]+\s*=")
_KEY = re.compile(r"[^\s=|;]+")
_BARE_FLOW = re.compile(r"[^.\s]+->[^.\s]+")


@dataclass(frozen=True)
class Edit:
    """An edited text. ``before`` and ``after`` hold the lines that differ, by key; None: no such line."""

    text: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.after)


def meaning(value: str | None) -> str | None:
    """One form for each meaning: without outer blanks, booleans in lower case, whole numbers without leading zeros."""
    if value is None:
        return None
    text = value.strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    return str(int(text)) if re.fullmatch(r"[+-]?\d{1,40}", text, re.ASCII) else text


def separator_of(text: str) -> str:
    """``;`` if a text is in the form of Runtime before 7.1.1, else ``|``."""
    parts = [part for part in text.split(OLD_SEPARATOR) if part.strip()]
    old = SEPARATOR not in text and len(parts) > 1 and all(_KEYED.match(part) for part in parts)
    return OLD_SEPARATOR if old else SEPARATOR


def parse(text: str) -> dict[str, str]:
    """The lines by key, without blanks around; of a key that is there twice the last one counts."""
    return {key: value for key, value in map(_split, text.split(separator_of(text))) if key}


def repeated(text: str) -> list[str]:
    """Keys that are there more than once."""
    keys = [key for key, _value in map(_split, text.split(separator_of(text))) if key]
    return sorted({key for key in keys if keys.count(key) > 1})


def wanted_lines(given: Mapping[str, Any]) -> tuple[dict[str, str | None], list[str]]:
    """A user's lines as texts, and what they should know; None removes a line. What cannot be a line is refused.

    The documentation of Cloudera shows ``P->B=true``, which is ignored without a word: it is kept, and the line that
    works is written beside it.
    """
    lines = {str(key).strip(): _text(str(key).strip(), value) for key, value in given.items()}
    reported = []
    for key, value in list(lines.items()):
        if not _KEY.fullmatch(key):
            raise DrError(
                "cm_line_invalid",
                f'"{key}" is no key of a line.',
                "A key has no blank and none of the characters =, | and ;.",
            )
        if value is not None and _BARE_FLOW.fullmatch(key) and f"{key}.enabled" not in lines:
            lines[f"{key}.enabled"] = value
            reported.append(
                f'The line "{key}={value}" switches nothing on; "{key}.enabled={value}" is written as well.'
            )
    return lines, reported


def edit(text: str, wanted: Mapping[str, str | None]) -> Edit:
    """``text`` with the ``wanted`` lines: replaced where they are, else appended; None removes them.

    A wanted key that is there twice with different values is written once, in the place of the first.
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
                "There is no known way to escape it: choose a value without it.",
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
            f'The text would be "{OLD_SEPARATOR}"-joined to whoever reads it, as in Runtime before 7.1.1, '
            f"because of a value with {OLD_SEPARATOR} in its only line.",
            "Keep or add another line.",
        )
    return Edit(made, before, after)


def _as_wanted(found: list[str], value: str | None) -> bool:
    meanings = {meaning(one) for one in found}
    return not found if value is None else meanings == {meaning(value)}


def _split(line: str) -> tuple[str, str]:
    """Key and value of a line; ``P->B.enabled=true`` has its key before the first ``=``. No key: ("", line)."""
    key, equals, value = line.partition("=")
    return (key.strip(), value.strip()) if equals else ("", line)


def _text(key: str, value: Any) -> str | None:
    if value is None:
        return None
    text = ("true" if value else "false") if isinstance(value, bool) else str(value).strip()
    if isinstance(value, (Mapping, list, tuple)) or "\n" in text:
        hint = "Give text, a number, true, false, or null to remove the line."
        raise DrError("cm_line_invalid", f'The value of the line "{key}" is no single value.', hint)
    return text

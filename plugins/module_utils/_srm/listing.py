# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``srm-control ... --list`` prints, read tolerantly, and what an entry of such a list is. Pure.

The only known output (a release before 7.2) is ``Current whitelist:``, one entry per line, ``Current blacklist:``, one
entry per line, ``Done.``. Newer words, log lines and Java's warnings around it are expected, a cut-off output is not.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._core.errors import DrError

__all__ = ["KINDS", "FlowList", "Listing", "is_entry", "parse_listing"]

# The option's words and srm-control's subcommands.
KINDS = {
    "topics": "topics",
    "groups": "groups",
    "reverse_checkpointed_topics": "reverse-checkpointed-topics",
}

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LIST_WORD = r"(?P<half>white|allow|black|deny)[ _-]?list"
# "Current ... whitelist", with a colon or without, or a line of one word with a colon: a topic may be named allowlist.
_HEADERS = (
    re.compile(rf"current\s(?:[\w-]+\s)*{_LIST_WORD}\s?:?", re.IGNORECASE),
    re.compile(rf"{_LIST_WORD}\s?:", re.IGNORECASE),
)
_END = "done."


@dataclass(frozen=True)
class FlowList:
    """One list of one flow. ``kind`` is a key of ``KINDS``."""

    kind: str
    source: str
    target: str

    @property
    def flow(self) -> str:
        """The flow as Cloudera writes it."""
        return f"{self.source}->{self.target}"

    @property
    def is_reverse(self) -> bool:
        """Whether it names replicas whose offsets go back."""
        return self.kind == "reverse_checkpointed_topics"

    def __str__(self) -> str:
        return f"{self.kind} list of {self.flow}"


@dataclass(frozen=True)
class Listing:
    """Both halves in the order shown, repetitions dropped. ``denied`` is None where the tool shows no such half.

    ``skipped``: lines between the first header and the end that were taken for noise.
    """

    allowed: tuple[str, ...]
    denied: tuple[str, ...] | None
    skipped: tuple[str, ...] = ()


def is_entry(text: str) -> bool:
    """Whether a line of one word is an entry, and not a rule, ``WARNING:`` or the end."""
    has_content = any(letter.isalnum() or letter in "._" for letter in text)
    return has_content and not re.search(r"[\s,]", text) and not text.endswith(":") and text.lower() != _END


def parse_listing(output: str, where: FlowList) -> Listing:
    """The lists in ``output``. Raises ``srm_list_unreadable`` unless an allowlist and the end are there."""
    halves: dict[str, list[str]] = {}
    skipped: list[str] = []
    current: list[str] | None = None
    for line in (_COLOURS.sub("", raw).strip() for raw in output.splitlines()):
        half = _header(line)
        if half is not None:
            if half in halves:
                raise _unreadable(where, f"it shows the {half} entries twice")
            current = halves.setdefault(half, [])
        elif current is None or not line:
            continue
        elif line.lower() == _END:
            return _listing(halves, skipped, where)
        else:
            found = [part for part in line.split(",") if is_entry(part)]
            current.extend(found)
            if not found:
                skipped.append(line)
    raise _unreadable(
        where, 'it is cut off: no "Done." at its end' if halves else "it has no line such as an allowlist's"
    )


def _header(line: str) -> str | None:
    text = re.sub(r"\s+", " ", line)
    match = next((match for match in (header.fullmatch(text) for header in _HEADERS) if match), None)
    if match is None:
        return None
    return "allowed" if match["half"].lower() in ("white", "allow") else "denied"


def _listing(halves: dict[str, list[str]], skipped: list[str], where: FlowList) -> Listing:
    if "allowed" not in halves:
        raise _unreadable(where, "it shows no allowlist")
    denied = halves.get("denied")
    return Listing(_once(halves["allowed"]), None if denied is None else _once(denied), tuple(skipped))


def _once(entries: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))


def _unreadable(where: FlowList, reason: str) -> DrError:
    return DrError(
        "srm_list_unreadable",
        f"The output of srm-control for the {where} cannot be read: {reason}.",
        "Run the same command by hand; its arguments are in the result.",
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the output of ``srm-control ... --list`` tolerantly, and recognize the entries of such a list.

The only known output (a release before 7.2) is ``Current whitelist:``, one entry per line, ``Current blacklist:``, one
entry per line, ``Done.``. The parser also accepts newer words, and log lines and Java warnings around the list. It
rejects an output that is cut off.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._core.errors import DrError

__all__ = ["KINDS", "FlowList", "Listing", "is_entry", "parse_listing"]

# Values of the option kind, and the subcommands of srm-control.
KINDS = {
    "topics": "topics",
    "groups": "groups",
    "reverse_checkpointed_topics": "reverse-checkpointed-topics",
}

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LIST_WORD = r"(?P<half>white|allow|black|deny)[ _-]?list"
# "Current ... whitelist" with or without a colon, or one word with a colon: a topic may be named allowlist.
_HEADERS = (
    re.compile(rf"current\s(?:[\w-]+\s)*{_LIST_WORD}\s?:?", re.IGNORECASE),
    re.compile(rf"{_LIST_WORD}\s?:", re.IGNORECASE),
)
_END = "done."


@dataclass(frozen=True)
class FlowList:
    """One list of one flow."""

    #: A key of ``KINDS``.
    kind: str
    #: Cluster aliases.
    source: str
    target: str

    @property
    def flow(self) -> str:
        """The flow in Cloudera's notation."""
        return f"{self.source}->{self.target}"

    @property
    def is_reverse(self) -> bool:
        """True for the list of replicas whose offsets are translated back."""
        return self.kind == "reverse_checkpointed_topics"

    def __str__(self) -> str:
        return f"{self.kind} list of {self.flow}"


@dataclass(frozen=True)
class Listing:
    """The entries of a list in the order of the output, without repetitions."""

    allowed: tuple[str, ...]
    #: None: the tool printed no denylist.
    denied: tuple[str, ...] | None
    #: Lines between the first header and the end that are not entries.
    skipped: tuple[str, ...] = ()


def is_entry(text: str) -> bool:
    """Whether a line is an entry: a single word that is not a ruler, a label such as ``WARNING:``, or the end."""
    has_content = any(letter.isalnum() or letter in "._" for letter in text)
    return has_content and not re.search(r"[\s,]", text) and not text.endswith(":") and text.lower() != _END


def parse_listing(output: str, where: FlowList) -> Listing:
    """Parse the lists in ``output``. Raises ``srm_list_unreadable`` if the allowlist or the end is missing."""
    halves: dict[str, list[str]] = {}
    skipped: list[str] = []
    current: list[str] | None = None
    for line in (_COLOURS.sub("", raw).strip() for raw in output.splitlines()):
        half = _header(line)
        if half is not None:
            if half in halves:
                raise _unreadable(where, f"it has the {half} entries twice")
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
        where, 'it is cut off, without "Done." at its end' if halves else "it has no header of an allowlist"
    )


def _header(line: str) -> str | None:
    text = re.sub(r"\s+", " ", line)
    match = next((match for match in (header.fullmatch(text) for header in _HEADERS) if match), None)
    if match is None:
        return None
    return "allowed" if match["half"].lower() in ("white", "allow") else "denied"


def _listing(halves: dict[str, list[str]], skipped: list[str], where: FlowList) -> Listing:
    if "allowed" not in halves:
        raise _unreadable(where, "it has no allowlist")
    denied = halves.get("denied")
    return Listing(_once(halves["allowed"]), None if denied is None else _once(denied), tuple(skipped))


def _once(entries: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entries))


def _unreadable(where: FlowList, reason: str) -> DrError:
    return DrError(
        "srm_list_unreadable",
        f"The output of srm-control for the {where} cannot be parsed: {reason}.",
        "Run the same command by hand and check its output; its arguments are in the result.",
    )

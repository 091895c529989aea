# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns of the inventory for topics and groups, and the names that no pattern takes.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..names import JOURNAL_TOPIC, STATE_TOPIC, Naming, is_internal, salvage_topic
from .topic_filters import excluded_by_default

__all__ = ["NamePattern", "expression_problem", "group_candidates", "similar", "taken", "topic_candidates"]

# Java reads these differently, or not at all: named groups, conditions, comments, \Z, and sets within sets.
_PYTHON_ONLY = re.compile(r"\(\?[P(#aLu]|\\Z|\[\[|&&")
# In the names of topics and groups of this collection, such as those of a rehearsal.
_OWN = "kafka-dr-"
# Before the alias of a cluster in the names of other topics that the flows of a rehearsal write.
_REHEARSAL = ("rehearsal-", "rehearsal_")


@dataclass(frozen=True)
class NamePattern:
    """Regular expressions that match whole names: one that takes names, and exceptions from it."""

    match: str
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> NamePattern:
        """From an entry with ``match`` and ``exclude``."""
        return cls(entry["match"], tuple(entry.get("exclude") or ()))

    def takes(self, name: str) -> bool:
        """Whether the pattern takes ``name``. Names that are no candidates must be left out before."""
        return _matches(self.match, name) and not any(_matches(exception, name) for exception in self.exclude)


def _matches(expression: str, name: str) -> bool:
    # Without a flag, \d and \w of Java are ASCII too.
    return re.fullmatch(expression, name, re.ASCII) is not None


def expression_problem(expression: str) -> str:
    """Why ``expression`` is refused; empty: Java and Python read it in the same way."""
    if not expression.strip():
        return "which is empty"
    other = _PYTHON_ONLY.search(expression)
    if other:
        return f'which contains "{other[0]}": Java and Python read that differently'
    try:
        re.compile(expression, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        return f"which is not a regular expression: {error}"
    return ""


def taken(patterns: Iterable[NamePattern], names: Iterable[str]) -> list[str]:
    """Those of ``names`` that one of ``patterns`` takes."""
    known = list(patterns)
    return [name for name in names if any(pattern.takes(name) for pattern in known)]


def topic_candidates(
    names: Iterable[str], naming: Naming, aliases: Iterable[str], journal_topic: str = JOURNAL_TOPIC
) -> list[str]:
    """Those of ``names`` that a pattern may take: originals of applications.

    Left out are internal topics, replicas, heartbeats, topics that MirrorMaker 2 never replicates, the journal, and
    topics of this collection for salvaged records and for rehearsals.
    """
    known = list(aliases)
    reserved = {journal_topic, STATE_TOPIC}
    for alias in known:
        reserved |= {naming.checkpoints(alias), naming.offset_syncs(alias), naming.heartbeats(alias)}
    prefixes = [f"{rehearsal}{alias}" for rehearsal in _REHEARSAL for alias in known]
    prefixes += [] if naming.keeps_names else [naming.replica(alias, "") for alias in known]
    return [
        name
        for name in names
        if name not in reserved
        and not name.startswith((".", *prefixes))
        and not name.endswith(salvage_topic(""))
        and not is_internal(name)
        and _OWN not in name
        and excluded_by_default("topics", name) is None
    ]


def group_candidates(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that a pattern may take: not those of Connect, console consumers and this collection."""
    return [name for name in names if _OWN not in name and excluded_by_default("groups", name) is None]


def similar(expression: str, names: Sequence[str]) -> list[str]:
    """Up to three of ``names`` that resemble what ``expression`` may have been meant to match."""
    text = re.sub(r"\.[*+?]", "", expression).replace("\\", "")
    return difflib.get_close_matches(text, names, n=3, cutoff=0.4) or list(names[:3])

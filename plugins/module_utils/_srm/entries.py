# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpret the entries of a list: which are refused before they are sent, and which others already match them.

An entry is a regular expression for the whole name. SRM compares lists as text, and so does this module. It uses an
entry as a pattern only to match it against a plain name. Sources: DefaultReplicationPolicy and MirrorSourceConnector
(isCycle) of org.apache.kafka.connect.mirror; KAFKA-12635 for replicas in plain lists.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .._core.names import is_internal
from .listing import FlowList, is_entry

__all__ = ["alias_problems", "cover_of", "form_problems", "guards_internal", "is_plain", "meaning", "warnings_of"]

_META = re.compile(r"[*+?\[\](){}|^$\\]")
_EVERYTHING = (".*", ".+")
# "P.*" may be meant for every topic whose name begins with P.
_WILD_DOT = re.compile(r"\.[*+?{]")
_LEADING_WILDCARD = re.compile(r"\(?(?:\.|\[\^?[^\]]*\])[*+]\??\)?(?:\\?\.|\[\.\])?")
# Examples of names that SRM excludes from its flows with entries of the denylist (7.1.8 and later).
_GUARDED = (
    "__consumer_offsets",
    "mm2-offsets.P.internal",
    "P.checkpoints.internal",
    "srm-metrics.internal",
    "P.heartbeats",
    "connect-workers",
    "console-consumer-1",
)


def is_plain(entry: str) -> bool:
    """Whether an entry is a plain name. A dot alone does not make it a pattern, because names contain dots."""
    return not _META.search(entry)


def alias_problems(where: FlowList) -> list[str]:
    """Return why two aliases cannot be those of a flow, one sentence each."""
    problems = [
        f'The {side} alias "{alias}" is not a single word.'
        for side, alias in (("source", where.source), ("target", where.target))
        if not alias or re.search(r"[\s,]", alias) or alias.startswith("-")
    ]
    if where.source == where.target:
        problems.append(f'Source and target are the same alias "{where.source}".')
    return problems


def form_problems(entries: Iterable[str]) -> list[str]:
    """Return the problems of entries that cannot be sent, or not be recognized in a list afterwards."""
    problems = []
    for entry in entries:
        if re.search(r"[\s,]", entry) or not entry:
            problems.append(f'"{entry}" is empty or contains a comma or a blank, at which srm-control splits entries.')
        elif entry.startswith("-"):
            problems.append(f'"{entry}" begins with "-", so srm-control takes it for an option.')
        elif not is_entry(entry):
            problems.append(f'"{entry}" could not be distinguished from other lines of a list.')
    return problems


def meaning(where: FlowList, entries: Sequence[str], separator: str) -> list[str]:
    """Return the problems of entries that SRM accepts silently but that match no topic or are never replicated."""
    if where.kind == "groups":
        return []
    if where.is_reverse:
        return [text for entry in entries for text in _not_reverse(where, entry, separator)]
    return [
        f'"{entry}" looks like a replica of the alias "{alias}". In a topics list it is never replicated and has no '
        f"offset-syncs, so its offsets are not translated back. Name the source topic here, and "
        f'"{where.target}{separator}{_tail(entry, alias, separator)}" in the reverse_checkpointed_topics list.'
        for entry in entries
        for alias in (where.source, where.target)
        if _begins_with(entry, alias, separator) and not _WILD_DOT.match(entry[len(alias) :])
    ]


def _not_reverse(where: FlowList, entry: str, separator: str) -> list[str]:
    """Problems of an entry in a reverse list S->T, which names the replicas on S of topics of T: ``T.topic``."""
    wanted = where.target + separator
    if _begins_with(entry, where.target, separator):
        return []
    if _begins_with(entry, where.source, separator):
        name = _tail(entry, where.source, separator)
        return [
            f'"{entry}" would be a replica on "{where.target}", but the {where} names replicas on "{where.source}". '
            f'Did you mean "{wanted}{name}" here, or this entry in the list of {where.target}->{where.source}?'
        ]
    if not is_plain(entry):
        return []
    bare = re.sub(rf"^{re.escape(where.target)}(?:__|\.|{re.escape(separator)})", "", entry, flags=re.IGNORECASE)
    why = "is not a replica" if bare == entry else "is not the name of a replica"
    return [f'"{entry}" {why} on "{where.source}" and matches no topic. Did you mean "{wanted}{bare}"?']


def warnings_of(where: FlowList, entries: Sequence[str], separator: str) -> list[str]:
    """Return warnings about entries that may be intended but are often mistakes."""
    texts = []
    if separator != "." and where.kind != "groups":
        texts.append(
            f'The separator is "{separator}": each SRM of the pair must have the same replication.policy.separator.'
        )
    for entry in entries:
        if _compiled(entry) is None:
            texts.append(f'"{entry}" is not a regular expression that can be checked here.')
        elif where.kind == "topics" and _matches_replicas(where, entry, separator):
            texts.append(
                f'"{entry}" also matches replicas on "{where.source}". They are not replicated, and their offsets are '
                "not translated back. Use the reverse_checkpointed_topics list for them."
            )
        elif where.is_reverse and not is_plain(entry) and not _begins_with(entry, where.target, separator):
            texts.append(
                f'"{entry}" does not begin with "{where.target}{separator}". Only offsets of such topics can be '
                "translated back."
            )
    return texts


def cover_of(entry: str, others: Iterable[str]) -> str | None:
    """Return the entry of ``others`` that certainly matches every name that ``entry`` matches, or None."""
    if entry in _EVERYTHING:
        return None
    # Widest first, because a narrower entry may be covered itself and then be left out.
    for other in sorted(others, key=lambda other: other not in _EVERYTHING):
        if other in _EVERYTHING or (is_plain(entry) and not is_plain(other) and _matches(other, entry)):
            return other
    return None


def guards_internal(denied: str) -> bool:
    """Whether an entry of a denylist excludes internal names. Such an entry is removed only if the user names it."""
    return is_internal(denied) or any(_matches(denied, name) for name in _GUARDED)


def _begins_with(entry: str, alias: str, separator: str) -> bool:
    heads = (separator, "".join(f"\\{letter}" for letter in separator), f"[{separator}]")
    return entry.startswith(tuple(alias + head for head in heads))


def _tail(entry: str, alias: str, separator: str) -> str:
    rest = entry[len(alias) :]
    for head in ("".join(f"\\{letter}" for letter in separator), f"[{separator}]", separator):
        if rest.startswith(head):
            return rest[len(head) :]
    return rest


def _matches_replicas(where: FlowList, entry: str, separator: str) -> bool:
    """True for patterns such as ``.*Payments`` or ``P.*``, but not for ``.*``, which means everything."""
    if entry.startswith(where.target) and _WILD_DOT.match(entry[len(where.target) :]):
        return True
    tail = _LEADING_WILDCARD.sub("", entry, count=1) if _LEADING_WILDCARD.match(entry) else ""
    return bool(tail) and is_plain(tail) and _matches(entry, f"{where.target}{separator}{tail}")


def _matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern. None: Python does not support it. Java's regular expressions have more features."""
    try:
        return re.compile(pattern)
    except re.error:
        return None

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an entry of a list means: what is refused before it is sent, and which other entry matches it already. Pure.

Entries are regular expressions on the whole name. Lists are compared as text, and so are entries here; only where a
pattern is held against a plain name is it used as one. Sources: DefaultReplicationPolicy and MirrorSourceConnector
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
# "P.*" may mean every topic that begins with P.
_WILD_DOT = re.compile(r"\.[*+?{]")
_LEADING_WILDCARD = re.compile(r"\(?(?:\.|\[\^?[^\]]*\])[*+]\??\)?(?:\\?\.|\[\.\])?")
# Names that SRM keeps out of its flows by entries of the denylist (7.1.8 and later).
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
    """Whether an entry is a name and no pattern. A dot alone does not make a pattern: names have dots."""
    return not _META.search(entry)


def alias_problems(where: FlowList) -> list[str]:
    """What keeps two aliases from being a flow's."""
    problems = [
        f'The {side} alias "{alias}" is not one word.'
        for side, alias in (("source", where.source), ("target", where.target))
        if not alias or re.search(r"[\s,]", alias) or alias.startswith("-")
    ]
    if where.source == where.target:
        problems.append(f'Source and target are the same alias "{where.source}".')
    return problems


def form_problems(entries: Iterable[str]) -> list[str]:
    """Entries that cannot be sent, or could not be found again in a list."""
    problems = []
    for entry in entries:
        if re.search(r"[\s,]", entry) or not entry:
            problems.append(f'"{entry}" is empty or contains a comma or a blank: srm-control takes it apart.')
        elif entry.startswith("-"):
            problems.append(f'"{entry}" begins with "-": srm-control takes it for an option.')
        elif not is_entry(entry):
            problems.append(f'"{entry}" could not be told from other lines of a list.')
    return problems


def meaning(where: FlowList, entries: Sequence[str], separator: str) -> list[str]:
    """Entries that would be taken without a word and match nothing, or never travel, with the reason."""
    if where.kind == "groups":
        return []
    if where.is_reverse:
        return [text for entry in entries for text in _not_reverse(where, entry, separator)]
    return [
        f'"{entry}" looks like a replica of the alias "{alias}". In a topics list it is never copied and has no '
        f"offset-syncs, so no offset of it goes back. Name the original here, and "
        f'"{where.target}{separator}{_tail(entry, alias, separator)}" in the reverse_checkpointed_topics list.'
        for entry in entries
        for alias in (where.source, where.target)
        if _begins_with(entry, alias, separator) and not _WILD_DOT.match(entry[len(alias) :])
    ]


def _not_reverse(where: FlowList, entry: str, separator: str) -> list[str]:
    """A reverse list S->T names the replicas on S of topics of T: ``T.topic``."""
    wanted = where.target + separator
    if _begins_with(entry, where.target, separator):
        return []
    if _begins_with(entry, where.source, separator):
        name = _tail(entry, where.source, separator)
        return [
            f'"{entry}" would be a replica on "{where.target}"; the {where} names replicas on "{where.source}". '
            f'Did you mean "{wanted}{name}" here, or this entry in the list of {where.target}->{where.source}?'
        ]
    if not is_plain(entry):
        return []
    bare = re.sub(rf"^{re.escape(where.target)}(?:__|\.|{re.escape(separator)})", "", entry, flags=re.IGNORECASE)
    why = "is no replica" if bare == entry else "is not how a replica is named"
    return [f'"{entry}" {why} on "{where.source}" and matches nothing. Did you mean "{wanted}{bare}"?']


def warnings_of(where: FlowList, entries: Sequence[str], separator: str) -> list[str]:
    """What may be meant but is worth a second look."""
    texts = []
    if separator != "." and where.kind != "groups":
        texts.append(
            f'The separator is "{separator}": every SRM of the pair must have it as replication.policy.separator.'
        )
    for entry in entries:
        if _compiled(entry) is None:
            texts.append(f'"{entry}" is no regular expression that could be checked here.')
        elif where.kind == "topics" and _matches_replicas(where, entry, separator):
            texts.append(
                f'"{entry}" also matches replicas on "{where.source}". They are not copied, and their offsets do not '
                "go back: that takes the reverse_checkpointed_topics list."
            )
        elif where.is_reverse and not is_plain(entry) and not _begins_with(entry, where.target, separator):
            texts.append(f'"{entry}" does not begin with "{where.target}{separator}": only such names can go back.')
    return texts


def cover_of(entry: str, others: Iterable[str]) -> str | None:
    """The pattern among ``others`` that matches every name that ``entry`` matches, if that is certain."""
    if entry in _EVERYTHING:
        return None
    # The widest first: a narrower one may be left out itself, because it is covered.
    for other in sorted(others, key=lambda other: other not in _EVERYTHING):
        if other in _EVERYTHING or (is_plain(entry) and not is_plain(other) and _matches(other, entry)):
            return other
    return None


def guards_internal(denied: str) -> bool:
    """Whether an entry of a denylist keeps internal names out of the flow: never removed without being named."""
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
    """True for patterns such as ``.*Payments`` or ``P.*``; ``.*`` alone is how "everything" is said."""
    if entry.startswith(where.target) and _WILD_DOT.match(entry[len(where.target) :]):
        return True
    tail = _LEADING_WILDCARD.sub("", entry, count=1) if _LEADING_WILDCARD.match(entry) else ""
    return bool(tail) and is_plain(tail) and _matches(entry, f"{where.target}{separator}{tail}")


def _matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Java's dialect is wider: what Python does not understand is not judged."""
    try:
        return re.compile(pattern)
    except re.error:
        return None

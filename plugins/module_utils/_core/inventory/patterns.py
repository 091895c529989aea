# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of ``kafka_dr_topics`` and ``kafka_dr_groups`` with a pattern, replaced by entries with the names it took.

Everything below works with names only. The names are those that ``enable`` found and journaled. Before they are known,
a pattern takes the names that other variables mention, so that the inventory can be checked without a cluster.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..listing import first_few
from ..names import naming_of
from ..resources.name_patterns import NamePattern, expression_problem, group_candidates, topic_candidates
from ..schema import names, one_line

__all__ = ["KINDS", "entry_problems", "expand", "pattern_lines", "patterns_of"]

# Lists of the inventory whose entries may have a pattern.
KINDS = ("topics", "groups")
_ACCEPTED = ("accept_foreign_writers", "accept_tail", "accept_expired", "accept_newer_keys", "copy_again")
# Keys of an entry that only one of both forms has.
_OF_PATTERN = ("match", "exclude")
_SHOWN = 20

Entry = dict[str, Any]


def entry_problems(where: str, entry: Mapping[str, Any]) -> list[str]:
    """Problems of one entry, which has either a name or a pattern. ``where``: the entry, for the message."""
    if (entry["name"] is None) == (entry["match"] is None):
        return [f'{where} needs one of the keys "name" and "match".']
    if entry["match"] is None:
        return [f'{where} has the key "exclude", which only an entry with "match" has.'] if entry["exclude"] else []
    fixed = {"partitions": None, "mode": "moved"}
    problems = [
        f'{where} has the key "{key}", which only an entry with "name" has.'
        for key, usual in fixed.items()
        if entry.get(key, usual) != usual
    ]
    expressions = [("match", entry["match"]), *(("exclude", text) for text in entry["exclude"])]
    return problems + [
        f'{where}.{key} is "{one_line(text)}", {problem}.'
        for key, text in expressions
        if (problem := expression_problem(text))
    ]


def expand(pair: dict[str, Any], resolved: Mapping[str, Any] | None) -> list[str]:
    """Replace the patterns in ``pair`` (checked lists) by entries with names. Return the problems.

    ``resolved``: ``topics`` (partition counts by name), ``groups``, and ``listed`` (the alias on which they were
    listed; None: they are from the journal), as ``dr_pattern_info`` returns them. None: they are not known yet. Sets
    ``patterns`` to the entries with a pattern, ``unresolved`` if ``resolved`` is needed, and ``listed_on``.
    """
    pair["patterns"] = {kind: [entry for entry in pair[kind] if entry["match"] is not None] for kind in KINDS}
    uncounted = [entry for entry in pair["topics"] if entry["match"] is None and entry["partitions"] is None]
    pair["unresolved"] = resolved is None and bool(uncounted or any(pair["patterns"].values()))
    pair["listed_on"] = resolved and resolved["listed"]
    mentioned = {"topics": _mentioned_topics(pair), "groups": _mentioned_groups(pair)}
    known: Mapping[str, Any] = resolved or {"topics": {}, "groups": []}
    problems = []
    for kind in KINDS:
        explicit = [_without(entry, _OF_PATTERN) for entry in pair[kind] if entry["match"] is None]
        own = {entry["name"] for entry in explicit}
        by_name: dict[str, Entry] = {}
        for entry in pair["patterns"][kind]:
            pattern = NamePattern.of(entry)
            # Groups that an application declares belong to the pair before they exist.
            candidates = {*mentioned[kind], *known[kind]} if kind == "groups" else set(known[kind])
            candidates = set(mentioned[kind]) if resolved is None or _is_foreign(entry, pair) else candidates
            for name in sorted(candidates - own):
                if pattern.takes(name):
                    problems += _conflicts(kind, name, by_name.setdefault(name, entry), entry)
        pair[kind] = explicit + [{**_without(entry, _OF_PATTERN), "name": name} for name, entry in by_name.items()]
    for topic in pair["topics"]:
        if topic["partitions"] is None:
            count = known["topics"].get(topic["name"])
            topic["partitions"] = count or 1
            if count is None and resolved is not None and not _is_foreign(topic, pair):
                problems.append(_uncounted(topic["name"], resolved["listed"]))
    return problems


def _is_foreign(entry: Mapping[str, Any], pair: Mapping[str, Any]) -> bool:
    """Whether an entry belongs to another application than that of the run."""
    return entry.get("application") not in (None, pair["application"] or None)


def _conflicts(kind: str, name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    if _without(first, _OF_PATTERN) == _without(second, _OF_PATTERN):
        return []
    return [
        f'The patterns "{one_line(first["match"])}" and "{one_line(second["match"])}" of kafka_dr_{kind} both take'
        f' "{name}", with different settings. Exclude it from one of them, or give it an entry of its own.'
    ]


def _uncounted(name: str, listed: str | None) -> str:
    if listed is None:
        return f'The topic "{name}" declares no partitions, and it has not joined the pair. Run the playbook enable.'
    return f'The topic "{name}" declares no partitions, and it does not exist on {listed}. Add the key "partitions".'


def _without(entry: Mapping[str, Any], keys: Iterable[str]) -> Entry:
    return {key: value for key, value in entry.items() if key not in keys}


def _mentioned_topics(pair: Mapping[str, Any]) -> list[str]:
    """Names in other variables that may be originals; a replica is named by its original."""
    lists = [client[key] for client in pair["clients"] for key in ("topics", "outputs")]
    lists += [entry["topics"] for entry in pair["groups"]]
    mentioned = [name for listed in lists for name in listed or ()]
    mentioned += [name for key in _ACCEPTED for name in names(pair[key] or [])]
    mentioned += [name for name in pair["audit_accept"] or {} if isinstance(name, str)]
    naming = naming_of(pair["policy"], pair["separator"])
    for alias in () if naming.keeps_names else pair["clusters"]:
        prefix = naming.replica(alias, "")
        mentioned += [name.removeprefix(prefix) for name in mentioned if name.startswith(prefix)]
    return sorted(set(topic_candidates(mentioned, naming, pair["clusters"], pair["journal_topic"])))


def _mentioned_groups(pair: Mapping[str, Any]) -> list[str]:
    mentioned = [client["group"] for client in pair["clients"] if client["group"]]
    return sorted(set(group_candidates([*mentioned, *names(pair["accept_skips"] or [])])))


def patterns_of(pair: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The patterns by kind, for the option ``pair`` of modules. No pattern of groups takes a group that does not move.

    ``pair``: as ``derive_pair`` returns it.
    """
    local = [re.escape(name) for name in pair["local_groups"]]
    return {
        kind: [
            {"match": entry["match"], "exclude": [*entry["exclude"], *(local if kind == "groups" else ())]}
            for entry in pair["patterns"][kind]
        ]
        for kind in KINDS
    }


def pattern_lines(patterns: Mapping[str, Sequence[Entry]], taken: Mapping[str, Sequence[str]]) -> list[str]:
    """What each pattern has taken, as lines of a plan. ``taken``: topics and groups of the pair by kind."""
    lines = []
    for kind in KINDS:
        for entry in patterns[kind]:
            own = [name for name in taken[kind] if NamePattern.of(entry).takes(name)]
            lines.append(f'{kind} that match "{one_line(entry["match"])}": {first_few(own, _SHOWN) or "none"}')
    return lines

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No check is YES without its evidence: each piece of a healthy pair's facts is removed in turn.

Checks come from CHECKS and pieces from the fields of Facts, so a new check or field is covered. A check depends on a
piece if an unreadable value in its place makes the check fail or give another answer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from fnmatch import fnmatch
from functools import cache
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.facts import (
    Check,
    Facts,
    Judge,
    judge_readiness,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.verdict import UNKNOWN, Finding
from ansible_collections.switchback.kafka_dr.tests.unit.core.test_readiness import healthy

Path = tuple[Any, ...]
HEALTHY = healthy()
# Wanted values, and the reason why a value is None, are not observations.
WANTED = {"x", "y", "naming", "originals", "groups", "journal_topic", "engine", "limits", "unknown"}
# (check, path to the piece) -> why YES is right without it.
NOT_NEEDED = {
    ("journal", "away/*"): "a disaster has one copy of the journal; the answer names the copies",
    ("workers_*", "versions*"): "shown only; the check versions compares them",
    (
        "retention",
        "internal_topics/*/syncs",
    ): "MirrorMaker 2 makes its own topics later; a topic that is not there forgets nothing",
    ("journal_writable", "internal_topics/*/syncs"): "the same; nothing writes to a topic that is not there",
    ("unclean_elections", "internal_topics/*/syncs"): "the same",
    ("flow_lag", "expiring/*"): "one row for each partition that lacks something",
    ("flow_expiry", "expiring/*"): "one row for each partition that lacks something; flow_lag names an unknown age",
    ("unread_there", "offsets/*/skips/at_least"): "at most 0 decides",
    ("offsets_there", "offsets/*/existing"): "a group without a committed offset there is ahead of nothing",
    ("broker_limits", "broker_settings/?/?"): "each broker is asked, and without the answer of one all are unknown",
    ("group_scope", "committed_offsets/*"): "each row has the state of its group; out_of_scope decides about topics",
    ("*", "*/reason"): "words",
    ("presynced", "survey/ages/g"): "a group that would read nothing again has no age; its rows show it",
}


class Unreadable:
    """The replacement of a piece: every use of it fails, or is another answer."""

    def _fail(self, *_args: Any) -> Any:
        raise AssertionError("read")

    __iter__ = __len__ = __bool__ = __getitem__ = __contains__ = __eq__ = __hash__ = _fail  # type: ignore[assignment]
    __lt__ = __gt__ = __le__ = __ge__ = __int__ = __index__ = __str__ = __format__ = __getattr__ = _fail  # type: ignore[assignment]


def children(value: Any) -> list[Any]:
    """The keys of a mapping, the indexes of a sequence, or the fields of a dataclass."""
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list | tuple):
        return list(range(len(value)))
    return [field.name for field in fields(value)] if is_dataclass(value) and not isinstance(value, type) else []


def at(value: Any, key: Any) -> Any:
    return getattr(value, key) if is_dataclass(value) else value[key]


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    for key in children(value):
        if before or key not in WANTED:
            yield (*before, key)
            yield from paths(at(value, key), (*before, key))


def put(value: Any, path: Path, new: Any, drop: bool = False) -> Any:
    """A copy of ``value`` with ``new`` at ``path``, or without the value there."""
    key, rest = path[0], path[1:]
    if is_dataclass(value):
        return replace(value, **{key: put(at(value, key), rest, new, drop) if rest else new})  # type: ignore[type-var]
    made = list(value) if isinstance(value, tuple) else copy.copy(value)
    if rest:
        made[key] = put(value[key], rest, new, drop)
    elif drop:
        del made[key]
    else:
        made[key] = new
    return made


UNREADABLE = {path: put(HEALTHY, path, Unreadable()) for path in paths(HEALTHY)}


def default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def without(facts: Facts, path: Path) -> list[Facts]:
    """The ways in which a piece may be missing: never set, left out, or None if its type allows that."""
    parent: Any = facts
    for key in path[:-1]:
        parent = at(parent, key)
    if is_dataclass(parent):
        field = next(one for one in fields(parent) if one.name == path[-1])
        news = [default(field)] if len(path) == 1 and default(field) is not MISSING else []
        news += [None] if str(field.type).endswith("| None") else []
        return [put(facts, path, new) for new in news]
    return [put(facts, path, None, drop=True), put(facts, path, None)]


def rests_on(check: Check, unreadable: Facts) -> bool:
    before = check.judge(HEALTHY)
    try:
        return check.judge(unreadable) != before
    except Exception:
        return True


def shown(path: Path) -> str:
    return "/".join(map(str, path))


def not_needed(check: Check, path: Path) -> list[tuple[str, str]]:
    return [one for one in NOT_NEEDED if fnmatch(check.name, one[0]) and fnmatch(shown(path), one[1])]


def guarded(judge: Judge) -> Judge:
    """Wrap a check: if a piece of an invalid type makes it raise an exception, the answer is not YES."""

    def judged(facts: Facts) -> Finding:
        try:
            return judge(facts)
        except Exception as error:
            return Finding(UNKNOWN, repr(error))

    return judged


GUARDED = [replace(check, judge=guarded(check.judge)) for check in CHECKS]


def green(check: Check, path: Path) -> bool:
    """Return whether the check is YES although this piece is missing."""
    poorer = [one for one in without(HEALTHY, path) if one != HEALTHY]
    found = [judge_readiness(one, GUARDED)["checks"] for one in poorer]
    return any(row["name"] == check.name and row["answer"] == "YES" for rows in found for row in rows)


@cache
def pieces(name: str) -> list[Path]:
    """The pieces that a check depends on."""
    check = next(one for one in CHECKS if one.name == name)
    return [path for path, unreadable in UNREADABLE.items() if rests_on(check, unreadable)]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_no_check_says_yes_without_a_piece_of_its_evidence(check: Check) -> None:
    found = pieces(check.name)
    assert found, "no observation changes its answer"
    assert [shown(path) for path in found if not not_needed(check, path) and green(check, path)] == []


def test_every_listed_exception_is_needed() -> None:
    used = {
        one for check in CHECKS for path in pieces(check.name) for one in not_needed(check, path) if green(check, path)
    }
    assert set(NOT_NEEDED) - used == set()

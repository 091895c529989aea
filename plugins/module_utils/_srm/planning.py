# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list as it is and as it is wanted: what to send. Pure.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._core.changes import Change
from .._core.errors import DrError
from .entries import alias_problems, cover_of, form_problems, guards_internal, meaning
from .listing import FlowList, Listing

__all__ = ["FLAGS", "Plan", "Step", "Wish", "check_wish", "plan", "result_of"]

# In this order: what is denied is never allowed in between.
FLAGS = {
    ("denied", "add"): "--add-blacklist",
    ("allowed", "add"): "--add",
    ("allowed", "remove"): "--remove",
    ("denied", "remove"): "--remove-blacklist",
}
_WORDS = {"allowed": "allowlist", "denied": "denylist"}
_SUBJECTS = {"topics": "topics", "groups": "groups", "reverse_checkpointed_topics": "reverse checkpointed topics"}


@dataclass(frozen=True)
class Wish:
    """What a user declares about one list. ``entries`` or ``denied`` None: that half is left alone.

    ``state``: ``merge`` (at least these), ``exact`` (only these) or ``absent`` (none of these).
    """

    where: FlowList
    entries: tuple[str, ...] | None
    denied: tuple[str, ...] | None = None
    state: str = "merge"
    accept_covered: bool = False
    separator: str = "."


@dataclass(frozen=True)
class Step:
    """One entry to add to or remove from one half of a list."""

    half: str
    action: str
    entry: str

    def change(self, where: FlowList) -> Change:
        """The same for a result."""
        is_there = {"present": self.action == "remove"}
        name = f"{where.flow} {self.entry}"
        return Change(f"{_SUBJECTS[where.kind]} {_WORDS[self.half]}", name, self.action, is_there, _not(is_there))


@dataclass(frozen=True)
class Plan:
    """What is to be sent, which wanted entries a wider pattern matches, which denied ones stay unnamed."""

    steps: tuple[Step, ...]
    covered: dict[str, str]
    kept: tuple[str, ...] = ()


def check_wish(wish: Wish) -> None:
    """Refuse what cannot work, with every reason. Wrong entries may still be removed."""
    given = [*(wish.entries or ()), *(wish.denied or ())]
    problems = alias_problems(wish.where) + form_problems(given)
    if wish.entries is None and wish.denied is None:
        problems.append("Neither entries nor denied are given.")
    if not problems and wish.state != "absent":
        problems = meaning(wish.where, wish.entries or (), wish.separator)
        problems += [
            f'"{entry}" is wanted on the allowlist and on the denylist.'
            for entry in wish.entries or ()
            if entry in (wish.denied or ())
        ]
    if problems:
        raise DrError("srm_entries_invalid", " ".join(problems))


def plan(wish: Wish, seen: Listing | None) -> Plan:
    """The steps from ``seen`` to ``wish``; ``seen`` None: the list cannot be read, so everything is sent.

    Raises ``srm_list_unknown`` where that is not enough, ``srm_entry_denied`` where the denylist would win.
    """
    _check_known(wish, seen)
    listed = seen or _assumed(wish)
    allowed, denied = listed.allowed, listed.denied or ()
    if wish.state == "absent":
        return Plan((*_removals("allowed", allowed, wish.entries), *_removals("denied", denied, wish.denied)), {})
    covered = _covered(wish, allowed)
    skip = covered if wish.accept_covered else {}
    entries = None if wish.entries is None else tuple(entry for entry in wish.entries if entry not in skip)
    surplus = _surplus(wish, allowed, wish.entries)
    denied_surplus = _surplus(wish, denied, wish.denied)
    kept = tuple(entry for entry in denied_surplus if guards_internal(entry))
    steps = (
        *_additions("denied", denied, wish.denied),
        *_additions("allowed", allowed, entries),
        *_removals("allowed", allowed, surplus),
        *_removals("denied", denied, tuple(entry for entry in denied_surplus if entry not in kept)),
    )
    _check_not_denied(wish, result_of(Listing(allowed, denied), steps))
    return Plan(steps, covered, kept)


def result_of(seen: Listing, steps: tuple[Step, ...]) -> Listing:
    """The list as it would be after ``steps``."""

    def after(half: str, entries: tuple[str, ...]) -> tuple[str, ...]:
        gone = {step.entry for step in steps if (step.half, step.action) == (half, "remove")}
        new = [step.entry for step in steps if (step.half, step.action) == (half, "add")]
        return tuple(entry for entry in entries if entry not in gone) + tuple(new)

    denied = after("denied", seen.denied or ())
    return Listing(after("allowed", seen.allowed), denied if denied or seen.denied is not None else None)


def _assumed(wish: Wish) -> Listing:
    """A list from which everything asked for has to be sent."""
    return Listing(wish.entries or (), wish.denied or ()) if wish.state == "absent" else Listing((), ())


def _check_known(wish: Wish, seen: Listing | None) -> None:
    if seen is None and wish.state == "exact":
        missing = "the list itself"
    elif seen is not None and seen.denied is None and wish.denied is not None:
        missing = "a denylist"
    else:
        return
    raise DrError(
        "srm_list_unknown",
        f"Wanted the {wish.where} {wish.state}, but srm-control does not show {missing}.",
        "Use state merge without denied; it says verified: false where the list cannot be read.",
    )


def _check_not_denied(wish: Wish, after: Listing) -> None:
    clashes = [
        f'"{entry}" by "{rule}"'
        for entry in wish.entries or ()
        for rule in [_denial(entry, after.denied or ())]
        if rule is not None
    ]
    if clashes:
        raise DrError(
            "srm_entry_denied",
            f"The denylist of the {wish.where} wins over what is wanted there: {', '.join(clashes)}.",
            "Take that entry off the denylist (state absent with denied) if it is not meant.",
        )


def _denial(entry: str, denied: tuple[str, ...]) -> str | None:
    return entry if entry in denied else cover_of(entry, denied)


def _covered(wish: Wish, allowed: tuple[str, ...]) -> dict[str, str]:
    entries = wish.entries or ()
    others = entries if wish.state == "exact" else (*allowed, *entries)
    found = {entry: cover_of(entry, others) for entry in entries}
    return {entry: other for entry, other in found.items() if other is not None}


def _surplus(wish: Wish, found: tuple[str, ...], wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    if wanted is None or wish.state != "exact":
        return ()
    return tuple(entry for entry in found if entry not in wanted)


def _additions(half: str, found: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[Step]:
    return [Step(half, "add", entry) for entry in dict.fromkeys(wanted or ()) if entry not in found]


def _removals(half: str, found: tuple[str, ...], unwanted: tuple[str, ...] | None) -> list[Step]:
    return [Step(half, "remove", entry) for entry in dict.fromkeys(unwanted or ()) if entry in found]


def _not(present: dict[str, bool]) -> dict[str, bool]:
    return {key: not value for key, value in present.items()}

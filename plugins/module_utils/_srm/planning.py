# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the changes that bring a list to its desired state.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._core.changes import Change
from .._core.errors import DrError
from .entries import alias_problems, cover_of, form_problems, guards_internal, meaning
from .listing import FlowList, Listing

__all__ = ["FLAGS", "DesiredLists", "Plan", "Step", "check_desired", "plan", "result_of"]

# In this order, so that a denied name is never allowed in between.
FLAGS = {
    ("denied", "add"): "--add-blacklist",
    ("allowed", "add"): "--add",
    ("allowed", "remove"): "--remove",
    ("denied", "remove"): "--remove-blacklist",
}
_WORDS = {"allowed": "allowlist", "denied": "denylist"}
_SUBJECTS = {"topics": "topics", "groups": "groups", "reverse_checkpointed_topics": "reverse checkpointed topics"}


@dataclass(frozen=True)
class DesiredLists:
    """The declaration of one list."""

    where: FlowList
    #: Entries of the allowlist. None: do not change the allowlist.
    entries: tuple[str, ...] | None
    #: Entries of the denylist. None: do not change the denylist.
    denied: tuple[str, ...] | None = None
    #: ``merge`` (at least these entries), ``exact`` (only these) or ``absent`` (none of these).
    state: str = "merge"
    #: True: do not add an entry that a wider entry already matches.
    accept_covered: bool = False
    separator: str = "."


@dataclass(frozen=True)
class Step:
    """One entry to add to or remove from one half of a list."""

    half: str
    action: str
    entry: str

    def change(self, where: FlowList) -> Change:
        """The change for a result."""
        is_there = {"present": self.action == "remove"}
        name = f"{where.flow} {self.entry}"
        return Change(f"{_SUBJECTS[where.kind]} {_WORDS[self.half]}", name, self.action, is_there, _not(is_there))


@dataclass(frozen=True)
class Plan:
    """The changes of one list."""

    steps: tuple[Step, ...]
    #: Wanted entries that a wider entry already matches, with that entry.
    covered: dict[str, str]
    #: Entries of the denylist that are not declared but stay, because they exclude internal names.
    kept: tuple[str, ...] = ()


def check_desired(desired: DesiredLists) -> None:
    """Raise ``srm_entries_invalid`` with all reasons if a declaration cannot work. Wrong entries may be removed."""
    given = [*(desired.entries or ()), *(desired.denied or ())]
    problems = alias_problems(desired.where) + form_problems(given)
    if desired.entries is None and desired.denied is None:
        problems.append("Neither entries nor denied is given; wanted at least one of them.")
    if not problems and desired.state != "absent":
        problems = meaning(desired.where, desired.entries or (), desired.separator)
        problems += [
            f'"{entry}" is declared both for the allowlist and for the denylist.'
            for entry in desired.entries or ()
            if entry in (desired.denied or ())
        ]
    if problems:
        raise DrError("srm_entries_invalid", " ".join(problems))


def plan(desired: DesiredLists, seen: Listing | None) -> Plan:
    """Return the steps from the list ``seen`` to the desired one. ``seen`` None: unreadable, so send every entry.

    Raises ``srm_list_unknown`` if the desired state needs the current list, and ``srm_entry_denied`` if the denylist
    would override a wanted entry.
    """
    _check_known(desired, seen)
    listed = seen or _assumed(desired)
    allowed, denied = listed.allowed, listed.denied or ()
    if desired.state == "absent":
        return Plan((*_removals("allowed", allowed, desired.entries), *_removals("denied", denied, desired.denied)), {})
    covered = _covered(desired, allowed)
    skip = covered if desired.accept_covered else {}
    entries = None if desired.entries is None else tuple(entry for entry in desired.entries if entry not in skip)
    surplus = _surplus(desired, allowed, desired.entries)
    denied_surplus = _surplus(desired, denied, desired.denied)
    kept = tuple(entry for entry in denied_surplus if guards_internal(entry))
    steps = (
        *_additions("denied", denied, desired.denied),
        *_additions("allowed", allowed, entries),
        *_removals("allowed", allowed, surplus),
        *_removals("denied", denied, tuple(entry for entry in denied_surplus if entry not in kept)),
    )
    _check_not_denied(desired, result_of(Listing(allowed, denied), steps))
    return Plan(steps, covered, kept)


def result_of(seen: Listing, steps: tuple[Step, ...]) -> Listing:
    """Return the list that results from ``steps``."""

    def after(half: str, entries: tuple[str, ...]) -> tuple[str, ...]:
        gone = {step.entry for step in steps if (step.half, step.action) == (half, "remove")}
        new = [step.entry for step in steps if (step.half, step.action) == (half, "add")]
        return tuple(entry for entry in entries if entry not in gone) + tuple(new)

    denied = after("denied", seen.denied or ())
    return Listing(after("allowed", seen.allowed), denied if denied or seen.denied is not None else None)


def _assumed(desired: DesiredLists) -> Listing:
    """A list that makes the plan send every declared entry."""
    return Listing(desired.entries or (), desired.denied or ()) if desired.state == "absent" else Listing((), ())


def _check_known(desired: DesiredLists, seen: Listing | None) -> None:
    if seen is None and desired.state == "exact":
        missing = "the list itself"
    elif seen is not None and seen.denied is None and desired.denied is not None:
        missing = "a denylist"
    else:
        return
    raise DrError(
        "srm_list_unknown",
        f"The state {desired.state} of the {desired.where} needs {missing}, which srm-control does not print.",
        "Use the state merge without denied. It returns verified: false if the list cannot be read.",
    )


def _check_not_denied(desired: DesiredLists, after: Listing) -> None:
    clashes = [
        f'"{entry}" by "{rule}"'
        for entry in desired.entries or ()
        for rule in [_denial(entry, after.denied or ())]
        if rule is not None
    ]
    if clashes:
        raise DrError(
            "srm_entry_denied",
            f"The denylist of the {desired.where} overrides wanted entries: {', '.join(clashes)}.",
            "If this is not intended, remove that entry from the denylist: state absent with denied.",
        )


def _denial(entry: str, denied: tuple[str, ...]) -> str | None:
    return entry if entry in denied else cover_of(entry, denied)


def _covered(desired: DesiredLists, allowed: tuple[str, ...]) -> dict[str, str]:
    entries = desired.entries or ()
    others = entries if desired.state == "exact" else (*allowed, *entries)
    found = {entry: cover_of(entry, others) for entry in entries}
    return {entry: other for entry, other in found.items() if other is not None}


def _surplus(desired: DesiredLists, found: tuple[str, ...], wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    if wanted is None or desired.state != "exact":
        return ()
    return tuple(entry for entry in found if entry not in wanted)


def _additions(half: str, found: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[Step]:
    return [Step(half, "add", entry) for entry in dict.fromkeys(wanted or ()) if entry not in found]


def _removals(half: str, found: tuple[str, ...], unwanted: tuple[str, ...] | None) -> list[Step]:
    return [Step(half, "remove", entry) for entry in dict.fromkeys(unwanted or ()) if entry in found]


def _not(present: dict[str, bool]) -> dict[str, bool]:
    return {key: not value for key, value in present.items()}

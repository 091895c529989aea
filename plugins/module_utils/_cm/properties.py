# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which property is meant, and whether it is as wanted. Pure; what is secret never reaches a change.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._core.changes import Change
from .._core.errors import DrError
from .._core.security import is_secret
from .replication_config import Edit, edit, meaning, parse
from .shapes import Property

__all__ = ["Write", "find", "plan_lines", "plan_value", "same", "shown", "shown_lines", "unknown", "value_text"]

KIND = "property"
HIDDEN = "(secret)"
_WRITTEN = "(secret, written)"
# The one property whose text is a list of lines; its API name, then its name in the UI.
# Comma lists in which blanks do not count.
_LISTS = ("clusters", "external_kafka_accounts")


@dataclass(frozen=True)
class Write:
    """One property to write. ``value`` None resets it; ``change`` is what may be shown of it."""

    property: Property
    value: str | None
    change: Change
    edit: Edit | None = None

    def taken(self, now: Property | None) -> bool:
        """Whether a property, read again, has what was written. Of a secret only that it is set can be known."""
        if now is None:
            return False
        if now.hidden:
            return (now.value is None) == (self.value is None)
        if self.edit is not None:
            lines = parse(now.effective or "")
            return all(meaning(lines.get(key)) == meaning(value) for key, value in self.edit.after.items())
        wanted = now.default if self.value is None else self.value
        return same(now.name, wanted, now.effective)


def find(asked: str, properties: Sequence[Property]) -> list[Property]:
    """Properties of one level that ``asked`` names: by API name, else the project's own key, else UI name."""
    folded = _folded(asked)
    for matches in (
        [one for one in properties if one.name == asked],
        [one for one in properties if one.related and one.related == asked],
        [one for one in properties if one.display and _folded(one.display) == folded],
    ):
        if matches:
            return matches
    return []


def unknown(asked: str, levels: Sequence[str], properties: Sequence[Property], runtime: str, endpoint: str) -> DrError:
    """What to say about a property that is nowhere."""
    where = ", ".join(dict.fromkeys(levels))
    folded = _folded(asked)
    if "reverse" in folded and "checkpoint" in folded:
        found = (
            f"the cluster runs {runtime}" if runtime else "Cloudera Manager does not tell the version of the cluster"
        )
        return DrError(
            "cm_property_unknown",
            f'There is no property "{asked}" ({where}). Reverse checkpointing needs Runtime 7.3.2; {found}.',
            "Upgrade the cluster, or go without reverse checkpointing.",
            endpoint,
        )
    names = {_folded(name): name for one in properties for name in (one.name, one.display) if name}
    near = [names[name] for name in difflib.get_close_matches(folded, names, n=3, cutoff=0.5)]
    hint = f"Near names: {', '.join(near)}." if near else "cm_config_info lists the properties that there are."
    return DrError("cm_property_unknown", f'There is no property "{asked}" ({where}).', hint, endpoint)


def same(name: str, wanted: str | None, found: str | None) -> bool:
    """Whether two values mean the same to Cloudera Manager; an empty one is none."""
    if name in _LISTS:
        return _items(wanted) == _items(found)
    return (meaning(wanted) or None) == (meaning(found) or None)


def value_text(asked: str, value: Any) -> str | None:
    """A user's value as Cloudera Manager stores it; None stays None."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return ",".join(str(item).strip() for item in value)
    if isinstance(value, Mapping):
        hint = "Give text, a number, true, false or null; lines of a text belong into the option lines."
        raise DrError("cm_value_invalid", f'The value of "{asked}" is a dictionary.', hint)
    return ("true" if value else "false") if isinstance(value, bool) else str(value).strip()


def plan_value(found: Property, wanted: str | None, update_secrets: str) -> Write | None:
    """What to write so that a property has a value; None: it has."""
    if found.hidden:
        if found.value is None and wanted is None:
            return None
        if found.value is not None and wanted is not None and update_secrets != "always":
            return None
        change = _change(found, "reset" if wanted is None else "update", {"value": found.value}, {"value": wanted})
        return Write(found, wanted, change)
    if same(found.name, found.default if wanted is None else wanted, found.effective):
        return None
    action = "reset" if wanted is None else "update"
    after = found.default if wanted is None else wanted
    return Write(found, wanted, _change(found, action, {"value": found.effective}, {"value": after}))


def plan_lines(found: Property, wanted: Mapping[str, str | None]) -> Write | None:
    """What to write so that a property has these lines; None: it has."""
    if found.hidden:
        raise DrError(
            "cm_value_hidden",
            f'Cloudera Manager hides the value of "{found.name}" from this account, so its lines cannot be kept.',
            "Use an account that may see it.",
        )
    text = found.effective or ""
    made = edit(text, wanted)
    if not made.changed:
        return None
    value = made.text or (None if not found.default else "")
    return Write(found, value, _change(found, "update", made.before, made.after), made)


def shown(found: Property, value: str | None) -> str | None:
    """A value of a property as it may be shown."""
    if value is None:
        return None
    if found.hidden or is_secret(found.name):
        return HIDDEN
    secret = [key for key in parse(value) if is_secret(key)] if "=" in value else []
    return edit(value, dict.fromkeys(secret, HIDDEN)).text if secret else value


def shown_lines(found: Property) -> dict[str, str | None]:
    """The lines of a text property by key, secrets hidden."""
    return _masked(parse(found.effective or ""))


def _masked(lines: Mapping[str, str | None]) -> dict[str, str | None]:
    return {key: HIDDEN if value and is_secret(key) else value for key, value in lines.items()}


def _change(found: Property, action: str, before: Mapping[str, str | None], after: Mapping[str, str | None]) -> Change:
    everything = found.hidden or is_secret(found.name)
    hidden = [key for key in after if everything or is_secret(key)]
    first, then = dict(before), dict(after)
    for key in hidden:
        first[key] = first[key] and HIDDEN
        then[key] = then[key] and (_WRITTEN if first[key] else HIDDEN)
    name = found.name if found.group is None else f"{found.group}/{found.name}"
    return Change(KIND, name, action, first, then)


def _items(text: str | None) -> list[str]:
    return [item.strip() for item in (text or "").split(",") if item.strip()]


def _folded(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split()).casefold()

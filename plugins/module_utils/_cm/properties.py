# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a property by name, and plan its change. Secret values never become part of a change that is shown.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._core.changes import Change
from .._core.errors import DrError
from .._core.redaction import is_secret, looks_secret, without_forms
from .._core.redaction import shown as masked_value
from .replication_config import Edit, edit, meaning, parse
from .shapes import Property

__all__ = ["Write", "find", "plan_lines", "plan_value", "same", "shown", "shown_lines", "unknown", "value_text"]

KIND = "property"
HIDDEN = "(secret)"
_WRITTEN = "(secret, written)"
# Properties with comma-separated lists, in which blanks do not count.
_LISTS = ("clusters", "external_kafka_accounts")


@dataclass(frozen=True)
class Write:
    """A property to write."""

    property: Property
    #: The whole value to write. None resets the property to its default.
    value: str | None
    #: The change to show to the user, with secrets masked.
    change: Change
    #: The edit of the lines, if only some lines of the property change.
    edit: Edit | None = None

    def taken(self, now: Property | None) -> bool:
        """Whether the property that was read back has the written value. For a secret: whether it is set."""
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
    """Return the properties of one level with this API name, else this ``relatedName``, else this name in the UI."""
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
    """Return the error for a property that no level has. ``runtime``: Runtime version, "" if unknown."""
    where = ", ".join(dict.fromkeys(levels))
    folded = _folded(asked)
    if "reverse" in folded and "checkpoint" in folded:
        runtime_text = (
            f"the cluster runs {runtime}" if runtime else "Cloudera Manager does not report the cluster's version"
        )
        return DrError(
            "cm_property_unknown",
            f'There is no property "{asked}" ({where}). Reverse checkpointing needs Runtime 7.3.2; {runtime_text}.',
            'Upgrade the cluster, or set reverse_checkpointing to "off" in kafka_dr_srm.',
            endpoint,
        )
    names = {_folded(name): name for one in properties for name in (one.name, one.display) if name}
    near = [names[name] for name in difflib.get_close_matches(folded, names, n=3, cutoff=0.5)]
    hint = f"Similar names: {', '.join(near)}." if near else "The module cm_config_info lists all properties."
    return DrError("cm_property_unknown", f'There is no property "{asked}" ({where}).', hint, endpoint)


def same(name: str, wanted: str | None, found: str | None) -> bool:
    """Whether two values mean the same to Cloudera Manager. An empty value equals None."""
    if name in _LISTS:
        return _items(wanted) == _items(found)
    return (meaning(wanted) or None) == (meaning(found) or None)


def value_text(asked: str, value: Any) -> str | None:
    """Convert a user's value to the text that Cloudera Manager stores. None stays None."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return ",".join(str(item).strip() for item in value)
    if isinstance(value, Mapping):
        hint = "Use text, a number, true, false or null. To set single lines, use the option lines."
        raise DrError("cm_value_invalid", f'The value of "{asked}" is a dictionary, wanted a single value.', hint)
    return ("true" if value else "false") if isinstance(value, bool) else str(value).strip()


def plan_value(current: Property, wanted: str | None, update_secrets: str) -> Write | None:
    """Return the write that sets a property to a value. None: it already has this value.

    ``update_secrets``: ``always`` also writes a secret that is set, because its value cannot be compared.
    """
    if current.hidden:
        if current.value is None and wanted is None:
            return None
        if current.value is not None and wanted is not None and update_secrets != "always":
            return None
        change = _change(current, "reset" if wanted is None else "update", {"value": current.value}, {"value": wanted})
        return Write(current, wanted, change)
    if same(current.name, current.default if wanted is None else wanted, current.effective):
        return None
    action = "reset" if wanted is None else "update"
    after = current.default if wanted is None else wanted
    return Write(current, wanted, _change(current, action, {"value": current.effective}, {"value": after}))


def plan_lines(current: Property, wanted: Mapping[str, str | None]) -> Write | None:
    """Return the write that sets these lines of a property. None: it already has them."""
    if current.hidden:
        raise DrError(
            "cm_value_hidden",
            f'Cloudera Manager hides the value of "{current.name}" from this account, so a change would lose lines.',
            "Use an account that may read it.",
        )
    text = current.effective or ""
    made = edit(text, wanted)
    if not made.changed:
        return None
    value = made.text or (None if not current.default else "")
    return Write(current, value, _change(current, "update", made.before, made.after), made)


def shown(current: Property, value: str | None) -> str | None:
    """Return a value of a property with secrets masked."""
    if value is None:
        return None
    if current.hidden or is_secret(current.name):
        return HIDDEN
    lines = parse(value) if "=" in value else {}
    secret = [key for key, line in lines.items() if is_secret(key) or looks_secret(line)]
    return without_forms(edit(value, dict.fromkeys(secret, HIDDEN)).text if secret else value)


def shown_lines(current: Property) -> dict[str, str | None]:
    """Return the lines of a property by key, with secrets masked."""
    return _masked(parse(current.effective or ""))


def _masked(lines: Mapping[str, str | None]) -> dict[str, str | None]:
    return {key: masked_value(key, value, HIDDEN) for key, value in lines.items()}


def _change(
    current: Property, action: str, before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> Change:
    everything = current.hidden or is_secret(current.name)
    values = {key: (before.get(key), after[key]) for key in after}
    hidden = [key for key in after if everything or is_secret(key) or any(map(looks_secret, values[key]))]
    first, then = dict(before), dict(after)
    for key in hidden:
        first[key] = first[key] and HIDDEN
        then[key] = then[key] and (_WRITTEN if first[key] else HIDDEN)
    name = current.name if current.group is None else f"{current.group}/{current.name}"
    return Change(KIND, name, action, first, then)


def _items(text: str | None) -> list[str]:
    return [item.strip() for item in (text or "").split(",") if item.strip()]


def _folded(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split()).casefold()

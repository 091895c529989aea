# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A draft inventory: variables with comments and open questions, and its text.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .yaml_text import comment, flow, remark

__all__ = ["Draft", "Item", "Section"]


@dataclass(frozen=True)
class Item:
    """One item of a list or a mapping, on a line of its own."""

    value: Any
    #: Key of a mapping. "": an item of a list.
    key: str = ""
    #: Comment at the end of the line.
    note: str = ""
    #: Questions for a human, on lines before the item.
    todos: tuple[str, ...] = ()
    #: False: the line is a comment that a human may turn into an item.
    active: bool = True

    def lines(self) -> Iterator[str]:
        """Its lines of YAML."""
        for todo in self.todos:
            yield from comment(f"TODO: {todo}", "  ")
        name = f"{flow(self.key)}: " if self.key else "- "
        yield f"  {'' if self.active else '# '}{name}{flow(self.value)}{remark(self.note)}"


@dataclass(frozen=True)
class Section:
    """One variable of the inventory, or only comments."""

    #: Without the prefix ``kafka_dr_``. "": only comments.
    variable: str = ""
    #: The value of a variable without items.
    value: Any = None
    items: tuple[Item, ...] = ()
    comments: tuple[str, ...] = ()
    #: Questions for a human, on lines before the variable.
    todos: tuple[str, ...] = ()
    #: Comments after the last item.
    after: tuple[str, ...] = ()

    @property
    def active(self) -> Any:
        """The value of the variable, as Ansible reads it. None: the variable has no value."""
        items = [item for item in self.items if item.active]
        if not self.items:
            return self.value
        if not items:
            return None
        return {item.key: item.value for item in items} if items[0].key else [item.value for item in items]

    def lines(self) -> Iterator[str]:
        """Its lines of YAML."""
        for text in self.comments:
            yield from comment(text)
        for todo in self.todos:
            yield from comment(f"TODO: {todo}")
        if self.variable:
            value = "" if self.items else f" {flow(self.value)}"
            yield f"kafka_dr_{self.variable}:{value}"
        for item in self.items:
            yield from item.lines()
        for text in self.after:
            yield from comment(text, "  ")


@dataclass(frozen=True)
class Draft:
    """The whole draft."""

    sections: tuple[Section, ...]

    def variables(self) -> dict[str, Any]:
        """The variables that it sets, without the prefix ``kafka_dr_``."""
        return {section.variable: section.active for section in self.sections if section.variable}

    def todos(self) -> list[str]:
        """Every question that a human must answer."""
        return [
            todo
            for section in self.sections
            for todo in (*section.todos, *(todo for item in section.items for todo in item.todos))
        ]

    def text(self) -> str:
        """The draft as YAML that Ansible reads."""
        blocks = ["\n".join(section.lines()) for section in self.sections]
        return "---\n" + "\n\n".join(block for block in blocks if block) + "\n"

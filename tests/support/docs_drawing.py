# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inline SVG for the documentation: elements with classes only, whose colours are in ``docs/site.css``."""

from __future__ import annotations

from html import escape

__all__ = ["OTHER", "WIDTH", "Drawing"]

#: A phone in upright position.
WIDTH = 360
OTHER = {"P": "B", "B": "P"}


class Drawing:
    """Collects elements; ``turned`` exchanges the names of the two sides, for a move toward home."""

    def __init__(self, name: str, turned: bool = False) -> None:
        self.name, self.turned, self.parts = name, turned, list[str]()

    def side(self, text: str) -> str:
        return "".join(OTHER.get(letter, letter) for letter in text) if self.turned else text

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, round_by: float = 0) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_by:g}" class="{kind}"/>'
        )

    def line(self, points: list[tuple[float, float]], kind: str, arrow: bool = False) -> None:
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        end = f' marker-end="url(#{self.name}-tip)"' if arrow else ""
        self.parts.append(f'<polyline points="{way}" class="{kind}"{end}/>')

    def fill(self, kind: str, x: float, y: float, width: float, height: float) -> None:
        """A piece of a topic's lane: solid, striped, crossed, or a mere line where nothing comes in."""
        if not kind:
            self.line([(x + width / 2, y), (x + width / 2, y + height)], "still")
        elif kind == "written":
            self.box(x, y, width, height, "written")
        else:
            self.parts.append(
                f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}" '
                f'fill="url(#{self.name}-{kind})"/>'
            )

    def diamond(self, x: float, y: float) -> None:
        self.parts.append(f'<path d="M{x:g} {y - 6:g}l6 6l-6 6l-6 -6z" class="committed_offsets"/>')

    def svg(self, height: float, title: str) -> str:
        """One line for each element and no blank one: Markdown leaves such a block alone."""
        patterns = (
            f'<pattern id="{self.name}-copied" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="3" height="6" class="stripe"/></pattern>'
            f'<pattern id="{self.name}-lost" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(-45)"><rect width="1" height="6" class="hatch"/></pattern>'
            f'<marker id="{self.name}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0l8 4l-8 4z" class="tip"/></marker>'
        )
        return "\n".join(
            [
                f'<figure class="kd"><svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">',
                f"<title>{escape(title)}</title><defs>{patterns}</defs>",
                *self.parts,
                "</svg></figure>",
            ]
        )

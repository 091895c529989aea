# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SVG files for the documentation. Each file carries its own colours, for a light and for a dark scheme.

A file draws its own background, so its text stays readable even if the page around it uses the other scheme.
"""

from __future__ import annotations

from html import escape

__all__ = ["OTHER", "WIDTH", "Drawing"]

#: Units of a drawing, about the width of a phone. A page shows the drawing up to a third larger.
WIDTH = 360
SHOWN = 480
STYLE = """
svg { --back: #ffffff; --text: #1f2933; --p: #2b6cb0; --b: #b04f14; --in: #2f855a; --bad: #c53030; }
@media (prefers-color-scheme: dark) {
  svg { --back: #1c2128; --text: #e6e8eb; --p: #63a4e8; --b: #f0a05a; --in: #5fc08e; --bad: #fc7c7c; }
}
.back { fill: var(--back); }
text { fill: var(--text); font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
text.head { font-weight: 600; }
text.lane, text.phase { font: 10.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
tspan { font-weight: 600; }
.proven { fill: var(--in); }
.unknown { fill: var(--b); }
.refuted { fill: var(--bad); }
text.inside { fill: var(--back); font-weight: 600; }
.band { fill: var(--text); opacity: .05; }
.on-p { fill: var(--p); }
.on-b { fill: var(--b); }
.written, .stripe { fill: var(--in); }
.replicated { stroke: var(--in); stroke-width: .8; }
.hatch { fill: var(--text); opacity: .6; }
.lost { opacity: .6; }
.read { fill: var(--text); opacity: .75; }
.committed_offsets { fill: var(--back); stroke: var(--text); stroke-width: 1.6; }
polyline { fill: none; }
.still { stroke: var(--text); opacity: .4; stroke-width: 1.2; }
.no-return { stroke: var(--bad); stroke-width: 1.6; stroke-dasharray: 5 3; }
.cluster { fill: none; stroke-width: 1.5; }
.of-p { stroke: var(--p); }
.of-b { stroke: var(--b); }
.topic { fill: none; stroke: var(--text); stroke-opacity: .7; }
.flow { stroke: var(--text); stroke-width: 1.5; }
.off { opacity: .45; stroke-dasharray: 3 3; }
.tip { fill: var(--text); }
""".strip()
LICENSE = """<!-- Copyright (c) 2026 switchback.kafka_dr contributors
GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
Drawn by tests/support/docs_diagrams.py: change that, then run "make diagrams". -->"""
OTHER = {"P": "B", "B": "P"}


class Drawing:
    """Collects elements. ``turned`` exchanges the names of the two clusters, for a failback."""

    def __init__(self, name: str, turned: bool = False, width: float = WIDTH) -> None:
        self.name, self.turned, self.width, self.parts = name, turned, width, list[str]()

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
        """Draw a piece of a topic's lane: solid, striped, hatched, or a thin line if no record arrives."""
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
        """Return the file: one element on each line."""
        patterns = (
            f'<pattern id="{self.name}-replicated" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="3" height="6" class="stripe"/></pattern>'
            f'<pattern id="{self.name}-lost" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(-45)"><rect width="1" height="6" class="hatch"/></pattern>'
            f'<marker id="{self.name}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0l8 4l-8 4z" class="tip"/></marker>'
        )
        shown = max(SHOWN, self.width)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{shown:g}" height="{height * shown / self.width:.0f}" '
                f'viewBox="0 0 {self.width:g} {height:g}" role="img" aria-label="{escape(title)}">',
                LICENSE,
                f"<title>{escape(title)}</title>",
                f"<style>\n{STYLE}\n</style>",
                f"<defs>{patterns}</defs>",
                f'<rect x="0" y="0" width="{self.width:g}" height="{height:g}" rx="6" class="back"/>',
                *self.parts,
                "</svg>\n",
            ]
        )

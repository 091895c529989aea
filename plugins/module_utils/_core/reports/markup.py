# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of an HTML page. Every value that is not `Html` is escaped, and None is shown as "not known".

Private to this collection: may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

__all__ = [
    "Html",
    "at",
    "badge",
    "bullets",
    "checks_table",
    "duration",
    "figure",
    "instant",
    "loss_table",
    "part",
    "rows",
    "section",
    "shown",
    "table",
    "tag",
    "texts",
    "whole",
    "whole_page",
]

# Restricts the browser to showing the page, even if a hostile value got through.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_GOOD, _BAD, _OPEN = ("PROVEN", "YES"), ("REFUTED", "NO"), ("UNKNOWN",)
# Offsets and all other counts and measures are smaller.
_MOST = 2**63
# HTML cannot represent these.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --faint: #59636e; --line: #d1d9e0; --wash: #f6f8fa;
  --good: #1a7f37; --bad: #c62828; --open: #9a6700; --calm: #0969da; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9198a1; --line: #3d444d;
  --wash: #161b22; --good: #2ea043; --bad: #e5534b; --open: #bb8009; --calm: #4493f8; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 68rem; padding: 1rem; overflow-wrap: anywhere; print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; }
p { margin: .25rem 0; }
ul { margin: .25rem 0; padding-left: 1.2rem; }
code { font-size: .9em; }
.faint { color: var(--faint); }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; border: 1px solid var(--faint);
  color: var(--faint); font-weight: 600; font-size: .8rem; white-space: nowrap; }
.badge.good, .badge.bad, .badge.open { color: #fff; border-color: transparent; }
.badge.good { background: var(--good); }
.badge.bad { background: var(--bad); }
.badge.open { background: var(--open); }
.card { border: 1px solid var(--line); border-left: .3rem solid var(--faint); padding: .4rem .8rem; margin: .5rem 0;
  break-inside: avoid; }
.card.bad { border-left-color: var(--bad); }
.card.open { border-left-color: var(--open); }
.scroll { overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: normal; }
td:last-child:not(.n) { overflow-wrap: anywhere; min-width: 10rem; }
th { background: var(--wash); }
tr { break-inside: avoid; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
.bars { display: grid; grid-template-columns: 9rem minmax(6rem, 1fr) minmax(8rem, 18rem); gap: .25rem .6rem;
  font-size: .9rem; align-items: center; }
.track { background: var(--wash); height: 1rem; min-width: 4rem; }
.bar { height: 100%; min-width: 2px; background: var(--calm); }
.bar.still { background: var(--bad); }
.bar.some { background: var(--open); }
svg { display: block; width: 100%; height: auto; background: var(--wash); border: 1px solid var(--line); }
@media (max-width: 40rem) { body { padding: .5rem; } .bars { grid-template-columns: 1fr; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } }
"""


class Html(str):
    """Markup that is written without escapes."""


def shown(value: object) -> Html:
    """Any value as markup. None is shown as "not known", never as 0 or as empty text."""
    if isinstance(value, Html):
        return value
    if value is None:
        return Html('<span class="faint">not known</span>')
    return Html(escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(value))))


def tag(name: str, *children: object, **attributes: object) -> Html:
    """An element. ``class_`` stands for ``class``, ``view_box`` for SVG's ``viewBox``; None: no attribute."""
    pairs = {_attribute(key): value for key, value in attributes.items() if value is not None}
    head = "".join(f' {key}="{shown(value)}"' for key, value in pairs.items())
    return Html(f"<{name}{head}>{''.join(shown(child) for child in children)}</{name}>")


def _attribute(key: str) -> str:
    return "viewBox" if key == "view_box" else key.rstrip("_").replace("_", "-")


def badge(word: object) -> Html:
    """A verdict or an answer, coloured. Other words have no colour."""
    return tag("span", word, class_=f"badge {tone(word)}".rstrip())


def tone(word: object) -> str:
    """The class for a verdict or an answer."""
    for words, name in ((_GOOD, "good"), (_BAD, "bad"), (_OPEN, "open")):
        if word in words:
            return name
    return ""


def section(title: object, *content: object) -> Html:
    """A titled part of the page; empty without content."""
    inside = [one for one in content if one != ""]
    return Html("\n".join([tag("h2", title), *(shown(one) for one in inside)])) if inside else Html("")


def bullets(items: Iterable[object]) -> Html:
    """A list; empty without items."""
    lines = [tag("li", item) for item in items]
    return tag("ul", *lines) if lines else Html("")


def table(heads: Sequence[str], lines: Iterable[Sequence[object]], numbers: Iterable[int] = ()) -> Html:
    """A table; empty without lines. ``numbers``: columns that are aligned to the right."""
    right = set(numbers)

    def cells(name: str, line: Sequence[object]) -> Html:
        return tag("tr", *(tag(name, one, class_="n" if place in right else None) for place, one in enumerate(line)))

    body = [cells("td", line) for line in lines]
    if not body:
        return Html("")
    head = tag("thead", cells("th", heads))
    return tag("div", tag("table", head, tag("tbody", *body)), class_="scroll")


def whole_page(title: str, *content: object) -> str:
    """The document, in ASCII, so that no file encoding can spoil it."""
    inside = "\n".join(shown(one) for one in content if one != "")
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"{tag('title', title)}<style>{STYLE}</style></head><body>\n{inside}\n</body></html>\n"
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


# ---- values of a report, which may lack anything --------------------------------------------------------------------


def part(value: object) -> Mapping[str, Any]:
    """``value`` if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> list[Mapping[str, Any]]:
    """The mappings of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def texts(value: object) -> list[str]:
    """The members of a list as texts."""
    return [str(one) for one in value if one is not None] if isinstance(value, list | tuple) else []


def figure(value: object) -> float | None:
    """``value`` as a number; None if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MOST:
        return None
    return float(value)


def whole(value: object) -> str | None:
    """A count with separators for thousands."""
    number = figure(value)
    return None if number is None else f"{number:,.0f}"


def duration(value: object) -> str | None:
    """Seconds as readable text."""
    number = figure(value)
    if number is None:
        return None
    if number < 120:
        return f"{number:.1f} s"
    minutes, seconds = divmod(round(number), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"


def instant(value: object) -> datetime | None:
    """A time in a report. It is UTC unless it names another time zone."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    if not 1970 <= found.year < 3000:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def at(value: object) -> object:
    """A time as readable text; any other value is returned unchanged."""
    moment = instant(value)
    return value if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def checks_table(value: object) -> Html:
    """Verdict, name and reason of each check of a report."""
    lines = [[badge(row.get("verdict")), row.get("name"), row.get("reason")] for row in rows(value)]
    return table(["verdict", "check", "reason"], lines)


def loss_table(value: object) -> Html:
    """What a disaster loses: a range, of which only the lost cluster knows the upper bound."""
    loss = part(value)
    lines: list[list[object]] = [
        ["offsets that were acknowledged and are not replicated, at least", whole(loss.get("offsets_at_least"))],
        ["records, at most", whole(loss.get("records_at_most"))],
        ["written within the last", duration(loss.get("seconds_at_most"))],
        ["age of the newest heartbeat", duration(loss.get("heartbeat_age"))],
    ]
    return table(["lost in a disaster", ""], lines)

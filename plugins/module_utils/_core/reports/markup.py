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

from .style import STYLE

__all__ = [
    "Html",
    "at",
    "badge",
    "bullets",
    "checks_table",
    "code_block",
    "docs_link",
    "duration",
    "figure",
    "fold",
    "instant",
    "link",
    "loss_table",
    "next_section",
    "page_head",
    "pager_section",
    "part",
    "rows",
    "section",
    "shown",
    "table",
    "tag",
    "texts",
    "tiles",
    "tone",
    "whole",
    "whole_page",
]

# Restricts the browser to showing the page, even if a hostile value got through.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_GOOD, _BAD, _OPEN = ("PROVEN", "YES"), ("REFUTED", "NO"), ("UNKNOWN",)
# The guides: `repository` of galaxy.yml.
_DOCS = "https://github.com/switchback/kafka_dr/blob/main/"
_RUNS = "runs/"
# Offsets and all other counts and measures are smaller.
_MOST = 2**63
# HTML cannot represent these.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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


def fold(title: object, *content: object) -> Html:
    """A part that is closed until the reader opens it; empty without content."""
    inside = [one for one in content if one != ""]
    return tag("details", tag("summary", title), *inside) if inside else Html("")


def code_block(text: object) -> Html:
    """A command, or other text to copy."""
    return tag("pre", tag("code", text))


def link(text: object, address: str) -> Html:
    """A link to a file of this machine, to the folder of a run or to a guide; only the text for any other address."""
    known = address.startswith((_DOCS, _RUNS)) or (address.startswith("/") and not address.startswith("//"))
    return tag("a", text, href=address) if known else shown(text)


def docs_link(path: str) -> Html:
    """A link to a guide. Its text is the path of the guide in the installed collection."""
    return link(path, f"{_DOCS}{path}")


def page_head(kind: str, headline: object, mood: str, *lines: object) -> Html:
    """The top of a page: its kind, the headline, and lines below it. ``mood``: the class of its colour."""
    below = (tag("p", *(line if isinstance(line, list) else [line])) for line in lines if line != "")
    return tag("header", tag("p", kind, class_="faint"), tag("h1", headline), *below, class_=f"head {mood}".rstrip())


def tiles(items: Iterable[Sequence[object]]) -> Html:
    """The figures of a page: of each its name, its value and a text that explains it."""
    cells = [
        tag("li", tag("span", name, class_="name"), tag("strong", value), tag("span", more, class_="faint"))
        for name, value, more in items
    ]
    return tag("ul", *cells, class_="tiles") if cells else Html("")


def next_section(document: Mapping[str, Any]) -> Html:
    """The next steps of a report with their commands."""
    lines = [tag("p", step.get("text"), ":") + code_block(step.get("command")) for step in rows(document.get("next"))]
    return section("What now", Html("".join(lines)))


def pager_section(document: Mapping[str, Any]) -> Html:
    """The text of a report for a pager or a chat."""
    return section("For the pager", code_block(document["pager"]) if document.get("pager") else "")


def whole_page(title: str, *content: object, refresh: int | None = None) -> str:
    """The document, in ASCII, so that no file encoding can spoil it.

    ``refresh``: seconds after which a browser loads it again.
    """
    again = "" if refresh is None else f'<meta http-equiv="refresh" content="{refresh}">'
    inside = "\n".join(shown(one) for one in content if one != "")
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">{again}'
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
        ["records, at least", whole(loss.get("records_at_least"))],
        ["records, at most", whole(loss.get("records_at_most"))],
        ["time since the first of them was committed, at most", duration(loss.get("seconds_at_most"))],
        ["offsets up to the committed offsets of groups", whole(loss.get("offsets_to_committed"))],
        ["age of the newest heartbeat, by its worker's clock", duration(loss.get("heartbeat_age"))],
    ]
    return table(["lost in a disaster", ""], lines)

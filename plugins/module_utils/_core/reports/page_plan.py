# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a check run's plan: every change with its settings before and after.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .markup import bullets, duration, page_head, part, rows, section, table, tag, texts, whole, whole_page

__all__ = ["plan_page"]

Document = Mapping[str, Any]


def plan_page(document: Document) -> str:
    """The whole page. All its content comes from ``document``."""
    predicted = part(document.get("predicted"))
    head = f"{document.get('kind')}, pair {document.get('pair')}: planned changes"
    return whole_page(
        head,
        page_head(
            f"{document.get('kind')}, pair {document.get('pair')}",
            "Planned changes",
            "calm",
            "Check mode: none of these changes was made.",
        ),
        section("Changes", table(["action", "what", "where", "setting", "before", "after"], _lines(document))),
        section("Notes", bullets(texts(document.get("notes")))),
        section(
            "Duration",
            tag(
                "p",
                duration(predicted.get("seconds")),
                ", the median of completed runs: ",
                whole(predicted.get("runs")),
            ),
        ),
    )


def _lines(document: Document) -> Iterator[list[object]]:
    for row in rows(document.get("changes")):
        what = [row.get("action"), f"{row.get('kind')} {row.get('name')}", row.get("on")]
        settings = rows(row.get("settings"))
        if not settings:
            yield [*what, "", "", ""]
        for one in settings:
            before, after = (one.get(key) if one.get(key) is not None else "none" for key in ("before", "after"))
            yield [*what, one.get("name"), before, after]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all runs whose reports are in one folder, and which of them are the latest.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .markup import at, badge, link, page_head, part, rows, table, whole_page
from .outcome import lost, said, standstill

__all__ = ["index", "index_page", "latest", "run_row"]

SCHEMA = "switchback.kafka_dr/index/1"
_SAME = ("pair", "type", "from", "to", "began", "ended", "outcome", "headline", "verdict")


def run_row(folder: str, report: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a run. ``folder``: name of its folder. ``moved``: it has, or may have, moved the applications."""
    moved = report.get("outcome") in ("completed", "undo_failed") or bool(report.get("passed"))
    return {
        "folder": folder,
        **{key: report.get(key) for key in _SAME},
        "evidence": part(report.get("evidence")).get("text"),
        "writes": said(standstill(report, "writes")),
        "reads": said(standstill(report, "reads")),
        "lost": said(lost(report)),
        "moved": moved and not report.get("rehearsal"),
    }


def index(listed: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The list of these rows, newest first."""
    return {"schema": SCHEMA, "runs": sorted(listed, key=lambda one: str(one.get("began")), reverse=True)}


def latest(document: Mapping[str, Any]) -> dict[str, str]:
    """Folders by the name of their link. A run that was refused or had nothing to do never is the latest move."""
    every = rows(document.get("runs"))
    found = {"latest": every, "latest-move": [row for row in every if row.get("moved")]}
    return {name: str(ones[0]["folder"]) for name, ones in found.items() if ones}


def index_page(document: Mapping[str, Any]) -> str:
    """The page of the list, with a link to the page of each run."""
    lines = [
        [
            link(at(row.get("began")), f"runs/{row.get('folder')}/page.html"),
            row.get("pair"),
            f"{row.get('type')} {row.get('from')} \N{RIGHTWARDS ARROW} {row.get('to')}",
            row.get("headline"),
            badge(row.get("verdict")),
            row.get("evidence"),
            row.get("writes"),
            row.get("reads"),
            row.get("lost"),
        ]
        for row in rows(document.get("runs"))
    ]
    heads = [
        "began",
        "pair",
        "move",
        "outcome",
        "verdict",
        "evidence",
        "writes stood still",
        "reads stood still",
        "lost",
    ]
    return whole_page("Runs", page_head("all runs", "Runs", "calm"), table(heads, lines))

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as one HTML page for a browser, an e-mail or a printer: no script, and nothing from the network.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .change_plan import SCHEMA as PLAN
from .page_cutover import cutover_page
from .page_plan import plan_page
from .page_readiness import readiness_page
from .page_rehearsal import rehearsal_page
from .readiness import SCHEMA as READINESS
from .rehearsal import SCHEMA as REHEARSAL

__all__ = ["page"]

_PAGES = {
    ("switchback.kafka_dr/report/2", "cutover"): cutover_page,
    (READINESS, ""): readiness_page,
    (REHEARSAL, "rehearsal"): rehearsal_page,
    **{(PLAN, kind): plan_page for kind in ("enable", "salvage", "rebuild", "rehearse")},
}


def page(document: Mapping[str, Any]) -> str | None:
    """The page of a report; None if its kind has no page. The same report gives the same page."""
    made = _PAGES.get((str(document.get("schema")), str(document.get("kind", ""))))
    return None if made is None else made(document)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All pages have one style, although the audit shares no code with the collection."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.markup import (
    docs_link,
    next_section,
    pager_section,
)
from example_reports import AUDIT
from kafka_dr_audit.page import GUIDES, page

ROOT = Path(__file__).resolve().parents[2]


def test_the_audit_has_the_same_style_as_the_reports() -> None:
    """After a change, copy the file to the other place."""
    reports, audit = "plugins/module_utils/_core/reports/style.py", "spark/kafka_dr_audit/style.py"
    assert (ROOT / audit).read_text() == (ROOT / reports).read_text()


def test_the_audit_links_to_the_same_guides() -> None:
    assert f'href="{GUIDES}docs/audit.md"' in docs_link("docs/audit.md")


def test_the_audit_shows_next_steps_and_the_text_for_the_pager_as_the_reports_do() -> None:
    made = page(AUDIT)
    for part in (next_section(AUDIT), pager_section(AUDIT)):
        assert part.startswith("<h2>")
        assert part in made
    assert "<h2>What now" not in page({**AUDIT, "next": []}), "of a plan without steps"


def test_the_page_of_an_audit_is_one_file_without_scripts() -> None:
    made = page(AUDIT)
    for word in ("prefers-color-scheme: dark", "@media print", "default-src 'none'", "1 of 2", "116,640"):
        assert word in made
    assert "<script" not in made
    assert "src=" not in made.replace("default-src", "")

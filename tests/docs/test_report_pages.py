# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages of reports in a real browser: readable on a phone, in light and dark and on paper, without a network.

Each test leaves its screenshots in build/pages, to look at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.page import page as report_page
from example_reports import AUDIT, REHEARSAL, bench_run, committed_offset, cutover, disaster, not_ready
from kafka_dr_audit.page import page as audit_page

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "build" / "pages"
WIDE, NARROW = 1280, 390
FAILURE = {
    "task": "Wait until everything is replicated",
    "message": "3 partitions are not fully replicated: Payments-4 (source end 1200, replicated 1188), ..."
    " Start the playbook again once the flow has caught up.",
    "error": {"code": "not_replicated", "hint": "", "endpoint": "kafka-b:9092"},
}
GROUPS = [committed_offset(group, number) for group in ("fraud", "settlement") for number in range(12)]
PROOF = {"verdict": "PROVEN", "reason": "", "not_checked": ["records after the snapshot"], "folder": "/reports/audit"}
COMPARED = {"text": ["PROVEN: B-P, 116,685 records compared", "  PROVEN P:Payments -> B:P.Payments: 24 of 24 exact"]}
TIMED = {"began": "2026-11-23T06:53:00+00:00", "seconds": 24.0}
BARRIER = {"skips": [], "starts": {"Payments": {"0": 0}}, "ends": {"Payments": {"0": 116685}}}


def completed() -> dict[str, Any]:
    return cutover(audit={**PROOF, **COMPARED, **TIMED}, details=GROUPS, barrier=BARRIER)


#: Every kind of page, and the outcomes that a person sees most.
SOURCES = {
    "completed": lambda: report_page(completed()),
    "failed": lambda: report_page(cutover(outcome="undone", failure=FAILURE, times=[], details=[], turned=None)),
    "disaster": lambda: report_page(disaster(details=[{**row, "method": "checkpoint"} for row in GROUPS])),
    "not-ready": lambda: report_page(not_ready()),
    "rehearsal": lambda: report_page(REHEARSAL),
    "audit": lambda: audit_page(AUDIT),
    "bench-run": lambda: report_page(bench_run()),
}
# Every text that a person sees, with its size in pixels and its contrast, by WCAG's formula, to what is under it.
TEXTS = """() => {
    const channels = colour => colour.match(/[0-9.]+/g).map(Number);
    const linear = c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    const light = rgb => rgb.slice(0, 3).map(c => linear(c / 255))
        .reduce((sum, c, place) => sum + c * [.2126, .7152, .0722][place], 0);
    const under = each => {
        for (let place = each; place; place = place.parentElement) {
            const found = channels(getComputedStyle(place).backgroundColor);
            if (found.length < 4 || found[3] === 1) return found;
        }
        return [255, 255, 255];
    };
    const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const parent = texts.currentNode.parentElement;
        if (!texts.currentNode.textContent.trim() || !parent.checkVisibility()) continue;
        const style = getComputedStyle(parent), [a, b] = [light(channels(style.color)), light(under(parent))];
        found.push([texts.currentNode.textContent.trim().slice(0, 60), parseFloat(style.fontSize),
            (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]);
    }
    return found;
}"""
WIDER = """() => [...document.querySelectorAll('body *')].filter(each =>
    each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.scroll, svg')
).slice(0, 3).map(each => each.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    # It keeps things in its user's home.
    own = {**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))}
    SHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), env=own)
        yield browser
        browser.close()


def opened(browser: Browser, name: str, width: int = WIDE, scheme: str = "light") -> Page:
    """The page ``name`` as a file, in a window of its own without a network and without scripts of the page."""
    file = SHOTS / f"{name}.html"
    file.write_text(SOURCES[name]() or "")
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        offline=True,
    )
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()], "a page asks for nothing else"
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", SOURCES)
def test_every_text_of_a_page_is_large_and_has_contrast(browser: Browser, name: str, width: int, scheme: str) -> None:
    page = opened(browser, name, width, scheme)
    page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}.png", full_page=True)
    page.eval_on_selector_all("details", "all => all.forEach(each => each.open = true)")
    texts = page.evaluate(TEXTS)
    assert len(texts) > 20
    assert [text for text, size, _ratio in texts if size < 11] == []
    assert [(text, ratio) for text, _size, ratio in texts if ratio < 4.5] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER) == []
    page.context.close()


@pytest.mark.parametrize("name", SOURCES)
def test_a_page_has_a_head_and_tiles_and_no_empty_part(browser: Browser, name: str) -> None:
    page = opened(browser, name)
    assert page.locator("header h1").count() == 1
    assert "evidence: " in page.locator("header").inner_text() or name == "not-ready"
    assert page.locator(".tiles li").count() >= 2
    empty = "all => all.filter(each => !each.textContent.trim() && !each.children.length).map(each => each.outerHTML)"
    assert page.eval_on_selector_all("p, li, td:first-child, h1, h2, svg, table, ul, .bars", empty) == []
    page.context.close()


@pytest.mark.parametrize("name", SOURCES)
def test_a_page_is_at_most_two_pages_on_paper(browser: Browser, name: str) -> None:
    page = opened(browser, name, scheme="dark")
    paper = page.pdf(
        path=SHOTS / f"{name}.pdf", format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "12mm")
    )
    sheets = paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") + paper.count(b"/Type/Page/")
    assert 1 <= sheets <= 2
    page.emulate_media(media="print")
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.screenshot(path=SHOTS / f"{name}-print.png", full_page=True)
    page.context.close()
    assert white == "rgb(255, 255, 255)", "paper is white, in a dark scheme too"


def test_the_readme_shows_the_page_of_a_real_run(browser: Browser) -> None:
    """After a change, copy build/pages/readme-page.png to docs/images."""
    page = opened(browser, "bench-run", width=1000)
    below = page.locator("h2", has_text="Committed offsets").bounding_box()
    assert below is not None
    clip = {"x": 0, "y": 0, "width": 1000, "height": below["y"] - 12}
    page.screenshot(path=SHOTS / "readme-page.png", full_page=True, clip=clip)  # type: ignore[arg-type]
    page.context.close()
    assert "](docs/images/readme-page.png)" in (ROOT / "README.md").read_text()
    assert (ROOT / "docs" / "images" / "readme-page.png").stat().st_size < 200_000

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every page of the built site in a real browser, on a narrow screen: `make docs` builds it and runs this."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
NARROW = 360
# Images that the browser could draw, large enough to read.
SHOWN = """() => [...document.querySelectorAll('article img[src$=".svg"]')]
    .filter(each => each.naturalWidth > 0 && each.getBoundingClientRect().width > 280).length"""
# A page of the server that answers what is not there; it is served with absolute addresses below the site's root.
NOT_FOUND = "404.html"
WIDER = """() => [...document.querySelectorAll('article *')].filter(each => {
    const box = each.getBoundingClientRect();
    return box.right > innerWidth + 1 && !each.closest('.md-typeset__scrollwrap, pre, .highlight, svg');
}).slice(0, 3).map(each => each.outerHTML.slice(0, 120))"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


# Each text of a diagram with its contrast, by WCAG's formula, to the shape under it.
CONTRAST = """() => {
    const channels = colour => colour.match(/[0-9.]+/g).map(Number);
    const linear = c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    const light = rgb => rgb.map(c => linear(c / 255))
        .reduce((sum, c, place) => sum + c * [.2126, .7152, .0722][place], 0);
    const over = (top, under) => top.length < 4 ? top : [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
    return [...document.querySelectorAll('text')].map(text => {
        const box = text.getBBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
        const below = [...document.querySelectorAll('rect.back, rect.on-p, rect.on-b')].filter(each =>
            +each.getAttribute('x') <= x && x <= +each.getAttribute('x') + +each.getAttribute('width') &&
            +each.getAttribute('y') <= y && y <= +each.getAttribute('y') + +each.getAttribute('height')).pop();
        const under = channels(getComputedStyle(below).fill);
        const [a, b] = [light(over(channels(getComputedStyle(text).fill), under)), light(under)];
        return [text.textContent, (Math.max(a, b) + .05) / (Math.min(a, b) + .05), box.x, box.x + box.width];
    });
}"""


@dataclass
class Seen:
    """What the browser found on one page."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    elsewhere: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    width: int = 0
    wider: list[str] = field(default_factory=list)
    diagrams: int = 0


def pages() -> list[str]:
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if path.name != NOT_FOUND)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        serving.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    # It keeps things in its user's home.
    own = {**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), env=own)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(browser: Browser, address: str) -> dict[str, Seen]:
    """Every page, opened once, all in one window: a window for each takes twice as long."""
    found: dict[str, Seen] = {}
    page = browser.new_page(viewport={"width": NARROW, "height": 740})

    def latest() -> Seen:
        return list(found.values())[-1]

    def asked(url: str) -> None:
        if not url.startswith((address, "data:", "blob:")):
            latest().elsewhere.append(url)

    page.on("request", lambda request: asked(request.url))
    page.on("pageerror", lambda error: latest().wrong.append(str(error)))
    page.on("response", lambda answer: latest().wrong.append(answer.url) if answer.status >= 400 else None)
    for path in pages():
        seen = found[path] = Seen()
        page.goto(address + path)
        seen.links = page.eval_on_selector_all("a[href]", "all => all.map(each => each.href)")
        seen.anchors = set(page.eval_on_selector_all("[id]", "all => all.map(each => each.id)"))
        seen.width = page.evaluate("document.documentElement.scrollWidth")
        seen.wider = page.evaluate(WIDER)
        seen.diagrams = page.evaluate(SHOWN)
    page.close()
    return found


def test_there_is_a_page_for_each_guide_module_and_role(site: dict[str, Seen]) -> None:
    guides = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    wanted = {path.as_posix().replace("README.html", "index.html") for path in guides}
    modules = {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")} - {"__init__"}
    wanted |= {f"reference/modules/{name}.html" for name in modules}
    wanted |= {f"reference/roles/{path.parents[1].name}.html" for path in ROOT.glob("roles/*/meta/argument_specs.yml")}
    assert wanted <= set(site)


def test_every_link_leads_to_a_page_and_an_anchor_that_exist(site: dict[str, Seen], address: str) -> None:
    broken = []
    for path, seen in site.items():
        for link in seen.links:
            place, anchor = urldefrag(link)
            if not place.startswith(address):
                continue
            target = unquote(urlsplit(place).path).lstrip("/") or "index.html"
            target += "index.html" if target.endswith("/") else ""
            if not (SITE / target).is_file() or (anchor and unquote(anchor) not in site[target].anchors):
                broken.append(f"{path}: {link.removeprefix(address)}")
    assert broken == []


def test_no_page_asks_another_machine_for_anything(site: dict[str, Seen]) -> None:
    assert {path: seen.elsewhere for path, seen in site.items() if seen.elsewhere} == {}


def test_no_page_has_a_failing_script_or_a_missing_file(site: dict[str, Seen]) -> None:
    assert {path: seen.wrong for path, seen in site.items() if seen.wrong} == {}


def test_no_page_is_wider_than_a_phone(site: dict[str, Seen]) -> None:
    """Tables and code scroll in frames of their own; the page does not."""
    assert {path: (seen.width, seen.wider) for path, seen in site.items() if seen.width > NARROW or seen.wider} == {}


def test_every_diagram_of_a_guide_is_shown(site: dict[str, Seen]) -> None:
    asked = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix(): path.read_text(encoding="utf-8").count(".svg)")
        for path in (ROOT / "docs").rglob("*.md")
        if path.name != "README.md"
    }
    assert {path: site[path].diagrams for path in asked} == asked
    assert sum(asked.values()) > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("image", ["phases-cutoff", "phases-disaster", "pair-normal", "cutover-sequence"])
def test_text_of_a_diagram_is_readable_in_both_schemes(browser: Browser, address: str, scheme: str, image: str) -> None:
    """The contrast is the one that WCAG asks of text (4.5 to 1), and no text is cut off."""
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}images/{image}.svg")
    found = page.evaluate(CONTRAST)
    context.close()
    assert len(found) > 5
    assert [text for text, ratio, _left, _right in found if ratio < 4.5] == []
    assert [text for text, _ratio, left, right in found if left < 0 or right > 360] == []


def test_the_search_finds_an_error_code(browser: Browser, address: str) -> None:
    """It works in the browser, from an index that lies beside the pages."""
    page = browser.new_page()
    page.goto(address + "index.html")
    page.locator("input[name=query]").fill("journal_forked")
    page.locator(".md-search-result__link[href*=error-codes]").first.wait_for(state="attached", timeout=20_000)
    page.close()

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks that MkDocs calls while it builds the site (``hooks`` in mkdocs.yml).

README.md is the site's first page, and the reference is generated from ``ansible-doc``.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import docs_reference

ROOT = docs_reference.ROOT
LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
# Files outside docs that are pages of the site, and their place there.
OUTSIDE = {
    path: page
    for path, page in {
        "README.md": "index.md",
        "CHANGELOG.md": "changes.md",
        "CONTRIBUTING.md": "contributing.md",
        "SECURITY.md": "security-policy.md",
        "extensions/monitoring/README.md": "monitoring.md",
        "roles/lab/EMULATORS.md": "emulators.md",
        "roles/lab/LEDGER.md": "ledger.md",
        "spark/README.md": "reference/audit-program.md",
    }.items()
    if (ROOT / path).is_file()
}


def place(path: str) -> str | None:
    """Return the place of a file of the repository on the site, or None."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    role = re.fullmatch(r"roles/([a-z_]+)/README\.md", path)
    return f"reference/roles/{role[1]}.md" if role else None


def relinked(text: str, source: str, page: str) -> str:
    """Rewrite the links of a file for its page. A file that the site does not have is only named."""

    def new(found: re.Match[str]) -> str:
        words, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = place(path)
        if there is None:
            return f"{words} (`{path}`)"
        return f"[{words}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{anchor or ''})"

    return LINK.sub(new, text)


def sources() -> dict[str, tuple[str, str]]:
    """Return the pages made from files outside docs: place -> file and text."""
    return {page: (path, (ROOT / path).read_text(encoding="utf-8")) for path, page in OUTSIDE.items()}


def named(part: Any) -> set[str]:
    """Return all pages that a part of the navigation names."""
    if isinstance(part, str):
        return {part}
    return {page for inner in (part.values() if isinstance(part, dict) else part) for page in named(inner)}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages. mkdocs.yml has the order of the guides; other pages follow under "More"."""
    made = {page: relinked(text, path, page) for page, (path, text) in sources().items()}
    for page, text in docs_reference.pages().items():
        role = re.fullmatch(r"reference/roles/(?!index)([a-z_]+)\.md", page)
        made[page] = relinked(text, f"roles/{role[1]}/README.md", page) if role else text
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    assert config.nav is not None
    for kind in ("modules", "roles"):
        here = [page for page in sorted(made) if page.startswith(f"reference/{kind}/")]
        index = f"reference/{kind}/index.md"  # first: it is the page of the section itself
        config.nav[-1]["Reference"].append({kind.title(): sorted(here, key=lambda page: page != index)})
    if left := sorted({file.src_uri for file in files.documentation_pages()} - named(config.nav)):
        config.nav.insert(-1, {"More": left})
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of a page that lies in the repository."""
    return markdown if page.file.generated_by else relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)

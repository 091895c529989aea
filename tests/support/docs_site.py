# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What MkDocs asks while it builds the site (``hooks`` in mkdocs.yml).

README.md is the site's first page, the reference is made from ``ansible-doc``, and comments such as
``<!-- diagram: phases cutoff -->`` become pictures. On the repository's own pages they stay invisible.
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

import docs_diagrams
import docs_reference

ROOT = docs_reference.ROOT
DIAGRAM = re.compile(r"<!-- diagram: ([a-z]+ [a-z_]+) -->")
LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
# Files that are pages although they lie outside of docs, and where the site has them.
OUTSIDE = {
    path: page
    for path, page in {
        "README.md": "index.md",
        "CHANGELOG.md": "changes.md",
        "CONTRIBUTING.md": "contributing.md",
        "SECURITY.md": "security-policy.md",
        "extensions/monitoring/README.md": "monitoring.md",
        "spark/README.md": "reference/audit-program.md",
    }.items()
    if (ROOT / path).is_file()
}


def place(path: str) -> str | None:
    """Where the site has a file of the repository, or None."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    role = re.fullmatch(r"roles/([a-z_]+)/README\.md", path)
    return f"reference/roles/{role[1]}.md" if role else None


def relinked(text: str, source: str, page: str) -> str:
    """Links of a file of the repository, as they must be on its page. What the site does not have is only named."""

    def new(found: re.Match[str]) -> str:
        words, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = place(path)
        if there is None:
            return f"{words} (`{path}`)"
        return f"[{words}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{anchor or ''})"

    return LINK.sub(new, text)


def sources() -> dict[str, tuple[str, str]]:
    """Pages made from files outside of docs: place, and the file with its text."""
    return {page: (path, (ROOT / path).read_text(encoding="utf-8")) for path, page in OUTSIDE.items()}


def named(part: Any) -> set[str]:
    """All pages that a part of the navigation names."""
    if isinstance(part, str):
        return {part}
    return {page for inner in (part.values() if isinstance(part, dict) else part) for page in named(inner)}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are made, and the navigation: mkdocs.yml has the order of the guides, the rest follows."""
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
    text = (
        relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri) if not page.file.generated_by else markdown
    )
    return DIAGRAM.sub(lambda found: docs_diagrams.draw(found[1]), text)

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""README and the guides keep to short sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

import prose

ROOT = Path(__file__).resolve().parents[2]
#: Pages that are made from the code: they are for looking up, not for reading.
GENERATED = {"docs/compatibility.md", "docs/error-codes.md", "docs/rights.md"}
PAGES = {
    name: path
    for place in ("README.md", "docs/*.md", "docs/procedures/*.md")
    for path in sorted(ROOT.glob(place))
    if (name := path.relative_to(ROOT).as_posix()) not in GENERATED
}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_sentences_of_a_page_are_short(name: str) -> None:
    page = prose.read(PAGES[name])
    assert page.average <= prose.AVERAGE
    assert page.long == []


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("One two. Three four five.\n", [2, 3]),
        ("Version 4.3.1 of `kafka topics --list` runs\non P, e.g. here.\n", [9]),
        ("Before it:\n- one two;\n- three.\n", [2, 2, 1]),
        ("# A heading\n\n| a | table |\n|---|---|\n\n```sh\nmake demo\n```\nText [of a link](page.md#anchor).\n", [4]),
        ("<!-- diagram: pair\nnormal -->\n![A picture](a.svg)\n", []),
    ],
)
def test_sentences_are_counted_without_code_tables_and_headings(text: str, lengths: list[int]) -> None:
    assert [prose.length(sentence) for sentence in prose.sentences(text)] == lengths

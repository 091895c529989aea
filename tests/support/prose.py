# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the sentences of Markdown pages. ``python tests/support/prose.py PAGE ...`` lists those that are too long.

Code fences, tables, comments and headings do not count. A list item and a paragraph are blocks of their own. A code
span counts as one word, and so does the text of a link for each of its words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Words that a sentence has on average on a page, at most.
AVERAGE = 18
#: Words that any one sentence has, at most.
LONGEST = 40

_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LEFT_OUT = re.compile(r"^\s*(\||#|!\[|<|:?-{3,})")
_ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`+[^`]+`+")
# A full stop inside a name such as "e.g." or "4.3.1" is followed by no blank and capital.
_END = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[\"(*_]*[A-Z0-9`])")
_WORD = re.compile(r"\S*[A-Za-z0-9]\S*")


@dataclass(frozen=True)
class Page:
    """The sentences of one page."""

    sentences: list[str]

    @property
    def average(self) -> float:
        """Words per sentence; 0 for a page without sentences."""
        return sum(map(length, self.sentences)) / len(self.sentences) if self.sentences else 0.0

    @property
    def long(self) -> list[str]:
        """Sentences of more than ``LONGEST`` words."""
        return [sentence for sentence in self.sentences if length(sentence) > LONGEST]


def read(path: Path) -> Page:
    """Split a Markdown file into sentences."""
    return Page(list(sentences(path.read_text(encoding="utf-8"))))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a Markdown text, with each code span as the word ``CODE``."""
    for block in blocks(text):
        plain = _CODE.sub("CODE", _LINK.sub(r"\1", block))
        yield from (part for part in _END.split(plain) if length(part))


def blocks(text: str) -> Iterator[str]:
    """Yield each paragraph and each list item as one line."""
    lines: list[str] = []
    for line in [*_COMMENT.sub("", _FENCE.sub("", text)).splitlines(), ""]:
        if (not line.strip() or _LEFT_OUT.match(line) or _ITEM.match(line)) and lines:
            yield " ".join(lines)
            lines = []
        if line.strip() and not _LEFT_OUT.match(line):
            lines.append(_ITEM.sub("", line).strip())


def length(sentence: str) -> int:
    """Count the words of a sentence."""
    return len(_WORD.findall(sentence))


def words(text: str) -> int:
    """Count the words of a page, tables included, code fences and comments left out."""
    return length(_COMMENT.sub("", _FENCE.sub("", text)))


def main() -> int:
    """List each page's average and its sentences that are too long; exit with 1 if a page misses a limit."""
    bad = False
    for name in sys.argv[1:]:
        page = read(Path(name))
        bad = bad or page.average > AVERAGE or bool(page.long)
        count = words(Path(name).read_text(encoding="utf-8"))
        print(f"{name}: {page.average:.1f} words per sentence, {len(page.sentences)} sentences, {count} words in all")
        for sentence in page.long:
            print(f"  {length(sentence)} words: {sentence[:150]}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())

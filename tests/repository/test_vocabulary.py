# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No text that a user reads has a retired word: one concept has one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from repository import ROOT, name, require_none
from vocabulary import files, found


def test_no_retired_word_is_left() -> None:
    listed = files()
    assert {ROOT / "README.md", ROOT / "plugins" / "modules" / "dr_flows.py"} <= set(listed)
    require_none(f"{name(path)}:{number}: {word}: {line}" for path in listed for number, word, line in found(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The group lags behind.", []),
        ("The replica ends behind the cut.", ["behind"]),
        ("records_copied = told", ["copied", "told"]),
        ("`drill_pair`, armed", ["drill", "armed"]),
        ("consumer.position(partitions)", []),
    ],
)
def test_a_retired_word_is_found_in_prose_and_in_names(text: str, words: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert [word for _number, word, _line in found(page)] == words

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The slow suites assert no text that the product no longer has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from stale_assertions import EXCEPTIONS, Assertion, Corpus, _asserted, assertions, corpus, explained, stale, texts_of


@pytest.fixture(scope="module")
def product() -> Corpus:
    return corpus()


def test_no_assertion_is_stale(product: Corpus) -> None:
    found = assertions()
    assert len(found) > 150
    left = stale(found, product)
    assert not left, "\n".join(f"{one.path}:{one.line}: {one.text!r}" for one in left)


def test_each_exception_is_needed(product: Corpus) -> None:
    found = [one for one in assertions() if one.text.startswith(tuple(EXCEPTIONS))]
    needed = {start for one in stale(found, product, {}) for start in EXCEPTIONS if one.text.startswith(start)}
    assert needed == set(EXCEPTIONS)


SOURCE = """
def show(name, members, why):
    '''Documentation is no output: the moon is made of cheese.'''
    rest = ", ".join(members) or "no members at all"
    fail(
        f'The group "{name}" still has {len(members)} members on the cluster: {rest}. '
        f"Stop them first{'' if why is None else f' because {why}'}."
    )
    warn("%d records were read twice" % len(members))
"""


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("still has 3 members on the cluster", True),
        ('The group "settlement" still has \0 members', True),
        ("members on the cluster: no members at all. Stop them first", True),
        ("Stop them first because no members at all", True),
        ("7 records were read twice", True),
        ("still has 3 members on this cluster", False),
        ("Stop them now because no members at all", False),
        ("Stop them first although no members", False),
        ("records were read two times", False),
        ("the moon is made of cheese", False),
    ],
)
def test_a_text_is_compared_with_what_the_product_can_say(text: str, known: bool, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(SOURCE)
    texts = Corpus()
    for found in texts_of(module):
        texts.add(found)
    assert explained(Assertion(module, 1, text), texts, [("settlement",)]) is known


TEST = """
@pytest.mark.parametrize(("given", "text"), [(1, "of a column"), (2, f"of {x} columns")])
def test_it(given, text):
    assert text in run(given)
    assert "in a message" in message and "not in it" not in message
    assert row == {"reason": "equal to it"}
    for part in ("of a loop",):
        assert part in message
    with pytest.raises(ValueError, match=r"matched .* by a\\.pattern"):
        run("an input is not asserted")
"""


def test_literals_are_found_where_tests_assert_them() -> None:
    assert {text for _line, text in _asserted(ast.parse(TEST))} == {
        "of a column",
        "of \0 columns",
        "in a message",
        "not in it",
        "equal to it",
        "of a loop",
        "matched \0 by a.pattern",
    }


def test_literals_are_found_in_conditions_and_templates_of_yaml(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.yml"
    tasks.write_text(
        "- name: Show it\n  ansible.builtin.fail:\n    msg: >-\n      The hook {{ name }} failed:\n"
        "      {{ reason | default('it failed') }}\n"
    )
    found = set(texts_of(tasks))
    assert {"The hook \0 failed: \0", "it failed"} <= found

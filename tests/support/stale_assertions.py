# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find assertions about texts that the product no longer has. ``python tests/support/stale_assertions.py`` lists them.

The slow suites assert parts of messages. When a message is reworded, such a test fails hours later, and an assertion
with ``not in`` never fails again. So each asserted literal of at least three words must occur in the product's texts,
with a placeholder of either side standing for any words.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nsmallest
from itertools import pairwise
from pathlib import Path

from repository import ROOT, nodes, read, tracked, tree

_GAP = "\0"
#: Where texts come from. Helpers of tests produce output, too.
PRODUCT = ("plugins", "roles", "playbooks", "spark", "awx", "extensions", "molecule", "tests/support", "tests/artifact")
#: Where texts are asserted.
TESTS = ("tests", "molecule", "extensions")
#: The fast suites run before each change lands, so what is stale there fails at once.
FAST = (ROOT / "tests" / "unit", ROOT / "tests" / "repository")
WORDS = 3
#: Tokens of a message. Longer texts are documentation: they are searched, not aligned.
LONGEST = 120
#: How many of the most similar texts are aligned.
CANDIDATES = 15
#: The same, of templates whose words all occur.
TEMPLATES = 60
#: Texts whose words come from elsewhere, by what they start with.
EXCEPTIONS = {
    "Invalid value never for configuration": "Kafka Connect",
    "RecordTooLargeException: The message is": "Kafka Connect",
    "The request included a message larger": "Kafka",
    "large number of partitions": "Kafka",
    "replication factor of 3 cannot be reached": "Kafka",
    "invalid credentials with SASL mechanism": "Kafka",
    "Kerberos: Ticket expired": "the Kerberos library",
    "authorization failed. Grant User:": "Kafka, followed by a hint",
    f"of 2 partitions{_GAP}": "a hint, followed by Kafka",
    "of an unknown CA": "a parameter of the test",
}

_TOKENS = re.compile(rf"{_GAP}|\w+|[^\w\s]")
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_PROSE = re.compile(r"[(\"']*[A-Za-z][a-z]+[.,:;?)\"']*")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_FORMAT = re.compile(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[sdrfi]|\{\w*(?:[.!:\[][^{}]*)?\}")


@dataclass(frozen=True)
class Assertion:
    """A literal that a test asserts."""

    path: Path
    line: int
    text: str


@dataclass
class Corpus:
    """The product's texts as tokens, by the words and the pairs of adjacent tokens in them."""

    texts: list[tuple[str, ...]] = field(default_factory=list)
    seen: set[tuple[str, ...]] = field(default_factory=set)
    _words: list[int] = field(default_factory=list)
    _by_part: dict[tuple[str, ...], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, text: str) -> None:
        """Add one text; ``\\0`` stands for a placeholder."""
        tokens = tokenized(text)
        if tokens in self.seen or not any(map(_is_word, tokens)):
            return
        self.seen.add(tokens)
        for part in _parts(tokens):
            self._by_part[part].append(len(self.texts))
        self.texts.append(tokens)
        self._words.append(len(set(filter(_is_word, tokens))))

    def candidates(self, wanted: Sequence[str]) -> list[tuple[str, ...]]:
        """The texts that share most with ``wanted``, and templates without other words."""
        shared: dict[int, float] = defaultdict(float)
        words_shared: dict[int, int] = defaultdict(int)
        for part in _parts(wanted):
            having = self._by_part.get(part, ())
            for number in having:
                # What few texts have counts more.
                shared[number] += 1 / len(having)
                words_shared[number] += len(part) == 1
        best = nsmallest(CANDIDATES, shared, key=lambda number: (-shared[number], len(self.texts[number])))
        templates = [
            number
            for number, count in words_shared.items()
            if count == self._words[number] and _GAP in self.texts[number]
        ]
        best += nsmallest(TEMPLATES, templates, key=lambda number: -len(self.texts[number]))
        return [self.texts[number] for number in best]


def _parts(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    pairs = pairwise(tokens)
    return {(token,) for token in tokens if _is_word(token)} | {pair for pair in pairs if _GAP not in pair}


def tokenized(text: str) -> tuple[str, ...]:
    """Words and punctuation. Placeholders that touch become one."""
    return tuple(_TOKENS.findall(re.sub(f"{_GAP}+", _GAP, text)))


def _is_word(token: str) -> bool:
    return len(token) > 1 and token.isalpha() and token[1:].islower()


def words(text: str) -> int:
    """The number of words of a text. Names, paths and settings are none."""
    return sum(bool(_PROSE.fullmatch(word)) for word in text.split())


# ---- the texts of the product


def corpus() -> Corpus:
    """All texts of the product, and of the helpers of tests."""
    found = Corpus()
    for path in _listed(*PRODUCT):
        if path.samefile(__file__):
            continue
        for text in texts_of(path):
            found.add(text)
    return found


def texts_of(path: Path) -> Iterator[str]:
    """The texts of a file, with placeholders as ``\\0``."""
    content = read(path)
    if path.suffix == ".py" or content.startswith("#!/usr/bin/env python"):
        yield from (text for _node, text in _literals(nodes(path)))
    elif path.suffix in (".yml", ".yaml"):
        for block in _yaml_blocks(content):
            yield from _templates(block)
    else:
        for line in content.splitlines():
            yield from _templates(line.strip())


def _yaml_blocks(content: str) -> Iterator[str]:
    """Values as a person reads them: folded lines are one text. Quotes stay, so conditions keep their literals."""
    lines: list[str] = []
    for line in content.splitlines():
        body = line.strip()
        if re.match(r"(- )?[\w.]+:( |$)|- |#", body) and lines:
            yield " ".join(filter(None, lines))
            lines = []
        if body and not body.startswith("#"):
            lines.append(re.sub(r"^(- )?(?:[\w.]+:)?\s*(?:[>|][-+]?)?\s*", "", body))
    yield " ".join(filter(None, lines))


def _templates(text: str) -> Iterator[str]:
    """The text with a placeholder for each expression, and the quoted texts within expressions."""
    yield _JINJA.sub(_GAP, text).replace("''", "'")
    for inner in (text, *_JINJA.findall(text)):
        for single, double in _QUOTED.findall(inner):
            yield _FORMAT.sub(_GAP, single or double)


def _literals(found: Iterable[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """Each text of Python code but docstrings, the whole of concatenations."""
    inner: set[int] = set()
    for node in found:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner.add(id(node.value))
        if not isinstance(node, ast.expr) or id(node) in inner:
            continue
        text = _text(node)
        if text is None:
            continue
        inner |= {
            id(part) for part in ast.walk(node) if isinstance(part, (ast.Constant, ast.JoinedStr)) and _part(part, node)
        }
        yield node, text


def _part(part: ast.expr, whole: ast.expr) -> bool:
    """Whether ``part`` is already in the text of ``whole``: texts inside a placeholder are texts of their own."""
    if part is whole:
        return True
    if isinstance(whole, ast.BinOp):
        return any(_part(part, side) for side in (whole.left, whole.right))
    return isinstance(whole, ast.JoinedStr) and any(part is value for value in whole.values)


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _FORMAT.sub(_GAP, node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(value.value) if isinstance(value, ast.Constant) else _GAP for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        if left is not None or right is not None:
            return (_GAP if left is None else left) + (_GAP if right is None else right)
    return None


# ---- the assertions


def assertions() -> list[Assertion]:
    """Every asserted literal of at least three words."""
    found: list[Assertion] = []
    for path in _listed(*TESTS):
        if any(path.is_relative_to(folder) for folder in FAST):
            continue
        if path.suffix == ".py" and path.name.startswith("test_"):
            found += (Assertion(path, line, text) for line, text in _asserted(tree(path)))
        elif path.suffix == ".yml":
            found += _in_conditions(path)
    lines = [Assertion(one.path, one.line, line) for one in found for line in one.text.splitlines()]
    return [one for one in lines if words(one.text) >= WORDS]


def _asserted(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            columns = _columns(function)
            for node in ast.walk(function):
                yield from _of(node, columns)


def _of(node: ast.AST, columns: dict[str, list[ast.expr]]) -> Iterator[tuple[int, str]]:
    compared: list[ast.expr] = []
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        compared = [node.left]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        compared = [node.left, node.comparators[0]]
    elif isinstance(node, ast.keyword) and node.arg == "match":
        pattern = _text(node.value)
        if pattern is not None:
            yield node.value.lineno, re.sub(r"\\(\W)", r"\1", re.sub(r"(\\\w|(?<!\\)\.)[*+?]?", _GAP, pattern))
        return
    while compared:
        value = compared.pop()
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            compared += value.elts
        elif isinstance(value, ast.Dict):
            compared += value.values
        elif isinstance(value, ast.Name):
            compared += columns.pop(value.id, [])
        else:
            text = _text(value)
            if text is not None:
                yield value.lineno, text


def _columns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, list[ast.expr]]:
    """The literals that a name takes in the test: from ``parametrize``, and in loops."""
    found: dict[str, list[ast.expr]] = {}
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.parametrize" and len(mark.args) > 1:
            names = ast.literal_eval(mark.args[0]) if _is_constant(mark.args[0]) else []
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
            _collect(names, mark.args[1], found)
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)):
            targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            _collect([getattr(target, "id", "") for target in targets], node.iter, found)
    return found


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.Tuple, ast.List))


def _collect(names: Sequence[str], rows: ast.expr, found: dict[str, list[ast.expr]]) -> None:
    for row in rows.elts if isinstance(rows, (ast.List, ast.Tuple, ast.Set)) else []:
        cells: list[ast.expr] = [row]
        if len(names) > 1:
            cells = row.elts if isinstance(row, ast.Tuple) else row.args if isinstance(row, ast.Call) else []
        for name, cell in zip(names, cells, strict=False):
            found.setdefault(name, []).append(cell)


def _in_conditions(path: Path) -> Iterator[Assertion]:
    for number, line in enumerate(read(path).splitlines(), 1):
        for match in re.finditer(rf"(?:{_QUOTED.pattern})\s+(?:not\s+)?in\b", line):
            yield from (Assertion(path, number, text) for text in match.groups() if text is not None)


# ---- the comparison

# Words of a sentence. A text with one of them is not a list of values.
_GRAMMAR = re.compile(
    "a|again|an|and|are|at|be|by|could|does|for|from|had|has|have|in|is|it|its|no|not|of|on|or|still|that|the|their|"
    "there|they|to|up|was|were|which|while|who|with|would"
)
#: Begin and end of a run of tokens, and whether it may begin, and end, in the middle of a text.
_Span = tuple[int, int, tuple[bool, bool]]


def stale(found: Iterable[Assertion], known: Corpus, exceptions: Mapping[str, str] | None = None) -> list[Assertion]:
    """The assertions about texts that neither the product nor the test has."""
    own, starts = lru_cache(maxsize=None)(_own_texts), tuple(EXCEPTIONS if exceptions is None else exceptions)
    return [one for one in found if not one.text.startswith(starts) and not explained(one, known, own(one.path))]


def _own_texts(path: Path) -> list[tuple[str, ...]]:
    """The texts of a test file: what a test itself puts into its input."""
    if path.suffix != ".py":
        return []
    return [tokenized(text) for _node, text in _literals(nodes(path))]


_Cut = tuple[bool, bool]


@dataclass
class _Search:
    """One search. ``cut``: whether the tokens may begin, and end, in the middle of a text."""

    known: Corpus
    #: The texts of the test itself.
    own: list[tuple[str, ...]]
    _answers: dict[tuple[tuple[str, ...], _Cut], bool] = field(default_factory=dict)

    def covered(self, wanted: tuple[str, ...], cut: _Cut = (True, True)) -> bool:
        """Whether the texts can produce ``wanted``, alone or one after the other."""
        if (wanted, cut) not in self._answers:
            self._answers[wanted, cut] = False
            self._answers[wanted, cut] = self._covered(wanted, cut)
        return self._answers[wanted, cut]

    def _covered(self, wanted: tuple[str, ...], cut: _Cut) -> bool:
        if wanted in self.known.seen or _is_value(wanted, self.known, self.own):
            return True
        words_wanted = _cost(wanted, 0, len(wanted))
        if words_wanted < 2:
            return False
        candidates = self.known.candidates(wanted)
        if any(_contains(text, wanted) for text in self.own) or any(
            _contains(text, wanted, cut) for text in candidates
        ):
            return True
        for text in candidates:
            rest = leftover(wanted, text, cut) if len(text) <= LONGEST else None
            if rest is None:
                continue
            literal = words_wanted - sum(_cost(part, 0, len(part)) for part, _ends in rest)
            # A single common word is no evidence, unless the text is a template around it.
            if literal < 2 and (not literal or _GAP not in text or literal < _cost(text, 0, len(text))):
                continue
            if all(self.covered(part, ends) for part, ends in rest):
                return True
        return False


def explained(one: Assertion, known: Corpus, own: list[tuple[str, ...]]) -> bool:
    """Whether the texts can produce the asserted literal."""
    wanted = tokenized(one.text)
    return _Search(known, [text for text in own if text != wanted]).covered(wanted)


def _is_value(wanted: tuple[str, ...], known: Corpus, own: list[tuple[str, ...]]) -> bool:
    """Whether each word is a text of its own in the product, or in a text of the test."""
    return all(
        not _GRAMMAR.fullmatch(token.lower()) and ((token,) in known.seen or any(token in text for text in own))
        for token in wanted
        if _is_word(token)
    )


def _contains(text: tuple[str, ...], part: tuple[str, ...], cut: tuple[bool, bool] = (True, True)) -> bool:
    last = len(text) - len(part)
    starts = range(last + 1) if all(cut) else [last] if cut[0] else [0] if cut[1] or not last else []
    return any(start >= 0 and text[start : start + len(part)] == part for start in starts)


_Run = tuple[tuple[str, ...], tuple[bool, bool]]


def leftover(wanted: tuple[str, ...], text: tuple[str, ...], cut: tuple[bool, bool]) -> list[_Run] | None:
    """The runs of ``wanted`` that come from placeholders of ``text`` or lie before or after it, and where they are cut.

    None if ``text`` cannot produce ``wanted``. Of several ways the one that leaves the fewest words is taken.
    """
    # Cell: the fewest words left, and the runs, when wanted[:i] is consumed at text[:j].
    best: dict[tuple[int, int], tuple[int, tuple[_Span, ...]]] = {}
    size, length = len(wanted), len(text)

    def put(i: int, j: int, cost: int, spans: tuple[_Span, ...]) -> None:
        if (i, j) not in best or (best[i, j][0], len(best[i, j][1])) > (cost, len(spans)):
            best[i, j] = (cost, spans)

    for j in range(length + 1 if cut[0] else 1):
        put(0, j, 0, ())
    for i in range(1, size + 1):
        # Before the text there is the end of another one.
        put(i, 0, _cost(wanted, 0, i), ((0, i, (cut[0], False)),))
    for j in range(length + 1):
        for i in range(size + 1):
            if (i, j) not in best:
                continue
            cost, spans = best[i, j]
            if j < length and text[j] == _GAP:
                put(i, j + 1, cost, spans)
                for end in range(i + 1, size + 1):
                    span = (i, end, (cut[0] and i == 0, cut[1] and end == size))
                    put(end, j + 1, cost + _cost(wanted, i, end), (*spans, span))
            if i < size and wanted[i] == _GAP:
                for end in range(j, min(j + 5, length) + 1):
                    if sum(token == _GAP or token.isalnum() for token in text[j:end]) <= 1:
                        put(i + 1, end, cost, spans)
            if i < size and j < length and wanted[i] == text[j]:
                put(i + 1, j + 1, cost, spans)
    ends = [best[size, j] for j in range(length + 1) if (size, j) in best and (cut[1] or j == length)]
    # After the text there is the beginning of another one.
    ends += [
        (best[i, length][0] + _cost(wanted, i, size), (*best[i, length][1], (i, size, (False, cut[1]))))
        for i in range(size)
        if (i, length) in best
    ]
    if not ends:
        return None
    _fewest, spans = min(ends, key=lambda end: (end[0], len(end[1])))
    return [(wanted[begin:end], ends_cut) for begin, end, ends_cut in spans]


def _cost(wanted: Sequence[str], begin: int, end: int) -> int:
    return sum(map(_is_word, wanted[begin:end]))


def _listed(*under: str) -> list[Path]:
    return [path for path in tracked(*under) if path.suffix in (".py", ".yml", ".yaml", ".j2", ".sh", "")]


def main() -> int:
    """List the stale assertions; 1 if there are any."""
    found = stale(assertions(), corpus())
    for one in found:
        print(f"{one.path.relative_to(ROOT)}:{one.line}: {one.text.replace(_GAP, '{}')}")
    print(f"{len(found)} stale assertions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

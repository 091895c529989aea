# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mutants of a file: each differs from it in one comparison, condition, number, statement, filter or argument.

Texts, annotations and decorators are left as they are, because they decide nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

__all__ = ["Mutant", "compiled", "mutants"]

OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: Each order with the one that differs for equal values, and the step of its right side in the other direction.
ORDERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], int]] = {
    ast.Lt: (ast.LtE, -1),
    ast.LtE: (ast.Lt, 1),
    ast.Gt: (ast.GtE, 1),
    ast.GtE: (ast.Gt, -1),
}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
#: Decide nothing at run time.
UNTOUCHED = ("annotation", "returns", "decorator_list", "op", "ops", "ctx")
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: Path
    #: Its place among the mutants of the file.
    number: int
    line: int
    #: The class and function around it, joined by dots.
    scope: str
    before: str
    after: str

    @property
    def change(self) -> str:
        """What is different, on one line."""
        return f"{self.before} -> {self.after}"


@dataclass(frozen=True)
class Edit:
    """Replaces a node of a tree, at ``index`` if the field is a list."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    new: ast.AST
    scope: str

    def apply(self) -> None:
        """Change the tree."""
        self._put(ast.copy_location(self.new, self.node))

    def _put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    def texts(self) -> tuple[str, str]:
        """Return what is different, before and after: a number together with the code around it."""
        if not isinstance(self.node, ast.Constant):
            return _text(self.node), _text(self.new)
        before = _text(self.parent)
        self._put(self.new)
        after = _text(self.parent)
        self._put(self.node)
        return before, after


def mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a file, in the order of its text."""
    return [
        Mutant(path, number, _line(edit.node), edit.scope, *edit.texts())
        for number, edit in enumerate(_edits(ast.parse(path.read_text(encoding="utf-8"))))
    ]


def compiled(mutant: Mutant) -> CodeType:
    """Return the code of a mutant."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    list(_edits(tree))[mutant.number].apply()
    return compile(ast.fix_missing_locations(tree), str(mutant.path), "exec", dont_inherit=True)


def _line(node: ast.AST) -> int:
    return next(each.lineno for each in ast.walk(node) if isinstance(each, (ast.expr, ast.stmt)))


def _text(node: ast.AST) -> str:
    """Return the code of a node on one line."""
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}: {'; '.join(' '.join(ast.unparse(each).split()) for each in node.body)}"
    return " ".join(ast.unparse(node).split())


def _edits(parent: ast.AST, scope: str = "") -> Iterator[Edit]:
    for field, value in ast.iter_fields(parent):
        if field in UNTOUCHED:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(node, ast.Constant) and _compared(parent, field):
                continue
            yield from (Edit(parent, field, index, node, new, scope) for new in _variants(node))
            name = f".{node.name}" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""
            yield from _edits(node, f"{scope}{name}".lstrip("."))


def _compared(parent: ast.AST, field: str) -> bool:
    """Is it the right side of a comparison by size, which changes together with its operator?"""
    return field == "comparators" and isinstance(parent, ast.Compare) and type(parent.ops[0]) in ORDERS


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp(ast.Or(), [_, ast.Constant() | ast.Dict() | ast.Tuple() as instead]):
            # Without it, the code does not fit its types.
            yield instead
        case ast.BoolOp(op, values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for index in range(len(values)):
                left = values[:index] + values[index + 1 :]
                yield left[0] if len(left) == 1 else _with(node, values=left)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right):
            if not any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in (left, right)):
                yield left
        case ast.BinOp(left, ast.BitOr() | ast.BitAnd(), right):
            yield from (left, right)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Call(ast.Name(name), args, keywords) if name in SWAPPED:
            yield _with(node, func=ast.Name(SWAPPED[name], ast.Load()))
            if len(args) > 1 and not any(isinstance(each, ast.Starred) for each in args):
                yield from args
        case ast.Call(ast.Name("replace"), _, keywords):
            for keyword in keywords:
                yield _with(node, keywords=[each for each in keywords if each is not keyword])
        case ast.comprehension(ifs=ifs):
            for each in ifs:
                yield _with(node, ifs=[other for other in ifs if other is not each])
        case ast.If(test, body) | ast.While(test, body):
            if isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
                yield _with(node, test=ast.UnaryOp(ast.Not(), test))
            if isinstance(body[-1], LEAVES):
                yield _with(node, body=[*body[:-1], ast.Pass()])
        case ast.AugAssign() | ast.Expr(ast.Call()):
            yield ast.Pass()


def _comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    for index, op in enumerate(node.ops):
        if type(op) in OPPOSITE:
            yield _with(node, ops=_at(node.ops, index, OPPOSITE[type(op)]()))
            continue
        other, step = ORDERS[type(op)]
        yield _with(node, ops=_at(node.ops, index, other()))
        right = node.comparators[index]
        moved: ast.expr = ast.BinOp(right, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
        if isinstance(right, ast.Constant) and isinstance(right.value, (int, float)):
            moved = ast.Constant(right.value + step)
        yield _with(node, comparators=_at(node.comparators, index, moved))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _at(values: list[Any], index: int, new: Any) -> list[Any]:
    return [*values[:index], new, *values[index + 1 :]]


def _with(node: Any, **fields: Any) -> Any:
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new

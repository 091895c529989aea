# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the schema and the table of fields of a cutover's report from its class."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports import cutover

ROOT = Path(__file__).resolve().parents[2]
SCHEMA, PAGE = ROOT / "docs/schemas/report-2.json", ROOT / "docs/procedures/report.md"
# Between these lines of the page is the table.
BEGIN, END = "| key | holds |\n|---|---|\n", "\n\n## The check fence"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type. A count and an offset are never negative."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if is_typeddict(kind):
        return _object(kind)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**schema_of(args[0]), "description": args[1]}
    if origin in (Required, NotRequired):
        return schema_of(args[0])
    if origin is Literal:
        return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
    if origin in (Union, UnionType) and NoneType in args:
        (other,) = (schema_of(arg) for arg in args if arg is not NoneType)
        return {**other, "type": [other["type"], "null"]}
    if origin is list:
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    raise TypeError(f"no schema for {kind}")


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    needed = [name for name in hints if name in kind.__required_keys__]
    return {
        "type": "object",
        "required": needed,
        "properties": {name: schema_of(hint) for name, hint in hints.items()},
    }


def fields() -> dict[str, tuple[Any, str]]:
    """The type and the description of each field of the report."""
    found = {}
    for name, field in cutover.report_fields().items():
        kind = get_type_hints(field.func, vars(cutover), include_extras=True)["return"]
        found[name.rstrip("_")] = kind, " ".join((inspect.getdoc(field.func) or "").split())
    return found


def schema() -> str:
    """The text of the schema. Reports of the other kind have theirs by hand."""
    known = json.loads(SCHEMA.read_text(encoding="utf-8"))
    own = {
        "type": "object",
        "required": list(fields()),
        "properties": {name: {**schema_of(kind), "description": text} for name, (kind, text) in fields().items()},
    }
    others = [one for one in known["oneOf"] if one["properties"]["kind"]["const"] != "cutover"]
    return json.dumps({**known, "oneOf": [own, *others]}, indent=2, ensure_ascii=False) + "\n"


def page() -> str:
    """The text of the page, with the table of fields."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)
    rows = [f"| `{name}` | {_holds(kind, text)} |" for name, (kind, text) in fields().items()]
    return f"{before}{BEGIN}{chr(10).join(rows)}{END}{after.split(END)[1]}"


def _holds(kind: Any, text: str) -> str:
    """The description of a field, and those of its rows that have one."""
    parts = [f"`{name}`{f' ({more})' if more else ''}" for name, more in _rows(kind)]
    held = f" Each has {', '.join(parts)}." if parts and get_origin(kind) is list else ""
    held = held or (f" It has {', '.join(parts)}." if any(more for _name, more in _rows(kind)) else "")
    return re.sub(r"\|", r"\\|", text + held)


def _rows(kind: Any) -> list[tuple[str, str]]:
    """The names and descriptions of what is in a field."""
    inner = [arg for arg in get_args(kind) if arg is not NoneType] or [kind]
    if not is_typeddict(inner[-1]):
        return []
    hints = get_type_hints(inner[-1], include_extras=True)
    return [(name, _text(hint)) for name, hint in hints.items()]


def _text(hint: Any) -> str:
    if get_origin(hint) in (Required, NotRequired):
        return _text(get_args(hint)[0])
    return str(get_args(hint)[1]) if get_origin(hint) is Annotated else ""


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")

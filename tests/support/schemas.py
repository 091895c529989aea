# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published schemas of reports (docs/schemas), and validation of documents against them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The schemas, by the name that a report has under ``schema``."""
    loaded = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return {one["$id"]: one for one in loaded}


def faults(document: dict[str, Any]) -> list[str]:
    """The differences of a report from its schema. An unpublished schema is a fault, too."""
    schema = schemas().get(document.get("schema", ""))
    if schema is None:
        return [f"no published schema is called {document.get('schema')!r}"]
    if "oneOf" in schema:
        # Missing values of another kind would only hide the real fault.
        kinds = [one for one in schema["oneOf"] if one["properties"]["kind"]["const"] == document.get("kind")]
        if not kinds:
            return [f"no report is of the kind {document.get('kind')!r}"]
        schema = kinds[0]
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(schema).iter_errors(document)]


def require_valid(folder: Path, since: float) -> None:
    """Validate every report in ``folder`` that was written since (epoch seconds)."""
    for path in sorted((*folder.glob("*.json"), *folder.glob("runs/*/report.json"))):
        if path.stat().st_mtime >= since:
            found = faults(json.loads(path.read_text()))
            if found:
                raise AssertionError(f"{path.relative_to(folder)} breaks its schema: {'; '.join(found[:5])}")

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a support bundle: one file for each part, or the reason why it is missing, without secrets.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..redaction import HIDDEN, names_of, redacted, secrets_of

__all__ = ["REPORTS", "bundle", "lines"]

SCHEMA = "switchback.kafka_dr/support/1"
# Only the newest reports: each run writes one, and none is deleted.
REPORTS = 100
_OURS = "switchback.kafka_dr/"
_COMMANDS = ("command", "start", "stop")


def bundle(
    pair: str,
    stamp: str,
    variables: Mapping[str, Any],
    observations: Mapping[str, Any],
    reports: Mapping[str, str],
    left_out: int = 0,
) -> dict[str, str]:
    """Texts by file name. ``about.json`` lists the files, and why a part is missing.

    ``variables``: of the inventory, by name. ``observations``: results of info modules, as Ansible registers them, each
    with its value under its own name. ``reports``: texts by file name. ``left_out``: how many older ones there are.
    """
    secrets, names = secrets_of(variables), names_of(variables)
    parts: dict[str, Any] = {"inventory": _commands_hidden(variables)}
    missing: dict[str, str] = {}
    for name, result in observations.items():
        if isinstance(result, Mapping) and result.get(name) is not None and not result.get("failed"):
            parts[name] = result[name]
        else:
            missing[name] = _why(result)
    for side, found in dict(parts.pop("sides", {})).items():
        for name, part in found.items():
            if "error" in part:
                missing[f"{side}/{name}"] = str(part["error"])
            else:
                parts[f"{side}/{name}"] = part["found"]
    for name, text in reports.items():
        try:
            report = json.loads(text)
        except ValueError:
            report = None
        if isinstance(report, dict) and str(report.get("schema", "")).startswith(_OURS):
            parts[f"reports/{name.removesuffix('.json')}"] = report
        else:
            missing[f"reports/{name}"] = "it is not a report of this collection"
    if left_out:
        missing["reports"] = f"{left_out} older reports are left out"
    about = {
        "schema": SCHEMA,
        "pair": pair,
        "at": stamp,
        "versions": parts.pop("versions", None),
        "files": sorted(f"{name}.json" for name in parts),
        "missing": missing,
    }
    return {
        f"{name}.json": json.dumps(redacted(part, secrets, names), indent=2, sort_keys=True) + "\n"
        for name, part in {"about": about, **parts}.items()
    }


def lines(texts: Mapping[str, str]) -> list[str]:
    """The bundle as lines of text."""
    about = json.loads(texts["about.json"])
    missing = [f"{name}: {why}" for name, why in about["missing"].items()]
    return [f"{len(texts)} files about the pair {about['pair']}", *(f"missing: {line}" for line in missing)]


def _why(result: Any) -> str:
    reported = result.get("msg") if isinstance(result, Mapping) else None
    return str(reported or "it was not observed")


def _commands_hidden(value: Any) -> Any:
    """Keep only the program of commands of applications and hooks: arguments may be ``-p`` and a password."""
    if isinstance(value, Mapping):
        return {
            key: inner[:1] + [HIDDEN] * (len(inner) - 1)
            if key in _COMMANDS and isinstance(inner, list)
            else _commands_hidden(inner)
            for key, inner in value.items()
        }
    return [_commands_hidden(inner) for inner in value] if isinstance(value, list) else value

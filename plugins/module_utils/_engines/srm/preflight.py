# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the two sites of Streams Replication Manager must be before a flow is enabled, and what they can do. Pure.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cm.replication_config import REPLICATION_CONFIGS
from ..._core.resources.connector_settings import as_text
from .replication_lines import foreign_policy

__all__ = [
    "DRIVER_TARGET",
    "PREFIXLESS",
    "REVERSE",
    "reverse_supported",
    "srm_addressed",
    "srm_preflight",
]

REVERSE = "cloudera.reverse.checkpointing.enabled"
PREFIXLESS = "Enable Prefixless Replication"
DRIVER_TARGET = "streams.replication.manager.driver.target.cluster"
_REVERSE_SINCE = (7, 3, 2)


def srm_preflight(pair: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """May the sites be told to run the flows, and what else are they told?

    ``results``: of the loop of ``cm_config_info`` over the sites of the pair, for the four properties below. Returns
    ``problems`` and ``notes`` in words, ``properties`` by alias, and ``reverse``, the aliases whose site does reverse
    checkpointing.
    """
    result: dict[str, Any] = {"problems": [], "notes": [], "properties": {}, "reverse": []}
    for one in results:
        alias = one["replication_site"]
        rows = {row["asked"]: row for row in one["properties"]}
        result["problems"] += _misfits(pair, alias, rows)
        runtime, wanted = one.get("runtime_version") or "unknown", pair["srm"][alias]["reverse_checkpointing"]
        able = reverse_supported(runtime) is not False and rows[REVERSE]["exists"]
        result["properties"][alias] = {}
        if wanted == "required" and not able:
            result["problems"].append(
                f'{alias} has no reverse checkpointing: it needs Runtime 7.3.2, found "{runtime}".'
                ' Say reverse_checkpointing "auto": positions on the way back are then ours alone.'
            )
        elif wanted != "off" and able:
            result["properties"][alias] = {REVERSE: True}
            result["reverse"].append(alias)
        else:
            why = "it is off in the inventory" if wanted == "off" else f'Runtime "{runtime}" has none'
            result["notes"].append(f"{alias}: no reverse checkpointing by SRM ({why}); the playbooks' own replaces it")
    return result


def srm_addressed(pair: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The pair with the whole base address of each Cloudera Manager, so that nobody asks again which API it speaks."""
    urls = {one["replication_site"]: one["url"] for one in results}
    sites = {alias: {**site, "url": urls[alias]} for alias, site in pair["srm"].items()}
    clusters = {
        alias: {**cluster, "srm": {**cluster["srm"], "url": urls[alias]}} for alias, cluster in pair["clusters"].items()
    }
    return {**pair, "srm": sites, "clusters": clusters, "spec": {**pair["spec"], "clusters": clusters}}


def _misfits(pair: Mapping[str, Any], alias: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What makes a site unfit for its flow, in words."""
    problems = []
    if as_text(rows[PREFIXLESS].get("effective") or "").strip().lower() == "true":
        problems.append(
            f'"{PREFIXLESS}" is on at {alias}: replicas would have the names of originals, and reverse'
            " checkpointing does not work. Deselect it in Cloudera Manager."
        )
    lines = rows[REPLICATION_CONFIGS].get("lines")
    if lines is None:
        problems.append(
            f'{alias}: "{REPLICATION_CONFIGS}" cannot be read: it is not there, or hidden from this account.'
        )
    problems += [f"{alias}: {text}" for text in foreign_policy(lines or {}, pair["separator"])]
    target = str(rows[DRIVER_TARGET].get("effective") or "").strip()
    if target != alias:
        # Empty means all clusters: both sites would run both flows, and stopping one would stop nothing.
        problems.append(
            f'The Driver of {alias} must write to {alias} only: "{DRIVER_TARGET}" is "{target or "not set"}".'
            " Set it in Cloudera Manager and restart."
        )
    return problems


def reverse_supported(runtime: str | None) -> bool | None:
    """Has this Runtime reverse checkpointing (7.3.2 and later)? None: the version says nothing."""
    digits = []
    for part in (runtime or "").replace("-", ".").split("."):
        if not part.isdigit():
            break
        digits.append(int(part))
    return None if len(digits) < 2 else tuple(digits[:3]) >= _REVERSE_SINCE

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the configuration and capabilities of both Streams Replication Manager sites before a flow is enabled.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cm.replication_config import REPLICATION_CONFIGS
from ..._core.engines.srm.replication_lines import foreign_policy
from ..._core.resources.connector_settings import as_text

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
    """Check whether the sites may run the flows, and which properties they need.

    ``results``: the results of the loop of ``cm_config_info`` over the sites of the pair, for the four properties
    below. Returns ``problems`` and ``notes`` (one sentence each), ``properties`` to set by alias, and ``reverse``: the
    aliases of the sites that do reverse checkpointing.
    """
    result: dict[str, Any] = {"problems": [], "notes": [], "properties": {}, "reverse": []}
    for site in results:
        alias = site["replication_site"]
        rows = {row["asked"]: row for row in site["properties"]}
        result["problems"] += _misconfigurations(pair, alias, rows)
        runtime, wanted = site.get("runtime_version") or "unknown", pair["srm"][alias]["reverse_checkpointing"]
        able = reverse_supported(runtime) is not False and rows[REVERSE]["exists"]
        result["properties"][alias] = {}
        if wanted == "required" and not able:
            result["problems"].append(
                f'{alias} has no reverse checkpointing: it needs Runtime 7.3.2, found "{runtime}".'
                f' Set kafka_dr_srm.{alias}.reverse_checkpointing to "auto": the playbooks then translate offsets for'
                " the failback without it."
            )
        elif wanted != "off" and able:
            result["properties"][alias] = {REVERSE: True}
            result["reverse"].append(alias)
        else:
            why = "the inventory switches it off" if wanted == "off" else f'Runtime "{runtime}" does not support it'
            result["notes"].append(
                f"{alias}: no reverse checkpointing by SRM ({why}); the playbooks translate these offsets instead"
            )
    return result


def srm_addressed(pair: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the pair with the complete base address of each Cloudera Manager, which includes its API version.

    Later tasks then do not ask for the API version again.
    """
    urls = {one["replication_site"]: one["url"] for one in results}
    sites = {alias: {**site, "url": urls[alias]} for alias, site in pair["srm"].items()}
    clusters = {
        alias: {**cluster, "srm": {**cluster["srm"], "url": urls[alias]}} for alias, cluster in pair["clusters"].items()
    }
    return {**pair, "srm": sites, "clusters": clusters, "spec": {**pair["spec"], "clusters": clusters}}


def _misconfigurations(pair: Mapping[str, Any], alias: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Why a site cannot run its flow, one sentence each."""
    problems = []
    if as_text(rows[PREFIXLESS].get("effective") or "").strip().lower() == "true":
        problems.append(
            f'"{PREFIXLESS}" is on at {alias}: replicas would have the same names as their source topics, and reverse'
            " checkpointing would not work. Deselect it in Cloudera Manager."
        )
    lines = rows[REPLICATION_CONFIGS].get("lines")
    if lines is None:
        problems.append(
            f'{alias}: "{REPLICATION_CONFIGS}" cannot be read: the service has no such property, or Cloudera Manager'
            " hides it from this account. Use an account that may read it."
        )
    problems += [f"{alias}: {text}" for text in foreign_policy(lines or {}, pair["separator"])]
    target = str(rows[DRIVER_TARGET].get("effective") or "").strip()
    if target != alias:
        # Empty means all clusters: both sites would run both flows, and a stop of one site would stop neither flow.
        problems.append(
            f'The Driver of {alias} must write to {alias} only: "{DRIVER_TARGET}" is "{target or "not set"}".'
            f' Set it to "{alias}" in Cloudera Manager, and restart the service.'
        )
    return problems


def reverse_supported(runtime: str | None) -> bool | None:
    """Whether this Runtime supports reverse checkpointing (7.3.2 and later). None: the version cannot be parsed."""
    digits = []
    for part in (runtime or "").replace("-", ".").split("."):
        if not part.isdigit():
            break
        digits.append(int(part))
    return None if len(digits) < 2 else tuple(digits[:3]) >= _REVERSE_SINCE

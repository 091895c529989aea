# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the result as text lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .differences import LOST
from .verdict import PROVEN


def figures(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures of a comparison by name. Without a comparison there are none."""
    if "records" not in document:
        return {}
    topics = document["topics"]
    lost = sum(item["records"] for topic in topics for item in topic["classes"] if item["kind"] == LOST)
    offsets = [item for topic in topics for item in topic["committed_offsets"]]
    exact = sum(item["verdict"] == "EXACT" for item in offsets)
    groups: dict[str, bool] = {}
    for item in offsets:
        groups[item["group"]] = groups.get(item["group"], True) and item["verdict"] == "EXACT"
    return {
        "records compared": f"{document['records']['source']:,}",
        "lost": f"{lost:,}" if lost or document["verdict"] == PROVEN else "none found",
        "read again": f"{document.get('records_read_again', 0):,}",
        "offsets exact": f"{exact} of {len(offsets)}" if offsets else "none compared",
        "groups exact": f"{sum(groups.values())} of {len(groups)}" if groups else "none compared",
    }


def pager(document: Mapping[str, Any]) -> str:
    """Return the result in five lines."""
    known, topics, steps = figures(document), document["topics"], document.get("next")
    compared, lost, offsets, groups = (
        known.get(name, "not known") for name in ("records compared", "lost", "offsets exact", "groups exact")
    )
    reasons = [
        f"{item['records']:,} {item['kind']} ({item['verdict']})" for topic in topics for item in topic["classes"]
    ]
    reasons += [reason for topic in topics for reason in topic["reasons"]]
    reasons = [document["error"]["message"]] if "error" in document else reasons
    # Without a reason, only a proof is evidence that nothing differs: a partial result has not looked yet.
    none = "no difference" if document["verdict"] == PROVEN else "not known"
    text = [
        f"{document['verdict']}: audit of the pair {document['pair']}, run {document['run']}",
        f"Records compared: {compared}. Lost: {lost}.",
        f"Offsets exact: {offsets}. Groups exact: {groups}.",
        f"Found: {'; '.join(reasons[:3]) or none}{'; ...' if len(reasons) > 3 else ''}",
        f"Next: {steps[0]['command'] if steps else 'see docs/audit.md'}",
    ]
    return "\n".join(" ".join(line.split()) for line in text)


def lines(document: dict[str, Any]) -> list[str]:
    """Return the result as text: lines for each topic, each class of differences, and each group that is not EXACT."""
    text = [f"{document['verdict']}: {document['pair']}, {document['records']['source']:,} records compared"]
    for topic in document["topics"]:
        source, target = topic["source"], topic["target"]
        head = f"{source['cluster']}:{source['topic']} -> {target['cluster']}:{target['topic']}"
        exact = sum(item["verdict"] == "EXACT" for item in topic["committed_offsets"])
        text.append(
            f"  {topic['verdict']:<8} {head}: {exact} of {len(topic['committed_offsets'])} committed offsets are exact"
        )
        text += [f"           {reason}" for reason in topic["reasons"]]
        for item in topic["classes"]:
            text.append(f"    {item['verdict']:<8} {item['records']:,} {item['kind']}: {item['reason']}")
            text += [f"             {_place(one)}" for one in item["sample"][:3]]
        for item in [one for one in topic["committed_offsets"] if one["verdict"] != "EXACT"][:5]:
            text.append(
                f"    {item['judged']:<8} group {item['group']}, partition {item['partition']}: {item['verdict']}"
                f" ({item['reason']})"
            )
    if document["written_by_flow"]:
        written = document["written_by_flow"]
        text.append(f"  {written['verdict']:<8} only the flow has written since the cut: {written['reason']}")
    text += [f"  not checked: {item}" for item in document["not_checked"]]
    return text


def _place(one: dict[str, Any]) -> str:
    source = f"source offset {one['source']['offset']}" if one["source"] else "not on the source"
    target = f"target offset {one['target']['offset']}" if one["target"] else "not on the target"
    where = f"partition {one['partition']}"
    if "target_partition" in one:
        where += f" (target: {one['target_partition']})"
    differs = f", differs in {', '.join(one['differs'])}" if "differs" in one else ""
    return f"{where}, {source}, {target}{differs}"

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the result as text lines."""

from __future__ import annotations

from typing import Any


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

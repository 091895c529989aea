# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two pictures of the README: a pair of clusters before and after a failover, and the report of a cutover.

They are drawn by ``docs_diagrams``, which writes them to docs/images.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "build" / "collections"))

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.cutover import (
    cutover_report,
    report_lines,
)
from docs_drawing import Drawing

WIDE, PANEL, GAP = 760.0, 330.0, 84.0
TOP, LOW, TALL = 34.0, 172.0, 66.0
LINE, COLUMNS = 16.0, 96

#: Phases of a cutover at 5,000 records/s that ``make bench`` ran on 2026-11-26, with their seconds.
PHASES = {
    "stop_producers": 1.4,
    "drain": 0.8,
    "stop_consumers": 1.4,
    "barrier": 3.8,
    "commit_offsets": 0.5,
    "start": 4.1,
    "arrival": 1.0,
    "flows": 2.7,
    "settled": 1.5,
}
SECONDS = 27.6
#: That run moved 3 groups on 12 partitions of both topics. B already had every offset. The lab had no ACLs.
PARTITIONS, OFFSETS = 12, 72
VERDICTS = ("PROVEN", "REFUTED", "UNKNOWN")


def overview() -> str:
    """Draw the pair twice, side by side: the applications on P, then on B."""
    drawing = Drawing("kd-overview", width=WIDE)
    panel(drawing, 8, "P", "Normal operation")
    panel(drawing, 8 + PANEL + GAP, "B", "After a failover")
    left, right, middle = 8 + PANEL + 2, 8 + PANEL + GAP - 6, 8 + PANEL + GAP / 2
    for y, start, end, words in ((128.0, left, right, "failover"), (160.0, right, left, "failback")):
        drawing.line([(start, y), (end, y)], "flow", arrow=True)
        drawing.text(middle - 2, y - 8, words, "head", "middle")
    bottom = LOW + TALL + 12
    for x, kind, words in ((8.0, "written", "producers write here"), (160.0, "replicated", "a flow replicates here")):
        drawing.fill(kind, x, bottom, 14, 14)
        drawing.text(x + 20, bottom + 11, words, "note")
    legend = "Consumers read both topics of their cluster. The journal records every run."
    drawing.text(326, bottom + 11, legend, "note")
    return drawing.svg(bottom + 22, "Two clusters before and after a failover: topics, flows and applications")


def panel(drawing: Drawing, x: float, side: str, title: str) -> None:
    """Draw P above B with the applications beside the cluster ``side``."""
    drawing.text(x, 20, title, "head")
    for cluster, y, topics in (("P", TOP, ("Payments", "B.Payments")), ("B", LOW, ("P.Payments", "Payments"))):
        home = cluster == "P"
        head, row = (y + 18, y + 28) if home else (y + 56, y + 8)
        drawing.box(x, y, 226, TALL, f"cluster of-{cluster.lower()}", 6)
        drawing.text(x + 10, head, f"cluster {cluster} ({'home' if home else 'standby'})", "head")
        drawing.text(x + 216, head, "journal", "lane", "end")
        for place, topic in enumerate(topics):
            left = x + 8 + place * 108
            drawing.box(left, row, 102, 30, "topic", 4)
            written = topic == "Payments" and cluster == side
            flowing = topic == f"{side}.Payments"
            drawing.fill("written" if written else "replicated" if flowing else "", left + 4, row + 5, 14, 20)
            drawing.text(left + 60, row + 19, topic, "lane", "middle")
    for source, left, start, end in (("P", 58.0, TOP + 60, LOW + 6), ("B", 166.0, LOW + 6, TOP + 60)):
        drawing.line([(x + left, start), (x + left, end)], "flow", arrow=True)
        drawing.text(x + left + 6, 140, f"flow {source}->{'B' if source == 'P' else 'P'}", "note")
    y = TOP if side == "P" else LOW
    for place, words in ((4, "producers"), (36, "consumers")):
        drawing.box(x + 252, y + place, 78, 26, f"on-{side.lower()}", 4)
        drawing.text(x + 291, y + place + 17, words, "inside", "middle")
    drawing.line([(x + 250, y + 17), (x + 229, y + 17)], "flow", arrow=True)
    drawing.line([(x + 227, y + 49), (x + 249, y + 49)], "flow", arrow=True)


def facts() -> dict[str, Any]:
    """Return what the role ``cutover`` passes to the report, for the run above."""
    times = [{"phase": name, "result": "ok", "began": 0.0, "ended": seconds} for name, seconds in PHASES.items()]
    settled = [{"topic": "Payments", "partition": place, "drained": "PROVEN", "end": 1} for place in range(PARTITIONS)]
    return {
        **dict.fromkeys(("audit", "failure", "fence", "judgement", "lowered", "plan", "rescue", "survey")),
        "pair": "B-P",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "run": "20261126T083602Z-a90c7d",
        "outcome": "completed",
        "began": 0.0,
        "ended": SECONDS,
        "times": times,
        "hooks": [],
        "probes": [],
        "rereads": 0,
        "kept": [],
        "late_writes": [],
        "settled": settled,
        "barrier": {"skips": [], "ends": {"Payments": {str(place): 1 for place in range(PARTITIONS)}}},
        "details": [{"offset": 1, "existing": 1}] * OFFSETS,
        "arrival": {
            "first_write": {"verdict": "PROVEN", "reason": "first records of 1 topics read back"},
            "groups": {"verdict": "PROVEN", "reason": "3 groups have members, no committed offset fell back"},
        },
    }


def report() -> str:
    """Draw the lines of a report as a terminal shows them. The text is the product's own."""
    drawing = Drawing("kd-report", width=WIDE)
    y = 24.0
    for line in report_lines(cutover_report(facts())):
        for part in textwrap.wrap(line, COLUMNS, drop_whitespace=False, subsequent_indent=" " * 11):
            drawing.terminal(14, y, part, VERDICTS)
            y += LINE
    return drawing.svg(y, "The report of a cutover: seconds of each phase, and a verdict for each check")

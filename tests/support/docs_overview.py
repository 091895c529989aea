# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The diagram of the README, a pair of clusters before and after a failover, for ``docs_diagrams``."""

from __future__ import annotations

from docs_drawing import Drawing

WIDE, PANEL, GAP = 760.0, 330.0, 84.0
TOP, LOW, TALL = 34.0, 172.0, 66.0


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

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the result as one self-contained HTML page: verdict, differences, coverage, offsets, committed offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Document = Mapping[str, Any]

STYLE = """
:root { --good: #1a7f37; --bad: #c62828; --open: #9a6700; --faint: #59636e; --line: #d1d9e0; --wash: #f6f8fa; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; margin: 0 auto; max-width: 68rem; padding: 1rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .25rem 0; }
.faint { color: var(--faint); }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; color: #fff; font: 600 .8rem system-ui; }
.PROVEN { background: var(--good); }
.REFUTED { background: var(--bad); }
.UNKNOWN { background: var(--open); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { background: var(--wash); font-weight: 600; white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; max-width: 100%; height: auto; background: var(--wash); border: 1px solid var(--line); }
svg text { font: 11px system-ui, sans-serif; fill: var(--faint); }
ul { margin: .25rem 0; padding-left: 1.2rem; }
@media print { .scroll { overflow: visible; } }
"""

WORDS = {
    "PROVEN": "All compared records exist on the target, unchanged and in order, and all compared committed offsets are"
    " right.",
    "REFUTED": "Records are lost, altered or in the wrong place, or a group would skip records. See the red rows.",
    "UNKNOWN": "No error was found, but not everything could be compared, so this is not a proof. See the reasons.",
}


def page(document: Document) -> str:
    """Return the whole page. All its content comes from ``document``."""
    verdict = document["verdict"]
    body = [
        f"<h1>{_badge(verdict)} Audit of the pair {escape(document['pair'])}</h1>",
        f"<p>{WORDS[verdict]}</p>",
        f'<p class="faint">{escape(_facts(document))}</p>',
        _list("Why the audit stopped", [document["error"]["message"]] if "error" in document else []),
        _list("Not checked", document["not_checked"]),
        *(_topic(topic) for topic in document["topics"]),
        _words(),
    ]
    title = escape(f"{verdict}: audit of {document['pair']}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _facts(document: Document) -> str:
    parts = [f"started {document['began']}"]
    if "records" in document:
        records = document["records"]
        parts.append(f"{records['source']:,} source records, {records['target']:,} target records")
        parts.append(f"{document.get('records_read_again', 0):,} records read again")
    if "seconds" in document:
        parts.append(f"{document['seconds']:.0f} s")
    return "; ".join([*parts, f"run {document['run']}"])


def _topic(topic: Document) -> str:
    source, target = topic["source"], topic["target"]
    names = f"{source['cluster']}:{source['topic']} → {target['cluster']}:{target['topic']}"
    how = {
        "online": "a snapshot while producers write",
        "complete": "no producer writes to the source: all records must be on the target",
        "disaster": "records that were never replicated are the lost tail",
    }
    partitions = topic["partitions"]
    compared = sum(item["source"]["records"] for item in partitions)
    parts = [
        f"<h2>{_badge(topic['verdict'])} {escape(names)}</h2>",
        f'<p class="faint">{how[topic["mode"]]}; {compared:,} records in {len(partitions)} partitions</p>',
        _list("Why this is not PROVEN", topic["reasons"]),
        _list("Notes", topic["notes"]),
        _classes(topic["classes"]),
        _coverage(topic),
        _offsets(partitions),
        _committed_offsets(topic["committed_offsets"], partitions),
    ]
    return "\n".join(part for part in parts if part)


def _classes(classes: Sequence[Document]) -> str:
    if not classes:
        return "<p>No differences.</p>"
    rows = [
        [
            _badge(item["verdict"]),
            escape(item["kind"]),
            f"{item['records']:,}",
            escape(f"{item['meaning']}; {item['reason']}" if item["reason"] != item["meaning"] else item["meaning"]),
            f"{_moment(item['oldest'])} – {_moment(item['newest'])}",
            _places(item),
        ]
        for item in classes
    ]
    return "<h3>Differences</h3>" + _table(["", "kind", "records", "meaning", "from – to", "where"], rows, {2})


def _places(item: Document) -> str:
    lines = []
    for one in item["sample"][:5]:
        at = [f"{name} {one[name]['offset']}" for name in ("source", "target") if one[name]]
        where = f"partition {one['partition']}: {', '.join(at)}"
        where += f" (in partition {one['target_partition']})" if "target_partition" in one else ""
        where += f", differs in {', '.join(one['differs'])}" if "differs" in one else ""
        lines.append(escape(where))
    for run in item["runs"][:5]:
        ends = run["source"] or run["target"]
        lines.append(f"partition {run['partition']}: offsets {ends[0]} to {ends[1]}")
    rest = item["records"] - len(item["sample"][:5])
    if rest > 0 and not item["runs"]:
        lines.append(f"and {rest:,} more")
    return "<br>".join(lines)


def _coverage(topic: Document) -> str:
    """Draw a bar for each partition: green for chunks that are equal in the first pass, the rest by its differences."""
    partitions: Sequence[Document] = topic["partitions"]
    if not partitions:
        return ""
    wrong = {item["kind"] for item in topic["classes"] if item["verdict"] == "REFUTED"}
    most = max((item["source"]["records"] for item in partitions), default=0) or 1
    height, width, left = 18, 760, 70
    shapes = []
    for row, item in enumerate(partitions):
        chunks = max(item["source"]["chunks"], item["target"]["chunks"]) or 1
        share = item["chunks_equal"] / chunks if item["source"]["chunks"] or item["target"]["chunks"] else 1.0
        full = max(2.0, (width - left - 180) * item["source"]["records"] / most)
        top = row * height + 3
        reported = f"{item['source']['records']:,} records, {100 * share:.1f} % equal"
        rest = "#c62828" if wrong & set(item["differences"]) else "#d4a72c"
        shapes.append(
            f'<text x="4" y="{top + 10}">partition {item["partition"]}</text>'
            f'<rect x="{left}" y="{top}" width="{full:.1f}" height="12" fill="{rest}"/>'
            f'<rect x="{left}" y="{top}" width="{full * share:.1f}" height="12" fill="#1a7f37"/>'
            f'<text x="{left + full + 6:.1f}" y="{top + 10}">{reported}</text>'
        )
    return (
        '<h3>Coverage</h3><p class="faint">Length: source records. Green: equal in the first pass. Yellow: read again '
        "and explained above. Red: the partition has an error.</p>"
        + _svg(width, len(partitions) * height + 6, shapes, "coverage of each partition")
    )


def _offsets(partitions: Sequence[Document]) -> str:
    """Draw target offset minus source offset over time. Steps show markers, resends and skipped records."""
    curves = {item["partition"]: item["map"] for item in partitions if len(item["map"]) > 1}
    if not curves:
        return ""
    points = [point for curve in curves.values() for point in curve]
    stamps = [point[0] for point in points]
    deltas = [point[2] - point[1] for point in points]
    width, height, edge = 760, 160, 46
    low, high = min(stamps), max(stamps)
    bottom, top = min(deltas), max(deltas)

    def place(stamp: int, delta: int) -> str:
        x = edge + (width - edge - 12) * (stamp - low) / max(1, high - low)
        y = height - 22 - (height - 36) * (delta - bottom) / max(1, top - bottom)
        return f"{x:.1f},{y:.1f}"

    shapes = []
    for number, curve in sorted(curves.items()):
        line = " ".join(place(stamp, target - source) for stamp, source, target in curve)
        colour = f"hsl({number * 47 % 360} 60% 40%)"
        shapes.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5">'
            f"<title>partition {number}</title></polyline>"
        )
    shapes += [
        f'<text x="4" y="16">{top:+,}</text><text x="4" y="{height - 24}">{bottom:+,}</text>',
        f'<text x="{edge}" y="{height - 6}">{_moment(low)}</text>',
        f'<text x="{width - 12}" y="{height - 6}" text-anchor="end">{_moment(high)}</text>',
    ]
    return (
        '<h3>Offsets</h3><p class="faint">Target offset minus source offset of equal records by timestamp, one line '
        "for each partition. Transaction markers and resends cause steps, which are harmless.</p>"
        + _svg(width, height, shapes, "offset difference over time")
    )


def _committed_offsets(committed_offsets: Sequence[Document], partitions: Sequence[Document]) -> str:
    if not committed_offsets:
        return '<p class="faint">No committed offsets were compared, because no group was moved yet.</p>'
    exact = sum(item["verdict"] == "EXACT" for item in committed_offsets)
    text = f"<h3>Committed offsets</h3><p>{exact} of {len(committed_offsets)} are exact.</p>"
    ranges = {item["partition"]: item for item in partitions}
    shapes, height, width, left = [], 16, 760, 190
    for row, item in enumerate(committed_offsets):
        top = row * height + 3
        shapes.append(f'<text x="4" y="{top + 9}">{escape(item["group"][:20])} / {item["partition"]}</text>')
        shapes.append(f'<rect x="{left}" y="{top + 4}" width="{width - left - 70}" height="2" fill="#d1d9e0"/>')
        for name, colour, size in (("source", "#0969da", 5), ("target", "#bc4c00", 3)):
            span = ranges.get(item["partition"], {}).get(name)
            if item[name] is not None and span and span["end"] > span["start"]:
                share = min(1.0, max(0.0, (item[name] - span["start"]) / (span["end"] - span["start"])))
                x = left + (width - left - 70) * share
                shapes.append(f'<circle cx="{x:.1f}" cy="{top + 5}" r="{size}" fill="{colour}"/>')
        shapes.append(f'<text x="{width - 64}" y="{top + 9}">{item["verdict"]}</text>')
    text += (
        '<p class="faint">Committed offset of each group in the log of the source (blue) and the target (orange).</p>'
        + _svg(width, len(committed_offsets) * height + 6, shapes, "committed offsets of the groups")
    )
    wrong = [item for item in committed_offsets if item["verdict"] != "EXACT" or item["resent"]]
    if wrong:
        rows = [
            [
                _badge(item["judged"]),
                escape(item["group"]),
                str(item["partition"]),
                str(item["source"]),
                str(item["target"]),
                f"{item['verdict']} {item['records'] or ''}",
                str(item["resent"]),
                escape(item["reason"]),
            ]
            for item in wrong
        ]
        heads = [
            "",
            "group",
            "partition",
            "source offset",
            "target offset",
            "committed offset",
            "sent twice by the flow",
            "reason",
        ]
        text += _table(heads, rows, {2, 3, 4, 6})
    return text


def _words() -> str:
    return (
        "<h2>How to read this page</h2><p>PROVEN: compared and equal, or the difference is explained. REFUTED: proven "
        "to be wrong. UNKNOWN: not everything could be compared, so this is not a proof. The offsets of a record may "
        "differ on the two clusters although all records are equal. Records are compared by fingerprints of key, "
        "value, headers, order and, if both topics keep it, the timestamp. Payloads are not on this page.</p>"
    )


def _list(title: str, items: Iterable[str]) -> str:
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<h3>{title}</h3><ul>{lines}</ul>" if lines else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    cells = (
        "<tr>" + "".join(f"<td{' class=n' if n in numbers else ''}>{cell}</td>" for n, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(cells)}</tbody></table></div>'


def _svg(width: int, height: int, shapes: Iterable[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{label}">{"".join(shapes)}</svg>'
    )


def _badge(verdict: str) -> str:
    return f'<span class="badge {escape(verdict)}">{escape(verdict)}</span>'


def _moment(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "without a timestamp"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(milliseconds / 1000)) + " UTC"

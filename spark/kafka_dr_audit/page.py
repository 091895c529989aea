# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the result as one self-contained HTML page: verdict, differences, coverage, offsets, committed offsets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .style import STYLE
from .text import figures

Document = Mapping[str, Any]

HEADLINES = {
    "PROVEN": "All compared records and offsets are right",
    "REFUTED": "Records or committed offsets are wrong",
    "UNKNOWN": "Not everything could be compared",
}
WORDS = {
    "PROVEN": "all compared records exist on the target, unchanged and in order, and all compared committed offsets are"
    " right.",
    "REFUTED": "records are lost, altered or in the wrong place, or a group would skip records. See the red rows.",
    "UNKNOWN": "no error was found, but not everything could be compared, so this is not a proof. See the reasons.",
}
TONES = {"PROVEN": "good", "REFUTED": "bad", "UNKNOWN": "open"}
# The guides: `repository` of the collection's galaxy.yml.
GUIDES = "https://github.com/switchback/kafka_dr/blob/main/"


def page(document: Document) -> str:
    """Return the whole page. All its content comes from ``document``."""
    verdict = document["verdict"]
    body = [
        f'<header class="head {TONES[verdict]}"><p class="faint">audit of the pair {escape(document["pair"])}</p>'
        f"<h1>{HEADLINES[verdict]}</h1><p>{_badge(verdict)} evidence: {WORDS[verdict]}</p>"
        f'<p class="faint">{escape(_facts(document))}</p></header>',
        _tiles(document),
        _next(document),
        _list("Why the audit stopped", [document["error"]["message"]] if "error" in document else []),
        _list("Not checked", document["not_checked"]),
        *(_topic(topic) for topic in document["topics"]),
        _pager(document),
        _words(),
    ]
    title = escape(f"{verdict}: audit of {document['pair']}")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _tiles(document: Document) -> str:
    """The figures of the audit. Without a comparison there are none."""
    values = figures(document)
    if not values:
        return ""
    more = {
        "records compared": f"topics: {len(document['topics'])}",
        "lost": "source records without a copy",
        "read again": "by the audit, to explain differences",
    }
    values["the audit took"] = f"{document['seconds']:.0f} s" if "seconds" in document else "not known"
    cells = (
        f'<li><span class="name">{name}</span><strong>{value}</strong>'
        f'<span class="faint">{more.get(name, "")}</span></li>'
        for name, value in values.items()
    )
    return f'<ul class="tiles">{"".join(cells)}</ul>'


def _next(document: Document) -> str:
    steps = document.get("next", ())
    lines = (f"<p>{escape(step['text'])}:</p><pre><code>{escape(step['command'])}</code></pre>" for step in steps)
    return f"<h2>What now</h2>\n{''.join(lines)}" if steps else ""


def _pager(document: Document) -> str:
    if not document.get("pager"):
        return ""
    return f"<h2>For the pager</h2>\n<pre><code>{escape(document['pager'])}</code></pre>"


def _facts(document: Document) -> str:
    parts = [f"started {document['began']}"]
    if "records" in document:
        records = document["records"]
        parts.append(f"{records['source']:,} source records, {records['target']:,} target records")
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
    if not any(item["source"]["records"] for item in partitions):
        return ""
    wrong = {item["kind"] for item in topic["classes"] if item["verdict"] == "REFUTED"}
    most = max(item["source"]["records"] for item in partitions)
    lines, equal = [], 0
    for item in partitions:
        chunks = max(item["source"]["chunks"], item["target"]["chunks"]) or 1
        share = item["chunks_equal"] / chunks if item["source"]["chunks"] or item["target"]["chunks"] else 1.0
        equal += share == 1.0
        full = 100 * item["source"]["records"] / most
        rest = "bad" if wrong & set(item["differences"]) else "rest"
        bars = _bar(rest, full) + _bar("good", full * share)
        lines.append(
            _row(
                f"partition {item['partition']}",
                bars,
                f"{item['source']['records']:,} records, {100 * share:.1f} % equal",
            )
        )
    legend = (
        '<p class="faint">Length: source records. Green: equal in the first pass. Amber: read again and explained'
        " above. Red: the partition has an error.</p>"
    )
    bars = f'<div class="bars">{"".join(lines)}</div>'
    return "<h3>Coverage</h3>" + _fold(
        f"{equal} of {len(partitions)} partitions are equal in the first pass", legend + bars, equal < len(partitions)
    )


def _offsets(partitions: Sequence[Document]) -> str:
    """Draw target offset minus source offset over time. Steps show markers, resends and skipped records."""
    curves = {item["partition"]: item["map"] for item in partitions if len(item["map"]) > 1}
    points = [point for curve in curves.values() for point in curve]
    stamps = [point[0] for point in points]
    deltas = [point[2] - point[1] for point in points]
    # A flat line is no chart: all offsets differ by the same number.
    if not curves or min(deltas) == max(deltas):
        return ""
    width, height = 760, 140
    low, high = min(stamps), max(stamps)
    bottom, top = min(deltas), max(deltas)

    def place(stamp: int, delta: int) -> str:
        x = width * (stamp - low) / max(1, high - low)
        y = height - 6 - (height - 12) * (delta - bottom) / max(1, top - bottom)
        return f"{x:.1f},{y:.1f}"

    shapes = []
    for number, curve in sorted(curves.items()):
        line = " ".join(place(stamp, target - source) for stamp, source, target in curve)
        shapes.append(f'<polyline points="{line}"><title>partition {number}</title></polyline>')
    chart = (
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" style="height:8rem" role="img"'
        f' aria-label="offset difference over time">{"".join(shapes)}</svg>'
    )
    return (
        '<h3>Offsets</h3><p class="faint">Target offset minus source offset of equal records by timestamp, one line '
        f"for each partition, from {bottom:+,} at the bottom to {top:+,} at the top, from {_moment(low)} to "
        f"{_moment(high)}. Transaction markers and resends cause steps, which are harmless.</p>" + chart
    )


def _committed_offsets(committed_offsets: Sequence[Document], partitions: Sequence[Document]) -> str:
    if not committed_offsets:
        return '<p class="faint">No committed offsets were compared, because no group was moved yet.</p>'
    groups: dict[str, list[Document]] = {}
    for item in committed_offsets:
        groups.setdefault(item["group"], []).append(item)
    counts = [
        [escape(group), f"{sum(item['verdict'] == 'EXACT' for item in items)} of {len(items)}"]
        for group, items in groups.items()
    ]
    text = "<h3>Committed offsets</h3>" + _table(["group", "exact"], counts, {1})
    ranges = {item["partition"]: item for item in partitions}
    lines = []
    for item in committed_offsets:
        dots = ""
        for name in ("source", "target"):
            span = ranges.get(item["partition"], {}).get(name)
            if item[name] is not None and span and span["end"] > span["start"]:
                share = min(1.0, max(0.0, (item[name] - span["start"]) / (span["end"] - span["start"])))
                dots += f'<div class="dot {name}" style="left:{100 * share:.2f}%"></div>'
        lines.append(_row(f"{escape(item['group'])} / {item['partition']}", dots, escape(item["verdict"])))
    legend = (
        '<p class="faint">Committed offset of each group in the log of the source (large) and the target (small).</p>'
    )
    text += _fold(f"{len(committed_offsets):,} committed offsets", f'{legend}<div class="bars">{"".join(lines)}</div>')
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
        "<h2>How to read this</h2><p>PROVEN: compared and equal, or the difference is explained. REFUTED: proven "
        "to be wrong. UNKNOWN: not everything could be compared, so this is not a proof. The offsets of a record may "
        "differ on the two clusters although all records are equal. Records are compared by fingerprints of key, "
        "value, headers, order and, if both topics keep it, the timestamp. Payloads are not on this page.</p>"
        f'<p>Guide: <a href="{GUIDES}docs/audit.md">docs/audit.md</a></p>'
    )


def _list(title: str, items: Iterable[str]) -> str:
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<h3>{title}</h3><ul>{lines}</ul>" if lines else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]) -> str:
    top = "".join(f"<th{' class=n' if n in numbers else ''}>{escape(head)}</th>" for n, head in enumerate(heads))
    cells = (
        "<tr>" + "".join(f"<td{' class=n' if n in numbers else ''}>{cell}</td>" for n, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(cells)}</tbody></table></div>'


def _fold(summary: str, content: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>{content}</details>"


def _bar(kind: str, percent: float) -> str:
    return f'<div class="bar {kind}" style="left:0;width:{percent:.2f}%"></div>' if percent else ""


def _row(name: str, drawn: str, text: str) -> str:
    return f'<div class="row"><div>{name}</div><div class="track">{drawn}</div><div>{text}</div></div>'


def _badge(verdict: str) -> str:
    return f'<span class="badge {TONES.get(verdict, "")}">{escape(verdict)}</span>'


def _moment(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "without a timestamp"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(milliseconds / 1000)) + " UTC"

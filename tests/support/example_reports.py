# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of each kind that has a page, as the roles build them, to look at their pages."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import accumulate, pairwise
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.checks.readiness import CHECKS
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.cutover import cutover_report
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.readiness import readiness_report
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.reports.steps import audit_steps, next_step
from kafka_dr_audit.text import pager

Document = dict[str, Any]


DEPARTED = {
    "verdict": "PROVEN",
    "reason": "1 groups have no members on P and have committed nothing there since the barrier",
}


def committed_offset(group: str = "g", number: int = 0, **parts: Any) -> Document:
    base = {"group": group, "topic": "P.T", "partition": number, "left": 90, "existing": 70, "offset": 80}
    return {**base, "quality": "exact", "rereads": 0, "reason": "read to the end", "hazards": [], **parts}


def cutover(**parts: Any) -> Document:
    names = ["stop_producers", "drain", "stop_consumers", "barrier", "commit_offsets", "start", "arrival"]
    times = [
        {"phase": name, "began": 1795416710 + 10 * at, "ended": 1795416718 + 10 * at, "result": "ok"}
        for at, name in enumerate(names)
    ]
    facts = {
        "pair": "B-P",
        "type": "cutoff",
        "from": "P",
        "to": "B",
        "passed": True,
        "turned": 1795416760,
        "journal": {},
        "run_on": "localhost",
        "drop": [],
        "options": {},
        "rehearsal": False,
        # Seconds after the start, which is 06:51:40.
        "run": "20261123T065148Z-18f3a0",
        "outcome": "completed",
        "began": 1795416700,
        "ended": 1795416800,
        "judgement": {"verdict": "PROVEN", "text": "lives there"},
        "times": times,
        "hooks": [],
        "rereads": 0,
        "details": [committed_offset()],
        "survey": None,
        "probes": [],
        "lowered": 0,
        "kept": [],
        "rescue": None,
        "fence": None,
        "unstopped": [],
        "barrier": {
            "cut": {},
            "entered": [{"group": "g", "committed_offsets": [{"topic": "T", "partition": 4, "offset": 55}]}],
        },
        "departure": [DEPARTED, DEPARTED],
        "undeclared_groups": [],
        "arrival": {
            "first_write": {"verdict": "PROVEN", "reason": "read back"},
            "groups": {"verdict": "UNKNOWN", "reason": "no members yet"},
        },
        "late_writes": [],
        "one_log": False,
        "settled": [{"topic": "T", "partition": 0, "drained": "PROVEN", "reason": ""}],
        "audit": None,
        "failure": None,
        "plan": {},
    }
    return cutover_report({**facts, **parts})


def disaster(**parts: Any) -> Document:
    loss = {
        "records_at_least": 0,
        "records_at_most": None,
        "offsets_to_committed": 3,
        "seconds_at_most": None,
        "heartbeat_age": None,
    }
    survey = {"loss": loss, "loss_lines": ["at least 3 offsets"], "ages": {"g": 12.0}}
    rows = [{**committed_offset(), "method": "checkpoint"}]
    return cutover(**{"type": "disaster", "survey": survey, "details": rows, **parts})


def readiness(**parts: Any) -> Document:
    names = [check.name for check in CHECKS]
    answers = dict.fromkeys(names, "YES") | {
        "flow_progress": "NO",
        "undeclared_groups": "ACCEPTED",
        "versions": "UNKNOWN",
    }
    rows = [
        {
            "name": check.name,
            "asks": check.asks.format(x="P", y="B"),
            "answer": answers[check.name],
            "found": f"what was found of {check.name}",
            "remedy": check.remedy.format(x="P", y="B") if answers[check.name] in ("NO", "UNKNOWN") else "",
            "counts": list(check.counts),
        }
        for check in CHECKS
    ]
    observation = {
        "controlled": "YES",
        "disaster": "NO",
        "lag_s": 1.5,
        "loss_records": None,
        "rereads": 7,
        "named": ["back"],
    }
    base = {
        "from": "P",
        "to": "B",
        "controlled": "NO",
        "disaster": "UNKNOWN",
        "at": "2026-11-23T06:58:30.584391",
        "checks": rows,
        "cost": ["a controlled cutover now: read again at most g 5"],
        "loss": {
            "records_at_least": 0,
            "records_at_most": None,
            "offsets_to_committed": 3,
            "seconds_at_most": 12.5,
            "heartbeat_age": 1.0,
        },
        "rereads": {"controlled": {"g": 5, "h": None}, "disaster": None},
        "lag_s": 2.25,
        "durations": {"cutoff": {"last": 44.1, "median": 41.0, "runs": 3}},
        "observations": [{**observation, "at": f"2026-11-23T06:{minute:02d}:00.000000"} for minute in range(30)],
        "trend": ["controlled: NO since today"],
        "objectives": [
            {"type": "cutoff", "rpo": "0 records", "writes_s": 3.9, "reads_s": 4.1, "source": "median of 3 runs"}
        ],
    }
    return readiness_report({"pair": "B-P", "run_on": "localhost", "readiness": {**base, **parts}})


def phases(*names: str) -> list[Document]:
    return [
        {"phase": name, "began": 1795416710 + 10 * at, "ended": 1795416718 + 10 * at, "result": "ok"}
        for at, name in enumerate(names)
    ]


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


def bench_run() -> Document:
    """The report of that run, whose page the README shows.

    It took 27.6 s and moved 3 groups on 12 partitions of both topics. The lab had no ACLs, and the audit was off.
    """
    began = datetime(2026, 11, 26, 8, 36, 2, tzinfo=UTC).timestamp()
    ends = list(accumulate(PHASES.values(), initial=began + 27.6 - sum(PHASES.values())))
    times = [
        {"phase": name, "result": "ok", "began": start, "ended": end}
        for name, (start, end) in zip(PHASES, pairwise(ends), strict=True)
    ]
    offsets = [
        {**committed_offset(group, number, offset=1, existing=1, left=1), "topic": topic}
        for group in ("settlement", "fraud", "archive")
        for topic in ("P.Payments", "Payments")
        for number in range(12)
    ]
    settled = [{"topic": "Payments", "partition": place, "drained": "PROVEN", "end": 1} for place in range(12)]
    groups = {"verdict": "PROVEN", "reason": "3 groups have members on all their topics, no committed offset fell back"}
    return cutover(
        run="20261126T083602Z-a90c7d",
        began=began,
        ended=began + 27.6,
        turned=times[5]["began"],
        times=times,
        details=offsets,
        settled=settled,
        barrier={"skips": [], "ends": {"Payments": {str(place): 1 for place in range(12)}}},
        arrival={
            "first_write": {"verdict": "PROVEN", "reason": "first records of 1 topics read back"},
            "groups": groups,
        },
    )


def not_ready() -> Document:
    """A pair with two questions that are NO, one that is unknown, and others that depend on them."""
    checks = readiness()["checks"]
    skipped = {row["name"] for row in checks[-5:]}
    checks = [
        {**row, "answer": "SKIPPED", "remedy": "", "found": "flow_progress is not YES"}
        if row["name"] in skipped
        else row
        for row in checks
    ]
    return readiness(checks=checks)


REHEARSAL: Document = {
    "schema": "switchback.kafka_dr/rehearsal/2",
    "kind": "rehearsal",
    "pair": "B-P",
    "type": "cutoff",
    "back": False,
    "from": "P",
    "to": "B",
    "outcome": "completed",
    "verdict": "UNKNOWN",
    "began": "2026-11-23T06:51:40.000+00:00",
    "ended": "2026-11-23T06:52:40.000+00:00",
    "seconds": 60.0,
    "phases": [
        {"phase": name, "result": "ok", "began": f"2026-11-23T06:51:{40 + 4 * at}.000+00:00", "seconds": 4.0}
        for at, name in enumerate(("prepare", "load", "move", "drain", "clean"))
    ],
    "checks": [
        {"name": "cutover", "verdict": "UNKNOWN", "reason": "fence: UNFENCED, no principal"},
        {"name": "records", "verdict": "PROVEN", "reason": "1,400 records, none lost, none twice"},
        {"name": "nothing left", "verdict": "PROVEN", "reason": "topics, groups and connectors were removed"},
    ],
    "not_checked": ["record-by-record comparison of both clusters"],
    "predicted": {"cutover_s": 17.1, "writes_s": 8.2, "reads_s": 9.4, "rereads": 0, "rehearsals": 3},
    "actual": {"cutover_s": 16.4, "writes_s": 8.0, "reads_s": 9.1, "rereads": 0},
    "moves": [cutover()],
    "failure": None,
    "next": [next_step("Check whether the applications could move now", "readiness", {"pair": "B-P"}, to="B")],
    "pager": "Rehearsal completed (cutoff P -> B, pair B-P)\nEvidence: 2 of 3 PROVEN; UNKNOWN cutover",
}


def _partition(number: int) -> Document:
    side = {"records": 9720, "chunks": 20, "start": 0, "end": 9720}
    curve = [[1795416700000 + 1000 * at, 900 * at, 900 * at + 3 * (at > 5)] for at in range(11)]
    equal = 19 if number == 3 else 20
    return {"partition": number, "source": side, "target": side, "chunks_equal": equal, "differences": [], "map": curve}


def _judged(group: str, number: int, verdict: str = "EXACT") -> Document:
    known = {"source": 9600, "target": 9603, "records": 0 if verdict == "EXACT" else 4, "resent": 0}
    judged = "PROVEN" if verdict == "EXACT" else "UNKNOWN"
    return {"group": group, "partition": number, "verdict": verdict, "judged": judged, "reason": "read again", **known}


AUDIT: Document = {
    "schema": "switchback.kafka_dr/audit/2",
    "run": "20261123T065300Z",
    "pair": "B-P",
    "verdict": "UNKNOWN",
    "began": "2026-11-23T06:53:00Z",
    "seconds": 24.2,
    "records": {"source": 116640, "target": 116643},
    "records_read_again": 486,
    "not_checked": ["records after the snapshot"],
    "topics": [
        {
            "name": "P:Payments",
            "verdict": "UNKNOWN",
            "mode": "complete",
            "source": {"cluster": "P", "topic": "Payments"},
            "target": {"cluster": "B", "topic": "P.Payments"},
            "partitions": [_partition(number) for number in range(12)],
            "reasons": ["partition 3 could not be read to its end"],
            "notes": [],
            "classes": [
                {
                    "kind": "DUPLICATE",
                    "verdict": "PROVEN",
                    "records": 3,
                    "meaning": "sent twice by the flow",
                    "reason": "sent twice by the flow",
                    "oldest": 1795416700000,
                    "newest": 1795416701000,
                    "sample": [{"partition": 3, "source": {"offset": 5}, "target": {"offset": 6}}],
                    "runs": [],
                }
            ],
            "committed_offsets": [
                *(_judged("settlement", number) for number in range(12)),
                *(_judged("fraud", number, "LOWER" if number == 3 else "EXACT") for number in range(12)),
            ],
        }
    ],
}
AUDIT["next"] = audit_steps("B-P", "P", "localhost")[AUDIT["verdict"]]
AUDIT["pager"] = pager(AUDIT)

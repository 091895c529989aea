# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a rehearsal: what moved, the result of its clients' ledger, and whether anything is left.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED, UNKNOWN, combine
from .markup import duration, whole
from .rows import CheckRow, Step, check_row, phase_row, stamp
from .steps import next_step, pager_text

__all__ = ["SCHEMA", "rehearsal_lines", "rehearsal_note", "rehearsal_report"]

SCHEMA = "switchback.kafka_dr/rehearsal/2"
_SHOWN = 5
_LEFT = "nothing left"
_NOT_CHECKED = (
    "the applications: the rehearsal moved its own clients, besides them",
    "their topics and groups: the rehearsal replicated its own topic, with its own connectors on the same workers",
)
Facts = Mapping[str, Any]


def rehearsal_report(facts: Facts) -> dict[str, Any]:
    """The report of a rehearsal, from the facts that its role collected (keys as in roles/rehearsal)."""
    moves = list(facts["moves"])
    checks = [
        _moved(facts, moves),
        _records(facts["ledger"]),
        _rereads(facts["ledger"], moves),
        _nothing_left(facts),
        _nothing_else(facts),
        _flows(facts["status"]),
    ]
    again = [text for move in moves for text in move["not_checked"]]
    report = {
        "schema": SCHEMA,
        "kind": "rehearsal",
        **{key: facts[key] for key in ("pair", "run_on", "type", "back", "from", "to", "outcome", "failure")},
        "verdict": combine(check["verdict"] for check in checks),
        "checks": checks,
        "not_checked": list(dict.fromkeys([*_NOT_CHECKED, *again])),
        "began": stamp(facts["began"]),
        "ended": stamp(facts["ended"]),
        "seconds": round(float(facts["ended"]) - float(facts["began"]), 3),
        "phases": [phase_row(phase) for phase in facts["times"]],
        "predicted": _predicted(facts, moves),
        "actual": _actual(facts["ledger"], moves),
        "ledger": facts["ledger"],
        "moves": moves,
    }
    report["next"] = _steps(report)
    report["pager"] = pager_text(_pager(report), report["next"])
    return report


def _steps(report: Facts) -> list[Step]:
    """What to do now, the most urgent first."""
    to, steps = report["to"], []
    if any(check["name"] == _LEFT and check["verdict"] != PROVEN for check in report["checks"]):
        steps.append(next_step("Delete what the rehearsal left", "rehearse_cleanup", report, confirm=to))
    if report["outcome"] == "completed" and report["verdict"] != REFUTED:
        steps.append(next_step("Check whether the applications could move now", "readiness", report, to=to))
    else:
        again = {"rehearsal_type": report["type"], **({"rehearsal_back": "true"} if report["back"] else {})}
        text = "Correct the cause, then rehearse again"
        steps.append(next_step(text, "rehearse", report, confirm=to, **again))
    return steps


def _pager(report: Facts) -> list[str]:
    actual, predicted, failure = report["actual"], report["predicted"], report["failure"]
    writes, reads, cutover = (duration(actual[key]) or "not known" for key in ("writes_s", "reads_s", "cutover_s"))
    twice, most = (whole(counts["rereads"]) or "not known" for counts in (actual, predicted))
    middle = f"Records processed twice: {twice}, predicted at most: {most}. The moves took: {cutover}."
    return [
        f"Rehearsal {report['outcome']} ({_way(report)}, pair {report['pair']})",
        f"Writes stood still: {writes}. Reads: {reads}.",
        f"Stopped in '{failure['task']}': {failure['message']}" if failure else middle,
        f"Evidence: {_proof(report)}",
    ]


def _way(report: Facts) -> str:
    return f"{report['type']} {report['from']} -> {report['to']}{' and back' if report['back'] else ''}"


def _proof(report: Facts) -> str:
    """How many checks are PROVEN, and the verdicts of the others."""
    checks = [check for check in report["checks"] if check["verdict"] != NOT_APPLICABLE]
    left = [f"{check['verdict']} {check['name']}" for check in checks if check["verdict"] != PROVEN]
    return "; ".join([f"{len(checks) - len(left)} of {len(checks)} PROVEN", *left])


def _moved(facts: Facts, moves: Sequence[Facts]) -> CheckRow:
    bad = [move for move in moves if move["verdict"] != PROVEN]
    named = [
        f"{move['from']} -> {move['to']}: {check['name']}: {check['reason']}"
        for move in bad
        for check in move["checks"]
        if check["verdict"] not in (PROVEN, NOT_APPLICABLE)
    ]
    verdicts = [move["verdict"] for move in moves]
    if facts["failure"] or not moves:
        reported = (facts["failure"] or {}).get("message") or "no move was started"
        named.insert(0, f"the rehearsal ended with the outcome {facts['outcome']}: {reported}")
        verdicts.append(UNKNOWN)
    if named:
        return check_row("cutover", combine(verdicts), "; ".join(named[:_SHOWN]))
    return check_row(
        "cutover", PROVEN, f"{len(moves)} of {len(moves)} moves completed, and all their checks are PROVEN"
    )


def _records(ledger: Facts | None) -> CheckRow:
    if ledger is None:
        return check_row("records", UNKNOWN, "the ledger of the clients was not compared")
    groups = list(ledger["groups"].values())
    lost, phantom = (sum(group[key] for group in groups) for key in ("lost", "phantom"))
    acknowledged = ledger["totals"]["acknowledged"]
    if lost or phantom:
        return check_row("records", REFUTED, f"lost {lost}, phantom {phantom}, of {acknowledged} acknowledged")
    if ledger["verdict"] != "clean":
        return check_row("records", UNKNOWN, "a group had no record to read, which proves nothing")
    text = f"each of {acknowledged} acknowledged records was processed by each of {len(groups)} groups"
    return check_row("records", PROVEN, text)


def _rereads(ledger: Facts | None, moves: Sequence[Facts]) -> CheckRow:
    """The cutover's prediction must not be lower than the number of records processed twice."""
    reported = _reported(moves)
    if ledger is None or reported is None:
        return check_row("rereads", UNKNOWN, "there is nothing to compare")
    twice = _twice(ledger)
    text = f"{twice} records were processed twice, at most {reported} were predicted"
    return check_row("rereads", PROVEN if twice <= reported else REFUTED, text)


def _reported(moves: Sequence[Facts]) -> int | None:
    reported = [move["rereads"] for move in moves]
    return None if not reported or None in reported else sum(reported)


def _twice(ledger: Facts) -> int:
    return sum(group["processed_twice"] for group in ledger["groups"].values())


def _nothing_left(facts: Facts) -> CheckRow:
    if not facts["removed"]:
        return check_row(_LEFT, REFUTED, "the clean-up did not finish: run the playbook rehearse_cleanup")
    after = facts["after"]
    if after is None:
        return check_row(_LEFT, UNKNOWN, "it could not be observed")
    left = [f"{kind[:-1]} {name}" for one in after["left"].values() for kind, names in one.items() for name in names]
    left += after["strays"]
    if left:
        return check_row(_LEFT, REFUTED, f"{len(left)} objects have its names: {', '.join(left[:_SHOWN])}")
    text = "no topic, group, committed offset, connector or right of the rehearsal is on either cluster"
    return check_row(_LEFT, PROVEN, f"{text}; the offsets of its connectors were reset first")


def _nothing_else(facts: Facts) -> CheckRow:
    before, after = facts["before"], facts["after"]
    if before is None or after is None:
        return check_row("nothing else changed", UNKNOWN, "it was not observed before and after the rehearsal")
    changed = [
        f"{text} on {alias}"
        for alias, rest in before["rest"].items()
        for text in _differences(rest, after["rest"].get(alias, {}))
    ]
    if changed:
        text = f"{len(changed)} other objects changed meanwhile: {', '.join(changed[:_SHOWN])}"
        return check_row("nothing else changed", UNKNOWN, f"{text}; it is unknown whether the rehearsal changed them")
    count = sum(map(len, before["rest"].values()))
    text = f"{count} objects are unchanged (topics and settings, connectors with their settings and health, rights),"
    return check_row("nothing else changed", PROVEN, f"{text} and every group still exists")


def _differences(before: Facts, after: Facts) -> list[str]:
    """Differences in words. A new group belongs to an application and not to a rehearsal."""
    gone = [f"{name} is gone" for name in before if name not in after]
    new = [f"{name} is new" for name in after if name not in before and not name.startswith("group ")]
    return gone + new + [f"{name} has changed" for name in before if name in after and before[name] != after[name]]


def _flows(status: Facts | None) -> CheckRow:
    """The flows of the pair, which ran besides the rehearsal's connectors."""
    if status is None:
        return check_row("flows of the pair", UNKNOWN, "they were not observed after the rehearsal")
    text = "; ".join(f"{flow['name']}: {flow['reason']}" for flow in status["flows"])
    return check_row("flows of the pair", status["verdict"], text if not status["missing"] else status["missing"][0])


def _predicted(facts: Facts, moves: Sequence[Facts]) -> dict[str, Any]:
    """Predictions from earlier completed rehearsals of this kind."""
    alike = [
        one
        for one in facts["earlier"]
        if (one["type"], one["back"], one["outcome"]) == (facts["type"], facts["back"], "completed")
    ]
    return {
        "rehearsals": len(alike),
        **{key: _median(one.get(key) for one in alike) for key in ("cutover_s", "writes_s", "reads_s")},
        "rereads": _reported(moves),
    }


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 1) if known else None


def _actual(ledger: Facts | None, moves: Sequence[Facts]) -> dict[str, Any]:
    """``writes_s``, ``reads_s``: the longest time without an acknowledgement, and without a record in one group."""
    gaps = (ledger or {}).get("gaps") or {}
    reads = [gap["seconds"] for gap in (gaps.get("groups") or {}).values() if gap]
    writes = gaps.get("acknowledged")
    return {
        "cutover_s": round(sum(move["seconds"] for move in moves), 1) if moves else None,
        "writes_s": round(writes["seconds"], 1) if writes else None,
        "reads_s": round(max(reads), 1) if reads else None,
        "rereads": None if ledger is None else _twice(ledger),
    }


def rehearsal_note(report: Facts) -> dict[str, Any]:
    """The stored part of a rehearsal's report, for later predictions and for readiness."""
    stored = {key: report[key] for key in ("type", "back", "from", "to", "outcome", "verdict", "seconds")}
    return {**stored, **report["actual"]}


def rehearsal_lines(report: Facts) -> list[str]:
    """The report as lines of text."""
    lines = [f"rehearsal {_way(report)}: {report['outcome']}, {report['verdict']} ({report['seconds']:.1f} s)"]
    lines += [f"  {phase['phase']:<16}{phase['seconds']:>8.1f} s" for phase in report["phases"]]
    predicted, actual = report["predicted"], report["actual"]
    names = {"cutover_s": "cutover", "writes_s": "no writes", "reads_s": "no reads"}
    for key, name in names.items():
        if actual[key] is not None:
            by = (
                "no earlier rehearsal"
                if predicted[key] is None
                else f"{predicted[key]:.1f} s in earlier rehearsals (median)"
            )
            lines.append(f"  {name:<16}{actual[key]:>8.1f} s, {by}")
    lines += [f"  {check['verdict']:<8} {check['name']}: {check['reason']}" for check in report["checks"]]
    lines += [f"  {move['headline']}: {move['evidence']['text']}" for move in report["moves"]]
    if report["failure"]:
        lines.append(f"  stopped in '{report['failure']['task']}': {report['failure']['message']}")
    return lines + [f"  not checked: {text}" for text in report["not_checked"]]

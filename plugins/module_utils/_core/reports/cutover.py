# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: one schema for every outcome, and the same facts as readable lines.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..cutover_types import needs_source
from ..journal.runs import passed, resume_command, take_back_command
from ..offsets.skipped_records import skip_rows, skip_text, total
from ..verdict import PROVEN, REFUTED, UNKNOWN, combine
from .plan import plan_lines

__all__ = [
    "check_row",
    "checkpoint_lines",
    "cutover_report",
    "epoch_seconds",
    "lease_lines",
    "phase_row",
    "report_lines",
    "stamp",
    "status_lines",
]

SCHEMA = "switchback.kafka_dr/report/1"
_TAKEN_OVER = "taken over from the journal of an interrupted run, read back after commit"


def cutover_report(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a cutover from what its role remembered (keys as in roles/report)."""
    checks = _checks(facts)
    return {
        "schema": SCHEMA,
        "kind": "cutover",
        "pair": facts["pair"],
        "type": facts["type"],
        "from": facts["from"],
        "to": facts["to"],
        "run": facts["run"],
        "outcome": facts["outcome"],
        "verdict": combine(check["verdict"] for check in checks),
        "checks": checks,
        "not_checked": _not_checked(facts),
        "began": stamp(facts["began"]),
        "ended": stamp(facts["ended"]),
        "seconds": round(float(facts["ended"]) - float(facts["began"]), 3),
        "phases": [phase_row(phase) for phase in facts["times"]],
        "hooks": [_hook_row(hook) for hook in facts["hooks"]],
        "rereads": facts["rereads"],
        "skips": _skips(facts),
        "checkpoint_rereads": _checkpoint_rereads(facts["details"]),
        "found_offsets": _found_offsets(facts["details"]),
        "committed_offsets": list(facts["details"]),
        "barrier": dict(facts["barrier"]),
        "audit": facts["audit"],
        "loss": (facts["survey"] or {}).get("loss"),
        "probes": list(facts["probes"]),
        "lowered": facts["lowered"],
        "rescue": facts["rescue"],
        "failure": facts["failure"],
        "plan": facts["plan"] or None,
    }


def _skips(facts: Mapping[str, Any]) -> dict[str, int | None] | None:
    """Records that groups never process, because the side entered no longer held them; None: positions not known."""
    rows = facts["barrier"].get("skips")
    return None if rows is None else total({"skips": row} for row in rows).as_dict()


def _never_processed(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The check of positions where records are, or may be, skipped: accepted loss is loss (R30)."""
    rows = facts["barrier"].get("skips")
    if not rows:
        return None
    verdict = REFUTED if any(row["at_least"] for row in rows) else UNKNOWN
    text = f"never processed, because {facts['to']} no longer held them: {skip_text(rows)}"
    accepted = " (accepted by kafka_dr_accept_skips)" if needs_source(facts["type"]) else ""
    again = f"; at most {facts['rereads']} records are read again" if facts["rereads"] else ""
    return check_row("committed_offsets", verdict, f"{text}{accepted}{again}")


def _not_checked(facts: Mapping[str, Any]) -> list[str]:
    audit = facts["audit"]
    return ["record by record comparison of both sides"] if audit is None else list(audit["not_checked"])


def _checkpoint_rereads(details: Sequence[Mapping[str, Any]]) -> int | None:
    """Replica offsets between MirrorMaker 2's own checkpoints and the positions taken; None: none to compare."""
    both = [(row["offset"], row.get("checkpoint")) for row in details]
    behind = [max(0, ours - theirs) for ours, theirs in both if ours is not None and theirs is not None]
    return sum(behind) if behind else None


def _found_offsets(details: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What the flow's own sync, or somebody else, had left on the side being entered, against what was translated.

    ``rereads``: offsets that the lower ones lie behind. A higher one would have skipped (R6).
    """
    found = {"equal": 0, "lower": 0, "rereads": 0, "higher": 0, "none": 0}
    for row in details:
        there, ours = row.get("existing"), row["offset"]
        if there is None or ours is None:
            found["none"] += 1
        else:
            found["equal" if there == ours else "lower" if there < ours else "higher"] += 1
            found["rereads"] += max(0, ours - there)
    return found


def _checks(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    if facts["outcome"] == "already_there":
        return [check_row("active side", facts["judgement"]["verdict"], facts["judgement"]["text"])]
    if facts["run"] is None and (facts["judgement"] or {}).get("verdict") == REFUTED:
        return [check_row("active side", REFUTED, facts["judgement"]["text"])]
    if facts["outcome"] != "completed":
        return [check_row("run", UNKNOWN, f"the run ended as {facts['outcome']}")]
    arrival = facts["arrival"]
    unseen = {"verdict": UNKNOWN, "reason": "not looked at: the run that it ended has left no cut to look behind"}
    observed = ((name, (arrival or {}).get(name) or unseen) for name in ("first_write", "groups"))
    arrived = [check_row(name, observation["verdict"], observation["reason"]) for name, observation in observed]
    if not needs_source(facts["type"]):
        return [_loss(facts["survey"]), _survived(facts), *arrived, _old_side(facts)]
    checks = [_drained(facts), _committed_offsets(facts), *arrived]
    checks.append(_fence(facts))
    checks.append(_records(facts["audit"]))
    return checks


def _fence(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Closed by the broker, and nothing came: only both together prove it (R23)."""
    late_writes, fence = facts["late_writes"], facts["fence"]
    closed = bool(fence and fence["fenced"])
    reported = fence["reason"] if fence else "the old side was not asked to refuse writes"
    if late_writes:
        word = "FENCED for the declared principals, but" if closed else "UNFENCED, and"
        return check_row("fence", REFUTED, f"{word} written behind the barrier: {'; '.join(late_writes[:5])}")
    if late_writes is None:
        text = "whether somebody wrote behind the barrier was not looked at"
        return check_row("fence", UNKNOWN, f"{'FENCED' if closed else 'UNFENCED'}: {reported}; {text}")
    still = "the old side's ends stood still behind the barrier"
    # Ends that nobody knows did not move either.
    ends = facts["barrier"].get("ends", {})
    rows = facts["settled"] or []
    known = [row.get("end") is not None and str(row["partition"]) in ends.get(row["topic"], {}) for row in rows]
    proven = bool(closed and fence and fence["proven"] and known) and all(known)
    return check_row(
        "fence", PROVEN if proven else UNKNOWN, f"{'FENCED' if closed else 'UNFENCED'}: {reported}; {still}"
    )


def _records(audit: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the comparison of both sides says; its own lines tell the rest."""
    if audit is None:
        return check_row("records", UNKNOWN, "both sides were not compared record by record (kafka_dr_audit)")
    return check_row("records", audit["verdict"], audit["reason"] or " ".join(audit["text"][:1]))


def _drained(facts: Mapping[str, Any]) -> dict[str, Any]:
    """From the flow's own offsets; that the last records look alike on both sides is a hint and proves nothing."""
    open_ = [row for row in facts["settled"] or [] if row["drained"] != PROVEN]
    if not facts["settled"]:
        return check_row("drained", UNKNOWN, "it was not looked at")
    if open_:
        first = f"{open_[0]['topic']}-{open_[0]['partition']}: {open_[0]['reason']}"
        # The flow runs again: its offsets are a lower bound, so "not yet" refutes nothing.
        return check_row("drained", UNKNOWN, f"{len(open_)} partitions are not proven to be copied; {first}")
    return check_row("drained", PROVEN, f"all {len(facts['settled'])} partitions were copied to their ends")


def _committed_offsets(facts: Mapping[str, Any]) -> dict[str, Any]:
    rereads, lost = facts["rereads"], _never_processed(facts)
    if lost is not None:
        return lost
    if rereads is None or facts["barrier"].get("skips") is None:
        return check_row("committed_offsets", UNKNOWN, _TAKEN_OVER)
    if facts["kept"]:
        return check_row("committed_offsets", UNKNOWN, _kept(facts["kept"]))
    if rereads == 0:
        return check_row("committed_offsets", PROVEN, "every group starts exactly behind what it has read")
    return check_row("committed_offsets", PROVEN, f"no record is skipped; at most {rereads} are read again")


def _kept(rows: Sequence[Mapping[str, Any]]) -> str:
    """Higher positions that were left as they were (R6): what lies below them its group may never have read.

    ``rows``: as ``kafka_group`` returns them.
    """
    gaps = {f"{row['group']} {row['topic']}-{row['partition']}": row["before"] - row["wanted"] for row in rows}
    named = ", ".join(f"{name} by {gap}" for name, gap in list(gaps.items())[:5])
    return (
        f"{len(rows)} higher positions that were found were kept: they may skip up to {sum(gaps.values())} records,"
        f" {named}{', ...' if len(rows) > 5 else ''}"
    )


def _loss(survey: Mapping[str, Any] | None) -> dict[str, Any]:
    """Never PROVEN: only the side that is lost knows what it had acknowledged."""
    if survey is None:
        return check_row("loss", UNKNOWN, "taken over from the journal of an interrupted run")
    return check_row("loss", UNKNOWN, " ".join(survey["loss_lines"]))


def _survived(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Positions of a disaster: they skip nothing; how old they were tells how much is read again."""
    rows, survey, lost = facts["details"], facts["survey"], _never_processed(facts)
    if lost is not None:
        return lost
    if not rows or survey is None or facts["barrier"].get("skips") is None:
        return check_row("committed_offsets", UNKNOWN, _TAKEN_OVER)
    if facts["kept"]:
        return check_row("committed_offsets", UNKNOWN, _kept(facts["kept"]))
    known = [age for age in survey["ages"].values() if age is not None]
    age = f"; the oldest was true {max(known):.0f} s before" if known else ""
    if len(known) < len(survey["ages"]):
        age += f"; how old those of {len(survey['ages']) - len(known)} groups were is not known"
    lowered = f"; {facts['lowered']} higher ones that were found were lowered" if facts["lowered"] else ""
    unproven = sum(row["quality"] == "unproven" for row in rows)
    starts = sum(bool(row["method"] == "start" and row["rereads"]) for row in rows)
    if starts:
        age += f"; of {starts} nothing was known, so they begin at the log start"
    text = f"at most {facts['rereads']} records are read again{age}{lowered}"
    if unproven:
        return check_row(
            "committed_offsets", UNKNOWN, f"{unproven} of {len(rows)} may skip where a record was sent twice; {text}"
        )
    return check_row("committed_offsets", PROVEN, f"no copied record is skipped; {text}")


def _old_side(facts: Mapping[str, Any]) -> dict[str, Any]:
    probes = facts["probes"]
    back = bool(probes) and probes[-1]["answers"]
    text = "it answered right before the first producer started: whoever still writes there is not copied"
    silent = "the old side did not answer; its producers were told to stop, as far as their hosts could be reached"
    unstopped = "; ".join(facts["unstopped"])
    more = f"; not stopped: {unstopped}" if unstopped else ""
    rescued = f"; {facts['rescue']['text']}" if facts["rescue"] else ""
    return check_row("fence", UNKNOWN, f"UNFENCED: {text if back else silent}{more}{rescued}")


def check_row(name: str, verdict: str, reason: str) -> dict[str, Any]:
    """A check as reports show it."""
    return {"name": name, "verdict": verdict, "reason": reason}


def phase_row(phase: Mapping[str, Any]) -> dict[str, Any]:
    """A finished phase as reports show it."""
    began, ended = float(phase["began"]), float(phase["ended"])
    return {
        "phase": phase["phase"],
        "result": phase["result"],
        "began": stamp(began),
        "seconds": round(ended - began, 3),
    }


def _hook_row(hook: Mapping[str, Any]) -> dict[str, Any]:
    """A hook that was run: what it says of itself is in ``failure``, null for one that ended well."""
    began, ended = float(hook["began"]), float(hook["ended"])
    named = {key: hook[key] for key in ("name", "when", "phase", "failure")}
    return {**named, "began": stamp(began), "seconds": round(ended - began, 3)}


def epoch_seconds(moment: datetime) -> float:
    """Of Ansible's ``now(utc=true)``, which does not say that it is in UTC: its own timestamp() takes it for local."""
    return moment.replace(tzinfo=UTC).timestamp()


def stamp(moment: Any) -> str:
    """Epoch seconds as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(float(moment), tz=UTC).isoformat(timespec="milliseconds")


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """The report for a person at three in the morning."""
    head = f"{report['type']} {report['from']} -> {report['to']}: {report['outcome']}, {report['verdict']}"
    lines = [f"{head} ({report['seconds']:.1f} s)"]
    lines += [f"  {phase['phase']:<16}{phase['seconds']:>8.1f} s" for phase in report["phases"]]
    lines += [
        f"  hook {hook['name']} {hook['when']} {hook['phase']} failed: {hook['failure']}"
        for hook in report["hooks"]
        if hook["failure"] is not None
    ]
    lines += [f"  {check['verdict']:<8} {check['name']}: {check['reason']}" for check in report["checks"]]
    found = report["found_offsets"]
    if found["equal"] or found["lower"] or found["higher"]:
        lines.append(
            f"  positions that {report['to']} had already: {found['equal']} equal, {found['lower']} lower by"
            f" {found['rereads']} offsets, {found['higher']} higher, {found['none']} missing"
        )
    lines += [f"    {line}" for line in (report["audit"] or {}).get("text", [])[1:]]
    if report["plan"]:
        lines += [f"  {text}" for text in plan_lines(report["plan"], report["type"])]
    if report["failure"]:
        lines.append(f"  stopped in '{report['failure']['task']}': {report['failure']['message']}")
    lines += [f"  not checked: {text}" for text in report["not_checked"]]
    return lines


def status_lines(
    status: Mapping[str, Any], active: str | None, run: Mapping[str, Any] | None = None, run_on: str = ""
) -> list[str]:
    """What ``dr_status_info`` saw, for a person."""
    lines = [f"{status['verdict']}: applications live on {active or 'unknown'}"]
    if run is not None and run["ended"] is None:
        lines.append(f"  INTERRUPTED: the {run['type']} run {run['id']} to {run['to']}")
        lines.append(f"    go on:     {resume_command(run, run_on)}")
        if not passed(run):
            lines.append(f"    take back: {take_back_command(run, run_on)}")
    for flow in status["flows"]:
        lag = "unknown" if flow["lag"] is None else flow["lag"]
        lines.append(f"  {flow['verdict']:<8} {flow['name']}: lag {lag}, {flow['reason']}")
    sides: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in status["groups"]:
        sides.setdefault((row["group"], row["alias"]), []).append(row)
    for (group, alias), rows in sorted(sides.items()):
        commits = sum(row["commit"] is not None for row in rows)
        read = sum(row["read_to_end"] is True for row in rows)
        lines.append(
            f"  group {group} on {alias}: {rows[0]['state']}, {commits} of {len(rows)} partitions have a position,"
            f" {read} are read to the end"
        )
    return lines + [f"  missing: {text}" for text in status["missing"][:10]]


def checkpoint_lines(result: Mapping[str, Any], to: str) -> list[str]:
    """What ``dr_checkpoint`` did, for a person."""
    if result["outcome"] == "skipped":
        return [f"nothing was written on {to}: {result['reason']}"]
    rows = result["details"]
    exact = sum(row["quality"] == "exact" for row in rows)
    lost = skip_text(skip_rows(rows))
    lines = [
        f"{result['committed']} positions raised on {to}; {exact} of {len(rows)} are exact,"
        f" {_at_most(result['rereads'])} would be read again if the applications moved now"
    ]
    lines += [f"  unread and no longer on {to}: {lost}; those positions were not committed"] if lost else []
    lines += [f"  already higher: {text}" for text in result["preexisting_higher_offsets"][:10]]
    return lines + [f"  left out: {text}" for text in result["left_out"][:10]]


def _at_most(count: int | None) -> str:
    return "an unknown number of records" if count is None else f"at most {count} records"


def lease_lines(leases: Sequence[Mapping[str, Any]], now: float) -> list[str]:
    """How old prepared positions are, for a person (R12)."""
    lines = []
    for lease in leases:
        at = f"{float(now) - lease['since']:.0f} s ago"
        if lease["holder"] is not None:
            # A playbook that touches the flows: worth a line only while it does.
            lines += [f"  {lease['kind']}: began {at} and has not ended"] if lease["ended"] is None else []
        elif lease["ended"] is None:
            lines.append(f"  {lease['kind']} toward {lease['to']}: began {at} and has not ended")
        elif lease["outcome"] == "done":
            again = _at_most(lease["counts"]["rereads"])
            lines.append(f"  positions on {lease['to']}: as of {at}, {again} read again from then on")
        else:
            lines.append(f"  {lease['kind']} toward {lease['to']}: {lease['outcome']} {at}")
    return lines

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: one schema for every outcome, and the same facts as lines of text.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..ages import age_of
from ..checks.departure import together
from ..checks.other_applications import OtherApplications
from ..checks.preflight import unjoined_text
from ..checks.undeclared_groups import stay_notes
from ..cutover_types import needs_source, watches_left
from ..journal.runs import passed, resume_command, take_back_command
from ..listing import first_few
from ..offsets.commit_metadata import dropped_metadata
from ..offsets.disaster import is_voided
from ..offsets.skipped_records import skip_rows, skip_text, total
from ..resources.groups import IDLE_STATES, UNDESCRIBED
from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED, UNKNOWN, Finding, combine
from .outcome import evidence, headline, lost, next_steps, pager, reread, said, standstill
from .plan import plan_lines

__all__ = [
    "arrival_text",
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

SCHEMA = "switchback.kafka_dr/report/2"
# Of all lines that a real run shows: the report has the rest.
_MOST_LINES = 12
_TAKEN_OVER = "taken over from the journal of an interrupted run, read back after commit"


def cutover_report(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a cutover, from the facts that its role collected (keys as in roles/report)."""
    checks = _checks(facts)
    turned = facts["turned"]
    report = {
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
        "run_on": facts["run_on"],
        "point_of_no_return": None if turned is None else stamp(turned),
        "began": stamp(facts["began"]),
        "opened": None if facts.get("opened") is None else stamp(facts["opened"]),
        "stopped": {who: None if at is None else stamp(at) for who, at in (facts.get("stopped") or {}).items()},
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
        "other_applications": OtherApplications.of(facts.get("other_applications")).as_dict(),
        "rescue": facts["rescue"],
        "failure": facts["failure"],
        "plan": facts["plan"] or None,
        "files": {},
    }
    report["headline"] = headline(report, facts["journal"], passed=facts["passed"])
    report["evidence"] = evidence(checks, report, facts["fence"])
    # The commands are those of the pair, not of its rehearsal.
    given = {key: facts[key] for key in ("drop", "options")}
    report["next"] = [] if facts["rehearsal"] else next_steps({**report, **given})
    report["pager"] = pager(report, report["next"])
    return report


def _skips(facts: Mapping[str, Any]) -> dict[str, int | None] | None:
    """Records that groups never process because the cluster being entered does not have them; None: unknown."""
    rows = facts["barrier"].get("skips")
    return None if rows is None else total({"skips": row} for row in rows).as_dict()


def _never_processed(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The check of the committed offsets if records are or may be skipped: accepted loss is loss (R30)."""
    rows = facts["barrier"].get("skips")
    if not rows:
        return None
    verdict = REFUTED if any(row["at_least"] for row in rows) else UNKNOWN
    text = f"never processed, because {facts['to']} does not have them any more: {skip_text(rows)}"
    accepted = " (accepted by kafka_dr_accept_skips)" if needs_source(facts["type"]) else ""
    again = f"; at most {facts['rereads']} records are read again" if facts["rereads"] else ""
    return check_row("committed_offsets", verdict, f"{text}{accepted}{again}")


def _not_checked(facts: Mapping[str, Any]) -> list[str]:
    audit = facts["audit"]
    compared = ["record-by-record comparison of both clusters"] if audit is None else list(audit["not_checked"])
    notes = (facts["judgement"] or {}).get("notes") or ()
    return [*compared, *stay_notes(facts["undeclared_groups"], facts["from"]), *notes]


def _checkpoint_rereads(details: Sequence[Mapping[str, Any]]) -> int | None:
    """Replica offsets between MirrorMaker 2's own checkpoints and the committed offsets; None: nothing to compare."""
    both = [(row["offset"], row.get("checkpoint")) for row in details]
    distances = [max(0, ours - theirs) for ours, theirs in both if ours is not None and theirs is not None]
    return sum(distances) if distances else None


def _found_offsets(details: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Compares committed offsets that were already on the cluster being entered with the translated ones.

    ``rereads``: the sum of the distances of the lower ones. A higher one would have skipped records (R6).
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
        return [check_row("run", UNKNOWN, f"the run ended with the outcome {facts['outcome']}")]
    arrival = facts["arrival"]
    unseen = {"verdict": UNKNOWN, "reason": "not observed: the run that it replaced left no cut"}
    observed = ((name, (arrival or {}).get(name) or unseen) for name in ("first_write", "groups"))
    arrived = [check_row(name, observation["verdict"], observation["reason"]) for name, observation in observed]
    if not needs_source(facts["type"]):
        offsets = _with_metadata(_survived(facts), facts["details"])
        return [_loss(facts["survey"]), offsets, *arrived, _old_side(facts)]
    departed = together(facts["departure"])
    checks = [_drained(facts), _with_metadata(_committed_offsets(facts), facts["details"]), *arrived]
    checks.append(check_row("departure", departed.verdict, departed.reason))
    checks.append(_fence(facts))
    checks.append(_records(facts["audit"]))
    return checks


def _fence(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The broker refuses writes, and no record was written: only both together prove it (R23, R50)."""
    late_writes, fence = facts["late_writes"], facts["fence"]
    closed = bool(fence and fence["fenced"])
    reported = fence["reason"] if fence else "the cluster that was left was not set to refuse writes"
    word = "FENCED for the declared principals, but" if closed else "UNFENCED, and"
    if late_writes:
        return check_row("fence", REFUTED, f"{word} written after the {_since(facts)}: {'; '.join(late_writes[:5])}")
    still = _by_content(facts) if facts["one_log"] else _by_log_ends(facts)
    if still.verdict == REFUTED:
        return check_row("fence", REFUTED, f"{word} {still.reason}")
    proven = closed and bool(fence and fence["proven"]) and still.verdict == PROVEN
    state = "FENCED" if closed else "UNFENCED"
    return check_row("fence", PROVEN if proven else UNKNOWN, f"{state}: {reported}; {still.reason}")


def _since(facts: Mapping[str, Any]) -> str:
    """The moment after which no record may be written on the cluster that was left."""
    return "barrier" if watches_left(facts["type"]) else "fence was closed"


def _by_log_ends(facts: Mapping[str, Any]) -> Finding:
    """No flow writes to the originals, so their log ends show each record. An end that is unknown proves nothing."""
    if facts["late_writes"] is None:
        return Finding(UNKNOWN, f"writes after the {_since(facts)} were not observed")
    fence = facts["fence"] or {}
    ends = (facts["barrier"] if watches_left(facts["type"]) else fence).get("ends") or {}
    rows = facts["settled"] or []
    if not rows:
        return Finding(UNKNOWN, f"its log ends were not read after the {_since(facts)}")
    unknown = [
        f"{row['topic']}-{row['partition']}"
        for row in rows
        if row.get("end") is None or str(row["partition"]) not in ends.get(row["topic"], {})
    ]
    if unknown:
        ends_of = f"the log ends of {len(unknown)} of {len(rows)} partitions were not read: {first_few(unknown)}"
        return Finding(UNKNOWN, f"writes there after the {_since(facts)} are unknown, because {ends_of}")
    return Finding(PROVEN, f"no record was written there after the {_since(facts)}")


def _by_content(facts: Mapping[str, Any]) -> Finding:
    """The flow back writes to the same logs, so only the audit separates its records from those of others (R50)."""
    written = (facts["audit"] or {}).get("written_by_flow")
    if not written:
        return Finding(UNKNOWN, "which records the flow back wrote there was not compared")
    return Finding(written["verdict"], f"since the cut: {written['reason']}")


def _records(audit: Mapping[str, Any] | None) -> dict[str, Any]:
    """The result of the comparison of both clusters; the audit's own lines have the details."""
    if audit is None:
        return check_row("records", UNKNOWN, "the clusters were not compared record by record")
    return check_row("records", audit["verdict"], audit["reason"] or " ".join(audit["text"][:1]))


def _drained(facts: Mapping[str, Any]) -> dict[str, Any]:
    """From the flow's stored offsets. Equal last records on both clusters are a hint and prove nothing."""
    open_ = [row for row in facts["settled"] or [] if row["drained"] != PROVEN]
    if not facts["settled"]:
        return check_row("drained", UNKNOWN, "it was not observed")
    if open_:
        first = f"{open_[0]['topic']}-{open_[0]['partition']}: {open_[0]['reason']}"
        # The flow runs again, so its offsets are a lower bound and refute nothing.
        return check_row("drained", UNKNOWN, f"{len(open_)} partitions are not proven to be replicated; {first}")
    return check_row("drained", PROVEN, f"all {len(facts['settled'])} partitions were replicated to their ends")


def _committed_offsets(facts: Mapping[str, Any]) -> dict[str, Any]:
    rereads, lost = facts["rereads"], _never_processed(facts)
    if lost is not None:
        return lost
    if rereads is None or facts["barrier"].get("skips") is None:
        return check_row("committed_offsets", UNKNOWN, _TAKEN_OVER)
    if facts["kept"]:
        return check_row("committed_offsets", UNKNOWN, _kept(facts["kept"]))
    if not facts["details"]:
        return _without_offsets(facts["arrival"])
    if rereads == 0:
        return check_row("committed_offsets", PROVEN, "every group starts exactly after the last record it has read")
    return check_row("committed_offsets", PROVEN, f"no record is skipped; at most {rereads} are read again")


def _with_metadata(check: dict[str, Any], details: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The check of the committed offsets, with the metadata that did not go along (R49)."""
    dropped = dropped_metadata(details)
    if not dropped:
        return check
    text = (
        f"the metadata of {len(dropped)} committed offsets did not go along, so their applications may process finished"
        f" records again: {first_few(dropped)}"
    )
    return {**check, "reason": f"{check['reason']}; {text}"}


def _without_offsets(arrival: Mapping[str, Any] | None) -> dict[str, Any]:
    """No offset was translated. Only the observation of the groups shows that no group moved."""
    groups = (arrival or {}).get("groups") or {}
    if groups.get("verdict") == NOT_APPLICABLE:
        return check_row("committed_offsets", NOT_APPLICABLE, "no group moved, so no committed offset was set")
    return check_row("committed_offsets", UNKNOWN, "no committed offset was translated, and groups may have moved")


def _kept(rows: Sequence[Mapping[str, Any]]) -> str:
    """Higher committed offsets that were kept (R6): their group may never have read the records before them.

    ``rows``: as ``kafka_group`` returns them.
    """
    gaps = {f"{row['group']} {row['topic']}-{row['partition']}": row["before"] - row["wanted"] for row in rows}
    named = ", ".join(f"{name} by {gap}" for name, gap in list(gaps.items())[:5])
    return (
        f"{len(rows)} higher committed offsets were kept: they may skip up to {sum(gaps.values())} records,"
        f" {named}{', ...' if len(rows) > 5 else ''}"
    )


def _loss(survey: Mapping[str, Any] | None) -> dict[str, Any]:
    """Never PROVEN: only the lost cluster knows what it had acknowledged."""
    if survey is None:
        return check_row("loss", UNKNOWN, "taken over from the journal of an interrupted run")
    return check_row("loss", UNKNOWN, " ".join(survey["loss_lines"]))


def _survived(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Offsets of a disaster: they skip no record. The older they are, the more records are read again."""
    rows, survey, lost = facts["details"], facts["survey"], _never_processed(facts)
    if lost is not None:
        return lost
    if not rows or survey is None or facts["barrier"].get("skips") is None:
        return check_row("committed_offsets", UNKNOWN, _TAKEN_OVER)
    if facts["kept"]:
        return check_row("committed_offsets", UNKNOWN, _kept(facts["kept"]))
    if survey.get("unsafe_settings"):
        unsafe = first_few(survey["unsafe_settings"], separator="; ")
        return check_row("committed_offsets", UNKNOWN, f"the flow ran with settings that may skip records: {unsafe}")
    known = [age for age in survey["ages"].values() if age is not None]
    age = f"; the oldest offset was {max(known):.0f} s old" if known else ""
    if len(known) < len(survey["ages"]):
        age += f"; the age of those of {len(survey['ages']) - len(known)} groups is unknown"
    lowered = f"; {facts['lowered']} higher committed offsets were lowered" if facts["lowered"] else ""
    unproven = sum(row["quality"] == "unproven" for row in rows)
    starts = sum(bool(row["method"] == "start" and row["rereads"]) for row in rows)
    if starts:
        age += f"; {starts} are unknown, so their groups start at the log start"
    voided = sum(is_voided(row.get("hazards") or ()) for row in rows)
    if voided:
        age += (
            f"; {voided} offsets that were stored earlier are not used: their groups were set back, or their logs cut"
        )
    text = f"at most {facts['rereads']} records are read again{age}{lowered}"
    if unproven:
        return check_row(
            "committed_offsets",
            UNKNOWN,
            f"{unproven} of {len(rows)} may skip records where a record was replicated twice; {text}",
        )
    return check_row("committed_offsets", PROVEN, f"no replicated record is skipped; {text}")


def _old_side(facts: Mapping[str, Any]) -> dict[str, Any]:
    probes = facts["probes"]
    back = bool(probes) and probes[-1]["answers"]
    text = (
        "it responded right before the first producer started; every declared application that writes had stopped or is"
        " denied WRITE there, and records of another producer are not replicated"
    )
    silent = "the cluster that was left did not respond; its producers were stopped on every host that responded"
    unstopped = "; ".join(facts["unstopped"])
    more = f"; not stopped: {unstopped}" if unstopped else ""
    rescued = f"; {facts['rescue']['text']}" if facts["rescue"] else ""
    others = OtherApplications.of(facts.get("other_applications")).topics
    if others:
        more += f"; no application in the inventory writes {first_few(others)}: whether its writers stopped is unknown"
    return check_row("fence", UNKNOWN, f"UNFENCED: {text if back else silent}{more}{rescued}")


def check_row(name: str, verdict: str, reason: str) -> dict[str, Any]:
    """A check, as in reports."""
    return {"name": name, "verdict": verdict, "reason": reason}


def phase_row(phase: Mapping[str, Any]) -> dict[str, Any]:
    """A finished phase, as in reports."""
    began, ended = float(phase["began"]), float(phase["ended"])
    return {
        "phase": phase["phase"],
        "result": phase["result"],
        "began": stamp(began),
        "seconds": round(ended - began, 3),
    }


def _hook_row(hook: Mapping[str, Any]) -> dict[str, Any]:
    """A hook that was run. ``failure``: its error; null if it succeeded."""
    began, ended = float(hook["began"]), float(hook["ended"])
    named = {key: hook[key] for key in ("name", "when", "phase", "failure")}
    return {**named, "began": stamp(began), "seconds": round(ended - began, 3)}


def epoch_seconds(moment: datetime) -> float:
    """Epoch seconds of Ansible's ``now(utc=true)``: it has no time zone, so its own timestamp() takes it for local."""
    return moment.replace(tzinfo=UTC).timestamp()


def stamp(moment: Any) -> str:
    """Epoch seconds as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(float(moment), tz=UTC).isoformat(timespec="milliseconds")


def arrival_text(facts: Mapping[str, Any]) -> str:
    """Since when the applications run on the cluster being entered, before the run has ended (keys as in reports)."""
    began = float(facts["began"])
    report = {
        **facts,
        "outcome": "completed",
        "began": stamp(began),
        "phases": [phase_row(row) for row in facts["times"]],
    }
    started = [float(row["ended"]) for row in facts["times"] if row["phase"] in ("start", "move_producers")]
    since = f" since {datetime.fromtimestamp(max(started), tz=UTC):%H:%M:%S} UTC" if started else ""
    writes, reads = (standstill(report, who)[0] for who in ("writes", "reads"))
    return f"Applications run on {facts['to']}{since} (writes stood still {writes}, reads {reads})"


def _move_lines(report: Mapping[str, Any], most: int) -> list[str]:
    """What a run did and what is proven of it, in at most ``most`` lines."""
    lines = [f"{report['headline']} ({report['type']} {report['from']} -> {report['to']}, {report['seconds']:.1f} s)"]
    if report["run"] is not None and report["outcome"] not in ("already_there", "checked"):
        lines += [_line(f"{who} stood still", said(standstill(report, who))) for who in ("writes", "reads")]
    if report["outcome"] == "completed":
        lines += [_line("lost", said(lost(report))), _line("read again", said(reread(report)))]
    if report["failure"]:
        lines.append(_line("stopped in", f"'{report['failure']['task']}': {_one_line(report['failure']['message'])}"))
    proof = report["evidence"]
    refuted = proof["text"].startswith((PROVEN, REFUTED))
    lines.append(_line("evidence", proof["text"] if refuted else f"{report['verdict']}: {proof['text']}"))
    if report["outcome"] not in ("completed", "already_there"):
        return lines
    left = [
        *(f"{row['verdict']} {row['name']}: {row['reason'].rstrip('.')}. {row['how']}" for row in proof["open"]),
        *(f"hook {hook['name']} {hook['when']} {hook['phase']} failed: {hook['failure']}" for hook in _failed(report)),
    ]
    room = most - len(lines)
    if len(left) > room:
        left = [*left[: room - 1], f"and {len(left) - room + 1} more, in the report"]
    return [*lines, *(f"  {_one_line(text)}" for text in left)]


def _line(name: str, text: str) -> str:
    return f"  {name:<20}{text}"


def _one_line(text: Any) -> str:
    return " ".join(str(text).split())


def _failed(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [hook for hook in report["hooks"] if hook["failure"] is not None]


def report_lines(report: Mapping[str, Any], path: str = "") -> list[str]:
    """The report as lines of text: at most twelve of a real run. ``path``: of its page; empty if it was not written."""
    if report["outcome"] == "checked":
        return _plan_lines(report)
    steps = report["next"][:1]
    lines = _move_lines(report, _MOST_LINES - bool(path) - len(steps))
    lines += [_line("report", path)] if path else []
    return lines + [_line("next", f"{step['text']}: {step['command']}") for step in steps]


def _plan_lines(report: Mapping[str, Any]) -> list[str]:
    """The report of a check run, with its plan."""
    head = f"{report['type']} {report['from']} -> {report['to']}: {report['outcome']}, {report['verdict']}"
    lines = [f"{head} ({report['seconds']:.1f} s)"]
    lines += [f"  {check['verdict']:<8} {check['name']}: {check['reason']}" for check in report["checks"]]
    if report["plan"]:
        lines += [f"  {text}" for text in plan_lines(report["plan"], report["type"])]
    return lines + [f"  not checked: {text}" for text in report["not_checked"]]


def status_lines(
    status: Mapping[str, Any],
    active: str | None,
    run: Mapping[str, Any] | None = None,
    run_on: str = "",
    leaving: Sequence[str] = (),
    clients: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """The result of ``dr_status_info`` as lines of text. ``leaving``: as ``dr_journal`` returns it. ``clients``: of the
    pair."""
    lines = [f"{status['verdict']}: applications live on {active or 'unknown'}"]
    if run is not None and run["ended"] is None:
        lines.append(f"  INTERRUPTED: the {run['type']} run {run['id']} to {run['to']}")
        lines += [f"    since {stamp(run['started'])}: {text}" for text in _interrupted(clients, status["groups"])]
        lines.append(f"    resume: {resume_command(run, run_on)}")
        if not passed(run):
            lines.append(f"    undo:   {take_back_command(run, run_on)}")
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
            f"  group {group} on {alias}: {rows[0]['state']}, {commits} of {len(rows)} partitions have a committed"
            f" offset, {read} are read to the end"
        )
    left = [row for row in status["unjoined"] or () if active in (None, row["alias"])]
    lines += [f"  not in the pair, although a pattern matches: {unjoined_text(left)}: run enable"] if left else []
    lines += [f"  in the pair, but not in this inventory: {text}" for text in leaving[:10]]
    lines += [f"  another flow replicates the same topics: {text}" for text in status["competing_flows"] or ()]
    lines += [f"  not replicated: {row['text']}" for row in status["open_transactions"] or ()]
    return lines + [f"  missing: {text}" for text in status["missing"][:10]]


def _interrupted(clients: Sequence[Mapping[str, Any]], groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is known of applications that an interrupted run may have stopped. Only groups can be observed."""
    texts = []
    for client in clients:
        name, group = client["name"], client.get("group")
        seen = {row["alias"]: row["state"] for row in groups if row["group"] == group}
        at_work = sorted(alias for alias, state in seen.items() if state not in (*IDLE_STATES, UNDESCRIBED))
        if at_work:
            texts.append(f"{name} is at work on {' and '.join(at_work)}")
        elif len(seen) > 1 and UNDESCRIBED not in seen.values():
            texts.append(f"{name} is stopped: its group has no members")
        else:
            texts.append(f"{name} may be stopped: it has no group that shows it")
    return texts


def checkpoint_lines(result: Mapping[str, Any], to: str) -> list[str]:
    """The result of ``dr_checkpoint`` as lines of text."""
    if result["outcome"] == "skipped":
        return [f"no offset was committed on {to}: {result['reason']}"]
    rows = result["details"]
    exact = sum(row["quality"] == "exact" for row in rows)
    lost = skip_text(skip_rows(rows))
    lines = [
        f"{result['committed']} committed offsets raised on {to}; {exact} of {len(rows)} are exact,"
        f" {_at_most(result['rereads'])} would be read again if the applications moved now"
    ]
    lines += [f"  unread and gone from {to}: {lost}; those offsets were not committed"] if lost else []
    lines += [f"  already higher: {text}" for text in result["preexisting_higher_offsets"][:10]]
    return lines + [f"  left out: {text}" for text in result["left_out"][:10]]


def _at_most(count: int | None) -> str:
    return "an unknown number of records" if count is None else f"at most {count} records"


def lease_lines(leases: Sequence[Mapping[str, Any]], now: float) -> list[str]:
    """The age of presynced offsets as lines of text (R12)."""
    lines = []
    for lease in leases:
        age = age_of(lease["since"], float(now))
        at = "at an unknown time" if age is None else f"{age:.0f} s ago"
        if lease["holder"] is not None:
            # A playbook that changes the flows: it has a line only while it runs.
            lines += [f"  {lease['kind']}: began {at} and has not ended"] if lease["ended"] is None else []
        elif lease["ended"] is None:
            lines.append(f"  {lease['kind']} to {lease['to']}: began {at} and has not ended")
        elif lease["outcome"] == "done":
            again = _at_most(lease["counts"]["rereads"])
            lines.append(f"  offsets on {lease['to']}: presynced {at}, {again} would be read again")
        else:
            lines.append(f"  {lease['kind']} to {lease['to']}: {lease['outcome']} {at}")
    return lines

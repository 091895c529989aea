# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of a cutover: what is proven of it, from the facts of its run.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..checks.departure import together
from ..checks.other_applications import OtherApplications
from ..cutover_types import needs_source, watches_left
from ..listing import first_few
from ..offsets.commit_metadata import dropped_metadata
from ..offsets.disaster import is_voided
from ..offsets.skipped_records import skip_text
from ..verdict import NOT_APPLICABLE, PROVEN, REFUTED, UNKNOWN, Finding
from .rows import CheckRow, check_row

__all__ = ["cutover_checks"]

_TAKEN_OVER = "taken over from the journal of an interrupted run, read back after commit"


def cutover_checks(facts: Mapping[str, Any]) -> list[CheckRow]:
    """The checks that apply to the outcome."""
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


def _fence(facts: Mapping[str, Any]) -> CheckRow:
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


def _records(audit: Mapping[str, Any] | None) -> CheckRow:
    """The result of the comparison of both clusters; the audit's own lines have the details."""
    if audit is None:
        return check_row("records", UNKNOWN, "the clusters were not compared record by record")
    return check_row("records", audit["verdict"], audit["reason"] or " ".join(audit["text"][:1]))


def _drained(facts: Mapping[str, Any]) -> CheckRow:
    """From the flow's stored offsets. Equal last records on both clusters are a hint and prove nothing."""
    open_ = [row for row in facts["settled"] or [] if row["drained"] != PROVEN]
    if not facts["settled"]:
        return check_row("drained", UNKNOWN, "it was not observed")
    if open_:
        first = f"{open_[0]['topic']}-{open_[0]['partition']}: {open_[0]['reason']}"
        # The flow runs again, so its offsets are a lower bound and refute nothing.
        return check_row("drained", UNKNOWN, f"{len(open_)} partitions are not proven to be replicated; {first}")
    return check_row("drained", PROVEN, f"all {len(facts['settled'])} partitions were replicated to their ends")


def _committed_offsets(facts: Mapping[str, Any]) -> CheckRow:
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


def _with_metadata(check: CheckRow, details: Sequence[Mapping[str, Any]]) -> CheckRow:
    """The check of the committed offsets, with the metadata that did not go along (R49)."""
    dropped = dropped_metadata(details)
    if not dropped:
        return check
    text = (
        f"the metadata of {len(dropped)} committed offsets did not go along, so their applications may process finished"
        f" records again: {first_few(dropped)}"
    )
    return {**check, "reason": f"{check['reason']}; {text}"}


def _without_offsets(arrival: Mapping[str, Any] | None) -> CheckRow:
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


def _loss(survey: Mapping[str, Any] | None) -> CheckRow:
    """Never PROVEN: only the lost cluster knows what it had acknowledged."""
    if survey is None:
        return check_row("loss", UNKNOWN, "taken over from the journal of an interrupted run")
    return check_row("loss", UNKNOWN, " ".join(survey["loss_lines"]))


def _survived(facts: Mapping[str, Any]) -> CheckRow:
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


def _old_side(facts: Mapping[str, Any]) -> CheckRow:
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


def _never_processed(facts: Mapping[str, Any]) -> CheckRow | None:
    """The check of the committed offsets if records are or may be skipped: accepted loss is loss (R30)."""
    rows = facts["barrier"].get("skips")
    if not rows:
        return None
    verdict = REFUTED if any(row["at_least"] for row in rows) else UNKNOWN
    text = f"never processed, because {facts['to']} does not have them any more: {skip_text(rows)}"
    accepted = " (accepted by kafka_dr_accept_skips)" if needs_source(facts["type"]) else ""
    again = f"; at most {facts['rereads']} records are read again" if facts["rereads"] else ""
    return check_row("committed_offsets", verdict, f"{text}{accepted}{again}")

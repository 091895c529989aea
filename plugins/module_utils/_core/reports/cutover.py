# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run: one class for every outcome, and the same facts as lines of text.

Private to this collection: may change in any release.
"""

# The facts are plain data, and the published schema checks each field.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any, Literal, Required, TypedDict, cast

from ..checks.other_applications import OtherApplications
from ..checks.undeclared_groups import stay_notes
from ..offsets.skipped_records import total
from ..verdict import PROVEN, REFUTED, combine
from .cutover_checks import cutover_checks
from .outcome import evidence, headline, lost, next_steps, pager, reread, said, standstill
from .plan import Plan, plan_lines
from .rows import (
    CheckRow,
    EvidenceRow,
    FoundOffsets,
    HookRow,
    PhaseRow,
    ReportField,
    SkipCount,
    Step,
    hook_row,
    phase_row,
    stamp,
)

__all__ = ["CutoverReport", "arrival_text", "cutover_report", "epoch_seconds", "report_fields", "report_lines"]

# Of all lines that a real run shows: the report has the rest.
_MOST_LINES = 12


class OffsetRow(TypedDict, total=False):
    """Where a group starts on a partition."""

    group: Required[str]
    topic: Required[str]
    partition: Required[int]
    offset: Required[Annotated[int | None, "where the group starts; null: no offset was found"]]
    method: Annotated[
        str,
        "`end`, `empty`, `cut`, `content`, `tail`, `sync`, `own`, `start`, `none`; after `rebuild`"
        " `unreplicated_records`; with `identity` `tenure`, `first_copy`; in a disaster `checkpoint`, `presynced`",
    ]
    quality: Required[Annotated[str, "`exact`, `safe`, `none`; in a disaster `unproven`"]]
    rereads: Required[Annotated[int | None, "upper bound of records read again; null: unknown"]]
    reason: str | None
    anchor: Annotated[Any, "the verified offset-sync"]
    hazards: Annotated[list[str], "what prevented more precision"]
    existing: Annotated[int | None, "offset that was committed there before; null: none, or not observed"]
    checkpoint: Annotated[int | None, "MirrorMaker 2's own"]
    own: Annotated[int | None, "the group's own higher offset of an earlier tenure, which the run lowers"]
    skips: Annotated[SkipCount, "records that the group has not read and that no longer existed"]


class SkipRow(TypedDict):
    """Where records are or may be skipped."""

    group: str
    topic: str
    partition: int
    at_least: int
    at_most: int | None


class BarrierRow(TypedDict, total=False):
    """Facts of the barrier."""

    last_replicated_offset: Annotated[dict[str, dict[str, int | None]], "N, by topic and partition, as below"]
    starts: Annotated[dict[str, dict[str, int | None]], "log starts of the originals on the cluster being left"]
    ends: Annotated[dict[str, dict[str, int | None]], "their log ends"]
    cut: Annotated[dict[str, dict[str, int | None]], "log ends of the entered originals"]
    committed_offsets: Annotated[Any, "on the cluster being left"]
    entered: Annotated[Any, "committed on the cluster being entered"]
    bound: Annotated[Any, "records that these offsets are bound to"]
    cut_bound: Annotated[Any, "records that these cuts are bound to"]
    inexact: Annotated[Any, "offsets that do not show exactly where a group arrived"]
    checkpoints: Annotated[Any, "log end of the checkpoints topic"]
    skips: Annotated[list[SkipRow], "where records are or may be skipped"]


class Others(TypedDict):
    """Topics and groups of other teams' applications."""

    topics: list[str]
    groups: list[str]


class CutoverReport:
    """The report of a cutover. Each field is a property, and the schema and the documentation are made from them.

    ``facts``: as ``report_facts`` returns them, with ``ended``, ``plan``, and ``fence`` and ``rescue`` as in documents.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts

    def as_dict(self) -> dict[str, Any]:
        """All fields."""
        return {name.rstrip("_"): getattr(self, name) for name in report_fields()}

    @ReportField
    def schema(self) -> Literal["switchback.kafka_dr/report/2"]:
        """Version of the fields."""
        return "switchback.kafka_dr/report/2"

    @ReportField
    def kind(self) -> Literal["cutover"]:
        """What it is the report of."""
        return "cutover"

    @ReportField
    def pair(self) -> str:
        """The pair of clusters."""
        return str(self._facts["pair"])

    @ReportField
    def type(self) -> Literal["cutoff", "continuous", "disaster"]:
        """Type of the cutover."""
        return self._facts["type"]

    @ReportField
    def from_(self) -> str:
        """The cluster being left."""
        return str(self._facts["from"])

    @ReportField
    def to(self) -> str:
        """The cluster being entered."""
        return str(self._facts["to"])

    @ReportField
    def run(self) -> str | None:
        """Id of the run in the journal; null: none was opened."""
        return self._facts["run"]

    @ReportField
    def outcome(self) -> Literal["completed", "already_there", "checked", "undone", "undo_failed", "failed"]:
        """How it ended. `checked`: with `--check`."""
        return self._facts["outcome"]

    @ReportField
    def headline(self) -> str:
        """The outcome in words, such as `MOVED to B`; after an undone disaster it says whether P responds."""
        return headline(self._known, self._facts["journal"], passed=self._facts["passed"])

    @ReportField
    def verdict(self) -> Literal["PROVEN", "REFUTED", "UNKNOWN"]:
        """[All checks together](../concepts.md#verdicts)."""
        return cast(Any, combine(check["verdict"] for check in self.checks))

    @ReportField
    def evidence(self) -> EvidenceRow:
        """Checks that are PROVEN (`proven`, `of`, `text`), and the `open` ones with `how` to prove them."""
        return evidence(self.checks, self._known, self._facts["fence"])

    @ReportField
    def next(self) -> list[Step]:
        """Next steps with their commands, the most urgent first."""
        # The commands are those of the pair, not of its rehearsal.
        if self._facts["rehearsal"]:
            return []
        return next_steps({**self._known, "drop": self._facts["drop"], "options": self._facts["options"]})

    @ReportField
    def pager(self) -> str:
        """Five lines for a pager."""
        return pager({**self._known, "headline": self.headline, "evidence": self.evidence}, self.next)

    @ReportField
    def checks(self) -> list[CheckRow]:
        """`drained`, `committed_offsets`, `first_write`, `groups`, `departure`, `fence`, `records`.

        `records` is the result of [the audit](../audit.md). `departure`: no group that moved is at work on the old
        cluster. `drained` counts the flow's stored offsets per partition; an open one makes it UNKNOWN. Of a disaster
        also `loss`; or only `active side`; or only `run`.
        """
        return cutover_checks(self._facts)

    @ReportField
    def not_checked(self) -> list[str]:
        """What no check covers."""
        return _not_checked(self._facts)

    @ReportField
    def run_on(self) -> str:
        """Inventory host of the plays."""
        return str(self._facts["run_on"])

    @ReportField
    def rehearsal(self) -> bool:
        """Whether it is the move of a rehearsal."""
        return bool(self._facts["rehearsal"])

    @ReportField
    def passed(self) -> bool:
        """Whether it cannot be undone: it, or a run that it replaces, has passed the point of no return."""
        return bool(self._facts["passed"])

    @ReportField
    def holder_generation(self) -> int | None:
        """How many starts of the run took it over before this one did; null: it was not opened in the journal."""
        return self._facts.get("generation")

    @ReportField
    def began(self) -> str:
        """When the playbook was started, in UTC like all times."""
        return stamp(self._facts["began"])

    @ReportField
    def ended(self) -> str:
        """When the run ended."""
        return stamp(self._facts["ended"])

    @ReportField
    def seconds(self) -> float:
        """How long this start took."""
        return round(float(self._facts["ended"]) - float(self._facts["began"]), 3)

    @ReportField
    def point_of_no_return(self) -> str | None:
        """When it was passed; null: it was not."""
        return _moment(self._facts["turned"])

    @ReportField
    def opened(self) -> str | None:
        """When the run was opened in the journal, in any of its starts; null: it was not."""
        return _moment(self._facts.get("opened"))

    @ReportField
    def stopped(self) -> dict[str, str | None]:
        """When the run began to stop `writes` and `reads`, in any of its starts; null: not known."""
        return {who: _moment(at) for who, at in (self._facts.get("stopped") or {}).items()}

    @ReportField
    def phases(self) -> list[PhaseRow]:
        """The finished phases."""
        return [phase_row(phase) for phase in self._facts["times"]]

    @ReportField
    def hooks(self) -> list[HookRow]:
        """Each [hook](../hooks.md) that ran."""
        return [hook_row(hook) for hook in self._facts["hooks"]]

    @ReportField
    def rereads(self) -> int | None:
        """Upper bound of records that groups read again because of their offsets; null: unknown."""
        return self._facts["rereads"]

    @ReportField
    def skips(self) -> SkipCount | None:
        """Records that groups never process, because the entered cluster no longer has them; null: unknown."""
        rows = self._facts["barrier"].get("skips")
        return None if rows is None else cast(Any, total({"skips": row} for row in rows).as_dict())

    @ReportField
    def checkpoint_rereads(self) -> int | None:
        """For comparison: how many records more MirrorMaker 2's own checkpoints would re-read; null: there was none."""
        return _checkpoint_rereads(self._facts["details"])

    @ReportField
    def found_offsets(self) -> FoundOffsets:
        """Offsets that group sync, SRM's reverse checkpointing or a schedule had left on the entered cluster.

        Against the translated ones: `equal`, `lower` (by `rereads` offsets), `higher` (refused unless `kafka_dr_lower`
        allows it) and `none`.
        """
        return _found_offsets(self._facts["details"])

    @ReportField
    def committed_offsets(self) -> list[OffsetRow]:
        """Where each group starts, by topic and partition."""
        return list(self._facts["details"])

    @ReportField
    def barrier(self) -> BarrierRow:
        """Facts that are journaled at the barrier; empty before it."""
        return cast(Any, dict(self._facts["barrier"]))

    @ReportField
    def audit(self) -> dict[str, Any] | None:
        """Result of the comparison of both clusters, and the `folder` with all of it; null: they were not compared."""
        return self._facts["audit"]

    @ReportField
    def loss(self) -> dict[str, Any] | None:
        """Of a disaster: what is lost at least and at most, with `offsets_to_committed`
        ([offsets, not records](../correctness.md#r46-a-count-of-offsets-is-not-a-count-of-records))."""
        return (self._facts["survey"] or {}).get("loss")

    @ReportField
    def probes(self) -> list[dict[str, Any]]:
        """Of a disaster: when the other cluster responded."""
        return list(self._facts["probes"])

    @ReportField
    def rescue(self) -> dict[str, Any] | None:
        """Of a disaster: what was still replicated; null: nothing was tried."""
        return self._facts["rescue"]

    @ReportField
    def lowered(self) -> int:
        """Higher offsets that were lowered."""
        return int(self._facts["lowered"])

    @ReportField
    def other_applications(self) -> Others:
        """What no declared application writes or reads: other teams stop and start these applications."""
        return cast(Any, OtherApplications.of(self._facts.get("other_applications")).as_dict())

    @ReportField
    def failure(self) -> dict[str, Any] | None:
        """`task`, `message` and `error` of what stopped the run; null: it completed."""
        return self._facts["failure"]

    @ReportField
    def plan(self) -> Plan | None:
        """What a check run would do; null of a real run."""
        return self._facts["plan"] or None

    @ReportField
    def files(self) -> dict[str, str]:
        """SHA-256 of the files of its record, by their path from the report; empty: the run has not ended."""
        return {}

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The fields that need no other one."""
        derived = ("headline", "evidence", "next", "pager")
        return {name.rstrip("_"): getattr(self, name) for name in report_fields() if name not in derived}


def report_fields() -> dict[str, ReportField[Any]]:
    """The fields of a report by the name of their property, which ends with "_" if it is a word of Python."""
    return {name: field for name, field in vars(CutoverReport).items() if isinstance(field, ReportField)}


def cutover_report(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a cutover, as plain data."""
    return CutoverReport(facts).as_dict()


def _moment(at: Any) -> str | None:
    return None if at is None else stamp(at)


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


def _found_offsets(details: Sequence[Mapping[str, Any]]) -> FoundOffsets:
    """Compares committed offsets that were already on the cluster being entered with the translated ones.

    ``rereads``: the sum of the distances of the lower ones. A higher one would have skipped records (R6).
    """
    found: FoundOffsets = {"equal": 0, "lower": 0, "rereads": 0, "higher": 0, "none": 0}
    for row in details:
        there, ours = row.get("existing"), row["offset"]
        if there is None or ours is None:
            found["none"] += 1
        else:
            found["equal" if there == ours else "lower" if there < ours else "higher"] += 1
            found["rereads"] += max(0, ours - there)
    return found


def epoch_seconds(moment: datetime) -> float:
    """Epoch seconds of Ansible's ``now(utc=true)``: it has no time zone, so its own timestamp() takes it for local."""
    return moment.replace(tzinfo=UTC).timestamp()


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

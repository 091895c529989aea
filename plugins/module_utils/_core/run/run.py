# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a cutover: its state follows from its events.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .events import RunEvent
from .move import Move, RunOptions

__all__ = ["Failure", "HookTime", "PhaseTime", "Run"]

# Of a fence, what the report shows. The rest of the result are the options of the module.
_FENCE = ("fenced", "proven", "reason", "failed", "msg", "error", "ends")
_PROBE = ("answers", "reachable", "locked_out", "reason", "seconds")
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class PhaseTime:
    """When a phase began and ended, in epoch seconds."""

    name: str
    began: float
    #: None: it runs, or the run ended in it.
    ended: float | None = None


@dataclass(frozen=True)
class HookTime:
    """When a hook began and ended, in epoch seconds, and why it failed."""

    name: str
    #: before or after.
    when: str
    #: The phase, ``run`` or ``undo``.
    moment: str
    began: float
    #: None: it runs, or the controller ended in it.
    ended: float | None = None
    failure: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why a run stopped."""

    task: str
    message: str
    #: Of the module, as ``DrError.as_dict``.
    error: Mapping[str, Any] = field(default_factory=dict)
    #: Why its undo failed; None: it did not fail.
    undo: str | None = None
    #: Error of the undo.
    undo_error: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """A run as this controller knows it."""

    move: Move
    options: RunOptions
    #: Epoch seconds when the playbook was started.
    began: float
    #: In check mode, nothing is changed.
    check: bool = False
    #: The last result of each step, by its name: what its module returned. A step that failed has none.
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: The fence on the cluster being left, as its last step found it; None: no step has set it.
    fence: Mapping[str, Any] | None = None
    #: The run's own probes of the cluster being left, oldest first.
    probed: tuple[Mapping[str, Any], ...] = ()
    times: tuple[PhaseTime, ...] = ()
    #: Those of all earlier starts of the same run, oldest first; None: a start is missing, so they are not known.
    earlier: tuple[PhaseTime, ...] | None = None
    hooks: tuple[HookTime, ...] = ()
    #: Why applications could not be stopped, and those of them that write, in a disaster.
    unstopped: tuple[str, ...] = ()
    unstopped_writers: tuple[Mapping[str, Any], ...] = ()
    failure: Failure | None = None
    restarted: bool = False
    undone: bool = False
    audit: Mapping[str, Any] | None = None
    ended: float | None = None
    #: The verdict of its report, for the hooks after the run; "": there is none yet.
    reported: str = ""
    #: Epoch seconds of its newest event.
    newest: float = 0.0

    @classmethod
    def of(cls, events: Iterable[RunEvent], earlier: Iterable[Iterable[RunEvent]] = ()) -> Run:
        """The state after all events of a start of the playbook. Raises ValueError unless the first one is ``began``.

        ``earlier``: events of the starts of the same run before it, oldest first. Only their times still count, and
        only if none is missing, because another controller may have stopped applications in that one.
        """
        first, *rest = events
        if first.kind != "began":
            raise ValueError(f"the first event of a run is {first.kind}, wanted began")
        data = first.data
        run = cls(Move.of(data["move"]), RunOptions.of(data["options"]), first.at, bool(data["check"]))
        for event in rest:
            run = _APPLY[event.kind](run, event)
        run = replace(run, newest=max(event.at for event in (first, *rest)))
        starts = [cls.of(start) for start in earlier]
        # Each start that takes a run over counts its holder up by one.
        if [start.generation for start in (*starts, run)] != list(range(len(starts) + 1)):
            return run
        return replace(run, earlier=tuple(time for start in starts for time in start.times))

    def attempt(self, step: str) -> Mapping[str, Any]:
        """The last result of a step, with ``failed`` and ``msg`` if it failed; empty: it did not run."""
        return self.results.get(step, _NOTHING)

    def result(self, step: str) -> Mapping[str, Any]:
        """The last result of a step; empty: it did not run, or failed."""
        found = self.attempt(step)
        return _NOTHING if found.get("failed") else found

    # ---- the run in the journal

    @property
    def id(self) -> str | None:
        """Its id in the journal; None: it was not opened there."""
        run_id: str | None = self.result("opened").get("run_id")
        return run_id

    @property
    def journaled(self) -> Mapping[str, Any]:
        """The run in the journal, when it was opened or passed the point of no return, without its phases."""
        opened, turned = (self.result(step).get("run") for step in ("opened", "passed"))
        return turned or opened or _NOTHING

    @property
    def journaled_phases(self) -> Mapping[str, Any]:
        """The facts of its phases that were journaled by then."""
        opened, turned = (self.result(step).get("phases") for step in ("opened", "passed"))
        return turned or opened or _NOTHING

    @property
    def seeded(self) -> bool:
        """Whether an earlier start has seeded the flow back."""
        return "seeded" in (self.result("opened").get("done") or ())

    @property
    def generation(self) -> int | None:
        """Number of the journal run's holder that this controller is."""
        number: int | None = (self.result("opened").get("run") or _NOTHING).get("resumed")
        return number

    @property
    def resumed(self) -> bool:
        """Whether it continues an interrupted run."""
        return bool(self.result("opened").get("resumed"))

    @property
    def passed_at(self) -> float | None:
        """Epoch seconds of the point of no return, from the journal in a resumed run; None: not passed."""
        moment: float | None = self.journaled.get("pnr")
        return moment

    @property
    def passed(self) -> bool:
        """Whether it cannot be undone. A run that replaces a passed one never can: the applications lived there."""
        return self.passed_at is not None or bool(self.journaled.get("replaces_passed_run"))

    # ---- what is decided

    @property
    def judgement(self) -> Mapping[str, Any] | None:
        """What the preflight has decided, or of a pair whose applications are there already, what it is like."""
        return self.result("at_rest").get("judgement") or self.result("preflight").get("judgement")

    @property
    def already(self) -> bool:
        """Whether the applications live on the cluster being entered already."""
        return bool((self.judgement or _NOTHING).get("already"))

    @property
    def waits(self) -> bool:
        """Whether it waits for people who stop and start applications of other teams."""
        return self.options.wait_for_applications > 0

    @property
    def outcome(self) -> str:
        """completed, already_there, checked, undone, undo_failed or failed."""
        if self.undone:
            return "undone"
        if self.failure is not None:
            return "failed" if self.failure.undo is None else "undo_failed"
        if self.already:
            return "already_there"
        if self.check:
            return "checked"
        return "completed" if self.result("closed") else "failed"

    # ---- what the steps have found

    @property
    def barrier(self) -> Mapping[str, Any]:
        """Facts of the barrier. A resumed run has them from the journal."""
        own: Mapping[str, Any] | None = self.result("barrier").get("barrier")
        return own if own is not None else self.journaled_phases.get("barrier") or _NOTHING

    @property
    def idle_groups(self) -> Mapping[str, Any] | None:
        """Groups that had no members on the cluster being left at preflight; None: not observed."""
        return self.result("status").get("idle_groups")

    @property
    def commits_seen(self) -> Mapping[str, Any] | None:
        """When the drain read the committed offsets on the cluster being left, and their digest; None: it did not."""
        return self.result("drain").get("commits_seen")

    @property
    def survey(self) -> Mapping[str, Any] | None:
        """The newest observation of a lost pair: at its barrier, or before the run."""
        if self.move.kind.needs_source:
            return self.result("foreseen") or None
        return self.result("barrier") or self.result("foreseen") or None

    @property
    def probes(self) -> list[Mapping[str, Any]]:
        """All probes of a cluster that may be lost, those before the run first."""
        return [*(self.attempt("foreseen").get("probes") or ()), *self.probed]

    @property
    def rescues(self) -> bool:
        """Whether the run may still replicate from a lost cluster: a broker that responds may serve reads.

        Even if partitions have no leader.
        """
        return self.options.rescue_timeout > 0 and any(probe.get("reachable") for probe in self.probes)

    @property
    def departure(self) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
        """Both looks at the groups on the cluster that was left; None: one that was not taken."""
        first, last = (self.result(step).get("departure") for step in ("departure", "departure_at_end"))
        return first, last

    @property
    def had_left(self) -> bool:
        """Whether no group was at work on the cluster that was left, before group sync toward it ran."""
        first = self.departure[0] or _NOTHING
        return not self.resumed and first.get("verdict") == "PROVEN"

    @property
    def settled(self) -> Sequence[Mapping[str, Any]] | None:
        """How far each partition of the old flow is replicated; None: not observed.

        With one flow at a time the old flow is stopped, and seeding the flow back has checked what came after its cut.
        """
        flows = (self.result("settled").get("status") or _NOTHING).get("flows") or [self.result("seed")]
        rows: Sequence[Mapping[str, Any]] | None = flows[0].get("partitions")
        return rows

    @property
    def last_ends(self) -> Mapping[str, Any] | None:
        """Log ends after which no record may be written on the cluster that was left; None: they were not read.

        After a continuous cutover, producers wrote there until the fence was closed.
        """
        source = self.barrier if self.move.kind.watches_left else self.fence or _NOTHING
        ends: Mapping[str, Any] | None = source.get("ends")
        return ends

    @property
    def late_writes(self) -> Sequence[str] | None:
        """Records that were written after :attr:`last_ends`; None: not observed."""
        seeded: Sequence[str] | None = self.result("seed").get("late_writes")
        if seeded is not None:
            return seeded
        later: Sequence[str] | None = self.result("settled").get("written_after")
        return later if self.last_ends else None

    @property
    def seen(self) -> Mapping[str, Any]:
        """What of other teams' applications was at rest when it was watched last."""
        return self.result("standstill").get("seen") or _NOTHING

    @property
    def phases_left(self) -> list[str]:
        """Phases that have not finished according to the journal."""
        return list(self.result("opened").get("phases_left") or ())

    @property
    def unneeded(self) -> list[str]:
        """Task files of its phases that have nothing to do."""
        move, fences = self.move, self.move.may_fence(self.options)
        early = set(move.principals) - set(move.late_principals)
        needless = {
            "deadline.yml": not self.options.max_downtime,
            "resume_flow.yml": not self.resumed,
            "fence_producers.yml": not fences or not early,
            "fence_processors.yml": not fences or not move.late_principals or move.kind.readers_start_first,
            # Its line is about applications that the run has started.
            "arrived.yml": not move.applications,
            # A run that replaced a passed one has no cut, and so no phase arrival.
            "await_start.yml": not self.waits or "arrival" not in self.phases_left,
        }
        return [name for name, needed in needless.items() if needed]

    # ---- when

    @property
    def phases(self) -> list[PhaseTime]:
        """The finished phases."""
        return [time for time in self.times if time.ended is not None]

    @property
    def opened_at(self) -> float | None:
        """Epoch seconds when the run was opened in the journal, before it stopped anything; None: it was not."""
        moment: float | None = self.journaled.get("started")
        return moment

    def still(self, who: str) -> bool:
        """Whether the writes or the reads are stopped now, as far as this start knows."""
        first, last = self.move.kind.standstill[who]
        # An earlier start may have stopped them.
        begun = self.resumed or any(time.name == first for time in self.times)
        again = any(time.name == last and time.ended is not None for time in self.times) or (
            self.resumed and last not in self.phases_left
        )
        return begun and not again and not self.restarted

    def stopped_at(self, who: str) -> float | None:
        """Epoch seconds when the run first began to stop the writes or the reads; None: it did not, or not known."""
        phase, _last = self.move.kind.standstill[who]
        times = () if self.earlier is None else (*self.earlier, *self.times)
        return next((time.began for time in times if time.name == phase), None)

    @property
    def deadline(self) -> float | None:
        """Epoch seconds when the downtime reaches its limit; None: there is none.

        After the point of no return a time-out would save no time.
        """
        limit = self.options.max_downtime
        started = float(self.journaled.get("started") or self.began)
        return None if self.passed or not limit else started + limit


def _returned(run: Run, event: RunEvent) -> Run:
    step, result = event.data["step"], event.data["result"]
    run = replace(run, results={**run.results, step: result})
    if step == "fence":
        ends = (run.fence or _NOTHING).get("ends") or {}
        return replace(run, fence={"ends": ends, **{key: result[key] for key in _FENCE if key in result}})
    if step == "probe" and "answers" in result:
        return replace(run, probed=(*run.probed, {key: result[key] for key in _PROBE if key in result}))
    return run


def _phase(run: Run, event: RunEvent) -> Run:
    times = tuple(time if time.ended is not None else replace(time, ended=event.at) for time in run.times)
    name = event.data["phase"]
    return replace(run, times=(*times, PhaseTime(name, event.at)) if name else times)


def _hook_began(run: Run, event: RunEvent) -> Run:
    data = event.data
    when, moment = data["moment"].split()
    return replace(run, hooks=(*run.hooks, HookTime(data["name"], when, moment, event.at)))


def _hook_ended(run: Run, event: RunEvent) -> Run:
    *before, last = run.hooks
    return replace(run, hooks=(*before, replace(last, ended=event.at, failure=event.data["failure"])))


def _not_stopped(run: Run, event: RunEvent) -> Run:
    writers = [one for one in event.data["clients"] if one not in run.unstopped_writers]
    return replace(
        run,
        unstopped=tuple(dict.fromkeys((*run.unstopped, event.data["reason"]))),
        unstopped_writers=(*run.unstopped_writers, *writers),
    )


def _failed(run: Run, event: RunEvent) -> Run:
    return replace(run, failure=Failure(event.data["task"], event.data["message"], event.data["error"]))


def _undo_failed(run: Run, event: RunEvent) -> Run:
    """Without an earlier failure, the undo was the whole playbook."""
    message, error = event.data["message"], event.data["error"]
    failure = run.failure or Failure(event.data.get("task") or "unknown", message, error)
    return replace(run, failure=replace(failure, undo=message, undo_error=error))


_APPLY: Mapping[str, Callable[[Run, RunEvent], Run]] = {
    "returned": _returned,
    "phase": _phase,
    "hook_began": _hook_began,
    "hook_ended": _hook_ended,
    "not_stopped": _not_stopped,
    "failed": _failed,
    "restarted": lambda run, _event: replace(run, restarted=True),
    "undone": lambda run, _event: replace(run, undone=True),
    "undo_failed": _undo_failed,
    "audited": lambda run, event: replace(run, audit=event.data["audit"]),
    "ended": lambda run, event: replace(run, ended=event.at),
    "reported": lambda run, event: replace(run, reported=event.data["verdict"]),
}

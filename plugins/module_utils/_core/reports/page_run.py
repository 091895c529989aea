# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a run that has not ended: who is stopped, what runs, what comes next, and how to go on.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from ..run.facts import going_on
from ..run.run import PhaseTime, Run
from .markup import at, bullets, code_block, duration, page_head, section, table, tag, tiles, whole_page
from .rows import stamp

__all__ = ["run_page"]

# Seconds after which an open browser loads the page again.
_REFRESH = 2


def run_page(run: Run, now: float) -> str:
    """The page as of ``now``, in epoch seconds. The page of the report takes its place when the run ends."""
    move, facts = run.move, going_on(run)
    way = f"{move.type} {move.source} \N{RIGHTWARDS ARROW} {move.target}"
    headline, mood = _headline(run)
    # An undone or a closed run needs no command, and the pair of a rehearsal has no playbook.
    commands = not run.undone and not run.result("closed") and not move.rehearsal
    return whole_page(
        f"{headline}: {way}",
        page_head(
            way,
            headline,
            mood,
            tag("span", f"run {run.id}, pair {move.pair}, as of ", _at(now), class_="faint"),
            _passed(run),
        ),
        tiles((who, *_still(run, who)) for who in move.kind.standstill),
        section("What stopped it", *_failure(run)),
        section(
            "If the playbook ends here",
            tag("p", "Resume the run:"),
            code_block(facts["resume"]),
            *([tag("p", "Or take it back:"), code_block(facts["undo"])] if facts["undo"] else []),
        )
        if commands
        else "",
        section("Phases", table(["phase", "began", "took"], [_row(time) for time in run.times], (2,))),
        section("Comes next", bullets(_next(run))),
        refresh=_REFRESH,
    )


def _headline(run: Run) -> tuple[str, str]:
    if run.undone:
        return "UNDONE", "bad"
    if run.failure is not None:
        return ("STOPPED" if run.passed or run.failure.undo is not None else "UNDOING"), "bad"
    running = next((time.name for time in run.times if time.ended is None), None)
    return (f"RUNNING: {running}" if running else "RUNNING"), "calm"


def _still(run: Run, who: str) -> tuple[str, object]:
    """Whether writes or reads are stopped, and since when."""
    since = run.stopped_at(who)
    if not run.still(who):
        again = run.resumed or run.restarted or since is not None
        return ("started again" if again else "not stopped"), ""
    if since is None:
        return "may be stopped", tag("span", "by an earlier start of the run, which was opened ", _at(run.opened_at))
    return "stopped", tag("span", "since ", _at(since))


def _passed(run: Run) -> str:
    if run.passed:
        return "It is past the point of no return, so it cannot be undone."
    return "It can be undone: the point of no return is not passed."


def _failure(run: Run) -> list[object]:
    failure = run.failure
    if failure is None:
        return []
    lines = [tag("p", "In ", tag("strong", failure.task), ": ", failure.message)]
    lines += [tag("p", "The undo stopped as well: ", failure.undo)] if failure.undo is not None else []
    return [tag("div", *lines, class_="card bad")]


def _row(time: PhaseTime) -> list[object]:
    took = "runs" if time.ended is None else duration(time.ended - time.began)
    return [time.name, _at(time.began), took]


def _next(run: Run) -> list[str]:
    """The phases after the present one; none if the run goes back."""
    if run.failure is not None:
        return []
    begun = {time.name for time in run.times}
    return [name for name in run.phases_left if name not in begun]


def _at(moment: float | None) -> object:
    return None if moment is None else at(stamp(moment))

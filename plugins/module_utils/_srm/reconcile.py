# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring lists to their desired state: read, change, and read again, until the tool itself prints the wanted list.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._core.changes import Outcome
from .._core.errors import DrError
from .._core.waiting import Bounds, wait_until
from .._module import Result
from .control import RETRIED, UNSUPPORTED, SrmControl, Tool
from .entries import warnings_of
from .listing import FlowList, Listing
from .planning import FLAGS, DesiredLists, Plan, Step, check_desired, plan, result_of

__all__ = ["doubts", "read_list", "reconcile", "shown"]

# The tool takes seconds to start. More calls at the same time would only compete for the same processors.
_AT_ONCE = 3

# Errors that a reverse list may cause only because the output of its --list is undocumented.
_UNSHOWN = (RETRIED, UNSUPPORTED, "srm_list_unreadable")


def read_list(control: SrmControl, where: FlowList) -> tuple[Listing | None, DrError | None]:
    """Read a list. Return (list, None), or (None, error) for a reverse list that srm-control cannot print.

    Cloudera announces the --list of reverse lists but documents it nowhere.
    """
    try:
        return control.list(where), None
    except DrError as error:
        if where.is_reverse and error.code in _UNSHOWN:
            return None, error
        raise


def reconcile(tool: Tool, all_desired: Sequence[DesiredLists], bounds: Bounds, check: bool) -> Result:
    """Bring several lists to their desired states, some at the same time.

    Each list has its own row in the result, and a failed one does not prevent the others.
    """
    _check(all_desired)
    controls = [SrmControl(tool) for _desired in all_desired]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        results = list(pool.map(lambda control, desired: _one(control, desired, bounds, check), controls, all_desired))
    rows = [_row(desired, one) for desired, one in zip(all_desired, results)]  # noqa: B905 - hosts may have an older Python
    result = Result(
        outcomes=[outcome for one in results for outcome in one.outcomes],
        extra={"verified": all(row["verified"] for row in rows), "lists": rows},
        requests=[request for control in controls for request in control.requests],
        warnings=list(dict.fromkeys(text for one in results for text in one.warnings)),
    )
    failed = [one.failure for one in results if one.failure is not None]
    if failed:
        more = f" {len(failed) - 1} others of {len(rows)} lists failed too." if len(failed) > 1 else ""
        result.failure = DrError(failed[0].code, failed[0].message + more, failed[0].hint, failed[0].endpoint)
    return result


def _check(all_desired: Sequence[DesiredLists]) -> None:
    """Raise ``srm_entries_invalid`` with all reasons, before the first call."""
    problems = []
    for desired in all_desired:
        try:
            check_desired(desired)
        except DrError as error:
            problems.append(error.message)
    if not all_desired:
        problems.append("No list is named; wanted at least one.")
    named = [desired.where for desired in all_desired]
    problems += [f"The {where} is named twice." for where in dict.fromkeys(named) if named.count(where) > 1]
    if problems:
        raise DrError("srm_entries_invalid", " ".join(problems))


def _row(desired: DesiredLists, result: Result) -> dict[str, Any]:
    where = desired.where
    unread = {"before": None, "after": None, "covered": [], "kept": [], "verified": False, **_names((), ())}
    error = None if result.failure is None else result.failure.as_dict()
    place = {"kind": where.kind, "source": where.source, "target": where.target}
    return {**place, **unread, **result.extra, "error": error}


def _one(control: SrmControl, desired: DesiredLists, bounds: Bounds, check: bool) -> Result:
    """Send the planned steps, and wait until the list shows them. ``check``: only read the list."""
    try:
        before, unknown = read_list(control, desired.where)
        planned = plan(desired, before)
    except DrError as error:
        return Result(failure=error)
    result = Result(warnings=_warnings(desired, before, planned, unknown))
    after = before
    if check or not planned.steps:
        result.outcomes = [Outcome(step.change(desired.where), "planned") for step in planned.steps]
        verified = before is not None and not planned.steps
        if before is not None:
            after = result_of(before, planned.steps)
    else:
        sender = _Sender(control, desired, planned.steps, before)
        result.outcomes, result.failure = sender.send_until_listed(bounds)
        after, verified = sender.listing, sender.verified
    result.extra = {
        "before": shown(before),
        "after": shown(after),
        "covered": [{"entry": entry, "by": other} for entry, other in sorted(planned.covered.items())],
        "kept": list(planned.kept),
        "verified": verified,
        **_names(planned.steps, result.outcomes),
    }
    return result


class _Sender:
    """Send steps repeatedly within the time limit. SRM accepts a new topic only after it has discovered it."""

    def __init__(
        self, control: SrmControl, desired: DesiredLists, steps: tuple[Step, ...], before: Listing | None
    ) -> None:
        self._control = control
        self._desired = desired
        self._planned = steps
        self._is_blind = before is None
        self.listing = before
        # Whether the list, read after the last change, is in the desired state.
        self.verified = False
        self._sent: set[Step] = set()
        self._refused: dict[Step, DrError] = {}
        self._unread: DrError | None = None
        self._fatal: DrError | None = None
        self._observations = 0

    def send_until_listed(self, bounds: Bounds) -> tuple[list[Outcome], DrError | None]:
        """Return one outcome for each step, and the error if the list is not in the desired state."""
        waited = wait_until(self._attempt, self._is_over, bounds)
        left = waited.state
        failure = self._failure(left, waited.seconds)
        self.verified = failure is None and not self._is_blind
        return [self._outcome(step, step in left) for step in self._planned], failure

    def _is_over(self, left: tuple[Step, ...]) -> bool:
        return self._fatal is not None or (not left and self._unread is None)

    def _outcome(self, step: Step, is_left: bool) -> Outcome:
        if not is_left:
            return Outcome(step.change(self._desired.where), "done")
        error = self._refused.get(step) or self._fatal or self._unread
        text = error.sentence() if error else "srm-control exited with 0, but its list does not show the change."
        return Outcome(step.change(self._desired.where), "failed", text)

    def _attempt(self) -> tuple[Step, ...]:
        """Read the list, send the missing steps, read it again, and return the steps that are still missing.

        A fatal error is stored and ends the wait.
        """
        try:
            left = self._left() if self._observations else self._planned
            self._observations += 1
            if left and self._unread is None:
                self._send(left)
                left = self._left()
        except DrError as error:
            self._fatal = error
            return self._unsent()
        return left

    def _left(self) -> tuple[Step, ...]:
        if self._is_blind:
            return self._unsent()
        try:
            self.listing = self._control.list(self._desired.where)
        except DrError as error:
            if not error.retriable and error.code != "srm_list_unreadable":
                raise
            self._unread = error
            return self._unsent()
        self._unread = None
        return plan(self._desired, self.listing).steps

    def _unsent(self) -> tuple[Step, ...]:
        return tuple(step for step in self._planned if step not in self._sent)

    def _send(self, steps: Sequence[Step]) -> None:
        for (half, action), flag in FLAGS.items():
            batch = [step for step in steps if (step.half, step.action) == (half, action)]
            if batch and not self._accepts(flag, batch) and len(batch) > 1:
                # One name that SRM does not know may block the others, so send each entry alone.
                for step in batch:
                    self._accepts(flag, [step])

    def _accepts(self, flag: str, batch: Sequence[Step]) -> bool:
        try:
            self._control.change(self._desired.where, flag, [step.entry for step in batch])
        except DrError as error:
            if not error.retriable:
                raise
            self._refused.update(dict.fromkeys(batch, error))
            return False
        for step in batch:
            self._refused.pop(step, None)
            self._sent.add(step)
        return True

    def _failure(self, left: Sequence[Step], seconds: float) -> DrError | None:
        where = self._desired.where
        if self._fatal is not None:
            return self._fatal
        if self._unread is not None:
            text = f"It is unknown whether the {where} is as wanted after {seconds:.0f} s: {self._unread.message}"
            return DrError(self._unread.code, text, self._unread.hint, where.flow)
        if not left:
            return None
        missing = "; ".join(f"{action} {', '.join(names)}" for action, names in _by_flag(left).items())
        done = [step for step in self._planned if step not in left]
        changed = "; ".join(f"{action} {', '.join(names)}" for action, names in _by_flag(done).items()) or "nothing"
        refusal = next(iter(self._refused.values()), None)
        return DrError(
            "srm_list_differs",
            f"The {where} is not as wanted after {seconds:.0f} s. Missing: {missing}. Done: {changed}."
            + (f" {refusal.message}" if refusal else " srm-control exited with 0 each time."),
            "Check that each topic exists on the source cluster. SRM discovers a new topic within "
            "refresh.topics.interval.seconds (10 minutes by default). Then start the same playbook again.",
            where.flow,
        )


def _by_flag(steps: Sequence[Step]) -> dict[str, list[str]]:
    return {
        flag: [step.entry for step in steps if (step.half, step.action) == key]
        for key, flag in FLAGS.items()
        if any((step.half, step.action) == key for step in steps)
    }


def _names(steps: Sequence[Step], outcomes: Sequence[Outcome]) -> dict[str, list[str]]:
    """Return the entries that were added and removed, for each half. In check mode: that would be."""
    names: dict[str, list[str]] = {"added": [], "removed": [], "denied_added": [], "denied_removed": []}
    for step, outcome in zip(steps, outcomes):  # noqa: B905 - hosts with SRM may have an older Python
        if outcome.status != "failed":
            key = {"add": "added", "remove": "removed"}[step.action]
            names[key if step.half == "allowed" else f"denied_{key}"].append(step.entry)
    return names


def shown(listing: Listing | None) -> dict[str, list[str] | None] | None:
    """Return a list as modules return it."""
    if listing is None:
        return None
    return {"allowed": list(listing.allowed), "denied": None if listing.denied is None else list(listing.denied)}


def _warnings(desired: DesiredLists, before: Listing | None, planned: Plan, unknown: DrError | None) -> list[str]:
    entries = desired.entries if desired.entries is not None and desired.state != "absent" else ()
    texts = warnings_of(desired.where, entries, desired.separator)
    texts += doubts(desired.where, before, unknown)
    if planned.kept:
        names = ", ".join(planned.kept)
        texts.append(f"Entries that exclude internal names stay on the denylist: {names}")
    return texts


def doubts(where: FlowList, listing: Listing | None, unknown: DrError | None) -> list[str]:
    """Return warnings about the output that a list was parsed from."""
    if unknown is not None:
        return [f"The content of the {where} is unknown: {unknown.message}"]
    if listing is None or not listing.skipped:
        return []
    lines = "; ".join(listing.skipped[:3])
    return [f"The output for the {where} has lines that were not taken for entries: {lines}"]

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One loop for every wait: a condition, a time-out, and a limit for the time without progress.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from .errors import DrError, one_text

__all__ = ["Bounds", "Patience", "Waited", "wait_until"]

T = TypeVar("T")
#: Seconds between two collections of garbage.
_COLLECT_SECONDS = 5.0
_WAITED = "A wait of {:.0f} s ended with this error."


@dataclass(frozen=True)
class Bounds:
    """Limits of one wait, in seconds."""

    timeout: float
    sleep: float = 0.25
    #: Limit for the time without any progress; 0: no limit.
    stall: float = 0.0

    def longer(self, seconds: float) -> Bounds:
        """Return the same limits with a later time-out."""
        return replace(self, timeout=self.timeout + seconds)


@dataclass(frozen=True)
class Waited(Generic[T]):
    """How a wait ended."""

    #: ``done``, ``timeout`` or ``stalled``.
    ended: str
    #: The last observed state.
    state: T
    #: How long it took.
    seconds: float
    observations: int
    #: The retriable error of the last observation, if the wait ended with it and has a fallback for the state.
    error: DrError | None = None

    @property
    def done(self) -> bool:
        """True only if the condition was observed to hold."""
        return self.ended == "done"

    @property
    def last_error(self) -> str:
        """The last error as a sentence to append to a message; "": none."""
        return f" Last error: {self.error.message}" if self.error is not None else ""


def wait_until(
    observe: Callable[[], T],
    done: Callable[[T], bool],
    bounds: Bounds,
    progress: Callable[[T], Any] = lambda state: None,
    clock: tuple[Callable[[], float], Callable[[float], None]] | None = None,
    fallback: Callable[[], T] | None = None,
) -> Waited[T]:
    """Observe until ``done(state)``, at least once.

    A retriable error does not end the wait. It counts as an observation without progress, and is raised only when a
    limit is reached (R35). Every other error is raised at once.

    ``progress(state)`` returns a comparable fingerprint; while it changes, the stall limit does not run.
    ``clock`` is (now, sleep); tests pass their own. ``fallback``: the state to return with ``Waited.error`` instead of
    raising a retriable error at the limit.
    """
    now, sleep = clock or (time.monotonic, time.sleep)
    start = moved = collected = now()
    fingerprint: Any = object()
    observations = 0
    while True:
        # Modules disable the collector. Here it is safe: this is no callback of a Kafka client.
        if now() - collected >= _COLLECT_SECONDS and not gc.isenabled():
            gc.collect()
            collected = now()
        try:
            state = observe()
        except DrError as error:
            failed = now()
            is_timeout = failed - start >= bounds.timeout
            is_over = is_timeout or (bounds.stall > 0 and failed - moved >= bounds.stall)
            if not error.retriable:
                raise
            if is_over and fallback is not None:
                ended = "timeout" if is_timeout else "stalled"
                return Waited(ended, fallback(), failed - start, observations, error)
            if is_over:
                error.hint = one_text(error.hint, _WAITED.format(failed - start))
                raise
            sleep(min(bounds.sleep, bounds.timeout - (failed - start)))
            continue
        observations += 1
        seen = now()
        if done(state):
            return Waited("done", state, seen - start, observations)
        if progress(state) != fingerprint:
            fingerprint, moved = progress(state), seen
        if seen - start >= bounds.timeout:
            return Waited("timeout", state, seen - start, observations)
        if bounds.stall and seen - moved >= bounds.stall:
            return Waited("stalled", state, seen - start, observations)
        sleep(min(bounds.sleep, max(0.0, bounds.timeout - (seen - start))))


class Patience:
    """An optional wait: over after ``timeout`` seconds, or after ``stall`` seconds without progress.

    ``stall`` 0: only ``timeout`` counts. The time starts with the first call of :meth:`over`.
    """

    def __init__(self, timeout: float, stall: float) -> None:
        self._timeout, self._stall = timeout, stall
        self._start: float | None = None
        self._moved = 0.0
        self._fingerprint: Any = object()

    @property
    def begun(self) -> bool:
        """Whether :meth:`over` was called before."""
        return self._start is not None

    def over(self, fingerprint: Any, now: float) -> str:
        """Why the wait is over, or "". ``fingerprint`` changes while there is progress."""
        if self._start is None:
            self._start = now
        if fingerprint != self._fingerprint:
            self._fingerprint, self._moved = fingerprint, now
        if now - self._start >= self._timeout:
            return f"the time-out of {self._timeout:g} s was reached"
        if self._stall and now - self._moved >= self._stall:
            return f"there was no progress for {self._stall:g} s"
        return ""

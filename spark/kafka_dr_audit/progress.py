# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the progress of a long run: lines on standard error, at first every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any

EVERY = 5.0


class ProgressReporter:
    """Write lines of the form ``audit  12.3 s  text``."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"audit {self.seconds:6.1f} s  {text}\n")
            sys.stderr.flush()

    def watch(self, jobs: Sequence[Future[Any]], what: str, planned: int, read: Callable[[], int]) -> None:
        """Report progress until all jobs have ended, and raise the error of the first failed job.

        ``planned``: number of records. ``read``: returns the number of records read so far.
        """
        began = time.monotonic()
        # The longer it takes, the fewer lines.
        while wait(jobs, timeout=max(EVERY, (time.monotonic() - began) / 2)).not_done:
            done, seconds = read(), time.monotonic() - began
            line = f"{what}: {done:,} of {planned:,} records"
            if 0 < done < planned:
                line += f", {done / seconds:,.0f} a second, about {(planned - done) * seconds / done:.0f} s left"
            self.say(line)
        for job in jobs:
            job.result()


def rows_read(session: Any) -> int:
    """Return the number of rows that running and finished reads have returned, from Spark's status store.

    This is a private API of Spark (org.apache.spark.sql.execution.ui.SQLAppStatusStore). An error counts as 0 rows.
    """
    try:
        store = session._jsparkSession.sharedState().statusStore()
        total = 0
        for number in range(store.executionsCount()):
            execution = store.executionsList().apply(number)
            values = store.executionMetrics(execution.executionId())
            metrics = execution.metrics()
            for index in range(metrics.size()):
                metric = metrics.apply(index)
                if metric.name() == "number of output rows":
                    found = values.get(metric.accumulatorId())
                    if found.isDefined():
                        total += int(str(found.get()).replace(",", ""))
                    break
        return total
    except Exception:
        return 0

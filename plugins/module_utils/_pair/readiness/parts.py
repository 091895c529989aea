# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the parts of an observation independently: if one fails, the others still have results.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ..._core.errors import DrError

__all__ = ["Parts"]

T = TypeVar("T")


class Parts:
    """Runs parts of an observation."""

    def __init__(self) -> None:
        #: By name, why a part has no result.
        self.unknown: dict[str, str] = {}

    def one(self, name: str, work: Callable[[], T]) -> T | None:
        """Return the result of ``work``; None if it failed."""
        try:
            return work()
        except DrError as error:
            # The hint of a refusal names the missing right.
            self.unknown[name] = error.sentence() if error.code == "not_authorized" else error.message
        except Exception as error:
            self.unknown[name] = f"{name} could not be observed: {type(error).__name__}: {error}"
        return None

    def together(self, works: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """Run several parts at the same time, and return their results."""
        with ThreadPoolExecutor(max_workers=len(works)) as pool:
            futures = {name: pool.submit(self.one, name, work) for name, work in works.items()}
            return {name: future.result() for name, future in futures.items()}

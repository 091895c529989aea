# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What readiness is asked for.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.checks.facts import Limits
from ..._core.flows.pair_spec import PairSpec

__all__ = ["ReadinessRequest"]


@dataclass(frozen=True)
class ReadinessRequest:
    """The options of ``dr_readiness``."""

    pair: PairSpec
    #: Alias to which the applications would move; "": the one where they do not live.
    to: str
    #: Groups of the inventory that do not move.
    local_groups: Sequence[str]
    #: Applications with ``name``, ``role``, ``group`` and ``principal``.
    applications: Sequence[Mapping[str, Any]]
    #: Topics that each application writes and reads, by alias and application.
    endpoints: Mapping[str, Mapping[str, Any]]
    #: Hosts of the applications that do not answer; None: they were not asked.
    unreachable: Sequence[str] | None
    #: Lists of flows that the engine keeps apart from them, and why others could not be read.
    lists: Sequence[Mapping[str, Any]]
    list_errors: Sequence[str]
    #: Names of checks whose NO is accepted.
    accept: Sequence[str]
    #: Whether this result is kept beside the earlier ones.
    keep: bool
    limits: Limits
    request_timeout: float

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of ``dr_readiness``, parsed.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._core.checks.facts import Limits
from ..._core.checks.other_applications import OtherApplications
from ..._core.flows.pair_spec import PairSpec

__all__ = ["ReadinessRequest"]


@dataclass(frozen=True)
class ReadinessRequest:
    """The options of ``dr_readiness``."""

    pair: PairSpec
    #: Alias of the cluster to move to; "": the one where the applications do not live.
    to: str
    #: Applications with ``name``, ``role``, ``group`` and ``principal``.
    applications: Sequence[Mapping[str, Any]]
    #: Topics that each application writes and reads, by alias and application.
    endpoints: Mapping[str, Mapping[str, Any]]
    #: Hosts of the applications that do not respond; None: they were not contacted.
    unreachable: Sequence[str] | None
    #: Lists of topics and groups that the engine keeps separately from its flows.
    lists: Sequence[Mapping[str, Any]]
    #: Why lists could not be read.
    list_errors: Sequence[str]
    #: Names of checks whose NO is accepted.
    accept: Sequence[str]
    #: Whether to store this result with the earlier ones.
    keep: bool
    limits: Limits
    request_timeout: float
    #: What applications that the inventory does not control write and read.
    other_applications: OtherApplications = field(default_factory=OtherApplications)
    #: Seconds for which a run waits for them.
    wait_for_applications: float = 0.0
    #: Seconds in which their topics must receive no record, and their groups must commit nothing.
    settles: tuple[float, float] = (10.0, 1.0)

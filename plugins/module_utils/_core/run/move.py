# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run moves, and how: the part of the pair and of the playbook's options that its record keeps. No secret.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..checks.other_applications import OtherApplications
from ..cutover_types import CUTOVER_TYPES, CutoverType

__all__ = ["Application", "Move", "RunOptions"]


@dataclass(frozen=True)
class Application:
    """A declared application."""

    name: str
    #: producer, processor or consumer.
    role: str
    #: The principal that it writes with; None: not declared, so no fence can name it.
    principal: str | None = None

    @property
    def writes(self) -> bool:
        """Whether it writes to topics of the pair."""
        return self.role != "consumer"


@dataclass(frozen=True)
class RunOptions:
    """The playbook's options that the steps of a run need, by their names without ``kafka_dr_``. Times in seconds."""

    lower: str = "auto"
    group_lag: str = "refuse"
    #: auto, acl or none.
    fence: str = "auto"
    #: The longest downtime before the point of no return; 0: no limit.
    max_downtime: float = 0.0
    #: How long the run waits for applications of other teams; 0: it does not.
    wait_for_applications: float = 0.0
    rescue_timeout: float = 30.0
    although_healthy: bool = False

    @property
    def repeated(self) -> dict[str, str]:
        """Those that the command which starts the run again repeats."""
        return {"lower": self.lower, "group_lag": self.group_lag}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RunOptions:
        """Parse the options, which templates may have turned into text."""
        return cls(
            str(given.get("lower", "auto")),
            str(given.get("group_lag", "refuse")),
            str(given.get("fence", "auto")),
            float(given.get("max_downtime") or 0),
            float(given.get("wait_for_applications") or 0),
            float(given.get("rescue_timeout") or 0),
            str(given.get("although_healthy", False)).lower() in ("true", "yes", "1"),
        )


@dataclass(frozen=True)
class Move:
    """What a run moves, from where to where."""

    #: Name of the pair.
    pair: str
    type: str
    #: Alias of the cluster being left, and of the one being entered.
    source: str
    target: str
    policy: str = "default"
    #: ``bootstrap.servers`` by alias.
    bootstrap: Mapping[str, str] = field(default_factory=dict)
    #: In the order in which they start.
    applications: tuple[Application, ...] = ()
    other_applications: OtherApplications = field(default_factory=OtherApplications)
    #: Members that the operator lets leave the pair (R42).
    drop: tuple[str, ...] = ()
    #: Inventory host of the plays.
    run_on: str = "localhost"
    #: The pair is the small one of a rehearsal.
    rehearsal: bool = False
    #: Only the flow from the cluster with the applications runs, as with the policy identity.
    one_flow_at_a_time: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Move:
        """Parse what :meth:`as_dict` returned."""
        return cls(
            given["pair"],
            given["type"],
            given["source"],
            given["target"],
            given.get("policy") or "default",
            dict(given.get("bootstrap") or {}),
            tuple(Application(**one) for one in given.get("applications") or ()),
            OtherApplications.of(given.get("other_applications")),
            tuple(given.get("drop") or ()),
            given.get("run_on") or "localhost",
            bool(given.get("rehearsal")),
            bool(given.get("one_flow_at_a_time")),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the object as plain data."""
        return {**asdict(self), "other_applications": self.other_applications.as_dict()}

    @property
    def kind(self) -> CutoverType:
        """Everything that its type decides."""
        return CUTOVER_TYPES[self.type]

    @property
    def copies(self) -> tuple[str, ...]:
        """Aliases of the clusters whose copies of the journal are read and written.

        A disaster needs the surviving one only.
        """
        return tuple(sorted(self.bootstrap)) if self.kind.needs_source else (self.target,)

    @property
    def flows(self) -> list[tuple[str, str]]:
        """Source and target of the flows that replicate before the move: that to the cluster being entered first."""
        there, back = (self.source, self.target), (self.target, self.source)
        return [there] if self.one_flow_at_a_time else [there, back]

    def only_producers_write(self, options: RunOptions) -> bool:
        """Whether nothing writes to topics of the pair once the producers have stopped.

        Applications of other teams are at rest since preflight, unless the run waits for them: then those with groups
        stop later, and may be processors.
        """
        waits = bool(self.other_applications) and options.wait_for_applications > 0
        return not waits and all(one.role != "processor" for one in self.applications)

    @property
    def writers(self) -> tuple[Application, ...]:
        """Applications that write. A processor is a writer and a reader."""
        return tuple(one for one in self.applications if one.writes)

    @property
    def principals(self) -> tuple[str, ...]:
        """Principals to fence. With :attr:`nameless` writers the fence is not complete."""
        return _principals(self.writers)

    @property
    def late_principals(self) -> tuple[str, ...]:
        """Those of processors: they write while the last records of the producers are drained."""
        return _principals(one for one in self.writers if one.role == "processor")

    @property
    def nameless(self) -> list[str]:
        """Writers that no fence can name: without a principal, or of other teams."""
        return [one.name for one in self.writers if one.principal is None] + self.other_applications.writers

    def may_fence(self, options: RunOptions) -> bool:
        """Whether the run denies WRITE on the cluster being left."""
        return options.fence != "none" and bool(self.principals)


def _principals(applications: Sequence[Application] | Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.principal for one in applications if one.principal is not None))

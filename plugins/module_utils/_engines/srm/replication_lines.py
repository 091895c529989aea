# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the lines of Streams Replication Manager's Replication Configs for goals, and interpret those of a site.

Sources: Cloudera's pages "Enabling reverse checkpointing" and "Understanding Replication Manager properties",
MirrorMakerConfig (a key ``A->B.x`` applies to one flow and overrides ``x``), MirrorSourceConfig.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..._core.flows.goals import ABSENT, RUNNING, STOPPED, FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.resources.connector_settings import as_text

__all__ = [
    "ISOLATION",
    "enabled_key",
    "flow_lines",
    "foreign_policy",
    "is_on",
    "of_flow",
    "sync_key",
]

ISOLATION = ("consumer.isolation.level", "source.consumer.isolation.level")
_CLIENTS = ("consumer.", "producer.", "admin.", "source.", "target.")


def sync_key(flow: str) -> str:
    """Key of the line that switches the group offset sync of a flow."""
    return f"{flow}.sync.group.offsets.enabled"


def enabled_key(flow: str) -> str:
    """Key of the line that enables a flow. The line ``A->B=true``, which one Cloudera page shows, has no effect."""
    return f"{flow}.enabled"


def flow_lines(pair: PairSpec, goals: Iterable[FlowGoal]) -> dict[str, str]:
    """Return the lines of the Replication Configs for ``goals``.

    Each site gets the lines of all goals, because reverse checkpointing needs both flows. Group offsets are written
    only on the cluster where the applications do not live (R10). Aborted records are never replicated (R5). A goal
    without a wanted state for the group sync switches it off: a move is about to stop it anyway, and so both changes
    need only one restart.
    """
    lines: dict[str, str] = {}
    for goal in goals:
        if goal.replication == ABSENT:
            lines[enabled_key(goal.flow)] = "false"
        elif goal.replication == STOPPED:
            lines |= {sync_key(goal.flow): "false", enabled_key(goal.flow): "false"}
        elif goal.group_sync is None:
            lines[sync_key(goal.flow)] = "false"
        else:
            lines |= _whole(pair, goal)
    return lines


def _whole(pair: PairSpec, goal: FlowGoal) -> dict[str, str]:
    name = goal.flow
    factors = {"replication.factor": pair.replication_factor, "tasks.max": pair.tasks_max}
    lines = {f"{name}.{key}": str(value) for key, value in factors.items() if value}
    given = {key: value for part in pair.settings.values() for key, value in part.items()}
    lines |= {f"{name}.{key}": as_text(value) for key, value in given.items()}
    # Last, so that user settings cannot override the lines that the proofs depend on.
    lines[enabled_key(name)] = "true"
    lines[sync_key(name)] = "true" if goal.group_sync == RUNNING else "false"
    lines[f"{name}.source.consumer.isolation.level"] = "read_committed"
    return lines


def is_on(lines: Mapping[str, str], flow: str, key: str) -> bool:
    """True if a switch of a flow is on: the flow's own line, else the line for all flows. Default: off."""
    return lines.get(f"{flow}.{key}", lines.get(key, "")).strip().lower() == "true"


def foreign_policy(config: Mapping[str, str], separator: str | None = None) -> list[str]:
    """Return the lines that set another replication policy or separator, one sentence each.

    Keys may have prefixes. ``separator`` None: accept any separator.
    """
    problems = []
    for key, value in config.items():
        given = value.strip()
        if key.endswith("replication.policy.class") and given.rsplit(".", 1)[-1] != "DefaultReplicationPolicy":
            problems.append(f'The line "{key}" is "{given}": replicas need the prefixes of DefaultReplicationPolicy.')
        elif key.endswith("replication.policy.separator") and separator not in (None, given):
            problems.append(f'The line "{key}" is "{given}", but kafka_dr_separator is "{separator}".')
    return problems


def of_flow(lines: Mapping[str, str], source: str, target: str) -> dict[str, str]:
    """The settings of a flow's connectors: lines for all flows, for the source cluster's consumers, and its own.

    Client settings without a prefix do not reach a connector (MirrorMakerConfig.connectorBaseConfig).
    """
    settings = {key: value for key, value in lines.items() if "->" not in key and not key.startswith(_CLIENTS)}
    for prefix, kept in ((f"{source}.consumer.", "source.consumer."), (f"{source}->{target}.", "")):
        settings |= {kept + key.removeprefix(prefix): value for key, value in lines.items() if key.startswith(prefix)}
    return settings

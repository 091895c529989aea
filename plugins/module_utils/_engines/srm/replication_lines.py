# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of Streams Replication Manager's Replication Configs: those of a goal, and what those of a site mean. Pure.

Sources: Cloudera's pages "Enabling reverse checkpointing" and "Understanding Replication Manager properties",
MirrorMakerConfig (a key ``A->B.x`` holds for one flow and wins over ``x``), MirrorSourceConfig.

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
    """The line that says whether a flow writes group positions on its target."""
    return f"{flow}.sync.group.offsets.enabled"


def enabled_key(flow: str) -> str:
    """The line that starts a flow; ``A->B=true``, as one page prints it, does nothing."""
    return f"{flow}.enabled"


def flow_lines(pair: PairSpec, goals: Iterable[FlowGoal]) -> dict[str, str]:
    """Lines of the Replication Configs for ``goals``.

    Each site gets those of all goals: reverse checkpointing needs to know both flows. Group offsets are written only
    where applications do not live (R10), and aborted records are never replicated (R5). A goal that leaves group sync
    as it is switches it off: one restart carries both, and a sync that a move is about to end anyway is not needed.
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
    # Last: nothing may override what the proof and the state of the pair rest on.
    lines[enabled_key(name)] = "true"
    lines[sync_key(name)] = "true" if goal.group_sync == RUNNING else "false"
    lines[f"{name}.source.consumer.isolation.level"] = "read_committed"
    return lines


def is_on(lines: Mapping[str, str], flow: str, key: str) -> bool:
    """A switch of one flow: its own line, else the line for all flows; off by default, in any letter case."""
    return lines.get(f"{flow}.{key}", lines.get(key, "")).strip().lower() == "true"


def foreign_policy(config: Mapping[str, str], separator: str | None = None) -> list[str]:
    """Why a naming of replicas does not fit, one sentence each; keys may have prefixes. None: any separator."""
    found = []
    for key, value in config.items():
        given = value.strip()
        if key.endswith("replication.policy.class") and given.rsplit(".", 1)[-1] != "DefaultReplicationPolicy":
            found.append(f'The line "{key}" is "{given}": replicas need the prefixes of DefaultReplicationPolicy.')
        elif key.endswith("replication.policy.separator") and separator not in (None, given):
            found.append(f'The line "{key}" is "{given}", kafka_dr_separator is "{separator}".')
    return found


def of_flow(lines: Mapping[str, str], source: str, target: str) -> dict[str, str]:
    """The settings that a flow's connectors get: lines for all, those of its source cluster's clients, its own.

    Client settings without a prefix reach no connector (MirrorMakerConfig.connectorBaseConfig).
    """
    found = {key: value for key, value in lines.items() if "->" not in key and not key.startswith(_CLIENTS)}
    for prefix, kept in ((f"{source}.consumer.", "source.consumer."), (f"{source}->{target}.", "")):
        found |= {kept + key.removeprefix(prefix): value for key, value in lines.items() if key.startswith(prefix)}
    return found

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the lines of Streams Replication Manager's Replication Configs for goals, and interpret those of a site.

Sources: Cloudera's pages "Enabling reverse checkpointing" and "Understanding Replication Manager properties",
MirrorMakerConfig (a key ``A->B.x`` applies to one flow and overrides ``x``; ``B.producer.x`` is for the workers and for
offset-syncs), MirrorMaker (its workers let connectors override every setting of their clients), MirrorSourceConfig.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...flows.goals import ABSENT, RUNNING, STOPPED, FlowGoal
from ...flows.pair_spec import PairSpec
from ...resources.connector_settings import CONVERTERS, ISOLATION, PRODUCER, as_text, left_open, unsafe_settings

__all__ = [
    "OWN",
    "enabled_key",
    "flow_lines",
    "foreign_policy",
    "is_on",
    "of_flow",
    "sync_key",
    "unsafe_lines",
]

# Settings that carry a proof and have a value (R38). A line without a value may get lost, so others are only checked.
_PROOF = {key: value for key, value in {**CONVERTERS, **ISOLATION, **PRODUCER}.items() if value}
#: Settings of a flow that this engine writes, so that a user must not.
OWN = frozenset(
    ("enabled", "sync.group.offsets.enabled", "replication.policy.class", "consumer.isolation.level", *_PROOF)
)
_CLIENTS = ("consumer.", "producer.", "admin.", "source.", "target.")
_LAYERS = ("workers.", "connectors.")


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
    lines |= {f"{name}.{key}": value for key, value in _PROOF.items()}
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
    """The settings of a flow's connectors: lines for all flows, for the clients of either cluster, and its own.

    Client settings without a prefix do not reach a connector (MirrorMakerConfig.connectorBaseConfig).
    """
    return {setting: lines[key] for setting, key in _places(lines, source, target).items()}


def _places(lines: Mapping[str, str], source: str, target: str) -> dict[str, str]:
    """By setting of the flow's connectors, the key of the line that decides it. A later layer overrides an earlier one.

    The producer of the workers is included under the prefix with which a connector overrides it.
    """
    places = {key: key for key in lines if "->" not in key and not key.startswith((*_CLIENTS, *_LAYERS))}
    flow = f"{source}->{target}."
    for prefix, kept in (
        ("workers.producer.", "producer.override."),
        (f"{target}.producer.", "producer.override."),
        (f"{flow}workers.producer.", "producer.override."),
        ("connectors.", ""),
        (f"{source}.consumer.", "source.consumer."),
        (f"{source}.producer.", "source.producer."),
        (f"{target}.producer.", "target.producer."),
        (f"{flow}connectors.", ""),
        (flow, ""),
    ):
        places |= {kept + key.removeprefix(prefix): key for key in lines if key.startswith(prefix)}
    return places


def unsafe_lines(lines: Mapping[str, str], source: str, target: str) -> list[str]:
    """Settings of a flow that invalidate the proofs of a cutover, one sentence each (R38).

    A line for connectors counts even if the flow has its own: Cloudera does not document which one wins.
    """
    flow, settings = f"{source}->{target}.", of_flow(lines, source, target)
    unsafe: dict[str, None] = {}
    for setting, place in _places(lines, source, target).items():
        for key in (place, f"connectors.{setting}", f"{flow}connectors.{setting}"):
            texts = unsafe_settings({setting: lines[key]}, ()) if key in lines else []
            # enable overwrites the flow's own line, and no other.
            remove = "" if key == flow + setting else f' Remove the line "{key}" from the Replication Configs.'
            unsafe |= dict.fromkeys(text + remove for text in texts)
    skipped = [key for key in PRODUCER if key not in _PROOF]
    return [*unsafe, *left_open("source", settings, skipped), *foreign_policy(settings)]

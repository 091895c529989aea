# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Streams Replication Manager is told: lines of its Replication Configs, lists of srm-control, in each state.

Sources: Cloudera's pages "Enabling reverse checkpointing" and "Understanding Replication Manager properties",
MirrorMakerConfig (a key ``A->B.x`` holds for one flow and wins over ``x``), MirrorSourceConfig.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..flows.goals import ABSENT, RUNNING, STOPPED, FlowGoal
from ..flows.pair_spec import PairSpec
from ..names import Naming
from ..resources.connector_settings import FLOW_SETTINGS, as_text

__all__ = [
    "PREFIXLESS",
    "REPLICATION_CONFIGS",
    "REVERSE",
    "enabled_key",
    "flow_lines",
    "foreign_policy",
    "is_on",
    "list_rows",
    "of_flow",
    "own_settings",
    "reverse_supported",
    "srm_addressed",
    "srm_preflight",
    "sync_key",
]

REPLICATION_CONFIGS = "streams.replication.manager.config"
REVERSE = "cloudera.reverse.checkpointing.enabled"
PREFIXLESS = "Enable Prefixless Replication"
REVERSE_SINCE = (7, 3, 2)
DRIVER_TARGET = "streams.replication.manager.driver.target.cluster"
_ISOLATION = ("consumer.isolation.level", "source.consumer.isolation.level")
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


def own_settings(flow: Mapping[str, Any]) -> list[str]:
    """Settings in ``kafka_dr_flow`` that follow from the state of the pair, so that nobody may set them."""
    given = {key for part in FLOW_SETTINGS for key in flow.get(part) or {}}
    return sorted(given & {"enabled", "sync.group.offsets.enabled", "replication.policy.class", *_ISOLATION})


def of_flow(lines: Mapping[str, str], source: str, target: str) -> dict[str, str]:
    """The settings that a flow's connectors get: lines for all, those of its source cluster's clients, its own.

    Client settings without a prefix reach no connector (MirrorMakerConfig.connectorBaseConfig).
    """
    found = {key: value for key, value in lines.items() if "->" not in key and not key.startswith(_CLIENTS)}
    for prefix, kept in ((f"{source}.consumer.", "source.consumer."), (f"{source}->{target}.", "")):
        found |= {kept + key.removeprefix(prefix): value for key, value in lines.items() if key.startswith(prefix)}
    return found


def srm_preflight(pair: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """May the sites be told to run the flows, and what else are they told?

    ``results``: of the loop of ``cm_config_info`` over the sites of the pair, for the four properties below. Returns
    ``problems`` and ``notes`` in words, ``properties`` by alias, and ``reverse``, the aliases whose site does reverse
    checkpointing.
    """
    result: dict[str, Any] = {"problems": [], "notes": [], "properties": {}, "reverse": []}
    for one in results:
        alias = one["replication_site"]
        rows = {row["asked"]: row for row in one["properties"]}
        result["problems"] += _misfits(pair, alias, rows)
        runtime, wanted = one.get("runtime_version") or "unknown", pair["srm"][alias]["reverse_checkpointing"]
        able = reverse_supported(runtime) is not False and rows[REVERSE]["exists"]
        result["properties"][alias] = {}
        if wanted == "required" and not able:
            result["problems"].append(
                f'{alias} has no reverse checkpointing: it needs Runtime 7.3.2, found "{runtime}".'
                ' Say reverse_checkpointing "auto": positions on the way back are then ours alone.'
            )
        elif wanted != "off" and able:
            result["properties"][alias] = {REVERSE: True}
            result["reverse"].append(alias)
        else:
            why = "it is off in the inventory" if wanted == "off" else f'Runtime "{runtime}" has none'
            result["notes"].append(f"{alias}: no reverse checkpointing by SRM ({why}); the playbooks' own replaces it")
    return result


def srm_addressed(pair: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The pair with the whole base address of each Cloudera Manager, so that nobody asks again which API it speaks."""
    urls = {one["replication_site"]: one["url"] for one in results}
    sites = {alias: {**site, "url": urls[alias]} for alias, site in pair["srm"].items()}
    clusters = {
        alias: {**cluster, "srm": {**cluster["srm"], "url": urls[alias]}} for alias, cluster in pair["clusters"].items()
    }
    return {**pair, "srm": sites, "clusters": clusters, "spec": {**pair["spec"], "clusters": clusters}}


def _misfits(pair: Mapping[str, Any], alias: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What makes a site unfit for its flow, in words."""
    problems = []
    if as_text(rows[PREFIXLESS].get("effective") or "").strip().lower() == "true":
        problems.append(
            f'"{PREFIXLESS}" is on at {alias}: replicas would have the names of originals, and reverse'
            " checkpointing does not work. Deselect it in Cloudera Manager."
        )
    lines = rows[REPLICATION_CONFIGS].get("lines")
    if lines is None:
        problems.append(
            f'{alias}: "{REPLICATION_CONFIGS}" cannot be read: it is not there, or hidden from this account.'
        )
    problems += [f"{alias}: {text}" for text in foreign_policy(lines or {}, pair["separator"])]
    target = str(rows[DRIVER_TARGET].get("effective") or "").strip()
    if target != alias:
        # Empty means all clusters: both sites would run both flows, and stopping one would stop nothing.
        problems.append(
            f'The Driver of {alias} must write to {alias} only: "{DRIVER_TARGET}" is "{target or "not set"}".'
            " Set it in Cloudera Manager and restart."
        )
    return problems


def list_rows(pair: Mapping[str, Any]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The lists of srm-control by the alias beside which it runs, each as ``srm_allowlist`` takes it.

    The four topics: ``always`` holds ``T`` and the groups, both ways; ``reverse`` each flow's replicas on the way back,
    which Runtime 7.3.2 and later know as reverse-checkpointed topics.
    """
    if pair["engine"] != "srm":
        return {}
    naming = Naming(pair["policy"], pair["separator"])
    topics = [topic["name"] for topic in pair["topics"]]
    found = {}
    for flow in pair["flows"].values():
        place = {"source": flow["source"], "target": flow["target"]}
        always = [{**place, "kind": "topics", "entries": topics}]
        if pair["groups"]:
            groups = {**place, "kind": "groups", "entries": list(pair["groups"])}
            # A group that works on both sides must get no positions from the other one, whatever else is on the list.
            always.append({**groups, "denied": pair["local_groups"]} if pair["local_groups"] else groups)
        replicas = [naming.replica(flow["target"], topic) for topic in topics]
        reverse = [{**place, "kind": "reverse_checkpointed_topics", "entries": replicas}]
        found[flow["target"]] = {"always": always, "reverse": reverse}
    return found


def reverse_supported(runtime: str | None) -> bool | None:
    """Has this Runtime reverse checkpointing (7.3.2 and later)? None: the version says nothing."""
    digits = []
    for part in (runtime or "").replace("-", ".").split("."):
        if not part.isdigit():
            break
        digits.append(int(part))
    return None if len(digits) < 2 else tuple(digits[:3]) >= REVERSE_SINCE

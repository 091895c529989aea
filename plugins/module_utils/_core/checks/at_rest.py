# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a pair whose applications already live on the wanted cluster in its desired state? (R18, R32, R40)

Journal and group members alone do not prove it. Producers, flows, their settings and the fence must agree.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import one_text
from ..listing import first_few
from ..names import naming_of
from ..resources.scopes import scope_problems
from ..verdict import PROVEN, REFUTED, UNKNOWN
from .preflight import written_after_barrier

__all__ = ["judge_at_rest"]

_SHOWN = 4


def judge_at_rest(
    judgement: Mapping[str, Any],
    status: Mapping[str, Any],
    journal: Mapping[str, Any],
    activity: Mapping[str, Any],
    planned: Sequence[Mapping[str, Any]] | None = None,
    fences: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """``judgement`` with the verdict from all evidence, and a text that names what differs or is unknown.

    ``journal``: the result of ``dr_journal``. ``activity``: of ``dr_active_info`` with ``observe``. ``planned``: of
    ``dr_flows`` in check mode; None: not compared. ``fences``: of ``dr_fence`` in check mode.
    """
    state = journal["state"]
    active = state["active"]
    differs = [
        *(f"the journal topic is missing on {alias}" for alias in journal["missing_on"]),
        *_wrong_flows(status, REFUTED),
        *(text for text in _other_findings(status) if text not in status["not_observed"]),
        *scope_problems(status["out_of_scope"]),
        *_writers(status, state, activity),
        *_planned(planned or ()),
        *(text for one in fences if not one.get("failed") for text in _fence(one)),
    ]
    unknown = [
        *([] if judgement["verdict"] == PROVEN else [f"no group has members on {active}"]),
        *_wrong_flows(status, UNKNOWN),
        *_not_observed(status, state, activity),
        *_not_drained(status, state),
        *_unassigned(status, active),
        *status["not_observed"],
        *([] if activity["grown"].get(active) else [f"no record was written on {active} while it was observed"]),
        *(["the settings of the flows were not compared"] if not planned else []),
        *(f"the flows could not be compared: {one.get('msg', '')}" for one in planned or () if _not_compared(one)),
        *(text for one in planned or () for text in one.get("not_compared", ())),
        *(f"the fence could not be read: {one.get('msg', '')}" for one in fences if one.get("failed")),
        *(
            f"{one['item']['alias']} does not refuse writes: {one.get('reason', '')}"
            for one in fences
            if _unfenced(one)
        ),
        *_failed_leases(journal.get("leases", ()), active),
    ]
    verdict = REFUTED if differs else UNKNOWN if unknown else PROVEN
    found = differs or unknown
    but = f"But: {first_few([text.rstrip('.') for text in found], _SHOWN, '; ')}." if found else ""
    return {**judgement, "verdict": verdict, "text": one_text(judgement["text"], but)}


def _wrong_flows(status: Mapping[str, Any], verdict: str) -> list[str]:
    return [
        f"the flow {flow['name']} is {flow['verdict']}: {flow['reason']}"
        for flow in status["flows"]
        if flow["verdict"] == verdict
    ]


def _not_observed(status: Mapping[str, Any], state: Mapping[str, Any], activity: Mapping[str, Any]) -> list[str]:
    """Flows and clusters of the pair that were not observed."""
    flows = status["flows"]
    wanted = 1 if naming_of(state["policy"]).one_flow_at_a_time else 2
    aliases = {flow[end] for flow in flows for end in ("source", "target")} - {state["active"]}
    return [
        *([f"{len(flows)} of {wanted} flows were observed"] if len(flows) < wanted else []),
        *(f"writes on {alias} were not observed" for alias in sorted(aliases - set(activity["grown"]))),
    ]


def _not_drained(status: Mapping[str, Any], state: Mapping[str, Any]) -> list[str]:
    """After a continuous cutover: partitions of the cluster that was left that may have unreplicated records.

    Producers wrote there after the barrier, until they moved. The journal does not have the log ends after that.
    """
    run = state["run"] or {}
    moved = run.get("type") == "continuous" and run.get("to") == state["active"]
    if not moved or naming_of(state["policy"]).one_flow_at_a_time:
        return []
    return [
        f"{flow['name']} {row['topic']}-{row['partition']} is not known to be drained"
        for flow in status["flows"]
        if flow["source"] == run["from"]
        for row in flow["partitions"]
        if row.get("drained") != PROVEN
    ]


def _unassigned(status: Mapping[str, Any], active: str) -> list[str]:
    """Records that nothing reads: no consumer of the group subscribes to their topic (R40)."""
    return [
        f'no member of the group "{row["group"]}" is assigned {first_few(row["topics"], _SHOWN)}, where it has unread'
        " records"
        for row in status["unassigned"]
        if row["alias"] == active
    ]


def _other_findings(status: Mapping[str, Any]) -> list[str]:
    """What ``dr_status_info`` reports as missing, except verdicts of flows."""
    known = {f"{flow['name']}: {flow['reason']}" for flow in status["flows"]}
    return [text for text in status["missing"] if text not in known]


def _writers(status: Mapping[str, Any], state: Mapping[str, Any], activity: Mapping[str, Any]) -> list[str]:
    """Producers on the other cluster. If a flow writes there too, ``missing`` has the foreign writers."""
    if naming_of(state["policy"]).flows_write_originals:
        return []
    active, run = state["active"], state["run"] or {}
    texts = [text for alias, found in activity["grown"].items() if alias != active for text in found]
    facts = state["left"].get(run.get("from"), {}) if run.get("to") == active else {}
    # Continuous: producers continued to write after the barrier, see _not_drained.
    if facts.get("ends") and not facts.get("disaster") and run.get("type") != "continuous":
        left = {"flows": [flow for flow in status["flows"] if flow["source"] == run["from"]]}
        texts += [
            f"{text} were written since the applications left" for text in written_after_barrier(left, facts["ends"])
        ]
    return texts


def _planned(results: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"the {change['kind']} {change['name']} is not in its desired state ({change['action']})"
        for result in results
        for change in result.get("changes", ())
    ]


def _not_compared(result: Mapping[str, Any]) -> bool:
    return bool(result.get("failed")) or "changes" not in result


def _fence(result: Mapping[str, Any]) -> list[str]:
    alias, wanted = result["item"]["alias"], result["item"]["state"]
    if not result.get("changes"):
        return []
    return [f"the fence on {alias} is {'open' if wanted == 'fenced' else 'closed'}, wanted {wanted}"]


def _unfenced(result: Mapping[str, Any]) -> bool:
    """Nothing would change, and no fence is in force: the cluster has no authorizer."""
    if result.get("failed") or result.get("changes"):
        return False
    return result["item"]["state"] == "fenced" and not result.get("fenced")


def _failed_leases(leases: Iterable[Mapping[str, Any]], active: str) -> list[str]:
    return [
        f"the last reverse_checkpoint to {lease['to']} failed"
        for lease in leases
        if lease["kind"] == "checkpoint" and lease["to"] != active and lease["outcome"] == "failed"
    ]

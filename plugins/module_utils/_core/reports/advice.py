# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step after a cutover that stopped, decided from what the run did.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..checks.at_rest import judge_at_rest
from ..checks.other_applications import OtherApplications
from ..checks.preflight import judge_cutover, judge_disaster, judge_last_probe
from ..cutover_types import CUTOVER_TYPES, needs_source
from ..errors import one_text, with_alias
from ..journal.runs import if_interrupted, unfinished_run
from .outcome import undone_text

__all__ = ["begun_text", "cutover_advice", "failure_reason", "judge", "stopped_text"]

# The only task before the first phase that writes: whether its event reached the journal is unknown if it fails.
_OPENING = "Open the run in the journal"


def stopped_text(facts: Mapping[str, Any], run_on: str = "") -> str:
    """Where and why a cutover stopped, and the next step. ``facts``: as in :func:`cutover_advice`."""
    failure = facts["failure"]
    error = failure["error"]
    code = f" ({error['code']})" if error.get("code") else ""
    message = with_alias(failure["message"], error.get("endpoint") or "", facts["clusters"])
    return one_text(f"Stopped in '{failure['task']}'{code}: {message}", cutover_advice(facts, run_on))


def cutover_advice(facts: Mapping[str, Any], run_on: str = "") -> str:
    """The state after a stopped cutover, and the next step.

    ``facts``: ``failure`` (task, message, error, undo, overtaken, restarted: whether the undo has started the
    applications, and ownership: the error of the last ownership check), ``run`` (None: never opened), ``passed`` (the
    point of no return), ``outcome``, ``type``, ``from``, ``to``, ``clusters`` (by alias), ``journal`` (state, or
    empty), ``probes`` (of the cluster being left, in a disaster).
    """
    if facts["run"] is None:
        return " ".join(text for text in (_untouched(facts, run_on), _disaster_instead(facts)) if text)
    if facts["outcome"] == "undone":
        return " ".join(
            text for text in (f"{undone_text(facts)}.", _others_again(facts), _disaster_instead(facts)) if text
        )
    superseded = _superseded(facts["failure"])
    if superseded is not None:
        return f"{superseded} This playbook makes no more changes (run_superseded).".strip()
    if facts["passed"]:
        return "The point of no return is passed. Start the same playbook again: it continues from here."
    failure, left = facts["failure"], facts["from"]
    undo = failure.get("undo") or "the reason is unknown"
    restarted = f"The applications were started on {left} again." if failure.get("restarted") else ""
    state = restarted or f"Some applications may not run on {left}."
    text = f"The undo failed as well ({undo.rstrip('.')}). {state}"
    return f"{text} Remove its cause, then start the same playbook again. {_disaster_instead(facts)}".strip()


def _others_again(facts: Mapping[str, Any]) -> str:
    """What other teams may do after an undo, which starts none of their applications."""
    others = OtherApplications.of(facts.get("other_applications"))
    if not others:
        return ""
    return f"Other teams may start their applications on {facts['from']} again: {others.named}."


def _superseded(failure: Mapping[str, Any]) -> str | None:
    """Which controller owns the run now: the failed task, its undo or the last ownership check found it. None: this."""
    ownership = failure.get("ownership") or {}
    if ownership.get("code") == "run_superseded":
        return str(ownership["message"])
    found = failure["error"].get("code") == "run_superseded" or failure.get("overtaken")
    return (failure.get("undo") or "") if found else None


def _untouched(facts: Mapping[str, Any], run_on: str) -> str:
    journal = facts["journal"]
    if facts["failure"]["task"] == _OPENING:
        return "No application was stopped, and no connector or committed offset was changed."
    text = "Nothing was changed by this attempt."
    return f"{text} {unfinished_run(journal['run'], run_on)}" if journal.get("interrupted") else text


def _disaster_instead(facts: Mapping[str, Any]) -> str:
    """A planned move needs both clusters. If the one being left does not respond, only a disaster failover can move."""
    error = facts["failure"]["error"]
    left = facts["clusters"].get(facts["from"]) or {}
    away = error.get("code") == "kafka_unreachable" and error.get("endpoint") == left.get("bootstrap_servers")
    if not needs_source(facts["type"]) or not away:
        return ""
    to = facts["to"]
    return (
        f"If {facts['from']} is lost, start the playbook switchback.kafka_dr.failover_disaster with -e kafka_dr_to={to}"
        f" -e kafka_dr_confirm={to}. It needs only {to}. Unreplicated records on {facts['from']} are lost until that"
        " cluster is back."
    )


def failure_reason(result: Mapping[str, Any], otherwise: str) -> str:
    """Why a task failed, without the next step, for a run that continues. ``result``: of the task."""
    return str((result.get("error") or {}).get("message") or result.get("msg") or otherwise)


def begun_text(facts: Mapping[str, Any]) -> str:
    """What a run is about to stop. ``facts``: ``run`` (as in the journal), ``clients`` (of the pair), ``run_on``."""
    steps = CUTOVER_TYPES[facts["run"]["type"]].steps
    batches = (
        ", ".join(client["name"] for client in facts["clients"] if client["role"] in roles)
        for action, roles in steps
        if action == "stop"
    )
    return if_interrupted(facts["run"], ", then ".join(filter(None, batches)), facts["run_on"])


def judge(kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The decision of ``kind`` about ``facts``, as the event ``judge`` of a run passes them."""
    return _JUDGES[kind](facts)


def _terms(facts: Mapping[str, Any]) -> dict[str, list[str]]:
    """``terms``: what a move asks of other teams (R48); empty if the inventory controls all applications."""
    others = OtherApplications.of(facts.get("other_applications"))
    if not others:
        return {}
    planned, move = needs_source(facts["type"]), (facts["from"], facts["to"])
    return {"terms": [f"{others.terms(move, float(facts['wait'])) if planned else others.disaster_terms(move)}."]}


_JUDGES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "cutover": lambda facts: {
        **judge_cutover(
            facts["status"],
            facts["state"],
            facts["type"],
            facts["to"],
            facts["policy"],
            facts["groups"],
            facts["accept"],
        ),
        **_terms(facts),
    },
    "disaster": lambda facts: {
        **judge_disaster(facts["survey"], facts["state"], facts["to"], facts["anyway"]),
        **_terms(facts),
    },
    "last_probe": lambda facts: judge_last_probe(
        facts["probes"], (facts["from"], facts["to"]), facts["writing"], facts["fence"], facts["anyway"]
    ),
    "at_rest": lambda facts: judge_at_rest(
        facts["judgement"], facts["status"], facts["journal"], facts["activity"], facts["planned"], facts["fences"]
    ),
}

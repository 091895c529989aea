# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reconcile one flow with its declaration: check, observe, plan, validate, apply, report.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .._core.changes import Outcome
from .._core.flows.pair_spec import ClusterSpec
from .._core.names import CONNECTORS, POLICIES, naming_of
from .._core.resources.connector_settings import risky
from .._core.waiting import Bounds
from .._module import Result
from .connector_client import ConnectorClient
from .mirror import DEFAULT_TASKS, FlowSpec, check_flow, check_settings, wanted_config
from .planning import DesiredConnector, plan, retained_settings
from .reconcile import Reconciler, Report
from .rest import Connector
from .validate import check_existing, check_place, validate

__all__ = ["flow_options", "flow_spec", "reconcile_flow"]

_CLUSTER = {
    "alias": {"type": "str", "required": True},
    "bootstrap_servers": {"type": "str", "default": ""},
    "client": {"type": "dict", "default": {}},
    "cluster_id": {"type": "str"},
}


def flow_options() -> dict[str, Any]:
    """Return the options that declare a flow. The module ``connect_mirror`` documents them."""
    names = {"type": "list", "elements": "str", "default": []}
    settings = {"type": "dict", "default": {}}
    return {
        "source": {"type": "dict", "required": True, "options": _CLUSTER},
        "target": {"type": "dict", "required": True, "options": _CLUSTER},
        "topics": names,
        "groups": names,
        "policy": {"type": "str", "choices": list(POLICIES), "default": "default"},
        "separator": {"type": "str", "default": "."},
        "application": {"type": "str"},
        "adopted": names,
        "replication_factor": {"type": "int"},
        "offset_syncs_location": {"type": "str", "choices": ["source", "target"], "default": "target"},
        "tasks_max": {"type": "int", "default": DEFAULT_TASKS},
        "settings": settings,
        **{f"{part}_settings": settings for part in CONNECTORS},
        "parts": {"type": "list", "elements": "str", "choices": list(CONNECTORS), "default": list(CONNECTORS)},
        "state": {"type": "str", "choices": ["present", "running", "stopped", "absent"], "default": "running"},
    }


def flow_spec(params: Mapping[str, Any]) -> FlowSpec:
    """Build the declaration of a flow from a module's parameters."""
    settings = {part: params[f"{part}_settings"] or {} for part in CONNECTORS}
    return FlowSpec(
        source=_cluster(params["source"]),
        target=_cluster(params["target"]),
        topics=tuple(params["topics"]),
        groups=tuple(params["groups"]),
        naming=naming_of(params["policy"], params["separator"]),
        replication_factor=params["replication_factor"],
        offset_syncs_location=params["offset_syncs_location"],
        tasks_max=params["tasks_max"],
        settings={"common": params["settings"] or {}, **settings},
        application=params["application"],
    )


def reconcile_flow(
    rest: ConnectorClient,
    spec: FlowSpec,
    parts: Sequence[str],
    state: str,
    bounds: Bounds,
    check: bool,
    awaited: Collection[str] = tuple(CONNECTORS),
    adopted: Collection[str] = (),
) -> Result:
    """Bring the connectors of ``parts`` to ``state``. Raises all errors that can be known in advance before a change.

    ``awaited``: parts to wait for; for other parts it suffices that the worker accepts the request. ``adopted``: names
    of other connectors that the run stops before this call. In check mode they still run.
    """
    configured = state in ("present", "running", "inactive")
    check_flow(spec, parts, configured)
    if configured:
        check_settings(spec, parts)
    all_desired = [
        DesiredConnector(spec.name(part), part, state, wanted_config(spec, part) if configured else {})
        for part in CONNECTORS
        if part in parts
    ]
    actual = _observe(rest, all_desired)
    warnings = [text for part in parts for text in risky(spec.given(part))] if configured else []
    # Workers of the wrong cluster have no connector to stop, so the flow would keep running elsewhere.
    if configured or (state == "stopped" and any(desired.name not in actual for desired in all_desired)):
        check_place(rest, spec, configured)
    if configured:
        check_existing(spec, all_desired, actual, adopted if check else ())
    plans = {desired.name: plan(desired, actual.get(desired.name)) for desired in all_desired}
    written = [
        desired for desired in all_desired if {change.action for change in plans[desired.name]} & {"create", "update"}
    ]
    if written:
        warnings += validate(rest, spec, written, actual)
    if check:
        planned = [Outcome(change, "planned") for desired in all_desired for change in plans[desired.name]]
        report = Report(outcomes=planned, connectors=actual)
    else:
        report = Reconciler(rest, bounds, awaited).apply(all_desired, plans, actual)
    extra = {"connectors": [_shown(desired, report, actual.get(desired.name)) for desired in all_desired]}
    warnings = list(dict.fromkeys(warnings + report.warnings))
    return Result(report.outcomes, extra, rest.requests, warnings, report.failure)


def _cluster(given: Mapping[str, Any]) -> ClusterSpec:
    return ClusterSpec(given["alias"], given["bootstrap_servers"], given["client"] or {}, given["cluster_id"])


def _observe(rest: ConnectorClient, all_desired: Sequence[DesiredConnector]) -> dict[str, Connector]:
    """Read all connectors. A desired connector without a status is missing from the list, so it is read by name."""
    actual = rest.connectors()
    for desired in all_desired:
        if desired.name not in actual:
            connector = rest.find(desired.name)
            if connector is not None:
                actual[desired.name] = connector
    return actual


def _shown(desired: DesiredConnector, report: Report, before: Connector | None) -> dict[str, Any]:
    after = report.connectors.get(desired.name)
    deleted = any(
        outcome.change.name == desired.name and outcome.change.action == "delete" and outcome.status == "done"
        for outcome in report.outcomes
    )
    return {
        "name": desired.name,
        "part": desired.part,
        "exists": after is not None,
        "state": None if after is None else after.state,
        "tasks": [] if after is None else [asdict(task) for task in after.tasks],
        "final": after is not None and after.stopped,
        "kept": retained_settings(desired, before),
        "offsets_survive": deleted,
    }

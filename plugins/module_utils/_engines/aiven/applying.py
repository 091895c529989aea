# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the goals of flows: create, change and delete replication flows, and change the settings of their service.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..._aiven.service import Aiven
from ..._core.changes import Change, Differences, Outcome
from ..._core.engines.aiven.flow_fields import GROUP_SYNC, POLICY, SILENT, kept_values, running_fields, service_changes
from ..._core.errors import DrError
from ..._core.flows.goals import ABSENT, RUNNING, STOPPED, FlowGoal
from ..._core.flows.pair_spec import PairSpec
from ..._core.waiting import Bounds, wait_until
from ..._module import Result
from ..base import attempt, joined
from .sites import Sites, require_working

__all__ = ["apply_goals", "change_fields"]


def apply_goals(sites: Sites, pair: PairSpec, goals: Sequence[FlowGoal], bounds: Bounds, check: bool) -> Result:
    """Silence flows before others start. A failed step does not prevent the steps of the other flows.

    Stored offsets can be read in any state, so a goal that only asks for readable offsets needs no call.
    """
    goals = [goal for goal in goals if goal.parts]
    starting = [goal for goal in goals if goal.replication == RUNNING]
    others = [goal for goal in goals if goal.replication != RUNNING]
    results = [attempt(partial(_end, sites, pair, goal, bounds, check)) for goal in others]
    started: dict[str, list[str]] = {}
    for goal in starting:
        results.append(attempt(partial(_start, sites, pair, goal, bounds, check)))
        if results[-1].failure is None:
            started.setdefault(sites.site(pair.flows[goal.flow][1]).full_name, []).append(goal.flow)
    # Last and once for each service, because each change restarts all its flows.
    work = partial(_change_service, sites, pair, bounds=bounds, check=check)
    results += [attempt(partial(work, flows)) for flows in started.values()]
    return joined(results)


def _end(sites: Sites, pair: PairSpec, goal: FlowGoal, bounds: Bounds, check: bool) -> Result:
    """Delete or disable a flow, or switch off its group sync. A flow that does not exist is no error."""
    source, target = pair.flows[goal.flow]
    if goal.replication == ABSENT:
        return _delete(sites, goal.flow, (source, target), bounds, check)
    wanted: dict[str, Any] = {}
    if goal.replication == STOPPED:
        wanted = dict(SILENT)
    elif goal.group_sync is not None:
        wanted = {GROUP_SYNC: False}
    return change_fields(sites, (source, target), wanted, bounds, check)


def _delete(sites: Sites, flow: str, ends: tuple[str, str], bounds: Bounds, check: bool) -> Result:
    site, (source, target) = sites.site(ends[1]), ends
    current = sites.observe(target, anew=True).flows.get(flow)
    if current is None:
        return Result()
    change = Change("flow", flow, "delete", dict(current), None)
    if check:
        return Result([Outcome(change, "planned")])
    site.delete_flow(source, target)
    gone = wait_until(lambda: flow not in sites.observe(target, anew=True).flows, lambda done: done, bounds)
    if not gone.done:
        raise _not_taken(site, flow, {"the flow": "listed"}, {"the flow": "deleted"}, gone.seconds)
    return Result([Outcome(change, "done")])


def change_fields(
    sites: Sites, ends: tuple[str, str], wanted: Mapping[str, Any], bounds: Bounds, check: bool
) -> Result:
    """Set fields of a flow if it exists, and wait until the API reports them. Equal fields are not sent."""
    source, target = ends
    flow, site = f"{source}->{target}", sites.site(target)
    current = sites.observe(target, anew=True).flows.get(flow)
    differences = _differences(current or {}, wanted)
    if current is None or not differences:
        return Result()
    change = differences.change("flow", flow, "update")
    if check:
        return Result([Outcome(change, "planned")])
    site.change_flow(source, target, differences.after)
    _await_fields(sites, ends, wanted, bounds)
    return Result([Outcome(change, "done")])


def _start(sites: Sites, pair: PairSpec, goal: FlowGoal, bounds: Bounds, check: bool) -> Result:
    """Create a flow that replicates, or change the existing one."""
    source, target = pair.flows[goal.flow]
    site, observed = sites.site(target), sites.observe(target, anew=True)
    require_working(site, observed.service)
    _require_own_sync(site, observed.service.settings)
    current = observed.flows.get(goal.flow)
    _require_default_policy(site, goal.flow, current or {})
    wanted = running_fields(pair, current or {}, goal.heartbeats == RUNNING)
    if current is not None:
        result = change_fields(sites, (source, target), wanted, bounds, check)
        result.warnings += kept_values(goal.flow, current, wanted)
    else:
        result = Result([Outcome(Change("flow", goal.flow, "create", None, wanted), "planned" if check else "done")])
        if not check:
            site.create_flow(source, target, wanted)
            _await_fields(sites, (source, target), wanted, bounds)
    return result


def _change_service(sites: Sites, pair: PairSpec, flows: Sequence[str], bounds: Bounds, check: bool) -> Result:
    """Change the settings of a service if the pair needs it. ``flows``: those that this call has started on it."""
    target = pair.flows[flows[0]][1]
    site, observed = sites.site(target), sites.observe(target)
    settings = observed.service.settings
    changes = service_changes(settings, pair.groups)
    if not changes:
        return Result()
    differences = _differences(settings, changes)
    change = differences.change("service", site.full_name, "update")
    warning = (
        f"The change of {', '.join(sorted(changes))} of the service {site.full_name} restarts the workers of all its"
        f" flows: {', '.join(sorted({*flows, *observed.flows}))}."
    )
    if check:
        return Result([Outcome(change, "planned")], warnings=[warning])
    site.change_settings({**settings, **changes})
    waited = wait_until(
        lambda: sites.observe(target, anew=True).service,
        lambda service: service.works and not _differences(service.settings, changes),
        bounds,
    )
    if not waited.done:
        reported = {**{key: waited.state.settings.get(key) for key in changes}, "state": waited.state.state}
        raise _not_taken(site, "the service", reported, {**changes, "state": "RUNNING"}, waited.seconds)
    return Result([Outcome(change, "done")], warnings=[warning])


def _await_fields(sites: Sites, ends: tuple[str, str], wanted: Mapping[str, Any], bounds: Bounds) -> None:
    """Wait until the API reports ``wanted``. That does not prove that the workers use these values yet."""
    flow = f"{ends[0]}->{ends[1]}"
    waited = wait_until(
        lambda: sites.observe(ends[1], anew=True).flows.get(flow),
        lambda fields: fields is not None and not _differences(fields, wanted),
        bounds,
    )
    if not waited.done:
        left = _differences(waited.state or {}, wanted)
        raise _not_taken(sites.site(ends[1]), flow, left.before, left.after, waited.seconds)


def _differences(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> Differences:
    """The fields that must change. The order of a list has no meaning."""
    differences = Differences()
    for key, value in wanted.items():
        have = current.get(key)
        if isinstance(value, list) and isinstance(have, list) and sorted(map(str, have)) == sorted(map(str, value)):
            continue
        # Not `!=`: 1 is not True, and a field that is missing is not false.
        if have is None or isinstance(have, bool) != isinstance(value, bool) or have != value:
            differences.add(key, have, value)
    return differences


def _require_own_sync(site: Aiven, settings: Mapping[str, Any]) -> None:
    if settings.get(GROUP_SYNC) is True:
        raise DrError(
            "aiven_service_sync",
            f'"{GROUP_SYNC}" of the service {site.full_name} is true. It is unknown whether a flow can override it.',
            "The flow was not changed. Set it to false in the advanced configuration of the service, which restarts all"
            " its flows.",
            site.client.url,
        )


def _require_default_policy(site: Aiven, flow: str, current: Mapping[str, Any]) -> None:
    policy = current.get("replication_policy_class")
    if policy not in (None, POLICY):
        raise DrError(
            "aiven_policy",
            f'The flow {flow} of the service {site.full_name} has the policy "{policy}", wanted "{POLICY}".',
            "The flow was not changed. With another policy it would write to other topics. Delete that flow if nothing"
            " needs it, or use other aliases.",
            site.client.url,
        )


def _not_taken(
    site: Aiven, what: str, reported: Mapping[str, Any], wanted: Mapping[str, Any], seconds: float
) -> DrError:
    texts = [f'"{key}" is {reported.get(key)}, wanted {value}' for key, value in wanted.items()]
    return DrError(
        "aiven_not_taken",
        f"Aiven's API accepted a change of {what} at {site.full_name}, but after {seconds:.0f} s {'; '.join(texts)}.",
        "Read the service's log at Aiven. The API drops values that it does not know or cannot clear. Then start the"
        " same playbook again.",
        site.client.url,
    )

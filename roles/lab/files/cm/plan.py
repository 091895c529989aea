# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flows that a site's Driver runs, from the properties at its last start. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import replication
from .properties import DRIVER, DRIVER_TARGET, PREFIXLESS, REPLICATION, REVERSE, knows_reverse
from .replication import Flow, Lists


@dataclass
class Plan:
    """``flow`` runs on this site, ``back`` on the other one. If ``flow`` is None, ``notes`` have the reasons."""

    flow: Flow | None = None
    back: Flow | None = None
    servers: dict[str, str] = field(default_factory=dict)
    reverse: bool = False
    notes: list[str] = field(default_factory=list)
    control_factor: int = 3
    #: The lists ``topics`` and ``groups`` of the flow. None: those of srm-control, which are in Kafka.
    lists: dict[str, Lists] | None = None


def make(running: dict[str, Any], alias: str, own: dict[str, str]) -> Plan:
    """Create the plan. ``running``: effective values by level. ``own``: bootstrap servers of the co-located cluster."""
    values, driver = running["service"], running.get(DRIVER, {})
    lines, notes = replication.parse(values.get(REPLICATION, ""))
    known = replication.aliases(values.get("clusters", ""))
    notes += replication.ignored(lines, known)
    servers = replication.servers(values, lines, known, running.get("accounts", {}), own)
    plan = Plan(servers=servers, notes=notes, control_factor=int(values.get("control.topic.replication.factor", 3)))
    target = driver.get(DRIVER_TARGET) or ",".join(known)
    if target != alias:
        notes.append(f"nothing runs: the Driver's target is {target!r}, its worker belongs to {alias}")
        return plan
    sources = [name for name in known if name != alias]
    if alias not in known or len(sources) != 1:
        notes.append(f"nothing runs: clusters is {known}, wanted {alias} and one more")
        return plan
    missing = [name for name in known if name not in servers]
    if missing:
        notes.append(f"nothing runs: no address of {', '.join(missing)}")
        return plan
    plan.flow = replication.flow(sources[0], alias, lines, values)
    plan.back = replication.flow(alias, sources[0], lines, values)
    if values.get(PREFIXLESS) == "true":
        plan.flow.settings["replication.policy.class"] = replication.PACKAGE + "IdentityReplicationPolicy"
    wanted = "true" in (values.get(REVERSE), driver.get(REVERSE)) and knows_reverse(running["runtime"])
    plan.reverse = wanted and plan.flow.enabled and plan.back.enabled and _default_policy(plan.flow)
    if wanted and not plan.reverse:
        notes.append("no reverse checkpoints: both flows must be enabled, with the default policy")
    return plan


def _default_policy(flow: Flow) -> bool:
    name = flow.settings.get("replication.policy.class", "DefaultReplicationPolicy")
    return name.rpartition(".")[2] == "DefaultReplicationPolicy"

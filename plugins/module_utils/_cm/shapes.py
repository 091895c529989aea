# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Cloudera Manager answers, as typed values. A field that is missing is empty or None, never a guess.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Command", "Group", "Property", "Role", "Service"]

FRESH = "FRESH"
# What an account without the right to see a secret gets instead of it.
REDACTED = ("REDACTED", "******")


@dataclass(frozen=True)
class Service:
    """A service. Staleness is FRESH, STALE_REFRESHABLE, STALE or "": not told, which is not FRESH."""

    name: str
    type: str
    state: str
    staleness: str
    client_staleness: str
    health: str = ""
    checks: tuple[str, ...] = ()
    maintenance: bool = False

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Service:
        """From an ``ApiService``. ``checks`` are the health tests that are not GOOD, as ``NAME SUMMARY``."""
        checks = [check for check in item.get("healthChecks") or [] if check.get("summary") in ("CONCERNING", "BAD")]
        return cls(
            name=str(item.get("name") or ""),
            type=str(item.get("type") or ""),
            state=str(item.get("serviceState") or ""),
            staleness=str(item.get("configStalenessStatus") or ""),
            client_staleness=str(item.get("clientConfigStalenessStatus") or ""),
            health=str(item.get("healthSummary") or ""),
            checks=tuple(f"{check.get('name')} {check.get('summary')}" for check in checks),
            maintenance=item.get("maintenanceMode") is True,
        )

    @property
    def fresh(self) -> bool:
        """The processes run with the present configuration."""
        return self.staleness == FRESH

    @property
    def client_fresh(self) -> bool:
        """Every host has the present client configuration."""
        return self.client_staleness == FRESH

    def staleness_row(self) -> dict[str, str | None]:
        """Both, for results; None: not told."""
        return {"config": self.staleness or None, "client_config": self.client_staleness or None}


@dataclass(frozen=True)
class Group:
    """A role group. ``base``: the one of its role type that new roles fall into."""

    name: str
    role_type: str
    base: bool

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Group:
        """From an ``ApiRoleConfigGroup``."""
        return cls(str(item.get("name") or ""), str(item.get("roleType") or ""), item.get("base") is True)


@dataclass(frozen=True)
class Role:
    """A role. ``state`` is STARTED, STARTING, STOPPING, STOPPED, NA (a client has no process), BUSY or unknown."""

    name: str
    type: str
    state: str
    host: str
    staleness: str

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Role:
        """From an ``ApiRole``."""
        host = item.get("hostRef") or {}
        return cls(
            name=str(item.get("name") or ""),
            type=str(item.get("type") or ""),
            state=str(item.get("roleState") or ""),
            host=str(host.get("hostname") or host.get("hostId") or ""),
            staleness=str(item.get("configStalenessStatus") or ""),
        )

    @property
    def stopped(self) -> bool:
        """No process of it runs."""
        return self.state in ("STOPPED", "NA")


@dataclass(frozen=True)
class Command:
    """A command. ``success`` None: not told, as while it is ``active``. An ``id`` below 0 cannot be read again."""

    id: int
    name: str
    active: bool
    success: bool | None
    message: str
    service: str | None
    where: str
    parent: int | None
    children: tuple[Command, ...] = ()

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Command:
        """From an ``ApiCommand`` or a summary of one."""
        number = item.get("id")
        service = (item.get("serviceRef") or {}).get("serviceName")
        role = (item.get("roleRef") or {}).get("roleName")
        host = (item.get("hostRef") or {}).get("hostname")
        parent = (item.get("parent") or {}).get("id")
        children = (item.get("children") or {}).get("items") or []
        return cls(
            id=number if isinstance(number, int) else -1,
            name=str(item.get("name") or ""),
            active=item.get("active") is True,
            success=item.get("success") if isinstance(item.get("success"), bool) else None,
            message=" ".join(str(item.get("resultMessage") or "").split()),
            service=None if service is None else str(service),
            where=str(role or host or service or ""),
            parent=parent if isinstance(parent, int) else None,
            children=tuple(cls.parse(child) for child in children),
        )


@dataclass(frozen=True)
class Property:
    """A property at its level: ``group`` None is the service. ``value`` None: not set."""

    group: str | None
    name: str
    display: str
    related: str
    value: str | None
    default: str | None
    sensitive: bool
    validation: str
    validation_message: str

    @classmethod
    def parse(cls, group: str | None, item: Mapping[str, Any]) -> Property:
        """From an ``ApiConfig`` of the full view."""
        return cls(
            group=group,
            name=str(item.get("name") or ""),
            display=str(item.get("displayName") or ""),
            related=str(item.get("relatedName") or ""),
            value=_text(item.get("value")),
            default=_text(item.get("default")),
            sensitive=item.get("sensitive") is True,
            validation=str(item.get("validationState") or ""),
            validation_message=str(item.get("validationMessage") or ""),
        )

    @property
    def effective(self) -> str | None:
        """What counts: the value, else the default."""
        return self.default if self.value is None else self.value

    @property
    def hidden(self) -> bool:
        """Its value must not be compared, shown or written back."""
        return self.sensitive or self.value in REDACTED

    @property
    def level(self) -> str:
        """Where it is set, for messages and results."""
        return "service" if self.group is None else self.group


def _text(value: Any) -> str | None:
    return None if value is None else ("true" if value else "false") if isinstance(value, bool) else str(value)

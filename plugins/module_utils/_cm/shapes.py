# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the responses of Cloudera Manager into typed values. A missing field is empty or None, never a guess.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Command", "Group", "Property", "Role", "Service"]

FRESH = "FRESH"
# Values that Cloudera Manager returns instead of a secret to an account that may not read it.
REDACTED = ("REDACTED", "******")


@dataclass(frozen=True)
class Service:
    """A service."""

    name: str
    type: str
    state: str
    #: Staleness of the processes' configuration: FRESH, STALE_REFRESHABLE or STALE. "": unknown, not FRESH.
    staleness: str
    #: Staleness of the client configuration, with the same values.
    client_staleness: str
    health: str = ""
    #: Health tests that are CONCERNING or BAD, as ``NAME SUMMARY``.
    checks: tuple[str, ...] = ()
    #: True: the service is in maintenance mode.
    maintenance: bool = False

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Service:
        """Parse an ``ApiService``."""
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
        """True if the processes run with the current configuration."""
        return self.staleness == FRESH

    @property
    def client_fresh(self) -> bool:
        """True if every host has the current client configuration."""
        return self.client_staleness == FRESH

    def staleness_row(self) -> dict[str, str | None]:
        """Both staleness values, for results. None: unknown."""
        return {"config": self.staleness or None, "client_config": self.client_staleness or None}


@dataclass(frozen=True)
class Group:
    """A role group."""

    name: str
    role_type: str
    #: True: the default group for new roles of this type.
    base: bool

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Group:
        """Parse an ``ApiRoleConfigGroup``."""
        return cls(str(item.get("name") or ""), str(item.get("roleType") or ""), item.get("base") is True)


@dataclass(frozen=True)
class Role:
    """A role."""

    name: str
    type: str
    #: STARTED, STARTING, STOPPING, STOPPED, BUSY, or NA (a client role, which has no process). "": unknown.
    state: str
    host: str
    staleness: str

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Role:
        """Parse an ``ApiRole``."""
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
        """True if the role has no running process."""
        return self.state in ("STOPPED", "NA")


@dataclass(frozen=True)
class Command:
    """A command."""

    #: Negative: the command has ended and cannot be read again.
    id: int
    name: str
    active: bool
    #: None: unknown, for example while the command is active.
    success: bool | None
    message: str
    #: Name of the service. None: a command of the cluster.
    service: str | None
    #: The role, host or service that the command runs on, "" if unknown.
    where: str
    #: Id of the parent command. None: a top-level command.
    parent: int | None
    children: tuple[Command, ...] = ()

    @classmethod
    def parse(cls, item: Mapping[str, Any]) -> Command:
        """Parse an ``ApiCommand`` or a summary of one."""
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
    """A property of a service or of a role group."""

    #: Name of the role group. None: a property of the service.
    group: str | None
    #: API name.
    name: str
    #: Name in the UI.
    display: str
    #: ``relatedName``: the key of the property in the configuration files.
    related: str
    #: None: not set, so the default applies.
    value: str | None
    default: str | None
    sensitive: bool
    #: Validation state: OK, WARNING or ERROR.
    validation: str
    validation_message: str

    @classmethod
    def parse(cls, group: str | None, item: Mapping[str, Any]) -> Property:
        """Parse an ``ApiConfig`` of the full view."""
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
        """The value, else the default."""
        return self.default if self.value is None else self.value

    @property
    def hidden(self) -> bool:
        """True if the value is a secret or redacted, so it must not be compared, shown or written back."""
        return self.sensitive or self.value in REDACTED

    @property
    def level(self) -> str:
        """``service`` or the name of the role group, for messages and results."""
        return "service" if self.group is None else self.group


def _text(value: Any) -> str | None:
    return None if value is None else ("true" if value else "false") if isinstance(value, bool) else str(value)

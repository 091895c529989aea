# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds properties where they are: on the service, else in its role groups, with as few requests as that takes.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from .._core.errors import DrError
from .._core.schema import nearest
from .properties import find, unknown
from .service import CmService
from .shapes import Group, Property

__all__ = ["Catalogue"]


class Catalogue:
    """The properties of a service by level, each level read once. ``group`` restricts the search to one role group."""

    def __init__(self, service: CmService, group: str | None = None) -> None:
        self.service = service
        self._wanted = group
        self._groups: list[Group] | None = None
        self._levels: dict[str | None, list[Property]] = {}
        self._runtime: str | None = None

    def level(self, group: str | None) -> list[Property]:
        """Every property of one level; None: the service."""
        if group not in self._levels:
            self._levels[group] = self.service.read_config(group)
        return self._levels[group]

    def forget(self, group: str | None) -> None:
        """Read this level again when it is asked for: it was written."""
        self._levels.pop(group, None)

    def runtime(self) -> str:
        """Version of the cluster's Runtime, "" if it is not told."""
        if self._runtime is None:
            self._runtime = self.service.runtime_version()
        return self._runtime

    def levels(self) -> list[str | None]:
        """Where properties are looked for, in this order."""
        if self._wanted:
            return [self._group(self._wanted).name]
        return [None, *(group.name for group in self._all_groups())]

    def everything(self) -> list[Property]:
        """Every property of every level."""
        return [one for level in self.levels() for one in self.level(level)]

    def find(self, asked: str) -> Property | None:
        """The one property that is meant, None if there is none; several are refused."""
        # The service is asked before the names of its groups are: most properties lie there.
        if not self._wanted:
            own = find(asked, self.level(None))
            if own:
                return self._single(asked, own)
        found = [one for level in self.levels() if level for one in find(asked, self.level(level))]
        return self._single(asked, found) if found else None

    def require(self, asked: str) -> Property:
        """The one property that is meant, or an error that names the nearest."""
        found = self.find(asked)
        if found is None:
            raise self.missing(asked)
        return found

    def missing(self, asked: str) -> DrError:
        """Why there is no such property."""
        levels = [level or f'service "{self.service.name}"' for level in self.levels()]
        return unknown(asked, levels, self.everything(), self.runtime(), self.service.client.url)

    def _single(self, asked: str, found: list[Property]) -> Property:
        if len(found) == 1:
            return found[0]
        places = ", ".join(f'"{one.name}" of {one.level}' for one in found)
        hint = "Give its API name, and its role group in the option role_group."
        text = f'"{asked}" is the name of several properties: {places}.'
        raise DrError("cm_property_ambiguous", text, hint, self.service.client.url)

    def _all_groups(self) -> list[Group]:
        if self._groups is None:
            self._groups = self.service.groups()
        return self._groups

    def _group(self, wanted: str) -> Group:
        """The group of that name, else the base group of that role type."""
        groups = self._all_groups()
        named = [group for group in groups if group.name == wanted]
        based = [group for group in groups if group.role_type == wanted and group.base]
        if named or based:
            return (named or based)[0]
        there = ", ".join(f'"{group.name}" ({group.role_type})' for group in groups) or "none"
        names = [name for group in groups for name in (group.name, group.role_type)]
        text = f'"{self.service.name}" has no role group "{wanted}". Role groups there: {there}.'
        raise DrError("cm_group_not_found", text, nearest(wanted, names).strip(), self.service.client.url)

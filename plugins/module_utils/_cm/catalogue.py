# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find properties of a service, on the service itself or in its role groups, with as few requests as possible.

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
    """The properties of a service by level. Each level is read once.

    A level is the service itself (None) or a role group. ``group`` restricts the search to one role group.
    """

    def __init__(self, service: CmService, group: str | None = None) -> None:
        self.service = service
        self._wanted = group
        self._groups: list[Group] | None = None
        self._levels: dict[str | None, list[Property]] = {}
        self._runtime: str | None = None

    def level(self, group: str | None) -> list[Property]:
        """Return all properties of one level. None: the service."""
        if group not in self._levels:
            self._levels[group] = self.service.read_config(group)
        return self._levels[group]

    def forget(self, group: str | None) -> None:
        """Drop the cached properties of a level that was written, so that the next access reads it again."""
        self._levels.pop(group, None)

    def runtime(self) -> str:
        """Version of the cluster's Runtime. "": unknown."""
        if self._runtime is None:
            self._runtime = self.service.runtime_version()
        return self._runtime

    def levels(self) -> list[str | None]:
        """The levels to search, in this order."""
        if self._wanted:
            return [self._group(self._wanted).name]
        return [None, *(group.name for group in self._all_groups())]

    def everything(self) -> list[Property]:
        """All properties of all levels."""
        return [one for level in self.levels() for one in self.level(level)]

    def find(self, asked: str) -> Property | None:
        """Return the property with this name, or None. Raises ``cm_property_ambiguous`` if several match."""
        # Most properties belong to the service, so search it before asking for the names of its role groups.
        if not self._wanted:
            of_service = find(asked, self.level(None))
            if of_service:
                return self._single(asked, of_service)
        matches = [match for level in self.levels() if level for match in find(asked, self.level(level))]
        return self._single(asked, matches) if matches else None

    def require(self, asked: str) -> Property:
        """Return the property with this name. The error ``cm_property_unknown`` suggests similar names."""
        match = self.find(asked)
        if match is None:
            raise self.missing(asked)
        return match

    def missing(self, asked: str) -> DrError:
        """Return the error for a property that does not exist."""
        levels = [level or f'service "{self.service.name}"' for level in self.levels()]
        return unknown(asked, levels, self.everything(), self.runtime(), self.service.client.url)

    def _single(self, asked: str, matches: list[Property]) -> Property:
        if len(matches) == 1:
            return matches[0]
        places = ", ".join(f'"{match.name}" of {match.level}' for match in matches)
        hint = "Use the API name of the property, and set its role group in the option role_group."
        text = f'The name "{asked}" matches several properties: {places}.'
        raise DrError("cm_property_ambiguous", text, hint, self.service.client.url)

    def _all_groups(self) -> list[Group]:
        if self._groups is None:
            self._groups = self.service.groups()
        return self._groups

    def _group(self, wanted: str) -> Group:
        """The role group of that name, else the base group of that role type. Raises ``cm_group_not_found``."""
        groups = self._all_groups()
        named = [group for group in groups if group.name == wanted]
        based = [group for group in groups if group.role_type == wanted and group.base]
        if named or based:
            return (named or based)[0]
        existing = ", ".join(f'"{group.name}" ({group.role_type})' for group in groups) or "none"
        names = [name for group in groups for name in (group.name, group.role_type)]
        text = f'The service "{self.service.name}" has no role group "{wanted}". Its role groups: {existing}.'
        raise DrError("cm_group_not_found", text, nearest(wanted, names).strip(), self.service.client.url)

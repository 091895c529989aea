# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the resources that a rehearsal of a pair creates.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._core.errors import DrError

__all__ = ["Belongings", "Rehearsal"]


@dataclass(frozen=True)
class Belongings:
    """Names of the resources that a rehearsal creates on one cluster and its workers."""

    topics: Sequence[str]
    groups: Sequence[str]
    connectors: Sequence[str]
    #: The ACLs of these principals on these topics and groups belong to the rehearsal.
    principals: Sequence[str]

    def names(self, kind: str) -> Sequence[str]:
        """Return the names of one kind: ``topic``, ``group`` or ``connector``. Empty for any other kind."""
        return {"topic": self.topics, "group": self.groups, "connector": self.connectors}.get(kind, ())


@dataclass(frozen=True)
class Rehearsal:
    """The resources that a rehearsal of a pair creates."""

    #: Connection properties of the clusters and of their workers, by alias of the rehearsal.
    clusters: Mapping[str, Mapping[str, Any]]
    #: By alias of the rehearsal.
    belongings: Mapping[str, Belongings]
    #: Each name that a rehearsal creates contains one of these texts.
    fingerprints: Sequence[str]

    @classmethod
    def of(cls, option: Mapping[str, Any]) -> Rehearsal:
        """Parse the option ``rehearsal``; raise ``bad_option`` without clusters or their belongings."""
        unknown = sorted(set(option["clusters"]) ^ set(option["belongings"]))
        if unknown or not option["clusters"]:
            text = f"The option rehearsal needs clusters and the belongings of each; found {unknown or 'none'}."
            raise DrError("bad_option", text)
        belongings = {alias: Belongings(**names) for alias, names in option["belongings"].items()}
        return cls(option["clusters"], belongings, option["name_parts"])

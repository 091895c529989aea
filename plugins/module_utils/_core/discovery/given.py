# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that discovery needs, checked like an inventory that is not complete yet.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..inventory.layout import laid_out
from ..inventory.pair import derive_pair

__all__ = ["is_complete", "pair_of"]

# Stands for the topics that are not known yet. No request uses it.
_PLACEHOLDER = {"name": "discover", "partitions": 1}
# They name topics, groups, applications or each other, so an inventory without topics cannot have them.
_DEPENDENT = (
    *("topics", "groups", "clients", "hooks", "adopt", "application", "fence_logins", "audit_accept", "copy_again"),
    *(
        "drop",
        "accept_skips",
        "accept_undeclared",
        "accept_foreign_writers",
        "accept_tail",
        "accept_expired",
        "accept_newer_keys",
    ),
)


def is_complete(given: Mapping[str, Any]) -> bool:
    """True if the variables name topics, so that they can be compared with the clusters."""
    return bool(given.get("topics"))


def pair_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The pair of these variables, without the prefix ``kafka_dr_``. Raises ``inventory_invalid``."""
    if is_complete(given):
        return laid_out(derive_pair(given))
    known = {name: value for name, value in given.items() if name not in _DEPENDENT}
    return laid_out(derive_pair({**known, "topics": [_PLACEHOLDER]}))

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters for the task files of Streams Replication Manager in the role ``replication``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm.preflight import (
    srm_addressed,
    srm_preflight,
)


class FilterModule:
    """Filters of the collection."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {"srm_addressed": srm_addressed, "srm_preflight": srm_preflight}

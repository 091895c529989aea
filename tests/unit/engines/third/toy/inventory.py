# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory part of the engine ``toy``: a world for each pair, and a site beside each cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.engines.inventory import (
    Capabilities,
    Check,
    EngineInventory,
    Refusals,
)
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.schema import Key

CAPABILITIES = Capabilities(
    offset_syncs_on_source=False,
    offsets_writable=True,
    offsets_outlive_flow=False,
    separate_lists=False,
    changes_restart=False,
    parts_have_states=True,
)
SITE_KEYS = {"world": Key(required=True), "color": Key(default="red")}


class ToyInventory(EngineInventory):
    """Each cluster has its log in the world that its site names."""

    capabilities = CAPABILITIES
    refusals = Refusals(
        adoption="it knows no other flows",
        applications="",
        copy_again="",
        identity="it cannot count",
        rehearsal="its threads are needed",
        rebuild="",
    )
    site_keys = SITE_KEYS

    def pair_checks(self) -> Sequence[Check]:
        """Check that each cluster has a site."""
        return (("clusters toy", _check_sites),)

    def site(self, site: Mapping[str, Any]) -> dict[str, Any]:
        """The site of a cluster. The engine does not need its color."""
        return {"world": site["world"]}


def _check_sites(pair: Mapping[str, Any]) -> list[str]:
    return [f'kafka_dr_toy needs the site "{alias}".' for alias in pair["clusters"] if alias not in pair["toy"]]


INVENTORY = ToyInventory()

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft an inventory from two running clusters, and compare a complete one with them.

Private to this collection: may change in any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._core.discovery.building import build_draft, lines, problems_of
from ..._core.discovery.drift import drift
from ..._core.discovery.given import is_complete, pair_of
from ..._core.flows.pair_spec import PairSpec
from ..._module import Result
from .observing import observe_pair

__all__ = ["discover"]


def discover(variables: Mapping[str, Any], hosts: Mapping[str, str], timeout: float) -> Result:
    """Observe the clusters that the variables name, and return the draft.

    ``variables``: by name, with the prefix ``kafka_dr_``. ``hosts``: hosts of the Ansible inventory by network address.
    """
    given = {name.removeprefix("kafka_dr_"): value for name, value in variables.items()}
    pair = pair_of(given)
    observation, requests = observe_pair(PairSpec.of(pair["spec"]), hosts, timeout)
    draft = build_draft(given, observation)
    differences = drift(pair, observation) if is_complete(given) else None
    problems = problems_of(draft)
    unread = [text for cluster in observation.clusters for text in cluster.unread]
    extra = {
        "draft": draft.text(),
        "todos": draft.todos(),
        "problems": problems,
        "drift": differences,
        "cluster_ids": {cluster.alias: cluster.cluster_id for cluster in observation.clusters},
        "unread": unread,
        "lines": lines(draft, problems, differences, unread),
    }
    return Result(extra=extra, requests=requests)

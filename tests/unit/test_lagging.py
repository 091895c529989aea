# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For how long a move without a barrier waits for the flow (R14, R36)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.offsets.replication_gates import PartitionFacts
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.offsets.translation import _lagging

KEY = Partition("T", 0)


@pytest.mark.parametrize(
    ("last_replicated_offset", "data_after", "commit", "texts"),
    [
        (99, True, 100, []),
        (90, True, 100, ["T-0 (replicated 90, committed 100)"]),
        (90, False, 100, []),
        # All records that the group has read have expired.
        (3, True, 10, []),
        (None, True, 100, ["T-0 (replicated None, committed 100)"]),
        # The first records of a partition. Without N, those without a copy may be missing.
        (None, True, 10, ["T-0 (replicated None, committed 10)"]),
        (None, None, 10, ["T-0 (replicated None, committed 10)"]),
        (None, False, 10, []),
    ],
)
def test_it_waits_until_what_the_groups_read_is_known_to_be_replicated(
    last_replicated_offset: int | None, data_after: bool | None, commit: int, texts: list[str]
) -> None:
    facts = PartitionFacts(10, 200, last_replicated_offset, data_after)
    observation: Any = SimpleNamespace(facts={KEY: facts})
    assert _lagging(observation, {KEY: commit}) == texts

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay that is impossible with Streams Replication Manager is refused before a range is journaled.

A journaled range that was not replayed prevents `enable` from starting the flow, which the refusal suggests.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flows.pair_spec import PairSpec
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm.engine import SrmEngine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.observation.pair import Pair
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.finding import Found
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.replay import Replay
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.request import SalvageRequest
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.salvage.tail import Tail

PAIR = PairSpec.of({"clusters": {"P": {}, "B": {}}, "topics": ["T"]})
REQUEST = SalvageRequest(PAIR, "P", "B", "replay", "salvage", Path(), (), (), 15.0)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "tail",
    [
        Tail(("T", 0), 0, 5, 5, records=5),
        Tail(("T", 0), 5, 5, 5, truncated=(5, 9)),
    ],
)
def test_a_replay_without_a_way_to_set_offsets_writes_nothing(tail: Tail, check: bool) -> None:
    # Every write needs connections and a reader, and there are none here.
    opened: Any = SimpleNamespace(kafka={}, engine=SimpleNamespace(capabilities=SrmEngine.capabilities))
    nothing: Any = None
    replay = Replay(Pair(PAIR, [("P", "B")], opened=opened), REQUEST, Found([tail], {}, {}, False), nothing, nothing)
    with pytest.raises(DrError) as refused:
        replay.replay(check)
    assert refused.value.code == "no_offsets"
    assert refused.value.hint.startswith("No record was replayed.")

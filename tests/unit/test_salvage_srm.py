# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A replay that Streams Replication Manager makes impossible is refused before a range is noted.

A range that is noted and not brought over keeps `enable` from starting the flow, which the refusal advises.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._engines.srm.engine import SrmEngine
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair import salvage


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "tail",
    [
        salvage._Tail(("T", 0), 0, 5, 5, records=5),
        salvage._Tail(("T", 0), 5, 5, 5, truncated=(5, 9)),
    ],
)
def test_a_replay_without_a_way_to_set_offsets_writes_nothing(tail: salvage._Tail, check: bool) -> None:
    work = object.__new__(salvage._Salvage)
    work._params = {"into": "salvage"}
    work._identity = work._flow_runs = False
    # Whatever would write needs work.pair.kafka, which is not there.
    work.p, work.b = "P", "B"
    work.pair = SimpleNamespace(engine=SimpleNamespace(capabilities=SrmEngine.capabilities))
    with pytest.raises(DrError) as refused:
        work.replay([tail], check)
    assert refused.value.code == "no_offsets"
    assert refused.value.hint.startswith("No record was brought over.")

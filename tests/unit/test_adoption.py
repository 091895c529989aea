# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A dedicated MirrorMaker 2 is adopted only after it has ended: two processes would replicate every record twice."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair.flows import adoption


@pytest.mark.parametrize(
    ("own", "active", "grows", "refusal"),
    [
        ("STOPPED", False, False, ""),
        ("STOPPED", False, True, "the replicas still grow"),
        (None, False, True, "the replicas still grow"),
        ("UNKNOWN", False, True, "the replicas still grow"),
        # enable again, after the flow was adopted
        ("RUNNING", False, True, ""),
        ("RUNNING", True, False, "still exists"),
        (None, True, False, "still exists"),
    ],
)
def test_growing_replicas_are_evidence_unless_the_own_connector_writes_them(
    own: str | None, active: bool, grows: bool, refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = iter([{"P.T": 5}, {"P.T": 6 if grows else 5}])
    monkeypatch.setattr(adoption, "describe", lambda *_: {"offsets": Stub()})
    monkeypatch.setattr(adoption.kafka_groups, "may_have_members", lambda *_: active)
    monkeypatch.setattr(adoption, "_replica_ends", lambda *_: next(ends))
    monkeypatch.setattr(adoption, "_STILL_SECONDS", 0.0)
    engine = Stub(observe=lambda *_: Stub(connectors={"source": Stub(state=own)}))
    pair: Any = Stub(kafka={"B": "kafka"}, engine=engine)
    former: Any = Stub(offsets_topic="offsets", group="P-mm2")
    if not refusal:
        adoption._require_ended(pair, ("P", "B"), former)
        return
    with pytest.raises(DrError, match=refusal) as error:
        adoption._require_ended(pair, ("P", "B"), former)
    assert error.value.code == "adoption_running"

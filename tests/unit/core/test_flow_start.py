# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""May a flow that stood still go on where it was?"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.flow_start import Begun, Place, forgotten

GOOD = Place(partition=0, copied=9, end=10, replica_end=10)
EMPTY = Place(partition=1, copied=9, end=10, replica_end=0)
MISSING = Place(partition=0, copied=0, end=1, replica_end=None)
PAST = Place(partition=0, copied=10, end=10, replica_end=10)


def begun(*places: Place, **more: Any) -> Begun:
    told = {"flow": "P->B", "topic": "T", "replica": "P.T", "recreated": (), "held": False, **more}
    return Begun(places=places, **told)


def test_what_was_copied_is_there() -> None:
    assert forgotten([begun(GOOD, held=True)], []) == []


def test_nothing_is_stored() -> None:
    """Also of a topic that was created again: it is copied from its beginning anyhow."""
    assert forgotten([begun(recreated=("T on P",))], []) == []
    assert forgotten([begun(recreated=("T on P",))], ["T"]) == []


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (begun(GOOD, recreated=('"T" on P',), held=True), 'created again since the pair was enabled: "T" on P'),
        (begun(GOOD, EMPTY, held=True), 'T-1 is copied up to 9, but the replica "P.T" was never written'),
        (begun(MISSING), 'T-0 is copied up to 0, but the replica "P.T" does not exist'),
        (begun(PAST, held=True), "T-0 is copied up to 10, but it ends at 10"),
    ],
)
def test_what_was_copied_is_not_there(one: Begun, text: str) -> None:
    with pytest.raises(DrError) as refused:
        forgotten([one], ["Other"])
    assert refused.value.code == "topic_recreated"
    assert text in refused.value.message
    assert '{"kafka_dr_copy_again": ["T"]}' in refused.value.hint


def test_an_empty_replica_is_filled_again() -> None:
    sound = begun(GOOD, flow="B->P", held=True)
    assert forgotten([begun(EMPTY), sound], ["T"]) == [begun(EMPTY)]


def test_nothing_is_copied_twice() -> None:
    for one in (begun(GOOD, recreated=("T on P",), held=True), begun(GOOD, held=True)):
        with pytest.raises(DrError) as refused:
            forgotten([one], ["T"])
        assert refused.value.code == "replica_not_empty"


def test_every_topic_must_be_named() -> None:
    with pytest.raises(DrError) as refused:
        forgotten([begun(EMPTY), begun(EMPTY, topic="U", replica="P.U")], ["T"])
    assert "U-1" in refused.value.message
    assert "T-1" not in refused.value.message
    assert '["T", "U"]' in refused.value.hint

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log ranges may wait for a leader, so committed offsets are read after them, right before the commit (R6, R11)."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.partition import Partition
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka import committing
from ansible_collections.switchback.kafka_dr.plugins.module_utils._kafka.groups import Committed

WANTED = {"settlement": {Partition("Payments", 0): 7}}


def test_a_commit_made_while_a_leader_is_waited_for_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    offsets_read = Event()
    now = {"settlement": {Partition("Payments", 0): 5}}

    def ranges(_kafka: Any, _partitions: Any) -> dict[Partition, tuple[int, int]]:
        # A read at the same time would come now.
        offsets_read.wait(0.2)
        now["settlement"] = {Partition("Payments", 0): 9}
        return {Partition("Payments", 0): (0, 10)}

    def commits(_kafka: Any, _groups: Any) -> dict[str, dict[Partition, Committed]]:
        found = {group: {key: Committed(offset) for key, offset in offsets.items()} for group, offsets in now.items()}
        offsets_read.set()
        return found

    monkeypatch.setattr(committing, "describe", lambda _kafka, names: dict.fromkeys(names))
    monkeypatch.setattr(committing, "try_log_ranges", ranges)
    monkeypatch.setattr(committing, "without_errors", lambda found: found)
    monkeypatch.setattr(committing.kafka_groups, "committed", commits)
    monkeypatch.setattr(committing.kafka_groups, "describe", lambda _kafka, groups: dict.fromkeys(groups))

    kafka: Any = None
    seen = committing._observe(kafka, WANTED)

    assert seen["settlement"].before == {Partition("Payments", 0): 9}

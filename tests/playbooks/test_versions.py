# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Older versions of Kafka: the short form of `make compatibility`, without the audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from compatibility import NEWEST, PASSED, Versions, run_row

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("versions", "limits"),
    [
        # Newer brokers refuse records with times more than an hour ahead (KIP-1030).
        pytest.param(
            Versions("2.8.2", NEWEST),
            ["settings: message.timestamp.difference.max.ms is 9223372036854775807"],
            id="from the oldest, with ZooKeeper, to the newest",
        ),
        pytest.param(Versions("3.9.1", "3.9.1", "3.9.1", "3.9.1"), [], id="3.9.1 everywhere"),
    ],
)
def test_applications_move_and_return_with_older_versions(
    versions: Versions, limits: list[str], tmp_path: Path
) -> None:
    outcome = run_row(versions, tmp_path, audit=False)
    assert (outcome.result, outcome.text) == (PASSED, "")
    assert outcome.acknowledged > 0
    assert [limit[: len(known)] for limit, known in zip(outcome.limits, limits, strict=True)] == limits

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The verbs for leaders and topic settings: which replicas change, and which arguments are accepted."""

from __future__ import annotations

import pytest

from lab.cli import parser
from lab.topics import with_leader


def test_only_partitions_with_a_replica_on_the_broker_and_another_leader_change() -> None:
    assigned = {("A", 0): [1, 2, 3], ("A", 1): [2, 3, 1], ("B", 0): [1, 3]}
    assert with_leader(assigned, 2) == {("A", 0): [2, 1, 3]}
    assert with_leader(assigned, 4) == {}


@pytest.mark.parametrize("words", [["lead", "P", "connect"], ["lead", "P"], ["set", "P", "T"], ["set", "P", "T", "ms"]])
def test_a_wrong_argument_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([*words, "--dir", "lab"])


def test_a_setting_may_be_removed() -> None:
    options = parser().parse_args(["set", "P", "T", "min.insync.replicas=1", "retention.ms=", "--dir", "lab"])
    assert dict(options.settings) == {"min.insync.replicas": "1", "retention.ms": ""}

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The approximate number of records for the audit: a hint, which must never make an audit fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.errors import DrError
from ansible_collections.switchback.kafka_dr.plugins.module_utils._core.names import naming_of
from ansible_collections.switchback.kafka_dr.plugins.module_utils._pair import audit

PAIR: Any = SimpleNamespace(topics=["T"], naming=naming_of("default", "."))
CLIENTS: Any = {"P": "client of P", "B": "client of B"}
# B.T does not exist on P yet. The replica keeps more records than its original.
PARTITIONS = {"client of P": {"T": 2, "B.T": None}, "client of B": {"T": 2, "P.T": 2}}
SPANS = {("client of P", "T"): (90, 100), ("client of B", "T"): (0, 0), ("client of B", "P.T"): (0, 100)}


def describe(client: str, topics: set[str]) -> dict[str, Any]:
    assert topics == PARTITIONS[client].keys()
    return {name: count and SimpleNamespace(partitions=count) for name, count in PARTITIONS[client].items()}


@pytest.fixture(autouse=True)
def clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "describe", describe)
    monkeypatch.setattr(
        audit, "known_ranges", lambda client, places: {place: SPANS[client, place.topic] for place in places}
    )


def test_originals_and_replicas_count_with_what_each_keeps() -> None:
    assert audit._records(CLIENTS, PAIR) == 2 * 10 + 2 * 100


def test_a_partition_without_offsets_makes_the_number_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "known_ranges", lambda _client, places: dict.fromkeys(places))
    assert audit._records(CLIENTS, PAIR) is None


@pytest.mark.parametrize("name", ["describe", "known_ranges"])
def test_an_error_makes_the_number_unknown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refuse(*_arguments: object) -> None:
        raise DrError("not_authorized", "The account may not describe B.T.", "Grant it.")

    monkeypatch.setattr(audit, name, refuse)
    assert audit._records(CLIENTS, PAIR) is None


def test_the_program_gets_the_number_only_if_it_is_known() -> None:
    spark = audit.SparkSettings(Path("spark"), "", "local[*]", {}, "1g", "", 30.0, 20, 3600.0)
    assert audit._command(spark, Path("out"), 7)[-2:] == ["--records", "7"]
    assert "--records" not in audit._command(spark, Path("out"), None)

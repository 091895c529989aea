# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/compatibility.md, from the results of `make compatibility`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compatibility import LIBRARIES, NOT_RUN, ROWS, Libraries, Outcome, Versions

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests" / "compatibility" / "results.json"
LIBRARY_RESULTS = RESULTS.with_name("libraries.json")
PAGE = ROOT / "docs" / "compatibility.md"
VERSIONS = ("p", "b", "workers_p", "workers_b")
HEAD = """# Compatibility

`make compatibility` writes this page. Each row is a run with real clusters under load: `enable`, `failover_cutoff`,
`failback`, `readiness` and `verify`. A row has passed if both cutovers proved their evidence, the ledgers of the
applications show no record lost, skipped, repeated or out of order, and the audit is PROVEN.

Brokers below 3.3 run with ZooKeeper. The producer writes at least 100 records per second to four partitions.

| brokers P | brokers B | workers P | workers B | result | records | limited | date |
|---|---|---|---|---|---|---|---|
"""
LIBRARY_HEAD = """
`make compatibility LIBRARIES=1`: the newest Kafka, with other versions of Python and of the libraries.

| Python | ansible-core | confluent-kafka | PySpark | result | records | date |
|---|---|---|---|---|---|---|
"""
LIMITS = """
## Limits of old versions
- **Connect workers below 3.7 are refused** before anything is changed (`connect_too_old`). They cannot create a
  connector in the state STOPPED (KIP-980), and below 3.6 they cannot report offsets (KIP-875). Brokers may be older
  than their workers.
- **Brokers without topic ids are refused** (`topic_ids_missing`). A recreated topic would look like the original. This
  concerns brokers below 2.8, and newer ones whose `inter.broker.protocol.version` is below 2.8.
- **Workers below 3.9** have no `/health` (KIP-1017). A starting worker may then list no connectors for a moment, and
  waits take that time.
- **Two versions of workers**: `readiness` answers NO to "Do both flows run the same version of MirrorMaker 2?".
- **Brokers below 4.0 beside newer ones**: `readiness` answers NO to `settings`, because newer ones refuse records with
  times more than an hour ahead ([remedy](flows.md#what-decides-whether-a-producer-can-write)).
"""


def merged(kept: list[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    """The results with ``new`` in place of the row with the same versions."""
    return [*(row for row in kept if row["versions"] != new["versions"]), new]


def read(file: Path) -> list[dict[str, Any]]:
    """The results in a file; none if it does not exist."""
    rows: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return rows


def page(rows: list[dict[str, Any]], libraries: list[dict[str, Any]]) -> str:
    """The text of the page. Rows with the oldest brokers come first. It also lists the rows that did not run."""
    brokers = sorted(_with_missing(rows, ROWS), key=_order)
    others = sorted(_with_missing(libraries, LIBRARIES), key=lambda row: _numbers(row["versions"]["python"]))
    return HEAD + "".join(map(_line, brokers)) + LIBRARY_HEAD + "".join(map(_other, others)) + LIMITS


def _with_missing(rows: list[dict[str, Any]], matrix: Iterable[Versions | Libraries]) -> list[dict[str, Any]]:
    known = [row["versions"] for row in rows]
    missing = [asdict(Outcome(asdict(row), NOT_RUN, "")) for row in matrix]
    return [*rows, *(row for row in missing if row["versions"] not in known)]


def _numbers(version: str) -> list[int]:
    return [int(digits) for digits in version.split(".")]


def _other(row: dict[str, Any]) -> str:
    cells = [*row["versions"].values(), row["result"], row["acknowledged"] or "", row["at"][:10]]
    return f"| {' | '.join(map(str, cells))} |\n"


def _order(row: dict[str, Any]) -> list[list[int]]:
    return [_numbers(row["versions"][key]) for key in VERSIONS]


def _line(row: dict[str, Any]) -> str:
    limits = "; ".join(row["limits"]).replace("|", "\\|")
    records = row["acknowledged"] or ""
    cells = [*(row["versions"][key] for key in VERSIONS), row["result"], records, limits, row["at"][:10]]
    return f"| {' | '.join(map(str, cells))} |\n"

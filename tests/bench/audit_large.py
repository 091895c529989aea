# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A large audit and a small one, against Kafka's own consumer-perf-test on the same topics in one run.

50m        level 1 of an audit of 50 million records of 200 bytes on each cluster, with one bit turned over on a disk:
           records of both sides a second; against kafka-consumer-perf-test on the source, before and after each round
memory     heap after a collection at 50 million records, to that at 1 million
workers    seconds of level 1 of 10 million records with two workers of a standalone cluster, to those with one
small      seconds of the whole program for 1 million records on each cluster, start of Spark included
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from audit import PARTITIONS, SCALE, Size, both_sides, create, fill, one_side, perf_test

from lab.lab import Lab
from spark_cluster import standalone
from tamper import flip

LARGE = Size("large", int(50_000_000 * SCALE), 200)
SMALL = Size("small", int(1_000_000 * SCALE), 200)
ROUNDS = 3
WRITERS = 2
WHOLE_FILES = (".log", ".index", ".timeindex")


def prepare(lab: Lab, size: Size) -> None:
    """Write the records to P, and give B the same log files, but for one bit of one record."""
    replica = f"P.{size.name}"
    servers = {alias: found["bootstrap_servers"] for alias, found in lab.info()["clusters"].items()}
    create(servers["P"], size.name)
    create(servers["B"], replica)
    with ProcessPoolExecutor(WRITERS) as pool:
        jobs = [pool.submit(fill, servers["P"], size.name, size, None, share, WRITERS) for share in range(WRITERS)]
        for job in jobs:
            job.result()
    for alias in ("P", "B"):
        lab.stop(alias, "broker")
    data = {alias: lab.paths.root / alias / "data" for alias in ("P", "B")}
    for number in range(PARTITIONS):
        for path in (data["P"] / f"{size.name}-{number}").iterdir():
            if path.suffix in WHOLE_FILES:
                shutil.copy(path, data["B"] / f"{replica}-{number}" / path.name)
    flip(data["B"] / f"{replica}-3" / f"{0:020d}.log")
    for alias in ("P", "B"):
        lab.start(alias, "broker")


def measure(lab: Lab, folder: Path, jars: Path, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """All figures, as ``{name, value, unit, baseline, ratio}``."""
    rows: list[dict[str, Any]] = []

    def row(name: str, value: float, unit: str, baseline: float | None = None) -> None:
        ratio = None if baseline is None else value / baseline
        rows.append({"name": f"audit_large.{name}", "value": value, "unit": unit, "baseline": baseline, "ratio": ratio})

    for size in (SMALL, LARGE):
        say(f"audit: {size.records:,} records of {size.size} bytes are written, and their files given to B")
        prepare(lab, size)
    clusters = lab.info()["clusters"]
    servers = clusters["P"]["bootstrap_servers"]
    walls = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        both_sides(folder / f"small-{number}", clusters, SMALL)
        walls.append(time.perf_counter() - began)
        say(f"audit: {SMALL.records:,} records on each cluster in {walls[-1]:.1f} s")
    row("small.seconds", median(walls), "s")
    rates, tools = [], [perf_test(servers, LARGE.name, LARGE.records, jars)]
    for number in range(ROUNDS):
        result = both_sides(folder / f"large-{number}", clusters, LARGE)
        rates.append(2 * LARGE.records / result["level1_seconds"])
        tools.append(perf_test(servers, LARGE.name, LARGE.records, jars))
        say(f"audit: {rates[-1]:,.0f} records/s, consumer-perf-test {tools[-2]:,.0f} and {tools[-1]:,.0f}")
    row("50m.records_per_s", median(rates), "/s", median(tools))
    sides = {size: one_side(folder, servers, size.name, size.records, "local[*]") for size in (SMALL, LARGE)}
    row("50m.memory", sides[LARGE]["heap_mib"], "MiB", sides[SMALL]["heap_mib"])
    seconds = {}
    for workers in (1, 2):
        with standalone(folder / f"workers-{workers}", workers) as master:
            local = {"spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m"}
            part = LARGE.records // 5
            seconds[workers] = one_side(folder, servers, LARGE.name, part, master, local)["warm_seconds"]
    row("workers.seconds", seconds[2], "s", seconds[1])
    return rows

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 1 of one side in a Spark of its own: ``audit_side.py FOLDER SERVERS TOPIC RECORDS PARTITIONS MASTER``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from kafka_dr_audit import session
from kafka_dr_audit.chunks import chunk_size
from kafka_dr_audit.plan import Cluster
from kafka_dr_audit.reading import Reader, Recipe


def peak_mib(pid: str) -> float:
    """The most memory that a process ever had."""
    for line in Path("/proc", pid, "status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def workers() -> list[str]:
    """Processes of Spark's Python workers below this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"pyspark.daemon" in words:
                found.append(entry.name)
    return found


def main() -> None:
    folder, servers, topic, records, partitions, master = sys.argv[1:]
    output = Path(folder, "side").absolute()
    output.mkdir(parents=True, exist_ok=True)
    spark = session.start(session.Resources(master, "512m"), output)
    reader = Reader(spark, 42, "marker")
    ranges = {}
    per, rest = divmod(int(records), int(partitions))
    for number in range(int(partitions)):
        ranges[topic, number] = (0, per + (number < rest))
    began = time.perf_counter()
    frame = reader.records(Cluster("P", "", servers, {}), "read_committed", ranges)
    recipe = Recipe(chunk_size(int(records)), {}, {})
    table = reader.summaries(frame, reader.whole([topic], [topic]), recipe).toArrow()
    seconds = time.perf_counter() - began
    counted = sum(
        count for count, kind in zip(table["records"].to_pylist(), table["kind"].to_pylist(), strict=True) if kind == 0
    )
    assert counted == int(records), counted
    machine = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    heap = (machine.totalMemory() - machine.freeMemory()) / 2**20
    python = max(peak_mib(pid) for pid in workers())
    print(json.dumps({"seconds": seconds, "heap_mib": round(heap, 1), "python_mib": round(python, 1)}))


if __name__ == "__main__":
    main()

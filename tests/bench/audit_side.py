# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Level 1 of one cluster in a Spark of its own: ``audit_side.py FOLDER SERVERS TOPIC RECORDS PARTITIONS MASTER``."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from kafka_dr_audit import session
from kafka_dr_audit.chunks import chunk_size
from kafka_dr_audit.level1 import RUNS
from kafka_dr_audit.plan import Cluster
from kafka_dr_audit.reading import FingerprintReader


def peak_mib() -> float:
    """The peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    folder, servers, topic, records, partitions, master, conf = sys.argv[1:]
    output = Path(folder, "side").absolute()
    output.mkdir(parents=True, exist_ok=True)
    spark = session.start(session.Resources(master, "512m", conf=json.loads(conf)), output)
    reader = FingerprintReader(spark, 42, "marker")
    ranges = {}
    per, rest = divmod(int(records), int(partitions))
    for number in range(int(partitions)):
        ranges[topic, number] = (0, per + (number < rest))
    reader.names([topic])
    size = chunk_size(int(records), RUNS)
    seconds = []
    for _number in range(3):
        began = time.perf_counter()
        frame = reader.records(Cluster("P", "", servers, {}), "read_committed", ranges)
        table = reader.buckets(frame, reader.whole([topic], [topic]), size).toArrow()
        seconds.append(time.perf_counter() - began)
        counted = sum(table["records"].to_pylist())
        assert counted == int(records), counted
    machine = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    heap = (machine.totalMemory() - machine.freeMemory()) / 2**20
    memory = {"heap_mib": round(heap, 1), "python_mib": round(peak_mib(), 1)}
    print(json.dumps({"seconds": seconds[0], "warm_seconds": min(seconds[1:]), **memory}))


if __name__ == "__main__":
    main()

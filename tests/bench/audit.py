# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the audit reads, against Kafka's own consumer-perf-test and a plain loop, on the same topics in one run.

level1     the first pass of an audit of 10 million records of 200 bytes, local[*] and 512 MiB: records of both sides a
           second; against kafka-consumer-perf-test on the source, before and after. Also with 2 million of 1 KiB
warm       one side alone, once the JVM has compiled what it runs; against consumer-perf-test at that time
alone      one side alone in a fresh Spark: what compiling costs counts most there
loop       confluent-kafka, hashing each record, in one process
both       the whole audit of both sides, one record altered on the target: seconds, records read again
growth     heap after a collection at 10 million records, to that at 1 million
cores      seconds of level 1 with local[1], to those with local[2]
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

ROOT = Path(__file__).resolve().parents[2]
PARTITIONS = 12
STAMP = 1_700_000_000_000
SCALE = float(os.environ.get("KAFKA_DR_BENCH_SCALE", "1"))
ALTERED = 1_333_333
ROUNDS = 3


@dataclass(frozen=True)
class Size:
    """The size of one topic pair."""

    name: str
    records: int
    size: int


SIZES = (
    Size("small", int(1_000_000 * SCALE), 200),
    Size("big", int(10_000_000 * SCALE), 200),
    Size("wide", int(2_000_000 * SCALE), 1024),
)


def create(servers: str, topic: str) -> None:
    """Create a topic that keeps everything."""
    admin = AdminClient({"bootstrap.servers": servers})
    config = {"retention.ms": "-1", "message.timestamp.type": "CreateTime"}
    admin.create_topics([NewTopic(topic, PARTITIONS, 1, config=config)])[topic].result()


def fill(servers: str, topic: str, size: Size, altered: int | None = None, share: int = 0, shares: int = 1) -> None:
    """Write the same records to every cluster, except for one altered one. ``shares``: processes that do it."""
    settings = {"linger.ms": 50, "batch.num.messages": 20_000, "queue.buffering.max.messages": 500_000}
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, **settings})
    filler = b"x" * (size.size - 32)
    for number in range(share, size.records, shares):
        value = b"%016d|%014d|" % (number * 2_654_435_761 % 10**16, number) + filler
        if number == altered:
            value = bytes([value[0] ^ 1]) + value[1:]
        while True:
            try:
                producer.produce(
                    topic, value, b"k%07d" % (number % 999_983), number % PARTITIONS, timestamp=STAMP + number // 10
                )
                break
            except BufferError:
                producer.poll(0.05)
        if number % 20_000 < shares:
            producer.poll(0)
    if producer.flush(120):
        raise RuntimeError(f"{topic} could not be filled")


def perf_test(servers: str, topic: str, records: int, jars: Path) -> float:
    """The records per second that Kafka's own tool reports, without its start."""
    command = ["java", "-Xmx512m", "-cp", f"{jars}/*", "org.apache.kafka.tools.ConsumerPerformance"]
    command += ["--bootstrap-server", servers, "--topic", topic, "--num-records", str(records), "--timeout", "60000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heads, values = (line.split(", ") for line in done.stdout.strip().splitlines()[-2:])
    return float(dict(zip(heads, values, strict=True))["fetch.nMsg.sec"])


def loop(servers: str, topic: str, records: int) -> float:
    """The records per second of a plain consumer that hashes key and value."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    seen, began = 0, 0.0
    while seen < records:
        messages = consumer.consume(10_000, 1.0)
        began = began or time.perf_counter()
        for message in messages:
            hashlib.blake2b((message.key() or b"") + (message.value() or b""), digest_size=8).digest()
        seen += len(messages)
    seconds = time.perf_counter() - began
    consumer.close()
    return records / seconds


def one_side(
    folder: Path, servers: str, topic: str, records: int, master: str, conf: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Level 1 of one cluster alone in a Spark of its own: seconds, and MiB of heap and Python."""
    program = [sys.executable, str(Path(__file__).with_name("audit_side.py"))]
    done = subprocess.run(
        [*program, str(folder), servers, topic, str(records), str(PARTITIONS), master, json.dumps(conf or {})],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "spark")},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def both_sides(folder: Path, clusters: dict[str, Any], size: Size) -> dict[str, Any]:
    """The whole audit. It must find the altered record."""
    topic = size.name
    every = {"start": None, "end": None}
    plan = {
        "schema": "switchback.kafka_dr/audit-plan/2",
        "run": "bench",
        "pair": "B-P",
        "clusters": {
            alias: {key: found[key] for key in ("cluster_id", "bootstrap_servers")} for alias, found in clusters.items()
        },
        "topics": [
            {
                "name": topic,
                "source": {"cluster": "P", "topic": topic},
                "target": {"cluster": "B", "topic": f"P.{topic}"},
                "mode": "complete",
                "partitions": [{"partition": number, "source": every, "target": every} for number in range(PARTITIONS)],
            }
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(plan))
    program = str(ROOT / "spark" / "kafka_dr_audit")
    command = [sys.executable, program, str(folder / "plan.json"), "--output", str(folder / "out")]
    done = subprocess.run([*command, "--driver-memory", "512m"], capture_output=True, text=True, check=False)
    result: dict[str, Any] = json.loads((folder / "out" / "audit.json").read_text())
    if done.returncode != 1 or result["topics"][0]["classes"][0]["kind"] != "CORRUPT":
        raise RuntimeError(f"the altered record was not found: {done.stdout}{done.stderr[-1000:]}")
    return result


def measure(
    folder: Path, clusters: dict[str, Any], jars: Path, say: Callable[[str], None] = lambda text: None
) -> list[dict[str, Any]]:
    """All figures, as ``{name, value, unit, baseline, ratio}``."""
    servers = {alias: found["bootstrap_servers"] for alias, found in clusters.items()}
    for size in SIZES:
        say(f"audit: {size.records:,} records of {size.size} bytes are written to both sides")
        create(servers["P"], size.name)
        create(servers["B"], f"P.{size.name}")
        with ProcessPoolExecutor(2) as pool:
            jobs = [
                pool.submit(fill, servers["P"], size.name, size),
                pool.submit(fill, servers["B"], f"P.{size.name}", size, int(ALTERED * SCALE)),
            ]
            for job in jobs:
                job.result()
    small, big, wide = SIZES
    rows: list[dict[str, Any]] = []

    def row(name: str, value: float, unit: str, baseline: float | None = None) -> None:
        ratio = None if baseline is None else value / baseline
        rows.append({"name": f"audit.{name}", "value": value, "unit": unit, "baseline": baseline, "ratio": ratio})

    for size in (big, wide):
        rates, tools = [], [perf_test(servers["P"], size.name, size.records, jars)]
        for number in range(ROUNDS):
            result = both_sides(folder / f"both-{size.name}-{number}", clusters, size)
            rates.append(2 * size.records / result["level1_seconds"])
            tools.append(perf_test(servers["P"], size.name, size.records, jars))
            around = " and ".join(f"{tool:,.0f}" for tool in tools[-2:])
            say(f"audit: {size.name}: {rates[-1]:,.0f} records/s, consumer-perf-test {around}")
        row("level1.records_per_s" + ("" if size is big else ".1kib"), median(rates), "/s", median(tools))
        if size is big:
            row("bitflip.reread", result["records_read_again"] / (2 * big.records), "")
            row("both.seconds", result["seconds"], "s")
            say(f"audit: both sides in {result['seconds']:.0f} s, {result['records_read_again']:,} records read again")
    row("loop.records_per_s", loop(servers["P"], big.name, small.records), "/s")
    sides = {size: one_side(folder, servers["P"], size.name, size.records, "local[*]") for size in (small, big)}
    tool = perf_test(servers["P"], big.name, big.records, jars)
    row("level1.warm.records_per_s", big.records / sides[big]["warm_seconds"], "/s", tool)
    row("memory_growth", sides[big]["heap_mib"], "MiB", sides[small]["heap_mib"])
    row("memory.python", sides[big]["python_mib"], "MiB", sides[small]["python_mib"])
    row("level1.seconds", sides[big]["seconds"], "s", sides[small]["seconds"])
    one = one_side(folder, servers["P"], big.name, big.records, "local[1]")["seconds"]
    row("level1.one_core", one, "s", sides[big]["seconds"])
    return rows

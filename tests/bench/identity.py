# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a failback with IdentityReplicationPolicy, compared with replicating everything again as vendors advise.

B has taken over with all that P had and 20,000 records more. Once for 200,000 records in the topic, once for 2,000,000:

failback  dr_seed, then the connector B->P runs, until P has every record; three times, with new records each time,
          by turns with the other topic
again     the topic on P is deleted and re-created; from there on: delete the connector's offsets, run it, until P
          has every record

Bytes are the brokers' own count (BytesInPerSec), checked against the size of the logs on disk.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translate import module

TOTALS = (200_000, 2_000_000)
DELTA, ROUNDS, PARTITIONS = 20_000, 3, 12
BOUND = 1200.0
BACK = "B->P.MirrorSourceConnector"
# The lab's JVMs have no JMX port, but a debugger may attach to them, which needs a JDK.
METERS = """
import com.sun.tools.attach.VirtualMachine;
import javax.management.ObjectName;
import javax.management.remote.*;

public class Meters {
    public static void main(String[] given) throws Exception {
        var machine = VirtualMachine.attach(given[0]);
        var address = new JMXServiceURL(machine.startLocalManagementAgent());
        machine.detach();
        var wanted = new ObjectName("kafka.server:type=BrokerTopicMetrics,name=Bytes*PerSec,*");
        try (var connector = JMXConnectorFactory.connect(address)) {
            var beans = connector.getMBeanServerConnection();
            for (var bean : beans.queryNames(wanted, null)) {
                var topic = bean.getKeyProperty("topic");
                var count = beans.getAttribute(bean, "Count");
                System.out.println(bean.getKeyProperty("name") + " " + (topic == null ? "*" : topic) + " " + count);
            }
        }
    }
}
"""


@dataclass(frozen=True)
class Replication:
    """One replication.

    ``written``, ``everything``: bytes into P for the topic and for all topics; ``read``: bytes out of B.
    """

    seconds: float
    written: int
    everything: int
    read: int


@dataclass(frozen=True)
class Round:
    """A failback, and the bytes of its records as they were produced on B."""

    replication: Replication
    delta: int


def measure(lab: Mapping[str, Any], say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """All figures, as ``{name, value, unit, baseline, ratio}``. ``lab``: what ``Lab.info()`` says."""
    bench = _Bench(lab, say)
    topics = [bench.fill(total) for total in TOTALS]
    # By turns, because other work on the machine would otherwise slow down only one size, and look like growth.
    found = [[bench.failback(topic, number) for topic in topics] for number in range(1, ROUNDS + 1)]
    copies = [bench.again(topic) for topic in topics]
    seconds = [statistics.median(one.replication.seconds for one in rounds) for rounds in zip(*found, strict=True)]
    whole = [copy.seconds for copy in copies]
    rounds, again = [line[-1] for line in found], copies[-1]
    delta = statistics.median(one.delta for one in rounds)
    written = statistics.median(one.replication.written / one.delta for one in rounds)
    everything = statistics.median(one.replication.everything / one.delta for one in rounds)
    return [
        _row("bytes", written, "x", again.written / delta),
        _row("bytes_all_topics", everything, "x", again.everything / delta),
        _row("seconds", seconds[-1], "s", whole[-1]),
        _row("growth", seconds[-1] / seconds[0], "x", whole[-1] / whole[0]),
    ]


def _row(name: str, value: float, unit: str, baseline: float) -> dict[str, Any]:
    rounded = {"value": round(value, 3), "unit": unit, "baseline": round(baseline, 3)}
    return {"name": f"identity_failback.{name}", **rounded, "ratio": round(value / baseline, 3)}


class _Bench:
    """The lab and the operations on it."""

    def __init__(self, lab: Mapping[str, Any], say: Callable[[str], None]) -> None:
        from confluent_kafka.admin import AdminClient

        keys = ("bootstrap_servers", "connect_url", "cluster_id")
        self.clusters = {alias: {key: found[key] for key in keys} for alias, found in lab["clusters"].items()}
        self._pids = {alias: found["pids"]["broker"] for alias, found in lab["clusters"].items()}
        self._folder = Path(lab["dir"])
        self._say = say
        self._admins = {
            alias: AdminClient({"bootstrap.servers": one["bootstrap_servers"]}) for alias, one in self.clusters.items()
        }

    def fill(self, total: int) -> str:
        """A topic on both clusters, which has ``total`` records after the last failback."""
        topic = f"Payments-{total}"
        for alias in self.clusters:
            self.create(alias, topic)
        self.flow("P", "B", topic, "running")
        self.produce("P", topic, "first", total - ROUNDS * DELTA)
        flows = {"flows": [{"source": "P", "target": "B"}], "wait_for": "replicated", "wait_timeout": BOUND}
        module("dr_status_info", {"pair": self.pair(topic), **flows})
        self.flow("P", "B", topic, "stopped")
        self._say(f"{topic}: {sum(self.ends('B', topic).values())} records replicated to B")
        return topic

    def failback(self, topic: str, number: int) -> Round:
        """Both clusters have the same records, B gets more, and P must get exactly those."""
        self.flow("B", "P", topic, "present")
        ends, cut = self.ends("P", topic), self.ends("B", topic)
        before = self.meters("B")
        self.produce("B", topic, f"round-{number}", DELTA)
        delta = self.meters("B")["BytesInPerSec", topic] - before.get(("BytesInPerSec", topic), 0)
        at = {"cut": {topic: cut}, "ends": {topic: ends}, "source": "B", "target": "P"}
        spent: list[float] = []

        def steps() -> None:
            spent.append(module("dr_seed", {"pair": self.pair(topic), **at})[1])
            spent.append(self.flow("B", "P", topic, "running"))

        replication = self.copy(topic, steps)
        self._report(topic, f"failback {number} of {delta} bytes", replication)
        self._say(f"{topic}: dr_seed took {spent[0]:.2f} s, connect_mirror {spent[1]:.2f} s")
        return Round(replication, delta)

    def again(self, topic: str) -> Replication:
        """Replicate from the start into an empty topic."""
        self.flow("B", "P", topic, "present")
        self.create("P", topic, "absent")
        self.create("P", topic)

        def steps() -> None:
            name = urllib.parse.quote(BACK, safe="")
            url = f"{self.clusters['P']['connect_url']}/connectors/{name}/offsets"
            urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=60).close()
            self.flow("B", "P", topic, "running")

        replication = self.copy(topic, steps)
        self._report(topic, "everything again", replication)
        return replication

    def copy(self, topic: str, steps: Callable[[], None]) -> Replication:
        """Run the steps and observe the log ends of P meanwhile: all records may be there before the last step ends."""
        wanted = self.ends("B", topic)
        before, size = {alias: self.meters(alias) for alias in self.clusters}, self.size(topic)
        with ThreadPoolExecutor(1) as pool:
            began = time.perf_counter()
            work = pool.submit(steps)
            while any(end < wanted[partition] for partition, end in self.ends("P", topic).items()):
                if work.done():
                    work.result()
                if time.perf_counter() - began > BOUND:
                    raise SystemExit(f"{topic}: P ends at {self.ends('P', topic)} after {BOUND:g} s, B at {wanted}")
                time.sleep(0.05)
            seconds = time.perf_counter() - began
            work.result()
        self.flow("B", "P", topic, "stopped")
        grown = {
            (alias, *key): count - before[alias].get(key, 0)
            for alias in self.clusters
            for key, count in self.meters(alias).items()
        }
        # After the meters, because observing records reads them, too.
        if self.ends("P", topic) != wanted or self.last("P", topic) != self.last("B", topic):
            raise SystemExit(f"{topic}: P ends at {self.ends('P', topic)}, B at {wanted}, or with other records")
        written = grown["P", "BytesInPerSec", topic]
        if written != self.size(topic) - size:
            raise SystemExit(f"{topic}: {written} bytes into P, but its logs grew by {self.size(topic) - size}")
        return Replication(seconds, written, grown["P", "BytesInPerSec", "*"], grown["B", "BytesOutPerSec", topic])

    # ---- operations

    def pair(self, topic: str) -> dict[str, Any]:
        """The common parameters of a pair's modules."""
        return {"clusters": self.clusters, "topics": [topic], "policy": "identity"}

    def create(self, alias: str, topic: str, state: str = "present") -> None:
        """Create a topic like the others, or delete it."""
        topics = [{"name": topic, "partitions": PARTITIONS, "replication_factor": 1}]
        servers = self.clusters[alias]["bootstrap_servers"]
        module("kafka_topic", {"bootstrap_servers": servers, "topics": topics, "state": state})

    def flow(self, source: str, target: str, topic: str, state: str) -> float:
        """Set the state of the source connector of one flow. Return the seconds that it took."""
        ends = {
            end: {"alias": alias, "bootstrap_servers": self.clusters[alias]["bootstrap_servers"]}
            for end, alias in (("source", source), ("target", target))
        }
        settings = {"refresh.topics.interval.seconds": 1}
        shape = {"policy": "identity", "replication_factor": 1, "tasks_max": 2, "source_settings": settings}
        where = {"connect_url": self.clusters[target]["connect_url"], "parts": ["source"], "state": state}
        return module("connect_mirror", {**ends, **shape, **where, "topics": [topic]})[1]

    def produce(self, alias: str, topic: str, prefix: str, count: int) -> None:
        """Write different records of 100 bytes to all partitions by turns."""
        from confluent_kafka import Producer

        servers = self.clusters[alias]["bootstrap_servers"]
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
        for number in range(count):
            while True:
                try:
                    producer.produce(topic, f"{prefix}/{number}".ljust(100, "."), partition=number % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.1)
            if number % 1000 == 0:
                producer.poll(0)
        if producer.flush(300):
            raise SystemExit(f"{topic}: not every record could be written on {alias}")

    def ends(self, alias: str, topic: str) -> dict[str, int]:
        """The log end by partition, in JSON's form."""
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        wanted = {TopicPartition(topic, partition): OffsetSpec.latest() for partition in range(PARTITIONS)}
        found = self._admins[alias].list_offsets(wanted)
        return {str(one.partition): future.result().offset for one, future in found.items()}

    def last(self, alias: str, topic: str) -> dict[int | None, bytes | None]:
        """The last record of each partition.

        All records differ, so equal ends and equal last records mean equal logs.
        """
        from confluent_kafka import Consumer, TopicPartition

        servers = self.clusters[alias]["bootstrap_servers"]
        consumer = Consumer({"bootstrap.servers": servers, "group.id": "bench", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, int(part), end - 1) for part, end in self.ends(alias, topic).items()])
        try:
            return {one.partition(): one.value() for one in consumer.consume(PARTITIONS, 60)}
        finally:
            consumer.close()

    def meters(self, alias: str) -> dict[tuple[str, str], int]:
        """Bytes since the broker started, by meter and topic. The topic ``*`` is all of them."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "Meters.java")
            program.write_text(METERS)
            command = ["java", "-Xmx64m", "-XX:TieredStopAtLevel=1", str(program), str(self._pids[alias])]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows = (line.split() for line in done.stdout.splitlines())
        return {(name, topic): int(count) for name, topic, count in rows}

    def size(self, topic: str) -> int:
        """The bytes of the logs on P."""
        folders = [self._folder / "P" / "data" / f"{topic}-{partition}" for partition in range(PARTITIONS)]
        return sum(log.stat().st_size for folder in folders for log in folder.glob("*.log"))

    def _report(self, topic: str, what: str, replication: Replication) -> None:
        parts = f"{replication.written} for the topic, {replication.everything} for all, {replication.read} read from B"
        self._say(f"{topic}: {what} in {replication.seconds:.2f} s at load {os.getloadavg()[0]:.1f}; bytes: {parts}")

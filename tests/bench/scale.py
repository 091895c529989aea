# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every procedure on a large pair and on a small one: seconds, downtimes and the memory of the controller.

The large pair has 500 topics of 12 partitions, 200 groups, and 30 applications on ten hosts; the small one a tenth.
All options have their defaults. One application writes to ten topics, each other one reads five of them as a group of
its own; the remaining groups have committed offsets only. The applications are real, and the ledgers must be clean.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic
from readiness import PARTITIONS, commit, produce, shape, start_lab

from lab.lab import Lab
from scenario import Scenario
from snapshot import read_inventory

# Records per second: with more, two cores do not keep up with the brokers of so many partitions. The broker completes
# each fetch of a flow by a look at all its partitions.
HOSTS, RATE, WRITTEN = 10, 50, 10
_POLL_S = 0.5
_MIB = 1024.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Size:
    """The number of topics, groups and applications of a pair."""

    name: str
    topics: int
    groups: int
    applications: int


SIZES = (Size("small", 50, 20, 3), Size("large", 500, 200, 30))
# For machines that do not carry the large one, and for two releases by turns.
MIDDLE = Size("middle", 120, 60, 8)


def measure(folder: Path, say: Say = lambda text: None, sizes: tuple[Size, ...] = SIZES) -> list[dict[str, Any]]:
    """One row for each figure of the large pair. The baseline is the same figure of the small pair."""
    found = {size.name: _measure(folder / size.name, size, say) for size in sizes}
    small, large = found.get("small", {}), found.get("large", {})
    return [
        {
            "name": f"scale.{name}",
            "value": round(value, 3),
            "unit": "MiB" if name.endswith("_mib") else "s",
            "baseline": round(small[name], 3) if name in small else None,
            "ratio": round(value / small[name], 2) if small.get(name) else None,
        }
        for name, value in (large or small).items()
    ]


def measure_moves(folder: Path, say: Say = lambda text: None, rounds: int = 2) -> list[dict[str, Any]]:
    """The medians of cutovers and failbacks of a middle-sized pair under load."""
    pair = Scenario(folder, say=say)
    found: dict[str, list[float]] = {}
    try:
        wanted = prepare(pair, MIDDLE)
        pair.playbook("enable", {**wanted, "kafka_dr_confirm": "P"})
        pair.start()
        for figure, playbook, to in (("cutoff", "failover_cutoff", "B"), ("failback", "failback", "P")) * rounds:
            _traffic(pair, RATE * 3)
            report = pair.move(playbook, to, **wanted)
            _traffic(pair, RATE)
            seconds = {**pair.downtime(report), "playbook_s": report["playbook_s"]}
            seconds |= {f"phase.{phase['phase']}_s": phase["seconds"] for phase in report["phases"]}
            for name, value in seconds.items():
                if value is not None:
                    found.setdefault(f"{figure}.{name}", []).append(value)
            say(f"scale: {MIDDLE.name}: {figure} {seconds}")
        pair.stop()
        say(f"scale: {MIDDLE.name}: {pair.require_unharmed()}")
    finally:
        pair.playbook("lab_down", {"lab_dir": str(pair.folder), "lab_wipe": True})
    shutil.rmtree(folder)
    return [
        {"name": f"middle.{name}", "value": round(median(values), 3), "unit": "s", "baseline": None, "ratio": None}
        for name, values in found.items()
    ]


def _measure(folder: Path, size: Size, say: Say) -> dict[str, float]:
    pair = Scenario(folder, say=say)
    figures: dict[str, float] = {}
    try:
        wanted = prepare(pair, size)
        with controller_memory(pair) as peak:
            _procedures(pair, size, wanted, figures)
        figures["controller_mib"] = peak[0]
    finally:
        pair.playbook("lab_down", {"lab_dir": str(pair.folder), "lab_wipe": True})
    shutil.rmtree(folder)  # Of a failure, the logs remain.
    return figures


def prepare(pair: Scenario, size: Size) -> dict[str, Any]:
    """Start the lab and return the variables of the pair's playbooks."""
    draw = random.Random(7)
    names, groups = shape(size.topics, size.groups, draw)
    live = groups[: size.applications - 1]
    for group in live:
        group["topics"] = draw.sample(names[:WRITTEN], len(group["topics"]))
    written = sorted({topic for group in live for topic in group["topics"]})
    clients: list[dict[str, Any]] = [{"role": "producer", "rate": RATE, "topics": written}]
    clients += [{"role": "consumer", "group": group["name"], "topics": group["topics"]} for group in live]
    clients = [{"name": f"app-{number:02d}", **client} for number, client in enumerate(clients)]
    pair.say(f"scale: {size.name}: lab ({start_lab(pair, names, clients):.0f} s)")
    # One machine plays ten hosts: the search for a Python would take ten times as long as on a real one.
    host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {f"host-{number:02d}": host for number in range(HOSTS)}
    (pair.inventory / "applications.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    inventory = read_inventory(pair.inventory)
    servers = inventory["kafka_dr_clusters"]["P"]["bootstrap_servers"]
    _create(servers, names)
    produce(servers, [(name, index) for name in names for index in range(PARTITIONS)])
    commit(servers, groups, draw)
    spread = [
        {**client, "hosts": list(hosts)[number % HOSTS]} for number, client in enumerate(inventory["kafka_dr_clients"])
    ]
    return {"kafka_dr_clients": spread, "kafka_dr_groups": groups}


def _create(servers: str, names: Sequence[str]) -> None:
    """Create the topics: a pair that is enabled already has records."""
    admin = AdminClient({"bootstrap.servers": servers})
    wanted = [NewTopic(name, num_partitions=PARTITIONS, replication_factor=1) for name in names]
    for created in admin.create_topics(wanted).values():
        created.result(60)


def _procedures(pair: Scenario, size: Size, wanted: Mapping[str, Any], figures: dict[str, float]) -> None:
    lab = Lab(pair.folder, quiet=True)

    def run(figure: str, playbook: str, **variables: Any) -> None:
        seconds = pair.playbook(playbook, {**wanted, **variables})["seconds"]
        figures[f"{figure}_s"] = seconds
        pair.say(f"scale: {size.name}: {figure} {seconds:.1f} s")

    def move(figure: str, playbook: str, to: str, **variables: Any) -> None:
        _traffic(pair, RATE * 3)
        report = pair.move(playbook, to, **wanted, **variables)
        _traffic(pair, RATE)
        gaps = pair.downtime(report)
        figures[f"{figure}.playbook_s"] = report["playbook_s"]
        figures.update({f"{figure}.{name}": value for name, value in gaps.items() if value is not None})
        figures.update({f"{figure}.phase.{phase['phase']}_s": phase["seconds"] for phase in report["phases"]})
        pair.say(f"scale: {size.name}: {figure} {report['playbook_s']} s, {gaps}, {report['outcome']}")

    run("enable", "enable", kafka_dr_confirm="P")
    run("enable_noop", "enable", kafka_dr_confirm="P")
    pair.start()
    _traffic(pair, RATE * 3)
    run("reverse_checkpoint", "reverse_checkpoint", kafka_dr_confirm="B")
    run("readiness", "readiness")
    run("status", "status")
    # What the applications themselves need: the lab stops and starts all of them, and nothing else happens.
    began = time.time()
    pair.stop()
    pair.start()
    _traffic(pair, RATE)
    restarted = pair.check(began, time.time())["gaps"]["acknowledged"]
    figures["restart.write_downtime_s"] = restarted["seconds"]
    pair.say(f"scale: {size.name}: all applications restarted, {restarted['seconds']} s without a write")
    move("cutoff", "failover_cutoff", "B")
    move("failback", "failback", "P")
    pair.stop()
    pair.say(f"scale: {size.name}: {pair.require_unharmed()}")
    pair.start()
    _traffic(pair, RATE * 3)
    for part in ("broker", "connect"):
        lab.kill("P", part)
    report = pair.move("failover_disaster", "B", **wanted)
    figures["disaster.playbook_s"] = report["playbook_s"]
    figures.update({f"disaster.phase.{phase['phase']}_s": phase["seconds"] for phase in report["phases"]})
    pair.say(f"scale: {size.name}: disaster {report['playbook_s']} s, {report['outcome']}")


def _traffic(pair: Scenario, records: int) -> None:
    """Wait until this many more records are acknowledged and each consumer, which reads few topics, has read more."""
    acknowledged, read = pair.count("acknowledged") + records, pair.slowest_reader()
    pair.wait(lambda: pair.count("acknowledged") >= acknowledged, 120, f"{records} more records are acknowledged")
    pair.wait(lambda: pair.slowest_reader() > read, 120, "consumers follow")


@contextmanager
def controller_memory(pair: Scenario) -> Iterator[list[float]]:
    """The largest memory (PSS, MiB) of all processes of the pair's playbooks, in a list of one, at the end."""
    peak, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(_POLL_S):
            peak[0] = max(peak[0], sum(map(_pss_mib, _playbook_processes(str(pair.inventory)))))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _playbook_processes(inventory: str) -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if inventory in words and any(word.endswith("ansible-playbook") for word in words):
            yield process


def _pss_mib(process: Path) -> float:
    """0 for a process that has just ended."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) for line in lines if line.startswith("Pss:")) / _MIB

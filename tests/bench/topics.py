# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long kafka_topic takes for 1,000 topics, against the same work as raw batched admin calls.

Everything is measured in one run on one cluster, each sample in a process of its own:

create    missing topics: raw ``describe_topics``, ``create_topics`` and ``describe_topics`` until all have leaders |
          the module from ``main()`` to its printed result, which does the same
call      the ``create_topics`` of the raw script alone
noop      topics that are as wanted: raw ``describe_topics`` and ``describe_configs`` | the module
check     missing topics in check mode: raw ``create_topics`` with ``validate_only`` | the module
playbook  ``ansible-playbook`` with one task, from its start to its end, nothing to change; and with an empty task
tool      ``kafka-topics --describe`` for one topic after another, as a loop of commands does it

Creating 3,000 partitions keeps a broker busy for a while after it has answered, so the next sample waits until every
partition answers, and until the topics of the sample before are gone: a broker has some 20,000 open files for three
a partition. Raw and module samples alternate, the median counts, and everything made is deleted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PARTITIONS = 3
CONFIG = {"retention.ms": "604800000", "cleanup.policy": "delete", "file.delete.delay.ms": "1000"}
TOOL_TOPICS = 20
ROOT = Path(__file__).resolve().parents[2]
MODULE = "ansible_collections.switchback.kafka_dr.plugins.modules.kafka_topic"


@dataclass(frozen=True)
class Bench:
    """The cluster to measure on, and the number of repetitions."""

    bootstrap: str
    jars: Path | None = None
    runs: int = 5
    create_runs: int = 3
    count: int = 1000
    #: The broker's data. It deletes files later than topics, and the open ones are limited.
    data: Path | None = None


def topics_of(bench: Bench, prefix: str) -> list[dict[str, Any]]:
    """The desired topics of one sample."""
    shape = {"partitions": PARTITIONS, "replication_factor": 1, "config": CONFIG}
    return [{"name": f"{prefix}-{number}", **shape} for number in range(bench.count)]


# ---- timed functions, in a process of their own --------------------------------------------------------------


def raw(bench: Bench, action: str, prefix: str) -> float:
    """The seconds of the bare script."""
    from confluent_kafka import TopicCollection
    from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

    names = [topic["name"] for topic in topics_of(bench, prefix)]
    start = time.perf_counter()
    admin = AdminClient({"bootstrap.servers": bench.bootstrap})

    def missing() -> int:
        futures = admin.describe_topics(TopicCollection(names)).values()
        found = [future.result() for future in futures if future.exception() is None]
        ready = [topic for topic in found if all(partition.leader for partition in topic.partitions)]
        return len(names) - len(ready)

    if action == "noop":
        missing()
        for future in admin.describe_configs([ConfigResource(ResourceType.TOPIC, name) for name in names]).values():
            future.result()
        return time.perf_counter() - start
    new = [NewTopic(name, PARTITIONS, 1, config=CONFIG) for name in names]
    if action == "create":
        missing()
    begun = time.perf_counter()
    for future in admin.create_topics(new, validate_only=action == "check").values():
        future.result()
    if action == "call":
        return time.perf_counter() - begun
    while action == "create" and missing():
        time.sleep(0.05)
    return time.perf_counter() - start


def module(bench: Bench, action: str, prefix: str) -> float:
    """Seconds of the module in this process: parse arguments, work, print the result."""
    import importlib

    from ansible_collections.switchback.kafka_dr.tests.support.modules import run_module

    imported = importlib.import_module(MODULE)
    params = {"bootstrap_servers": bench.bootstrap, "topics": topics_of(bench, prefix)}
    start = time.perf_counter()
    result = run_module(imported, params, check=action == "check")
    seconds = time.perf_counter() - start
    if result["failed"] or result["changed"] == (action == "noop"):
        raise SystemExit(f"The module did not do what was to be measured: {result.get('msg', result['changed'])}")
    return seconds


def sample(bench: Bench, who: str, action: str, prefix: str) -> float:
    """The seconds of ``raw`` or ``module`` in a fresh process, without its start and its imports."""
    command = [sys.executable, __file__, "--bootstrap", bench.bootstrap, "--topics", str(bench.count)]
    command += ["--worker", who, action, prefix]
    done = subprocess.run(command, env=environment(), check=True, capture_output=True, text=True)
    return float(done.stdout)


def environment() -> dict[str, str]:
    """The environment in which the collection is found."""
    collections = str(ROOT / "build" / "collections")
    return {**os.environ, "PYTHONPATH": collections, "ANSIBLE_COLLECTIONS_PATH": collections}


# ---- preparation and cleanup ---------------------------------------------------------------------------------


class Topics:
    """Creates and deletes the topics between samples, and waits until the broker has finished."""

    def __init__(self, bench: Bench) -> None:
        from confluent_kafka.admin import AdminClient

        self.bench = bench
        self.admin = AdminClient({"bootstrap.servers": bench.bootstrap, "socket.timeout.ms": 60000})

    def digest(self, prefix: str, timeout: float = 300.0) -> None:
        """Wait until every partition answers: then the broker has created all logs."""
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec

        names = [topic["name"] for topic in topics_of(self.bench, prefix)]
        left = [(name, number) for name in names for number in range(PARTITIONS)]
        until = time.monotonic() + timeout
        while left:
            futures = self.admin.list_offsets({TopicPartition(*one): OffsetSpec.latest() for one in left})
            left = [(one.topic, one.partition) for one, future in futures.items() if future.exception() is not None]
            if left and time.monotonic() > until:
                raise SystemExit(f"{len(left)} partitions do not answer after {timeout:g} s.")
            if left:
                time.sleep(0.5)

    def remove(self, prefixes: Iterable[str]) -> None:
        """Delete everything that samples created, by name, because a busy broker may not list all of it yet."""
        from confluent_kafka import TopicCollection

        for prefix in prefixes:
            names = [topic["name"] for topic in topics_of(self.bench, prefix)]
            for future in self.admin.delete_topics(names).values():
                error = future.exception()
                if error is not None and not _missing(error):
                    raise error
            until = time.monotonic() + 120
            while names:
                futures = self.admin.describe_topics(TopicCollection(names)).values()
                if all(future.exception() is not None and _missing(future.exception()) for future in futures):
                    break
                if time.monotonic() > until:
                    raise SystemExit(f"The topics {prefix}-* are still there 120 s after their deletion.")
                time.sleep(0.5)
            while self.bench.data is not None and any(self.bench.data.glob(f"{prefix}-*")):
                if time.monotonic() > until:
                    raise SystemExit(f"The files of {prefix}-* are still there 120 s after the deletion.")
                time.sleep(0.5)


def _missing(error: BaseException | None) -> bool:
    from confluent_kafka import KafkaError, KafkaException

    return isinstance(error, KafkaException) and error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def playbook_seconds(bench: Bench, prefix: str, empty: bool = False) -> float:
    """The seconds of an ``ansible-playbook`` run without changes. ``empty``: of Ansible alone."""
    topic_task = {
        "name": "The topics exist",
        "switchback.kafka_dr.kafka_topic": {"bootstrap_servers": bench.bootstrap, "topics": "{{ topics }}"},
        "register": "result",
        "failed_when": "result is failed or result is changed",
    }
    play = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [{"name": "Nothing", "ansible.builtin.debug": {"msg": ""}} if empty else topic_task],
        }
    ]
    with tempfile.TemporaryDirectory() as folder:
        variables = Path(folder, "topics.yml")
        variables.write_text(json.dumps({"topics": topics_of(bench, prefix)}), encoding="utf-8")
        Path(folder, "play.yml").write_text(json.dumps(play), encoding="utf-8")
        executable = Path(sys.executable).with_name("ansible-playbook")
        command = [str(executable), "-i", "localhost,", "-c", "local", "-e", f"@{variables}", "play.yml"]
        settings = {**environment(), "ANSIBLE_PYTHON_INTERPRETER": sys.executable}
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"The playbook failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return seconds


def tool_seconds(bench: Bench, prefix: str) -> float | None:
    """The seconds per topic of Kafka's own tool, or None without its jars."""
    if bench.jars is None:
        return None
    main = ["java", "-Xmx256m", "-cp", f"{bench.jars}/*", "org.apache.kafka.tools.TopicCommand"]
    start = time.perf_counter()
    for topic in topics_of(bench, prefix)[:TOOL_TOPICS]:
        command = [*main, "--bootstrap-server", bench.bootstrap, "--describe", "--topic", topic["name"]]
        subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - start) / TOOL_TOPICS


# ---- the benchmark ---------------------------------------------------------------------------------------------


def measure(bench: Bench, say: Callable[[str], None] = lambda text: None) -> list[dict[str, Any]]:
    """All figures, as ``{name, value, unit, baseline, ratio}``."""
    topics = Topics(bench)
    run_name = f"bench-{uuid.uuid4().hex[:6]}"
    kinds = ("raw-call", "raw-create", "module-create")
    prefixes = [f"{run_name}-{kind}-{number}" for number in range(bench.create_runs) for kind in kinds]
    made: list[str] = []
    seconds: dict[tuple[str, str], list[float]] = {}

    def note(who: str, action: str, prefix: str) -> None:
        took = sample(bench, who, action, prefix)
        seconds.setdefault((who, action), []).append(took)
        say(f"{action:<6} {who:<6} {took:.3f} s")

    try:
        for _run in range(bench.runs):
            for who in ("raw", "module"):
                note(who, "check", f"{run_name}-missing")
        for prefix in prefixes:
            topics.remove(made)
            made[:] = [prefix]
            _name, who, action, _number = prefix.rsplit("-", 3)
            note(who, action, prefix)
            topics.digest(prefix)
        for _run in range(bench.runs):
            for who in ("raw", "module"):
                note(who, "noop", made[0])
        alone = [playbook_seconds(bench, made[0], empty=True) for _run in range(bench.runs)]
        say(f"empty  playbook {' '.join(f'{one:.2f}' for one in alone)} s")
        whole = [playbook_seconds(bench, made[0]) for _run in range(bench.runs)]
        say(f"noop   playbook {' '.join(f'{one:.2f}' for one in whole)} s")
        tool = tool_seconds(bench, made[0])
    finally:
        topics.remove(made)
    medians = {key: statistics.median(values) for key, values in seconds.items()}
    medians["playbook", "noop"] = statistics.median(whole)
    medians["playbook", "empty"] = statistics.median(alone)
    return figures(medians, tool, bench.count)


def figures(medians: dict[tuple[str, str], float], tool: float | None, count: int) -> list[dict[str, Any]]:
    """The list of results. The baseline of the playbook is the tool in a loop over as many topics."""
    rows = [
        row(f"topics.{action}", medians["module", action], medians["raw", action])
        for action in ("create", "noop", "check")
    ]
    loop = None if tool is None else tool * count
    rows.append(row("topics.create.call_s", medians["raw", "call"], None))
    rows.append(row("topics.noop.playbook_s", medians["playbook", "noop"], loop))
    rows.append(row("topics.empty.playbook_s", medians["playbook", "empty"], None))
    rows.append(row("topics.tool_s_per_topic", tool, None))
    return rows


def row(name: str, value: float | None, baseline: float | None) -> dict[str, Any]:
    """One result. A value that was not measured is null."""
    ratio = None if value is None or not baseline else round(value / baseline, 3)
    rounded = [None if one is None else round(one, 3) for one in (value, baseline)]
    return {"name": name, "value": rounded[0], "unit": "s", "baseline": rounded[1], "ratio": ratio}


def main() -> None:
    """For manual runs: ``python tests/bench/topics.py --bootstrap 127.0.0.1:9092 [--jars FOLDER]``."""
    parser = argparse.ArgumentParser(description=measure.__doc__)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--jars", type=Path, help="folder with Kafka's jars, for its own tool")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--create-runs", type=int, default=3)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    bench = Bench(options.bootstrap, options.jars, options.runs, options.create_runs, options.topics)
    if options.worker:
        who, action, prefix = options.worker
        print((raw if who == "raw" else module)(bench, action, prefix))
        return
    print(json.dumps(measure(bench, lambda text: print(text, file=sys.stderr, flush=True)), indent=2))


if __name__ == "__main__":
    main()

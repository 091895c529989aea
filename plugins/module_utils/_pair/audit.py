# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the Spark program that compares both clusters record by record, and read its result.

Private to this collection: may change in any release.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._core.errors import DrError
from .._core.flows.pair_spec import PairSpec
from .._core.inventory.audit_plan import AuditRules, audit_plan, cluster_part, last_cut
from .._core.journal.state import JournalState
from .._core.partition import Partition
from .._core.reports.steps import audit_steps
from .._core.verdict import UNKNOWN
from .._core.waiting import Bounds, wait_until
from .._files import write_whole
from .._kafka.client import Kafka
from .._kafka.records import has_data
from .._kafka.topics import describe, known_ranges, log_ranges
from .._module import Result
from .._process import is_alive, myself
from .connections.clusters import connect_pair
from .journal.copies import read_state
from .observation.pair import Pair

__all__ = ["AuditRequest", "SparkSettings", "audit"]

# Seconds between two checks whether the playbook that waits for the program exists.
_WATCHED = 1.0
_CODES = {"PROVEN": 0, "REFUTED": 1, "UNKNOWN": 2}


@dataclass(frozen=True)
class SparkSettings:
    """How to run the Spark program."""

    #: Folder that holds ``kafka_dr_audit``.
    package: Path
    #: Python with PySpark; empty: the Python that runs this module.
    python: str
    master: str
    conf: Mapping[str, Any]
    #: Memory of the driver.
    memory: str
    #: Folder with Spark's Kafka connector; empty: download it.
    jars: str
    #: Seconds that the last records of a snapshot may take to arrive while producers write.
    settle: float
    #: How many differences of each kind to list.
    sample: int
    #: Seconds after which the program is killed.
    timeout: float


@dataclass(frozen=True)
class AuditRequest:
    """The options of ``dr_audit``."""

    pair: PairSpec
    rules: AuditRules
    spark: SparkSettings
    #: Folder of the results.
    output: Path
    #: Inventory host of the playbook, for the commands of the next steps; empty: there are none.
    run_on: str
    #: Timeout of each request to Kafka, in seconds.
    timeout: float

    @classmethod
    def of(cls, pair: PairSpec, params: Mapping[str, Any]) -> AuditRequest:
        """Parse the options of ``dr_audit``."""
        return cls(
            pair,
            AuditRules(params["guarantee"], params["accept"], params["fresh"]),
            SparkSettings(
                package=Path(params["package"]),
                python=params["python"],
                master=params["spark_master"],
                conf=params["spark_conf"],
                memory=params["spark_memory"],
                jars=params["spark_jars"],
                settle=params["settle"],
                sample=params["sample"],
                timeout=params["wait_timeout"],
            ),
            Path(params["output"]).absolute(),
            params["run_on"],
            params["request_timeout"],
        )


def audit(request: AuditRequest) -> Result:
    """Write the plan, run the program, and return its document under ``audit``.

    If the program returns no verdict, the document has the verdict UNKNOWN, so that no old document is taken for the
    result.
    """
    output = request.output
    plan, environment, records = _plan(request)
    try:
        output.mkdir(mode=0o750, parents=True, exist_ok=True)
        for name in ("audit.json", "audit.html"):
            (output / name).unlink(missing_ok=True)
        write_whole(output / "plan.json", json.dumps(plan, indent=1) + "\n", 0o640)
    except OSError as error:
        hint = "Correct kafka_dr_audit_dir."
        raise DrError("no_audit", f"The audit's plan could not be written: {error}.", hint) from error
    try:
        document = _audited(request, environment, records)
    except DrError as error:
        document = {
            "schema": "switchback.kafka_dr/audit/2",
            "run": plan["run"],
            "pair": plan["pair"],
            "verdict": UNKNOWN,
            "partial": True,
            "error": {"code": error.code, "message": error.sentence()},
            "text": [f"{UNKNOWN}: {error.sentence()}"],
            "topics": [],
            "not_checked": ["record by record comparison of both clusters"],
            "next": plan["next"].get(UNKNOWN, []),
        }
    reason = document.get("error", {}).get("message", "")
    return Result(extra={"verdict": document["verdict"], "reason": reason, "audit": document, "folder": str(output)})


def _audited(request: AuditRequest, environment: Mapping[str, str], records: int | None) -> dict[str, Any]:
    """Return the program's document; raise unless its verdict matches the exit code."""
    output = request.output
    code, last = _run(_command(request.spark, output, records), environment, request.spark.timeout)
    try:
        document: dict[str, Any] = json.loads((output / "audit.json").read_text())
    except (OSError, ValueError):
        document = {}
    if document.get("partial") or _CODES.get(document.get("verdict", "")) != code:
        raise DrError(
            "no_audit",
            document.get("error", {}).get("message") or f"The audit exited with {code} and no verdict: {last}",
            f"See Spark's log {output / 'spark.log'} on the host where it ran.",
        )
    return document


def _plan(request: AuditRequest) -> tuple[dict[str, Any], dict[str, str], int | None]:
    """Return the plan, the secrets of its clients as environment variables, and the number of records, if known."""
    pair = request.pair
    kafka = connect_pair(pair.connections, request.timeout)
    parts: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for alias, cluster in pair.connections.items():
        parts[alias], hidden = cluster_part(alias, cluster, kafka[alias].cluster_id)
        environment |= hidden
    found = {name: state.partitions for name, state in describe(kafka[pair.home], pair.topics).items() if state}
    absent = [topic for topic in pair.topics if topic not in found]
    if absent:
        raise DrError(
            "topic_missing",
            f'"{absent[0]}" does not exist on {pair.home}, so there is nothing to compare.',
            "Run the playbook enable first.",
        )
    state = read_state(kafka, pair)
    passive = next(alias for alias in pair.clusters if alias != (state.active or pair.home))
    steps = audit_steps(pair.name, passive, request.run_on) if request.run_on else {}
    stored = _stored(request, state, found, passive)
    plan = {**audit_plan(pair, request.rules, state, parts, found, stored), "next": steps}
    return plan, environment, _records(kafka, pair)


def _stored(
    request: AuditRequest, state: JournalState, partitions: Mapping[str, int], passive: str
) -> dict[Partition, int]:
    """Policy identity: the source offsets up to which the flow has stored its progress (exclusive).

    Read before the snapshot. Waits until it has stored some for each partition with records since the cut, as long as
    the last records of a snapshot may take. Without an answer of the workers nothing is known, which is no failure of
    the audit (R50).
    """
    pair = request.pair
    active = state.active or pair.home
    cuts = {
        key: offset
        for topic in pair.topics
        if pair.naming.flows_write_originals and (cut := last_cut(state, topic, active, passive, partitions[topic]))
        for key, offset in cut.source.items()
    }
    if not cuts:
        return {}
    with suppress(DrError):
        observed = Pair(pair, [(active, passive)], request.timeout)
        logs = log_ranges(observed.kafka[active], cuts)
        spans = {key: (max(cuts[key], start), end) for key, (start, end) in logs.items() if end > cuts[key]}
        written = [key for key, data in has_data(observed.kafka[active], spans).items() if data is not False]
        wanted = {key: cuts[key] for key in written}
        offsets = _await_progress(observed, (active, passive), wanted, Bounds(request.spark.settle, 1.0))
        return {key: offsets[key] + 1 for key in cuts if key in offsets}
    return {}


def _await_progress(
    pair: Pair, flow: tuple[str, str], wanted: Mapping[Partition, int], bounds: Bounds
) -> Mapping[Partition, int]:
    """Return the flow's stored offsets, as soon as they have reached ``wanted``, or those at the end of the wait."""
    return wait_until(
        lambda: pair.engine.observe(*flow).last_replicated_offset,
        lambda stored: all(stored.get(key, -1) >= offset for key, offset in wanted.items()),
        bounds,
    ).state


def _records(kafka: Mapping[str, Kafka], pair: PairSpec) -> int | None:
    """Return about how many records the audit reads: those of originals and replicas. None: unknown."""
    total = 0
    with suppress(DrError):
        for alias, client in kafka.items():
            replicas = [pair.naming.replica(other, topic) for other in kafka if other != alias for topic in pair.topics]
            states = describe(client, {*pair.topics, *replicas})
            sizes = {name: state.partitions for name, state in states.items() if state}
            places = [Partition(name, index) for name, count in sizes.items() for index in range(count)]
            for span in known_ranges(client, places).values():
                if span is None:
                    return None
                total += span[1] - span[0]
        return total
    return None


def _command(spark: SparkSettings, output: Path, records: int | None) -> list[str]:
    program = str(spark.package / "kafka_dr_audit")
    command = [spark.python or sys.executable, program, str(output / "plan.json"), "--output", str(output)]
    command += ["--master", spark.master, "--driver-memory", spark.memory]
    command += ["--settle", str(spark.settle), "--sample", str(spark.sample), "--with-caller"]
    command += ["--jars", spark.jars] if spark.jars else []
    command += [] if records is None else ["--records", str(records)]
    for name, value in spark.conf.items():
        command += ["--conf", f"{name}={value}"]
    return command


def _run(command: list[str], environment: Mapping[str, str], timeout: float) -> tuple[int, str]:
    """Run the program; return its exit code and last line. The action plugin reads its progress from stderr.

    The program ends when this process does, because its standard input is closed then. It is killed after ``timeout``
    seconds, and when the playbook that waits for it is gone.
    """
    playbook = myself()
    until = time.monotonic() + timeout
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    except OSError as error:
        hint = "Check that kafka_dr_spark_python is a Python with PySpark, and that Java is installed."
        raise DrError("no_audit", f"{command[0]} could not be started: {error.strerror}.", hint) from error
    too_long = []

    def watch(*_: Any) -> None:
        late = time.monotonic() >= until
        if not late and (playbook.pid is None or is_alive(playbook)):
            return
        if late:
            too_long.append(True)
        # Spark's JVM is a separate child process. This kills the whole session, and no other process.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, watch)
    signal.setitimer(signal.ITIMER_REAL, min(timeout, _WATCHED), _WATCHED)
    last = ""
    try:
        for line in process.stderr or ():
            last = line.strip() or last
            sys.stderr.write(line)
            sys.stderr.flush()
        code = process.wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
    if too_long:
        raise DrError(
            "audit_too_long",
            f"The audit did not end within {timeout:g} s. Its last line was: {last}",
            "Raise kafka_dr_audit_timeout, or use more cores with kafka_dr_spark_master.",
        )
    return code, last

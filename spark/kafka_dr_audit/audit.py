# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the whole audit: observe both clusters, compare, explain differences, and write the result."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import level1, level2, session, snapshot, verdict
from .brokers import Brokers
from .errors import AuditError
from .level1 import PartitionPair
from .page import page
from .plan import SIDES, AuditPlan
from .progress import ProgressReporter
from .reading import AuditContext, FingerprintReader
from .snapshot import Scope
from .text import lines, pager


@dataclass(frozen=True)
class Options:
    """Command line options of an audit."""

    #: Folder for the result.
    output: Path
    resources: session.Resources
    #: Seconds to wait until the last records of an online snapshot are replicated.
    settle: float = 30.0
    #: Number of differing records to read one by one.
    detail_records: int = 400_000
    #: Number of differences of each class to list.
    sample: int = 20
    #: Seed of the fingerprints. None: random.
    seed: int | None = None


def run(plan: AuditPlan, options: Options, progress: ProgressReporter) -> dict[str, Any]:
    """Run the audit, write ``audit.json`` and ``audit.html``, and return the result.

    If the audit fails, a partial result is written, and an `AuditError` is raised.
    """
    began = time.time()
    progress.say(f"starting Spark ({session.where(options.resources)})")
    spark = session.start(options.resources, options.output)
    seed = secrets.randbits(63) if options.seed is None else options.seed
    reader = FingerprintReader(spark, seed, secrets.token_hex(16))
    facts: dict[str, Any] = {"seed": str(seed), "spark": spark.version, "began": _stamp(began)}
    brokers: dict[str, Brokers] = {}
    scopes: list[Scope] = []
    compared: list[level2.Compared] = []
    try:
        for alias, cluster in plan.clusters.items():
            brokers[alias] = Brokers(spark._jvm, cluster)
        progress.say("reading the topics and offsets of both clusters")
        scopes = snapshot.take(plan, brokers)
        names = reader.names(scope.side(name).topic for scope in scopes for name in SIDES)
        context = AuditContext(plan, brokers, reader, spark, names, progress, options.detail_records, options.settle)
        reading = time.time()
        pairs, twice = level1.compare(scopes, context)
        differing = sum(bool(pair.gaps) for pair in pairs)
        records = {name: sum(pair.half(name).chunks.total for pair in pairs) for name in SIDES}
        facts |= {"records": records, "level1_seconds": round(time.time() - reading, 3)}
        progress.say(f"level 1: {records['source']:,} and {records['target']:,} records; {differing} partitions differ")
        compared = list(level2.by_scope(pairs).values())
        partial = verdict.result(plan, scopes, compared, {}, facts, options.sample) | _PARTIAL
        _keep(options.output, _advised(plan, partial))
        compared, again = level2.explain(pairs, context)
        facts["records_read_again"] = twice + again
        if again:
            progress.say(f"level 2: {again:,} records read again")
        unread = _unread(pairs, plan, reader)
        snapshot.observe_again(scopes, brokers)
    except AuditError as error:
        _partial(plan, scopes, compared, facts, options, error)
        raise
    except Exception as error:
        wrapped = _of_spark(error)
        _partial(plan, scopes, compared, facts, options, wrapped)
        raise wrapped from error
    finally:
        for asked in brokers.values():
            asked.close()
    facts |= {"ended": _stamp(time.time()), "seconds": round(time.time() - began, 3)}
    document = verdict.result(plan, scopes, compared, unread, facts, options.sample)
    document["text"] = lines(document)
    document = _advised(plan, document)
    _keep(options.output, document)
    return document


_PARTIAL = {"partial": True, "verdict": verdict.UNKNOWN}


def _partial(
    plan: AuditPlan,
    scopes: list[Scope],
    compared: list[level2.Compared],
    facts: Mapping[str, Any],
    options: Options,
    error: AuditError,
) -> None:
    document = verdict.result(plan, scopes, compared, {}, facts, options.sample)
    failure = {"code": error.code, "message": error.message}
    document |= _PARTIAL | {"error": failure, "text": [f"UNKNOWN: {error.message}"]}
    _keep(options.output, _advised(plan, document))


def _advised(plan: AuditPlan, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result with the next steps of its verdict, and its text for a pager."""
    advised = {**document, "next": list(plan.next_steps.get(document["verdict"], ()))}
    return {**advised, "pager": pager(advised)}


def _keep(output: Path, document: Mapping[str, Any]) -> None:
    """Write each file atomically."""
    for name, text in (("audit.json", json.dumps(document, indent=1) + "\n"), ("audit.html", page(document))):
        draft = output / f".{name}.new"
        draft.write_text(text, encoding="utf-8")
        draft.replace(output / name)


def _unread(pairs: list[PartitionPair], plan: AuditPlan, reader: FingerprintReader) -> dict[Scope, list[int]]:
    """Return partitions with offsets but without a visible record, unless aborted records or compaction explain it."""
    found: dict[Scope, list[int]] = {}
    for pair in pairs:
        for name in SIDES:
            observation, span = getattr(pair.scope, name), pair.span(name)
            if pair.half(name).chunks.total or span.border == span.start or observation.compacts:
                continue
            side = pair.scope.side(name)
            ranges = {(side.topic, pair.partition): (span.start, span.border)}
            if not reader.records(plan.clusters[side.cluster], "read_uncommitted", ranges).count():
                found.setdefault(pair.scope, []).append(pair.partition)
    return found


def _of_spark(error: Exception) -> AuditError:
    """Turn a failure of Spark into one line. spark.log has the whole error."""
    text = str(error)
    for mark, code, reported in (
        ("OffsetOutOfRange", "log_moved", "A log start offset moved while the log was read: run the audit again"),
        ("Some data may have been lost", "log_moved", "Records were deleted while they were read: run the audit again"),
        ("Failed to find data source: kafka", "connector_missing", "The Kafka connector is not on Spark's class path"),
        (
            "NoSuchMethodError",
            "connector_missing",
            "The connector or kafka-clients does not have the version that this Spark needs",
        ),
        ("NoClassDefFoundError", "connector_missing", "A jar of the Kafka connector is missing or of another version"),
        ("No space left", "disk_full", "The disk is full"),
        ("OutOfMemoryError", "memory", "Spark ran out of memory: raise --driver-memory"),
        ("Authorization", "not_authorized", "The client is not authorized to read a topic: grant it READ"),
    ):
        if mark in text:
            return AuditError(code, f"{reported}: {_line(text, mark)}")
    return AuditError("spark_failed", f"Spark failed: {_line(text, '')} (see spark.log for the whole error)")


def _line(text: str, mark: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and mark in line]
    return (lines or ["no message"])[0][:300]


def _stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))

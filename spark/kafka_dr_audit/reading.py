# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read records with Spark as fingerprints, computed in generated code, so that no payload leaves the reader.

Sources: Spark 4.0 Structured Streaming + Kafka Integration Guide; org.apache.spark.sql.kafka010.KafkaSourceProvider.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from .brokers import Brokers, TopicPartition
from .chunks import Chunker, Chunks
from .errors import AuditError
from .plan import AuditPlan, Cluster
from .progress import ProgressReporter, rows_read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

K = TypeVar("K")
OffsetRanges = Mapping[TopicPartition, tuple[int, int]]

# By default, Spark fetches 500 records in a poll, with two round trips each. Each poll also waits for a prefetch that,
# at the end of a log, waits half a second for records that are not needed. Larger fetches than these fill a small heap
# with objects that live long enough for the garbage collector to move them, which took half of the time.
TUNING = {
    "kafka.fetch.max.wait.ms": "10",
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": str(4 << 20),
    "kafka.fetch.max.bytes": str(4 << 20),
    "kafka.receive.buffer.bytes": "-1",
    "kafkaConsumer.pollTimeoutMs": "60000",
}
CHUNK, RANK, END = 0, 1, 2
# Bits of monotonically_increasing_id for the number of a row in its task. The higher bits are the number of the task.
RANK_BITS = 33
SUMMARY = (
    "topic long, partition int, kind byte, first long, last long, records long, digest long, oldest long, newest long"
)


class FingerprintReader:
    """Reads records as fingerprints. Fingerprints of different runs cannot be compared, because their seeds differ."""

    def __init__(self, session: SparkSession, seed: int, marker: str) -> None:
        self._session, self._seed, self._marker = session, seed, marker

    def names(self, topics: Iterable[str]) -> dict[int, str]:
        """Return topic names by their fingerprints. Raises `AuditError` ``names_collide``."""
        wanted = sorted(set(topics))
        # Spark folds inline values into a local relation, so that this is no job and generates no code.
        values = ", ".join(f"({_literal(name)})" for name in wanted)
        rows = self._session.sql(f"select name, xxhash64(name) as id from values {values} as topics(name)")
        found = {int(row["id"]): str(row["name"]) for row in rows.collect()}
        if len(found) != len(wanted):
            raise AuditError(
                "names_collide", "Two topic names have the same fingerprint. Run the audit for one of them alone."
            )
        return found

    def records(self, cluster: Cluster, isolation: str, ranges: OffsetRanges) -> DataFrame:
        """Return the records in ``ranges``: one Spark partition for each Kafka partition, in the order of offsets."""
        assign: dict[str, list[int]] = {}
        starts: dict[str, dict[str, int]] = {}
        ends: dict[str, dict[str, int]] = {}
        for (topic, partition), (start, end) in ranges.items():
            assign.setdefault(topic, []).append(partition)
            starts.setdefault(topic, {})[str(partition)] = start
            ends.setdefault(topic, {})[str(partition)] = end
        source = self._session.read.format("kafka").options(
            **{f"kafka.{name}": value for name, value in cluster.client.items()},
            **TUNING,
            **{
                "kafka.bootstrap.servers": cluster.bootstrap_servers,
                "kafka.isolation.level": isolation,
                "assign": json.dumps(assign),
                "startingOffsets": json.dumps(starts),
                "endingOffsets": json.dumps(ends),
                "includeHeaders": "true",
                "failOnDataLoss": "true",
            },
        )
        return source.load()

    def whole(self, timestamps: Sequence[str], of: Sequence[str]) -> str:
        """Return the SQL of a record's fingerprint. ``timestamps``: the topics among ``of`` whose timestamps count.

        xxhash64 skips nulls, so each nullable part is preceded by whether it is null. Single header values may be null,
        so they are joined with a secret marker in place of nulls. A lambda is avoided because it would exclude the
        whole stage from generated code.
        """
        return f"xxhash64({self._seed}L, {KEY}, {VALUE}, {self._headers()}, {_stamp(timestamps, of)})"

    def parts(self) -> list[str]:
        """Return the SQL of the fingerprints of key, value and headers."""
        hashed = {"key": KEY, "value": VALUE, "headers": self._headers()}
        return [f"xxhash64({self._seed}L, {sql}) as {name}" for name, sql in hashed.items()]

    def _headers(self) -> str:
        def some(headers: str) -> str:
            values = f"array_join(cast({headers}.value as array<string>), '{self._marker}', '{self._marker}0')"
            return f"xxhash64({self._seed}L, size({headers}), {headers}.key, {headers}.value, {values})"

        own = f"size(headers) - {SALVAGED}"
        salvaged = f"{own} >= 0 and element_at(headers.key, -{SALVAGED}) = 'kafka_dr.salvage.cluster'"
        # Most records have no headers, and the branch after `else` would take a quarter of the total time.
        return (
            "case when headers is null then -1L when size(headers) = 0 then 0L "
            f"when {salvaged} then if({own} = 0, -1L, {some(f'(slice(headers, 1, {own}))')}) else {some('headers')} end"
        )

    def buckets(self, records: DataFrame, whole: str, size: int) -> DataFrame:
        """Level 1: digest runs of ``size`` records (a power of two) by rank, entirely in generated code.

        Rows: ``run`` (number of the task and of the run, see `RANK_BITS`), topic, partition, number of records, digest,
        first and last offset, oldest and newest timestamp. A task reads one Kafka partition in order, and Spark numbers
        its rows, so no sorting is needed, and only these rows are shuffled. The digest covers each record's index in
        its run.
        """
        from pyspark.sql.functions import expr

        columns = records.selectExpr(
            "monotonically_increasing_id() as id",
            "topic",
            "partition",
            "offset",
            "unix_millis(timestamp) as stamp",
            f"{whole} as whole",
        )
        word = "bit_xor(xxhash64(whole, inside)) as digest"
        ends = ["min(offset) as first", "max(offset) as last", "min(stamp) as oldest", "max(stamp) as newest"]
        # The topic of a run's first record suffices. Hashing the topic of every record would take a tenth of the time.
        place = ["max(if(inside = 0, xxhash64(topic), null)) as topic", "min(partition) as partition"]
        return (
            columns.selectExpr(f"shiftright(id, {size.bit_length() - 1}) as run", f"id & {size - 1}L as inside", "*")
            .groupBy("run")
            .agg(*(expr(sql) for sql in (*place, "max(partition) as other", "count(1) as records", word, *ends)))
        )

    def summaries(self, records: DataFrame, whole: str, recipe: Recipe) -> DataFrame:
        """Level 1, second pass: digest chunks whose borders the content determines. Rows have the schema `SUMMARY`.

        Nothing is shuffled, and no record is kept.
        """
        columns = records.selectExpr(
            "xxhash64(topic) as topic", "partition", "offset", "unix_millis(timestamp) as stamp", f"{whole} as whole"
        )
        return columns.mapInArrow(recipe, SUMMARY)

    def details(self, records: DataFrame, whole: str) -> DataFrame:
        """Level 2: return fingerprints of each record and its parts, and SHA-256 of key and value for the report."""
        return records.selectExpr(
            "xxhash64(topic) as topic",
            "partition",
            "offset",
            "unix_millis(timestamp) as stamp",
            f"{whole} as whole",
            *self.parts(),
            "value is null as tombstone",
            "timestampType = 1 as appended",
            "sha2(key, 256) as key_sha256",
            "sha2(value, 256) as value_sha256",
        )


# Number of headers that the playbook salvage appends to a record. They name its origin, and are not compared.
SALVAGED = 4
KEY = "key is null, key"
VALUE = "value is null, value"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _stamp(timestamps: Sequence[str], of: Sequence[str]) -> str:
    if set(timestamps) == set(of):
        return "unix_micros(timestamp)"
    if not timestamps:
        return "0L"
    names = ", ".join(_literal(name) for name in sorted(timestamps))
    return f"if(topic in ({names}), unix_micros(timestamp), 0L)"


@dataclass(frozen=True)
class AuditContext:
    """What both levels need to read records."""

    plan: AuditPlan
    brokers: Mapping[str, Brokers]
    reader: FingerprintReader
    session: SparkSession
    names: Mapping[int, str]  # topic names by their fingerprints, which the rows contain
    progress: ProgressReporter
    budget: int  # number of records of both sides to read one by one into memory; longer runs are only counted
    settle: float  # seconds to wait until the last records of an online snapshot are replicated

    @cached_property
    def ids(self) -> dict[str, int]:
        """Fingerprints by topic name."""
        return {topic: number for number, topic in self.names.items()}

    def collect(self, frames: Mapping[K, DataFrame], what: str, planned: int) -> dict[K, pa.Table]:
        """Run one Spark job for each frame, all at the same time. ``planned``: number of records that they read."""
        before = rows_read(self.session)
        with ThreadPoolExecutor() as pool:
            jobs = {key: pool.submit(frame.toArrow) for key, frame in frames.items()}
            self.progress.watch(list(jobs.values()), what, planned, lambda: rows_read(self.session) - before)
        return {key: job.result() for key, job in jobs.items()}


class Recipe:
    """The function that a worker applies to the rows of one task. It is pickled, so it holds only plain values."""

    def __init__(
        self, size: int, watched: Mapping[tuple[int, int], list[int]], borders: Mapping[tuple[int, int], int]
    ) -> None:
        self._size, self._watched, self._borders = size, dict(watched), dict(borders)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        open_: dict[tuple[int, int], Chunker] = {}
        for batch in batches:
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            if not len(columns[0]):
                continue
            topic, partition, offset, stamp, whole = columns
            # A task reads one Kafka partition. Otherwise there is a second END row, which is refused later.
            place = (int(topic[0]), int(partition[0]))
            if place not in open_:
                open_[place] = Chunker(self._size, sorted(self._watched.get(place, ())), self._borders.get(place))
            open_[place].feed(offset, stamp, whole.view("uint64"))
            yield from _rows(place, open_[place])
        for place, chunker in open_.items():
            chunker.finish()
            yield from _rows(place, chunker, end=True)


def _rows(place: tuple[int, int], chunker: Chunker, end: bool = False) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    chunks = Chunks.of(chunker.rows)
    ranks = np.asarray(chunker.ranks, dtype=np.int64).reshape(-1, 2)
    chunker.rows, chunker.ranks = [], []
    total = [[chunker.total]] if end else []
    extra = np.concatenate([ranks, np.asarray([[0, *row] for row in total], dtype=np.int64).reshape(-1, 2)])
    length = len(chunks) + len(extra)
    if not length:
        return
    kinds = [CHUNK] * len(chunks) + [RANK] * len(ranks) + [END] * len(total)
    none = np.zeros(len(extra), dtype=np.int64)
    yield pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(length, place[0], dtype=np.int64)),
            pa.array(np.full(length, place[1], dtype=np.int32)),
            pa.array(kinds, type=pa.int8()),
            pa.array(np.concatenate([chunks.first, extra[:, 0]])),
            pa.array(np.concatenate([chunks.last, none])),
            pa.array(np.concatenate([chunks.records, extra[:, 1]])),
            pa.array(np.concatenate([chunks.digest.view(np.int64), none])),
            pa.array(np.concatenate([chunks.oldest, none])),
            pa.array(np.concatenate([chunks.newest, none])),
        ],
        names=["topic", "partition", "kind", "first", "last", "records", "digest", "oldest", "newest"],
    )

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``--prepare``: a class archive, from which Spark's JVM starts in two thirds of its time.

It holds the classes of one Java and one PySpark, so it lies in the Python environment of that PySpark. The JVM looks
itself whether it fits, and passes over one that does not. Source: JEP 350 (dynamic class data sharing archives).
"""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from . import session
from .chunks import chunk_size
from .errors import AuditError
from .plan import Cluster
from .reading import FingerprintReader, Recipe

# Nobody listens there, which is known at once: enough to load what a reader and an admin client are made of.
_NOBODY = Cluster("P", "", "127.0.0.1:1", {"request.timeout.ms": "500", "default.api.timeout.ms": "500"})
_SECONDS = 120  # that a JVM may take to write at its end; 8 on a quiet machine


def prepare(resources: session.Resources) -> Path:
    """Fetch the connector and write the archive; returns it. Raises `AuditError` ``archive_failed`` and `start`'s."""
    target = session.archive()
    with tempfile.TemporaryDirectory(prefix="kafka-dr-classes-") as folder:
        made = Path(folder, "classes.jsa")
        spark = session.start(resources, Path(folder), record=made)
        reader = FingerprintReader(spark, secrets.randbits(63), secrets.token_hex(16))
        reader.names(["topic"])
        records = spark.range(0, 100_000, 1, 2).selectExpr(
            "'topic' as topic",
            "0 as partition",
            "id as offset",
            "timestamp_millis(id) as timestamp",
            "0 as timestampType",
            "cast(string(id) as binary) as key",
            "cast(string(id) as binary) as value",
            "cast(null as array<struct<key: string, value: binary>>) as headers",
        )
        whole, size = reader.whole(["topic"], ["topic"]), chunk_size(100_000)
        reader.buckets(records, whole, size).toArrow()
        reader.summaries(records.where("offset < 1000"), whole, Recipe(size, {}, {})).toArrow()
        reader.details(records.where("offset < 1000"), whole).toArrow()
        try:
            reader.records(_NOBODY, "read_committed", {("topic", 0): (0, 1)}).count()
        except Exception as error:
            if "Kafka" not in str(error) and "Timeout" not in str(error):
                raise AuditError("archive_failed", f"Spark could not use the Kafka connector: {error}") from error
        session.end(spark, _SECONDS)
        if not made.exists():
            raise AuditError("archive_failed", f"Java wrote no class archive: {Path(folder, 'spark.log')} may say why.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(f".{secrets.token_hex(4)}")
            part.write_bytes(made.read_bytes())
            part.replace(target)
        except OSError as error:
            raise AuditError("archive_failed", f"{target} cannot be written: {error.strerror}.") from error
    return target

# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a class archive (``--prepare``), with which Spark's JVM starts in two thirds of the time.

The archive holds the classes of one Java version and one PySpark version, so it is stored in the Python environment of
that PySpark. The JVM checks itself whether the archive matches, and ignores one that does not. Source: JEP 350 (dynamic
class data sharing archives).
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

# No broker listens there, and the connection is refused at once. This suffices to load the classes of a reader and an
# admin client.
_UNREACHABLE = Cluster("P", "", "127.0.0.1:1", {"request.timeout.ms": "500", "default.api.timeout.ms": "500"})
# Time limit for the JVM to write the archive at its end. It takes 8 seconds on an idle machine.
_SECONDS = 120


def prepare(resources: session.Resources) -> Path:
    """Fetch the connector, write the archive, and return its path.

    Raises `AuditError` ``archive_failed``, and the errors of `session.start`.
    """
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
            reader.records(_UNREACHABLE, "read_committed", {("topic", 0): (0, 1)}).count()
        except Exception as error:
            if "Kafka" not in str(error) and "Timeout" not in str(error):
                raise AuditError("archive_failed", f"Spark could not use the Kafka connector: {error}") from error
        session.end(spark, _SECONDS)
        if not made.exists():
            raise AuditError("archive_failed", "Java wrote no class archive. Run it again, or audit without one.")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(f".{secrets.token_hex(4)}")
            part.write_bytes(made.read_bytes())
            part.replace(target)
        except OSError as error:
            raise AuditError("archive_failed", f"{target} cannot be written: {error.strerror}.") from error
    return target
